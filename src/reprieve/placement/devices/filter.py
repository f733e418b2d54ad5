"""The device filter of one pod: on which nodes its claims can be had, and with which devices."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from reprieve.cluster import Cluster, DeviceTable, Ints, Mask, Rows
from reprieve.objects import Allocation, ResourceClaim
from reprieve.placement.devices.asks import AllocationError, ClaimAsk, ask_of
from reprieve.placement.devices.claims import (
    Held,
    Refused,
    checked_claims,
    held,
)
from reprieve.placement.devices.extended import ExtendedClaim, extended_claim, extended_resources
from reprieve.placement.devices.inventory import Inventory, inventory_of
from reprieve.placement.devices.results import allocation_of
from reprieve.placement.devices.search import FIRST_CHOICE, Answer, Found, Refusal, search
from reprieve.placement.reasons import Code, Reason

Reasons = dict[Reason, Mask]


class AskSet(NamedTuple):
    asks: tuple[ClaimAsk, ...]
    key: object
    """Equal for claims that no search can tell apart."""


_encoder = msgspec.json.Encoder()


def _key(asks: Sequence[ClaimAsk], table: DeviceTable) -> object:
    classes = {ask.spec.device_class_name for each in asks for request in each.requests for ask in request}
    return (
        tuple(_encoder.encode(each.claim.spec) for each in asks),
        tuple((name, _encoder.encode(table.classes[name].spec)) for name in sorted(classes)),
    )


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
        self.refusal: Reason | None = None
        """Why the pod fits on no node at all."""
        self.early = False
        """The refusal keeps the pod out of the queue."""
        self.error = ""
        """What ends the attempt."""
        self._claims: tuple[ResourceClaim, ...] = ()
        self._extended = extended_resources(cluster, cluster.class_of(row))
        key, uid = cluster.pods.keys[row], cluster.pods.info[row].uid
        self.stale = cluster.devices.extended_claim_of(key, uid) if self._extended else None
        """A claim for extended resources that an earlier attempt has left."""
        self._asks: dict[str, ClaimAsk] = {}
        self._sets: dict[tuple[str, ...], AskSet] = {}
        try:
            self._claims = checked_claims(cluster, row)
            for claim in self._claims:
                if claim.key not in cluster.devices.allocations:
                    self._ask(claim)
        except Refused as refused:
            self.refusal, self.early = refused.reason, refused.early
        except AllocationError as error:
            self.error = str(error)

    @property
    def idle(self) -> bool:
        """Whether the pod has nothing to do with devices."""
        return not (self.refusal or self.error or self._claims or self._extended)

    @property
    def claims(self) -> tuple[str, ...]:
        """The claims that the pod names, `namespace/name`."""
        return tuple(claim.key for claim in self._claims)

    @property
    def inventory(self) -> Inventory:
        return inventory_of(self._cluster)

    @property
    def _held(self) -> list[Held]:
        table = self._cluster.devices
        return [found for each in self._claims if (found := held(each, table)) is not None]

    def _ask(self, claim: ResourceClaim) -> ClaimAsk:
        found = self._asks.get(claim.key)
        if found is None:
            found = self._asks[claim.key] = ask_of(claim, self._cluster.devices)
        return found

    def holders(self, slot: int) -> list[str]:
        """Pods (`namespace/name`) whose going could free what the pod needs on this node."""
        table = self._cluster.devices
        pools = {pool.id for pool in self.inventory.pools(slot)}
        own = {claim.key for claim in self._claims}
        return table.users_of(pools, own)

    # --- nodes ----------------------------------------------------------------------------------------------

    def verdict(self, slots: Mask) -> Verdict:
        """On which of these nodes the claims can be had. Raises `AllocationError`."""
        if self.error:
            raise AllocationError(self.error)
        fits = np.zeros(len(slots), dtype=np.bool_)
        reasons: Reasons = {}
        if self.refusal:
            return Verdict(fits, {self.refusal: slots.copy()})
        if self.stale is not None:
            return Verdict(fits, {Reason(Code.STALE_EXTENDED): slots.copy()})
        available = self._available(slots)
        for group, answer in self._answered(slots):
            if isinstance(answer, Refusal):
                reasons[answer.reason] = reasons.get(answer.reason, fits) | group
            else:
                fits |= group & available
                away = group & ~available
                if away.any():
                    reason = Reason(Code.CLAIM_UNAVAILABLE)
                    reasons[reason] = reasons.get(reason, np.zeros_like(fits)) | away
        return Verdict(fits, reasons)

    def allows(self, slot: int) -> bool:
        """For one node; an error counts as a refusal."""
        if self.refusal or self.error or self.stale is not None:
            return False
        if self._extended:
            return self._allows_by_verdict(slot)
        node = self._cluster.nodes.objects[slot]
        if any(not each.usable or node is None or not each.admits(node) for each in self._held):
            return False
        try:
            asks = self._asks_for(())
            return not asks.asks or isinstance(self._answer(self.inventory, slot, asks), Found)
        except AllocationError:
            return False

    def _allows_by_verdict(self, slot: int) -> bool:
        only = np.zeros(self._cluster.nodes.slots, dtype=np.bool_)
        only[slot] = True
        try:
            return bool(self.verdict(only).fits[slot])
        except AllocationError:
            return False

    def _available(self, slots: Mask) -> Mask:
        """Nodes on which every claim that is allocated can be used."""
        mask = slots.copy()
        for each in self._held:
            if not each.usable:
                return np.zeros_like(mask)
            if each.allocation.node_selector is not None:
                nodes = self._cluster.nodes
                for slot in np.flatnonzero(mask).tolist():
                    node = nodes.objects[slot]
                    mask[slot] = node is not None and each.admits(node)
        return mask

    def _answered(self, slots: Mask) -> list[tuple[Mask, Answer]]:
        """The nodes by the answer of the search: equal situations are searched once."""
        inventory = self.inventory
        found: list[tuple[Mask, Answer]] = []
        for resources, group in self._by_resources(slots):
            asks = self._asks_for(resources)
            if not asks.asks:
                found.append((group, NOTHING_WANTED))
                continue
            situations = inventory.situation[: len(group)]
            slots_here = np.flatnonzero(group)
            numbers, first, which = np.unique(situations[group], return_index=True, return_inverse=True)
            for index in range(len(numbers)):
                alike = np.zeros(len(group), dtype=np.bool_)
                alike[slots_here[which == index]] = True
                found.append((alike, self._answer(inventory, int(slots_here[first[index]]), asks)))
        return found

    def _answer(self, inventory: Inventory, slot: int, asks: AskSet) -> Answer:
        key = (int(inventory.situation[slot]), asks.key)
        answer = inventory.answers.get(key)
        if answer is None:
            name = self._cluster.nodes.names[slot]
            answer = search(name, inventory.pools(slot), asks.asks, self._cluster.devices)
            inventory.remember(key, answer)
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

    def _asks_for(self, resources: tuple[str, ...]) -> AskSet:
        """What is to be searched for: claims without an allocation, and the one for extended resources."""
        table = self._cluster.devices
        wanted = [claim for claim in self._claims if claim.key not in table.allocations]
        names = (*(claim.key for claim in wanted), "", *resources)
        found = self._sets.get(names)
        if found is None:
            asks = [self._ask(claim) for claim in wanted]
            if resources:
                asks.append(ask_of(extended_claim(self._cluster, self._row, resources).claim, table))
            found = self._sets[names] = AskSet(tuple(asks), _key(asks, table))
        return found

    def freed_by_eviction(self, reason: Reason) -> bool:
        """Whether a node that refuses for this reason may take the pod once others are gone."""
        return self._cluster.devices.evictions_free and reason.code in (
            Code.CANNOT_ALLOCATE,
            Code.CLAIM_UNAVAILABLE,
        )

    # --- scores ---------------------------------------------------------------------------------------------

    def scores(self, slots: Rows) -> Ints | None:
        """How well prioritised requests are served, 0 to 100 for each node; None where there are none."""
        table = self._cluster.devices
        base = sum(_past_score(each) for each in self._held)
        wanted = [each for each in self._claims if each.key not in table.allocations]
        if not wanted or (not base and not any(self._ask(each).prioritised for each in wanted)):
            return None
        mask = np.zeros(self._cluster.nodes.slots, dtype=np.bool_)
        mask[slots] = True
        raw = np.zeros(len(mask), dtype=np.int64)
        for group, answer in self._answered(mask):
            if isinstance(answer, Found):
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
        if not asks.asks:
            return {}
        answer = self._answer(self.inventory, slot, asks)
        if not isinstance(answer, Found):
            return {}
        entries = [entry for pool in self.inventory.pools(slot) for entry in pool.entries]
        node, classes = self._cluster.nodes.names[slot], self._cluster.devices.classes
        return {
            ask.claim.key: allocation_of(ask, picks, entries, node, classes)
            for ask, picks in zip(asks.asks, answer.picks, strict=True)
        }

    def extended(self, slot: int) -> ExtendedClaim | None:
        """The claim that is to be made for the pod's extended resources on the node."""
        mask = np.zeros(self._cluster.nodes.slots, dtype=np.bool_)
        mask[slot] = True
        ((resources, _),) = self._by_resources(mask)
        return extended_claim(self._cluster, self._row, resources) if resources else None

    def fewest_devices(self, slot: int) -> int:
        """How many devices of the node the pod needs at least for itself, whatever a search would find."""
        mask = np.zeros(self._cluster.nodes.slots, dtype=np.bool_)
        mask[slot] = True
        ((resources, _),) = self._by_resources(mask)
        return sum(
            min(0 if ask.all or ask.admin else ask.count for ask in request)
            for each in self._asks_for(resources).asks
            for request in each.requests
        )

    def unavailable(self) -> list[ResourceClaim]:
        """Allocated claims of the pod that cannot be used on some node, or no more on any."""
        nodes = [each for each in self._cluster.nodes.objects if each is not None]
        return [each.claim for each in self._held if not each.usable or not all(map(each.admits, nodes))]

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


def has_devices(cluster: Cluster, rows: Sequence[int]) -> bool:
    """Whether one of these pods has to do with devices."""
    table, info = cluster.devices, cluster.pods.info
    if not table.enabled or (not table.classes and all(info[row].claims is None for row in rows)):
        return False
    return any(device_filter(cluster, row) is not None for row in rows)


__all__ = ["AllocationError", "DeviceFilter", "Verdict", "device_filter", "has_devices", "named"]
