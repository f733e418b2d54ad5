"""Where a tree of groups goes: depth first, each group in its best domain, all or none at every level.

As kube-scheduler does it. A group that fails is taken back with everything below it; one that succeeded stays
for the siblings that come after it. Nothing is tried twice: the order of the children decides. The cluster is
rolled back at the end: nothing stays placed.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from reprieve.cluster import Cluster, Mask
from reprieve.placement.domains import Domain, best_of, domains_within
from reprieve.placement.gang import Assignment, GangPlacement, place_gang, reserve_claims
from reprieve.placement.resources import DEFAULT, Scoring
from reprieve.placement.sentences import groups as sentences


class TreeGroup(NamedTuple):
    """A group of a tree: a pod group with pods, or a composite group with children."""

    name: str
    """`Kind/namespace/name`."""
    minimum: int
    """How many of its pods, or of its children, must be placed."""
    topology: str
    """The label whose value all its pods share; empty when they may go anywhere."""
    rows: tuple[int, ...]
    """Waiting pods of a pod group, in queue order."""
    counted: int
    """Pods of a pod group that count towards its minimum already."""
    placed: tuple[int, ...]
    """Pods on nodes: its own, or those of all groups below."""
    children: tuple["TreeGroup", ...] | None
    """None for a pod group."""

    def leaves(self) -> Iterator["TreeGroup"]:
        if self.children is None:
            yield self
        for child in self.children or ():
            yield from child.leaves()

    def groups(self) -> Iterator["TreeGroup"]:
        """The group and all below it."""
        yield self
        for child in self.children or ():
            yield from child.groups()


class Evaluated(NamedTuple):
    """What became of a group and everything below it."""

    ok: bool
    assigned: list[Assignment]
    """Pods of groups that succeeded together with all groups above them, up to this one."""
    phantoms: list[Assignment]
    """Pods that found nodes in vain: their group failed, or one above it. Their capacity is not kept."""
    failed: list[int]
    """Pods that were tried and found no node."""
    status: str
    """Why it failed, in kube-scheduler's wording; empty when it did not."""
    inner: str
    """The part of it that a group above repeats."""
    broken: bool = False
    """Not a lack of capacity but an error: no eviction helps."""


Price = Callable[[Sequence[Assignment]], tuple[int, ...]]
"""What placing these pods would cost; smaller is better."""


