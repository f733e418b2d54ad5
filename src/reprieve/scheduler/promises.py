"""Nominations as the scheduler means them, which may be ahead of what the API shows.

Between a decision and the moment its patch comes back through the watch, other changes of the same pod still carry the old
value. What was promised here wins; a promise taken back stays taken back. Where nothing was promised here (after a restart, or
a nomination made by someone else) the API's value counts.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from reprieve.cluster import Cluster
from reprieve.objects.core import Pod


class Promises:
    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._said: dict[str, str] = {}
        self._made: dict[str, int] = {}
        self._count = 0

    def reconcile(self, pod: Pod) -> None:
        """A waiting pod was read from the API: put back what we said, if the API does not say it yet."""
        said = self._said.get(pod.key)
        if said is not None and said != pod.status.nominated_node_name:
            self._cluster.nominate(pod.key, said)

    def make(self, key: str, node: str) -> None:
        self._said[key] = node
        self._cluster.nominate(key, node)
        self._count += 1
        self._made[key] = self._count

    def node(self, key: str) -> str:
        row = self._cluster.pods.row_of.get(key)
        return "" if row is None else self._cluster.pods.about[row].nominated

    def holders(self, keys: Iterable[str]) -> dict[str, str]:
        """Those of the pods that have a promise, and where."""
        return {key: node for key in keys if (node := self.node(key))}

    def forget(self, key: str) -> None:
        """The pod waits no more."""
        self._said.pop(key, None)
        self._made.pop(key, None)

    @contextmanager
    def in_order(self, pods: Iterable[str], priority: int) -> Iterator[None]:
        """While these pods look at the nodes they were promised, later promises to equals stand aside.

        Each promise was made with room for the earlier ones; without this, equals that were promised the same node would wait for
        each other.
        """
        held = self.holders(pods)
        aside = self._later_equals(held, priority) if held else {}
        for key in aside:
            self._cluster.nominate(key, "")
        try:
            yield
        finally:
            for key, node in aside.items():
                self._cluster.nominate(key, node)

    def _later_equals(self, held: dict[str, str], priority: int) -> dict[str, str]:
        cluster, first = self._cluster, min(self._made.get(key, 0) for key in held)
        found: dict[str, str] = {}
        for node in set(held.values()):
            for row in cluster.nominated.get(node, ()):
                key = cluster.pods.keys[row]
                later = self._made.get(key, 0) > first
                if key not in held and later and int(cluster.pods.priority[row]) == priority:
                    found[key] = node
        return found
