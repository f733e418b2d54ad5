"""Nominations as the scheduler means them, which may be ahead of what the API shows.

Between a decision and the moment its patch comes back through the watch, other changes of the same pod still carry the old
value. What was promised here wins; a promise taken back stays taken back. Where nothing was promised here (after a restart, or
a nomination made by someone else) the API's value counts.
"""

from collections.abc import Iterable

from reprieve.cluster import Cluster
from reprieve.objects.core import Pod


class Promises:
    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._said: dict[str, str] = {}

    def reconcile(self, pod: Pod) -> None:
        """A waiting pod was read from the API: put back what we said, if the API does not say it yet."""
        said = self._said.get(pod.key)
        if said is not None and said != pod.status.nominated_node_name:
            self._cluster.nominate(pod.key, said)

    def make(self, key: str, node: str) -> None:
        self._said[key] = node
        self._cluster.nominate(key, node)

    def node(self, key: str) -> str:
        row = self._cluster.pods.row_of.get(key)
        return "" if row is None else self._cluster.pods.about[row].nominated

    def holders(self, keys: Iterable[str]) -> dict[str, str]:
        """Those of the pods that have a promise, and where."""
        return {key: node for key in keys if (node := self.node(key))}

    def forget(self, key: str) -> None:
        """The pod waits no more."""
        self._said.pop(key, None)
