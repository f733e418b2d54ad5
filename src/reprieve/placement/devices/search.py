"""The search for devices on one node: depth first, the first complete answer counts.

Claims in order; in a claim requests in order; for a request devices in the order of the pools, each after the
one before it. A device that does not lead to an answer is put back and the next one is tried.

What makes the search short without changing its answer: after a device has led nowhere, an equal one that is
as free is not tried in its place. Whatever fits next to the second would have fitted next to the first.
"""

from collections.abc import Sequence
from typing import NamedTuple

from reprieve.cluster import DeviceId, DeviceTable, Shares
from reprieve.objects import devices
from reprieve.placement.devices import capacity
from reprieve.placement.devices.asks import MOST_RESULTS, AllocationError, Ask, ClaimAsk
from reprieve.placement.devices.constraints import Constraint, constraints_of
from reprieve.placement.devices.pools import INVALID, Counters, Entry, Pool
from reprieve.placement.reasons import Code, Reason
from reprieve.placement.sentences import devices as sentences

MOST_STEPS = 200_000
"""Tries for one node, then the attempt ends. kube-scheduler gives up after ten seconds."""

FIRST_CHOICE = 8
"""The score of a request that got its first choice; one less for each further one."""
NO_SHARES = Shares(0, {})


class Pick(NamedTuple):
    """A device that was taken."""

    ask: Ask
    at: int
    """The place of the device among those of the node."""
    consumed: dict[str, int] | None
    """Of a device that is shared: how much of each capacity, in billionths."""


class Found(NamedTuple):
    picks: tuple[tuple[Pick, ...], ...]
    """For each claim."""
    score: int
    """How well prioritised requests were served: 8 for a first choice, 7 for a second."""


class Refusal(NamedTuple):
    reason: Reason


CANNOT_ALLOCATE = Refusal(Reason(Code.CANNOT_ALLOCATE))
INVALID_POOLS = Refusal(Reason(Code.INVALID_POOLS))
Answer = Found | Refusal


class _TooMany(Exception):
    """The claim would get more devices than an allocation can list."""


def search(node: str, pools: Sequence[Pool], asks: Sequence[ClaimAsk], table: DeviceTable) -> Answer:
    """Devices for all claims, or why not. Raises `AllocationError`."""
    return _Search(node, pools, asks, table).run()


