"""VolumeBinding: bound volumes must be reachable, unbound claims need a volume or a place to make one.

All nodes at once. For each node: claims with a selected node first; then, smallest request first, the
smallest free volume that fits; what finds none is provisioned. Nothing is tried twice, since kube-scheduler's
search is greedy. With `exact` a node on which that fails is searched thoroughly (`backtracking`).
"""

import numpy as np

from reprieve.cluster import Cluster, Ints, Mask, Rows, plugin_of, required_by_driver
from reprieve.objects import LabelSelectorRequirement, amount, nano, storage, usable, well_known
from reprieve.placement.sentences import volumes as sentences
from reprieve.placement.volumes.backtracking import rearranged
from reprieve.placement.volumes.claims import Claims
from reprieve.placement.volumes.csi_nodes import csi_nodes
from reprieve.placement.volumes.pools import NONE, Pool, pool_of, suits_as_kept
from reprieve.placement.volumes.provisioning import UNKNOWN, allowed_nodes, capacities_of
from reprieve.placement.volumes.reach import reach_of, required_of
from reprieve.placement.volumes.scoring import StorageSums

Claim = storage.PersistentVolumeClaim


class Search:
    """A claim that looks for a volume: what it may take, and what it takes on each node."""

    def __init__(self, claim: Claim, pool: Pool, eligible: Mask, pick: Rows) -> None:
        self.claim = claim
        self.pool = pool
        self.eligible = eligible
        self.pick = pick
        """For each node the rank of a volume in the pool, or the number of one that is kept for the claim."""


