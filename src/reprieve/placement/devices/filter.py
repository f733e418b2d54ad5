"""The device filter of one pod: on which nodes its claims can be had, and with which devices."""

from typing import NamedTuple

import numpy as np

from reprieve.cluster import Cluster, Ints, Mask, Rows
from reprieve.objects import Allocation, node_selector_matches
from reprieve.placement.devices.asks import AllocationError, ClaimAsk, ask_of
from reprieve.placement.devices.claims import (
    Held,
    Refused,
    devices_of,
    extended_claim,
    extended_resources,
    has_extended_claim,
)
from reprieve.placement.devices.inventory import Inventory, inventory_of
from reprieve.placement.devices.results import allocation_of
from reprieve.placement.devices.search import FIRST_CHOICE, Answer, Found, Refusal, search

UNAVAILABLE = "resourceclaim not available on the node"
STALE_EXTENDED = "cannot schedule extended resource claim"
Reasons = dict[str, Mask]


class Verdict(NamedTuple):
    """About many nodes at once."""

    fits: Mask
    reasons: Reasons
    """For each reason, the nodes that give it."""


class DeviceFilter:
    """Made once for a decision about a pod; the devices that are free may change while it lasts."""

    def __init__(self, cluster: Cluster, row: int) -> None:
        self._cluster = cluster
        self._row = row
        self.refusal = ""
        """Why the pod fits on no node at all."""
        self.early = False
        """The refusal keeps the pod out of the queue."""
        self.error = ""
        """What ends the attempt."""
        self._held: tuple[Held, ...] = ()
        self._wanted: tuple[ClaimAsk, ...] = ()
        self._extended = extended_resources(cluster, cluster.class_of(row))
        self._asks: dict[tuple[str, ...], tuple[ClaimAsk, ...]] = {}
        self._answers: dict[tuple[int, tuple[str, ...]], Answer] = {}
        self._stale = bool(self._extended) and has_extended_claim(cluster, row)
        try:
            self._held, wanted = devices_of(cluster, row)
            self._wanted = tuple(ask_of(claim, cluster.devices) for claim in wanted)
        except Refused as refused:
            self.refusal, self.early = str(refused), refused.early
        except AllocationError as error:
            self.error = str(error)

    @property
    def idle(self) -> bool:
        """Whether the pod has nothing to do with devices."""
        return not (self.refusal or self.error or self._held or self._wanted or self._extended)

    @property
    def inventory(self) -> Inventory:
        return inventory_of(self._cluster)

    # --- nodes ----------------------------------------------------------------------------------------------

    def verdict(self, slots: Mask) -> Verdict:
        """On which of these nodes the claims can be had. Raises `AllocationError`."""
        if self.error:
            raise AllocationError(self.error)
        fits = np.zeros(len(slots), dtype=np.bool_)
        reasons: Reasons = {}
        if self.refusal:
            return Verdict(fits, {self.refusal: slots.copy()})
        if self._stale:
            return Verdict(fits, {STALE_EXTENDED: slots.copy()})
        available = self._available(slots)
        for group, answer in self._answered(slots):
            if isinstance(answer, Refusal):
                reasons[answer.reason] = reasons.get(answer.reason, fits) | group
            else:
                fits |= group & available
                away = group & ~available
                if away.any():
                    reasons[UNAVAILABLE] = reasons.get(UNAVAILABLE, np.zeros_like(fits)) | away
        return Verdict(fits, reasons)

    def allows(self, slot: int) -> bool:
        """For one node; an error counts as a refusal."""
        try:
            only = np.zeros(self._cluster.nodes.slots, dtype=np.bool_)
            only[slot] = True
            return bool(self.verdict(only).fits[slot])
        except AllocationError:
            return False

    def _available(self, slots: Mask) -> Mask:
        """Nodes on which every claim that is allocated can be used."""
        mask = slots.copy()
        for each in self._held:
            if not each.usable:
                return np.zeros_like(mask)
            selector = each.allocation.node_selector
            if selector is not None:
                nodes = self._cluster.nodes
                for slot in np.flatnonzero(mask).tolist():
                    node = nodes.objects[slot]
                    mask[slot] = node is not None and node_selector_matches(
                        selector, node.metadata.labels, node.name
                    )
        return mask

    def _answered(self, slots: Mask) -> list[tuple[Mask, Answer]]:
        """The nodes by the answer of the search: equal situations are searched once."""
        inventory = self.inventory
        found: list[tuple[Mask, Answer]] = []
        for resources, group in self._by_resources(slots):
            asks = self._asks_for(resources)
            if not asks:
                found.append((group, NOTHING_WANTED))
                continue
            situations = inventory.situation[: len(group)]
            for number in np.unique(situations[group]).tolist():
                alike = group & (situations == number)
                slot = int(np.flatnonzero(alike)[0])
                found.append((alike, self._answer(slot, resources, asks)))
        return found

    def _answer(self, slot: int, resources: tuple[str, ...], asks: tuple[ClaimAsk, ...]) -> Answer:
        inventory = self.inventory
        key = (int(inventory.situation[slot]), resources)
        answer = self._answers.get(key)
        if answer is None:
            name = self._cluster.nodes.names[slot]
            answer = search(name, inventory.pools(slot), asks, self._cluster.devices)
            self._answers[key] = answer
        return answer

    def _by_resources(self, slots: Mask) -> list[tuple[tuple[str, ...], Mask]]:
        """Nodes by the extended resources that devices serve there: those that the node has none of."""
        groups: list[tuple[tuple[str, ...], Mask]] = [((), slots)]
        nodes = self._cluster.nodes
        for resource in self._extended:
            none = nodes.allocatable[nodes.resource(resource), : len(slots)] == 0
            groups = [
                (names, part)
                for served, group in groups
                for names, part in (((*served, resource), group & none), (served, group & ~none))
                if part.any()
            ]
        return groups

    def _asks_for(self, resources: tuple[str, ...]) -> tuple[ClaimAsk, ...]:
        if not resources:
            return self._wanted
        found = self._asks.get(resources)
        if found is None:
            claim = extended_claim(self._cluster, self._row, resources)
            found = self._asks[resources] = (*self._wanted, ask_of(claim, self._cluster.devices))
        return found

    # --- scores ---------------------------------------------------------------------------------------------

    def scores(self, slots: Rows) -> Ints | None:
        """How well prioritised requests are served, 0 to 100 for each node; None where there are none."""
        base = sum(_past_score(each) for each in self._held)
        if not base and not any(each.prioritised for each in self._wanted):
            return None
        mask = np.zeros(self._cluster.nodes.slots, dtype=np.bool_)
        mask[slots] = True
        raw = np.zeros(len(mask), dtype=np.int64)
        for group, answer in self._answered(mask):
            if isinstance(answer, Found) and self._wanted:
                raw[group] = base + answer.score
        chosen = raw[slots]
        most = int(chosen.max(initial=0))
        return 100 * chosen // most if most else chosen

    # --- what is taken --------------------------------------------------------------------------------------

    def allocations(self, slot: int) -> dict[str, Allocation]:
        """What each claim that is not allocated yet gets on the node, by claim."""
        mask = np.zeros(self._cluster.nodes.slots, dtype=np.bool_)
        mask[slot] = True
        ((resources, _),) = self._by_resources(mask)
        asks = self._asks_for(resources)
        if not asks:
            return {}
        answer = self._answer(slot, resources, asks)
        if not isinstance(answer, Found):
            return {}
        entries = [entry for pool in self.inventory.pools(slot) for entry in pool.entries]
        node, classes = self._cluster.nodes.names[slot], self._cluster.devices.classes
        return {
            ask.claim.key: allocation_of(ask, picks, entries, node, classes)
            for ask, picks in zip(asks, answer.picks, strict=True)
        }

    def take(self, slot: int) -> dict[str, Allocation]:
        """Suppose the claims allocated on the node."""
        taken = self.allocations(slot)
        for key, allocation in taken.items():
            self._cluster.suppose_allocated(key, allocation)
        return taken