class TreePlacer:
    """`tolerant`: an error in one child is no more than the failure of that child.

    `price` chooses among domains by what they cost, where kube-scheduler takes the fullest.
    """

    def __init__(
        self,
        cluster: Cluster,
        scoring: Scoring = DEFAULT,
        *,
        faithful: bool = True,
        tolerant: bool = False,
        price: Price | None = None,
    ) -> None:
        self._price = price
        self._cluster = cluster
        self._scoring = scoring
        self._faithful = faithful
        self._tolerant = tolerant

    def place(self, root: TreeGroup) -> GangPlacement:
        """Where the pods of the tree go. Feasible when the root is, and at least one pod was placed."""
        found = self.evaluate(root, None)
        status = sentences.UNSCHEDULABLE if found.ok and not found.assigned else found.status
        feasible = found.ok and bool(found.assigned)
        return GangPlacement(feasible, found.assigned, found.failed, status, found.phantoms, found.broken)

    def evaluate(self, group: TreeGroup, within: Mask | None) -> Evaluated:
        """The group in the best of its domains; nothing stays attached."""
        domains = self._domains(group, within)
        if isinstance(domains, str):
            return Evaluated(False, [], [], [], domains, domains, broken=True)
        if not domains:
            return Evaluated(False, [], [], [], sentences.NO_PLACEMENTS, sentences.NO_PLACEMENTS)
        tried: list[tuple[Domain, Evaluated]] = []
        for domain in domains:
            found = self.inside(group, domain.nodes)
            if found.broken:
                return found
            tried.append((domain, found))
        good = [(domain, found) for domain, found in tried if found.ok]
        if not good:
            first = tried[0][1]
            text = sentences.no_domain_available(len(tried), first.inner)
            return first._replace(
                status=sentences.unschedulable(text),
                inner=sentences.UNSCHEDULABLE,
                assigned=[],
                phantoms=[*first.phantoms, *first.assigned],
            )
        if len(good) == 1:
            return good[0][1]
        return self._best(group, good)

    def _best(self, group: TreeGroup, good: list[tuple[Domain, Evaluated]]) -> Evaluated:
        counted = len(group.placed)
        if not counted and not any(found.assigned for _, found in good):
            text = sentences.NOTHING_ASSIGNED
            return Evaluated(False, [], [], [], text, text, broken=True)
        if self._price is not None:
            most = max(len(found.assigned) for _, found in good)
            fullest = [found for _, found in good if len(found.assigned) == most]
            price = self._price
            return min(fullest, key=lambda found: price(found.assigned))
        proposals = [(domain, [each.row for each in found.assigned]) for domain, found in good]
        return good[best_of(self._cluster, proposals, counted, self._scoring)][1]

    def _domains(self, group: TreeGroup, within: Mask | None) -> list[Domain] | str:
        """Where the group may go; a text when its pods are where it cannot be."""
        if not group.topology:
            return [Domain("", within)]
        cluster = self._cluster
        slots = [int(cluster.pods.node[row]) for row in group.placed]
        ids = cluster.nodes.topology(group.topology).ids
        values = cluster.nodes.topology(group.topology).values
        at = [-1 if slot < 0 else int(ids[slot]) for slot in slots]
        if -1 in at:
            return sentences.pod_is_in_no_domain(cluster.pods.keys[group.placed[at.index(-1)]])
        names = sorted({values[each] for each in at})
        if len(names) > 1:
            return sentences.pods_are_in_several_domains(names)
        return domains_within(cluster, group.topology, slots, within)

    def inside(self, group: TreeGroup, within: Mask | None) -> Evaluated:
        """The group on these nodes, whatever its own key says."""
        return self._leaf(group, within) if group.children is None else self._composite(group, within)

    def _leaf(self, group: TreeGroup, within: Mask | None) -> Evaluated:
        found = place_gang(
            self._cluster, group.rows, group.minimum, group.counted, self._scoring, within, self._faithful
        )
        if found.feasible or group.counted >= group.minimum:
            return Evaluated(True, found.assigned, [], found.failed, "", "")
        inner = found.status if found.stopped else sentences.UNSCHEDULABLE
        return Evaluated(False, [], found.assigned, found.failed, found.status, inner)

    def _composite(self, group: TreeGroup, within: Mask | None) -> Evaluated:
        children = group.children or ()
        scheduled, remaining = 0, len(children)
        assigned: list[Assignment] = []
        phantoms: list[Assignment] = []
        failed: list[int] = []
        mark = self._cluster.checkpoint()
        for child in children:
            if scheduled + remaining < group.minimum:
                break
            found = self.evaluate(child, within)
            if found.broken and not self._tolerant:
                self._cluster.rollback(mark)
                text = sentences.child_failed(found.status)
                return Evaluated(False, [], [], [], text, text, broken=True)
            remaining -= 1
            scheduled += found.ok
            phantoms += found.phantoms
            failed += found.failed
            if found.ok:
                assigned += found.assigned
                self._attach(found.assigned)
        self._cluster.rollback(mark)
        if scheduled + remaining < group.minimum:
            status = sentences.cannot_reach_minimum(group.minimum, scheduled, remaining)
            return Evaluated(False, [], [*phantoms, *assigned], failed, status, status)
        return Evaluated(True, assigned, phantoms, failed, "", "")

    def _attach(self, assigned: list[Assignment]) -> None:
        if assigned:
            rows = np.array([each.row for each in assigned], np.int32)
            self._cluster.attach_all(rows, np.array([each.slot for each in assigned], np.int32))
            for each in assigned:
                reserve_claims(each.filters, each.slot)
