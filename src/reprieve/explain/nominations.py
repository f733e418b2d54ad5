"""A unit that was promised its places: whose leaving it waits for."""

from typing import NamedTuple

from reprieve.explain.evidence import Evidence, key_of
from reprieve.objects import Document

SHOWN = 10


class Nomination(NamedTuple):
    nodes: list[str]
    leaving: list[str]
    """Sentences: who still has to leave those nodes, and since when that is asked of them."""

    @property
    def holds(self) -> bool:
        """Places are promised, and somebody is on the way out of them."""
        return bool(self.nodes and self.leaving)

    @property
    def advice(self) -> str:
        return "Only time: the places are promised. It starts when those pods have ended; a finalizer or a long grace period keeps them."


def nomination_of(waiting: list[Document], evidence: Evidence) -> Nomination:
    """What these waiting pods were promised, all of them; a group of which some have no place is promised nothing."""
    nodes = [str((pod.get("status") or {}).get("nominatedNodeName") or "") for pod in waiting]
    if not all(nodes):
        return Nomination([], [])
    leaving = [
        f"{key_of(pod)} to leave {node} (asked at {asked})"
        for pod in evidence.of_kind("Pod")
        if (node := (pod.get("spec") or {}).get("nodeName")) in nodes
        and (asked := (pod.get("metadata") or {}).get("deletionTimestamp"))
    ]
    hidden = [f"{len(leaving) - SHOWN} more pods to leave"] if len(leaving) > SHOWN else []
    return Nomination(sorted(set(nodes)), [*leaving[:SHOWN], *hidden])