class _Search:
    def __init__(
        self, node: str, pools: Sequence[Pool], asks: Sequence[ClaimAsk], table: DeviceTable
    ) -> None:
        self._node = node
        self._pools = pools
        self._asks = asks
        self._table = table
        self._entries: list[Entry] = [entry for pool in pools for entry in pool.entries]
        self._pool_of: list[Pool] = [pool for pool in pools for _ in pool.entries]
        self._all: dict[int, list[tuple[int, Entry]]] = {}
        """Devices of requests for all of them, by the id of the request."""
        self._needs: dict[tuple[int, int], dict[str, int] | None] = {}
        self._taken: dict[DeviceId, list[int]] = {}
        """Devices that this search has taken, with the claims they are for."""
        self._shares: dict[DeviceId, list[dict[str, int]]] = {}
        self._counted: dict[int, Counters] = {}
        """Counters that this search has used, by pool."""
        self._left: dict[int, Counters] = {}
        """Counters that are left for this search, by pool."""
        self._picks: list[list[Pick]] = [[] for _ in asks]
        self._constraints: list[list[Constraint]] = []
        self._chosen: dict[tuple[int, int], int] = {}
        self._steps = 0

    def run(self) -> Answer:
        for each in self._asks:
            least = sum(min(self._number(ask) for ask in request) for request in each.requests)
            if least > MOST_RESULTS:
                raise AllocationError(sentences.too_many_devices(each.claim.key, least, MOST_RESULTS))
            self._constraints.append(constraints_of(each.claim.spec.devices.constraints))
        try:
            done = self._request(0, 0)
        except _TooMany:
            return CANNOT_ALLOCATE
        if not done:
            return INVALID_POOLS if any(pool.trouble == INVALID for pool in self._pools) else CANNOT_ALLOCATE
        score = sum(FIRST_CHOICE - index for index in self._chosen.values())
        return Found(tuple(tuple(picks) for picks in self._picks), score)

    # --- how many -------------------------------------------------------------------------------------------

    def _number(self, ask: Ask) -> int:
        if not ask.all:
            return ask.count
        found = self._all.get(id(ask))
        if found is None:
            found = self._all[id(ask)] = self._everything(ask)
        return len(found)

    def _everything(self, ask: Ask) -> list[tuple[int, Entry]]:
        found = []
        index = 0
        for pool in self._pools:
            if pool.trouble:
                invalid, name = pool.trouble == INVALID, "/".join(pool.id)
                raise AllocationError(
                    sentences.pool_is_incomplete(ask.claim, ask.sub or ask.base, name, invalid=invalid)
                )
            for entry in pool.entries:
                if self._selects(ask, entry):
                    need = self._need(ask, entry)
                    if need is not None and capacity.fits(need, entry.model):
                        found.append((index, entry))
                index += 1
        return found

    # --- the search -----------------------------------------------------------------------------------------

    def _request(self, claim: int, request: int) -> bool:
        """Serve a request and everything after it."""
        if claim == len(self._asks):
            return True
        asks = self._asks[claim].requests
        if request == len(asks):
            try:
                return self._request(claim + 1, 0)
            except _TooMany:
                return False
        alternatives = asks[request]
        if not alternatives[0].sub:
            return self._device(claim, request, alternatives[0], 0, 0)
        exceeded = True
        for index, ask in enumerate(alternatives):
            try:
                done = self._device(claim, request, ask, 0, 0)
            except _TooMany:
                continue
            exceeded = False
            if done:
                self._chosen[claim, request] = index
                return True
        if exceeded:
            raise _TooMany
        return False

    def _device(self, claim: int, request: int, ask: Ask, number: int, start: int) -> bool:
        """Find the next device of a request, then everything after it."""
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise AllocationError(sentences.timed_out(self._node))
        wanted = self._number(ask)
        if ask.all and not wanted:
            return False
        if number >= wanted:
            return self._request(claim, request + 1)
        if len(self._picks[claim]) + wanted - number > MOST_RESULTS:
            raise _TooMany
        if ask.all:
            index, _ = self._all[id(ask)][number]
            return self._try(claim, request, ask, number, index, must=True)
        failed: set[tuple[int, int]] = set()
        for index in range(start, len(self._entries)):
            entry = self._entries[index]
            if self._busy(ask, entry, claim):
                continue
            alike = (id(entry.model), id(self._pool_of[index]))
            if alike in failed and entry.here:
                continue
            if not self._selects(ask, entry) or not self._capacity_left(ask, entry):
                continue
            if self._try(claim, request, ask, number, index, must=False):
                return True
            if not entry.model.shareable and not ask.admin and entry.here:
                failed.add(alike)
        return False

    def _try(self, claim: int, request: int, ask: Ask, number: int, index: int, *, must: bool) -> bool:
        if not self._take(claim, ask, index, must):
            return False
        try:
            done = self._device(claim, request, ask, number + 1, 0 if must else index + 1)
        except BaseException:
            self._put_back(claim, ask, index)
            raise
        if not done:
            self._put_back(claim, ask, index)
        return done

    def _busy(self, ask: Ask, entry: Entry, claim: int) -> bool:
        if ask.admin:
            return claim in self._taken.get(entry.id, ())
        return entry.id in self._table.dedicated or bool(self._taken.get(entry.id))

    def _selects(self, ask: Ask, entry: Entry) -> bool:
        return ask.selects(entry.model.kind, entry.id) and entry.here

    # --- capacity -------------------------------------------------------------------------------------------

    def _need(self, ask: Ask, entry: Entry) -> dict[str, int] | None:
        key = (id(ask), id(entry.model))
        if key not in self._needs:
            requested = ask.spec.capacity.requests if ask.spec.capacity is not None else None
            try:
                self._needs[key] = capacity.needs(requested, entry.model)
            except capacity.CapacityError as error:
                device = "/".join(entry.id)
                text = sentences.capacity_cannot_be_checked(
                    ask.claim, ask.sub or ask.base, device, str(error)
                )
                raise AllocationError(text) from None
        return self._needs[key]

    def _capacity_left(self, ask: Ask, entry: Entry) -> bool:
        if not entry.model.capacity and ask.spec.capacity is None:
            return True
        need = self._need(ask, entry)
        if need is None:
            return False
        held = self._table.shared.get(entry.id, NO_SHARES).consumed
        return capacity.fits(need, entry.model, held, *self._shares.get(entry.id, ()))

    # --- taking and putting back ----------------------------------------------------------------------------

    def _take(self, claim: int, ask: Ask, index: int, must: bool) -> bool:
        entry = self._entries[index]
        model = entry.model
        if (not model.shareable or not ask.admin) and self._busy(ask, entry, claim):
            return False
        charged = bool(model.counters) and not (model.shareable and self._is_shared(entry.id))
        if charged and not self._count(index, 1):
            return False
        if not self._add(claim, ask, entry, must, index, charged):
            return False
        consumed: dict[str, int] | None = None
        if not self._capacity_left(ask, entry):
            self._remove(claim, ask, index, charged)
            return False
        if model.shareable:
            consumed = self._need(ask, entry) or {}
            self._shares.setdefault(entry.id, []).append(consumed)
        else:
            self._taken.setdefault(entry.id, []).append(claim)
        self._picks[claim].append(Pick(ask, index, consumed))
        return True

    def _add(self, claim: int, ask: Ask, entry: Entry, must: bool, index: int, charged: bool) -> bool:
        """Taints and constraints, after counters were charged: what fails here gives them back."""
        if any(not _tolerated(taint, ask.spec.tolerations) for taint in entry.model.taints):
            if charged:
                self._count(index, -1)
            return False
        added: list[Constraint] = []
        for each in self._constraints[claim]:
            if not each.add(ask, entry):
                for done in added:
                    done.remove(ask)
                if charged:
                    self._count(index, -1)
                if must:
                    device = "/".join(entry.id)
                    raise AllocationError(
                        sentences.constraint_forbids(ask.claim, ask.sub or ask.base, device)
                    )
                return False
            added.append(each)
        return True

    def _remove(self, claim: int, ask: Ask, index: int, charged: bool) -> None:
        for each in self._constraints[claim]:
            each.remove(ask)
        if charged:
            self._count(index, -1)

    def _put_back(self, claim: int, ask: Ask, index: int) -> None:
        entry = self._entries[index]
        self._picks[claim].pop()
        if entry.model.shareable:
            self._shares[entry.id].pop()
            if not self._shares[entry.id]:
                del self._shares[entry.id]
        else:
            self._taken[entry.id].remove(claim)
        charged = bool(entry.model.counters) and not (entry.model.shareable and self._is_shared(entry.id))
        self._remove(claim, ask, index, charged)

    def _is_shared(self, device: DeviceId) -> bool:
        return device in self._table.shared or device in self._shares

    # --- counters -------------------------------------------------------------------------------------------

    def _count(self, index: int, sign: int) -> bool:
        """Charge a device's counters if all of its pool's counters suffice, or give them back."""
        pool = self._pool_of[index]
        used = self._counted.setdefault(id(pool), {})
        for key, amount in self._entries[index].model.counters:
            used[key] = used.get(key, 0) + sign * amount
        if sign < 0:
            return True
        left = self._available(pool)
        if any(number < used.get(key, 0) for key, number in left.items()):
            self._count(index, -1)
            return False
        return True

    def _available(self, pool: Pool) -> Counters:
        found = self._left.get(id(pool))
        if found is None:
            found = self._left[id(pool)] = dict(pool.counters)
            for entry in (*pool.entries, *pool.elsewhere):
                if entry.id in self._table.dedicated or entry.id in self._table.shared:
                    for key, amount in entry.model.counters:
                        found[key] -= amount
        return found


def _tolerated(taint: devices.DeviceTaint, tolerations: Sequence[devices.DeviceToleration]) -> bool:
    return any(
        (not each.effect or each.effect == taint.effect)
        and (not each.key or each.key == taint.key)
        and (each.operator == "Exists" or (each.operator in ("", "Equal") and each.value == taint.value))
        for each in tolerations
    )