NOTHING_WANTED = Found((), 0)


def _past_score(held: Held) -> int:
    """What an allocated claim adds: the place of the alternatives that it got."""
    got = {each.request for each in held.allocation.devices.results}
    return sum(
        FIRST_CHOICE - index
        for request in held.claim.spec.devices.requests
        for index, each in enumerate(request.first_available)
        if f"{request.name}/{each.name}" in got
    )


def named(allocations: dict[str, Allocation]) -> dict[str, dict[str, list[str]]]:
    """As plans list them: claim to request to devices, in the order in which they were taken."""
    found: dict[str, dict[str, list[str]]] = {}
    for key, allocation in allocations.items():
        for each in allocation.devices.results:
            requests = found.setdefault(key, {})
            requests.setdefault(each.request, []).append(f"{each.driver}/{each.pool}/{each.device}")
    return found


def device_filter(cluster: Cluster, row: int) -> DeviceFilter | None:
    """The filter of a pod that has to do with devices; None for all others."""
    table = cluster.devices
    if not table.enabled:
        return None
    if cluster.pods.info[row].claims is None and not table.serves_any(cluster.class_of(row).requests):
        return None
    found = DeviceFilter(cluster, row)
    return None if found.idle else found


__all__ = ["AllocationError", "DeviceFilter", "Verdict", "device_filter", "named"]