class Binding:
    def __init__(self, cluster: Cluster, claims: Claims, *, exact: bool) -> None:
        self._cluster = cluster
        width = cluster.nodes.slots
        self.far, self.nothing, self.full, self.lost = (np.zeros(width, dtype=np.bool_) for _ in range(4))
        self.unclear: Mask = np.zeros(width, dtype=np.bool_)
        """Nodes on which kube-scheduler's filter fails with `error`."""
        self.error = ""
        self._searches: list[Search] = []
        self._kept: dict[str, list[storage.PersistentVolume]] = {}
        """By class: volumes that are kept for claims of the pod; their numbers come after the pool's."""
        self._provisions: list[tuple[Claim, Mask, Ints]] = []
        """(claim, nodes where it is provisioned, the capacity of the pool there)."""
        self._check_bound(claims.bound)
        if claims.unbound:
            self._find(claims.unbound, exact)

    @property
    def refused(self) -> Mask:
        return self.far | self.nothing | self.full | self.lost | self.unclear

    # --- bound claims ---------------------------------------------------------------------------------------

    def _check_bound(self, claims: tuple[Claim, ...]) -> None:
        reach, left = reach_of(self._cluster), ~self.far
        for claim in claims:
            volume = self._cluster.storage.volumes.get(claim.spec.volume_name)
            if volume is None:
                self.lost |= left
                return
            reached = reach.mask(required_of(volume))
            plugin = plugin_of(volume.spec) if volume.spec.csi is None else None
            if plugin is not None and plugin.zone_key:
                migrated = csi_nodes(self._cluster).migrated(plugin.name)
                if migrated.any():
                    theirs = reach.mask(required_by_driver(volume, plugin.zone_key))
                    reached = np.where(migrated, theirs, reached)
            self.far |= left & ~reached
            left = left & reached

    # --- unbound claims -------------------------------------------------------------------------------------

    def _find(self, claims: tuple[Claim, ...], exact: bool) -> None:
        cluster = self._cluster
        going = np.ones(cluster.nodes.slots, dtype=np.bool_)
        annotated, searching = [], []
        for claim in claims:
            node = cluster.storage.selected.get(
                claim.key, claim.metadata.annotations.get(well_known.SELECTED_NODE)
            )
            if node is None:
                searching.append(claim)
                continue
            annotated.append(claim)
            slot = cluster.nodes.slot_of.get(node)
            here = going[slot] if slot is not None else False
            self.nothing |= going
            going[:] = False
            if slot is not None and here:
                going[slot], self.nothing[slot] = True, False
        searching.sort(key=lambda claim: nano(claim.request))
        for claim in searching:
            self._search(claim, going)
        mark = len(searching) > 1 and exact
        before = self.nothing.copy(), self.full.copy()
        wanted = [(claim, going) for claim in annotated]
        wanted += [(each.claim, going & (each.pick == NONE)) for each in self._searches]
        self._provision(wanted)
        if mark:
            self._rearrange(before, going)

    def _search(self, claim: Claim, going: Mask) -> None:
        table, width = self._cluster.storage, self._cluster.nodes.slots
        selector = claim.spec.selector
        if selector is not None and not all(_parses(each) for each in selector.match_expressions):
            self.error = self.error or sentences.selector_is_invalid(claim.key)
            self.unclear |= going
        name = claim.storage_class
        pool = pool_of(self._cluster, name)
        eligible = pool.eligible(claim, table.taken)
        earlier = [each.pick for each in self._searches if each.pool is pool]
        kept = [each for each in table.volumes_for(claim) if suits_as_kept(each, claim)]
        if eligible.any():
            pick = pool.smallest(eligible, earlier, width)
        else:
            pick = np.full(width, NONE, dtype=np.int32)
        if kept:
            pick = self._take_kept(kept, pool, earlier, pick)
        self._searches.append(Search(claim, pool, eligible, pick))

    def _take_kept(
        self, kept: list[storage.PersistentVolume], pool: Pool, earlier: list[Rows], otherwise: Rows
    ) -> Rows:
        """A volume that is kept for the claim is the only one it may have, also where it is out of reach."""
        pick, open_ = otherwise.copy(), np.ones(len(otherwise), dtype=np.bool_)
        known = self._kept.setdefault(kept[0].storage_class, [])
        for volume in kept:
            if volume not in known:
                known.append(volume)
            number = len(pool.volumes) + known.index(volume)
            here = open_.copy()
            for taken in earlier:
                here &= taken != number
            pick[here] = np.where(reach_of(self._cluster).mask(required_of(volume)), number, NONE)[here]
            open_ &= ~here
        return pick

    def _provision(self, wanted: list[tuple[Claim, Mask]]) -> None:
        """Each claim where it is wanted; a node that cannot have one of them is not asked for the others."""
        failed = np.zeros(self._cluster.nodes.slots, dtype=np.bool_)
        for claim, where in wanted:
            here = where & ~failed
            allowed, capacity = self._can_provision(claim)
            nowhere = here & ~allowed
            self.nothing |= nowhere
            short = np.zeros_like(here) if capacity is None else here & allowed & (capacity == UNKNOWN)
            self.full |= short
            failed |= nowhere | short
            known = np.full(len(here), UNKNOWN) if capacity is None else capacity
            self._provisions.append((claim, here & ~nowhere & ~short, known))

    def _can_provision(self, claim: Claim) -> tuple[Mask, Ints | None]:
        """(nodes that the class allows, capacity of each node's pool, or None where it is not checked)."""
        cluster = self._cluster
        found = cluster.storage.classes[claim.storage_class]
        if found.provisioner in ("", well_known.NO_PROVISIONER):
            return np.zeros(cluster.nodes.slots, dtype=np.bool_), None
        driver = cluster.storage.drivers.get(found.provisioner)
        if driver is None or not driver.spec.storage_capacity or not _states_request(claim):
            return allowed_nodes(cluster, found), None
        pools = capacities_of(cluster, found.name)
        return allowed_nodes(cluster, found), pools.capacity(
            amount("storage", claim.request), cluster.nodes.slots
        )

    def _rearrange(self, before: tuple[Mask, Mask], going: Mask) -> None:
        """Where the greedy search failed, another arrangement may not."""
        failed = going & ((self.nothing & ~before[0]) | (self.full & ~before[1]))
        if not failed.any():
            return
        can = []
        for each in self._searches:
            allowed, capacity = self._can_provision(each.claim)
            can.append(allowed if capacity is None else allowed & (capacity != UNKNOWN))
        for slot, picks in rearranged(self._searches, can, failed):
            self.nothing[slot] = before[0][slot]
            self.full[slot] = before[1][slot]
            for each, pick in zip(self._searches, picks, strict=True):
                each.pick[slot] = pick
            for claim, where, _ in self._provisions:
                pairs = zip(self._searches, picks, strict=True)
                chosen = [pick for each, pick in pairs if each.claim is claim]
                where[slot] = not chosen or chosen[0] == NONE

    # --- what a node would give -----------------------------------------------------------------------------

    def volumes_at(self, slot: int) -> list[tuple[storage.PersistentVolume, Claim]]:
        """Volumes that claims get on a node, in the order in which they are bound."""
        found = []
        for each in self._searches:
            pick = int(each.pick[slot])
            if pick != NONE:
                found.append((self._volume(each, pick), each.claim))
        return found

    def provisions_at(self, slot: int) -> list[Claim]:
        return [claim for claim, where, _ in self._provisions if where[slot]]

    def _volume(self, search: Search, pick: int) -> storage.PersistentVolume:
        free = search.pool.volumes
        if pick < len(free):
            return free[pick]
        return self._kept[search.claim.storage_class][pick - len(free)]

    def scores(self, slots: Rows) -> Ints | None:
        """100 where next to nothing of the storage is used, 0 where all is, or where nothing is known.

        Each class of the volumes that would be bound counts alike, or, where none would be, each class with a
        known pool. None where no node knows anything.
        """
        bound = [(each, each.pick[slots]) for each in self._searches]
        bound = [(each, pick) for each, pick in bound if (pick != NONE).any()]
        pools = [
            (claim, where[slots] & (known[slots] != UNKNOWN), known[slots])
            for claim, where, known in self._provisions
        ]
        if not bound and not any(where.any() for _, where, _ in pools):
            return None
        sums = StorageSums(len(slots))
        static = np.zeros(len(slots), dtype=np.bool_)
        for search, pick in bound:
            static |= pick != NONE
            self._add_bound(sums, search, pick)
        for claim, where, known in pools:
            name = claim.spec.storage_class_name or claim.storage_class
            sums.add(name, where & ~static, amount("storage", claim.request))
            sums.offer_pool(name, where & ~static, known)
        return sums.scores()

    def _add_bound(self, sums: StorageSums, search: Search, pick: Rows) -> None:
        numbers, position = np.unique(pick, return_inverse=True)
        volumes = [None if number == NONE else self._volume(search, number) for number in numbers.tolist()]
        sizes = np.array([0 if each is None else amount("storage", each.size) for each in volumes], np.int64)
        names = [None if each is None else each.spec.storage_class_name for each in volumes]
        for name in {name for name in names if name is not None}:
            here = np.array([each == name for each in names], dtype=np.bool_)[position]
            sums.add(name, here, amount("storage", search.claim.request))
            sums.offer_volume(name, here, sizes[position])


def _states_request(claim: Claim) -> bool:
    return "storage" in claim.spec.resources.requests


def _parses(each: LabelSelectorRequirement) -> bool:
    return each.operator not in ("Gt", "Lt") and usable(each.key, each.operator, each.values)
