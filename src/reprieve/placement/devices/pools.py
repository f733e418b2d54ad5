"""The pools of a node: which slices count, in which order their devices are tried, and which pools are unfit.

Order of devices:

1. Pools without binding conditions, then pools in which a device has some.
2. Pools by driver, then by name.
3. Slices of a pool by name.
4. Devices as the slice lists them.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from reprieve.cluster import DeviceId, DeviceTable, PoolId
from reprieve.objects import (
    Device,
    DeviceTaintRule,
    NodeSelector,
    ResourceSlice,
    devices,
    nano,
    node_selector_matches,
)
from reprieve.placement.devices.models import Model, model_of

INCOMPLETE, INVALID = "incomplete", "invalid"
_encoder = msgspec.json.Encoder()

Site = tuple[str, dict[str, str]]
"""(name, labels) of a node."""
Counters = dict[tuple[str, str], int]
"""(counter set, counter) to billionths."""


class Entry(NamedTuple):
    """A device that can be tried for a node."""

    id: DeviceId
    model: Model
    here: bool
    """Whether the device's own node rule admits the node; true unless its slice leaves that to devices."""
    slice: ResourceSlice
    device: Device
    """As it stands in its slice, with the taints of rules."""


class Pool:
    """A pool as one node, or every node with the same slices of it, sees it."""

    __slots__ = (
        "_entries", "_ids", "_make", "_slice", "binding", "counters", "elsewhere", "id", "shape", "state",
        "state_at", "trouble",
    )  # fmt: skip

    def __init__(
        self,
        id: PoolId,
        entries: tuple[Entry, ...] = (),
        elsewhere: tuple[Entry, ...] = (),
        counters: Counters | None = None,
        trouble: str = "",
    ) -> None:
        self.id = id
        self._entries: tuple[Entry, ...] | None = entries
        self._make: Callable[[], tuple[Entry, ...]] | None = None
        self._ids: tuple[DeviceId, ...] | None = None
        self._slice: ResourceSlice | None = None
        self.elsewhere = elsewhere
        """Devices of slices for other nodes: they draw on the same counters."""
        self.counters: Counters = counters or {}
        self.trouble = trouble
        self.binding = any(each.model.binding for each in entries)
        """Pools with binding conditions are tried last."""
        models = tuple((each.model, each.here, each.id[2]) for each in entries)
        others = tuple(each.model for each in elsewhere)
        self.shape: object = (id[0], trouble, models, others, tuple(sorted(self.counters.items())))
        """Equal for pools that no search can tell apart but by their names."""
        self.state: object = None
        self.state_at = -1

    @staticmethod
    def plain(
        id: PoolId, shape: "PlainShape", slice: ResourceSlice, make: "Callable[[], tuple[Entry, ...]]"
    ) -> "Pool":
        """Of one slice on one node, of which there are many alike: its devices are listed when needed."""
        found = Pool.__new__(Pool)
        found.id, found.shape, found.trouble, found.binding = id, shape, shape.trouble, shape.binding
        found.elsewhere, found.counters = (), {}
        found._entries, found._make, found._ids, found._slice = None, make, None, slice
        found.state, found.state_at = None, -1
        return found

    @property
    def entries(self) -> tuple[Entry, ...]:
        if self._entries is None:
            assert self._make is not None
            self._entries = () if self.trouble else self._make()
        return self._entries

    @property
    def ids(self) -> tuple[DeviceId, ...]:
        """Devices whose holders decide what is left of the pool."""
        if self._ids is None and self._slice is not None:
            driver, pool = self.id
            self._ids = tuple([(driver, pool, each.name) for each in self._slice.spec.devices])
        if self._ids is None:
            counted = (*self.entries, *self.elsewhere) if self.counters else self.entries
            self._ids = tuple(each.id for each in counted)
        return self._ids

    def holders(self, table: DeviceTable) -> object:
        """Who holds its devices, as a key: equal for equal situations."""
        if self.id not in table.used_pools:
            return 0
        dedicated, shared = table.dedicated, table.shared
        bits, bit = 0, 1
        for id in self.ids:
            if id in dedicated:
                bits |= bit
            bit <<= 1
        parts = []
        for index, id in enumerate(self.ids) if shared else ():
            if (shares := shared.get(id)) is not None:
                parts.append((index, shares.holders, tuple(sorted(shares.consumed.items()))))
        return (bits, tuple(parts)) if parts else bits


class PlainShape:
    """The devices of a slice without its names; equal slices share one."""

    __slots__ = ("binding", "trouble")

    def __init__(self, entries: Iterable[Entry]) -> None:
        entries = tuple(entries)
        twice = len({each.id for each in entries}) < len(entries)
        unknown = any(each.device.consumes_counters for each in entries)
        self.trouble = INVALID if twice or unknown else ""
        self.binding = any(each.model.binding for each in entries)


class Catalogue:
    """All slices, by what they are looked up by; taint rules are applied."""

    def __init__(self, table: DeviceTable) -> None:
        self._table = table
        self.on_node: dict[str, list[ResourceSlice]] = {}
        self.shared: list[ResourceSlice] = []
        self.of_pool: dict[PoolId, list[ResourceSlice]] = {}
        for slice in table.slices.values():
            spec = slice.spec
            self.of_pool.setdefault((spec.driver, spec.pool.name), []).append(slice)
            if spec.node_name:
                self.on_node.setdefault(spec.node_name, []).append(slice)
            else:
                self.shared.append(slice)
        self._devices: dict[str, tuple[tuple[Device, Model], ...]] = {}
        self._pools: dict[object, Pool] = {}
        self._plain: dict[tuple[str, bytes], PlainShape] = {}

    def devices(self, slice: ResourceSlice) -> tuple[tuple[Device, Model], ...]:
        found = self._devices.get(slice.name)
        if found is None:
            rules, driver = list(self._table.rules.values()), slice.spec.driver
            tainted = [with_rules(each, slice, rules) for each in slice.spec.devices]
            found = tuple((each, model_of(driver, each)) for each in tainted)
            self._devices[slice.name] = found
        return found

    def pools_for(self, site: Site) -> tuple[Pool, ...]:
        """The pools of a node, in the order in which they are tried."""
        own = self.on_node.get(site[0], ())
        if len(own) == 1 and not self.shared and not self._table.rules and _is_plain(own[0]):
            return (self._plain_pool(own[0]),)
        relevant: dict[PoolId, list[ResourceSlice]] = {}
        for slice in (*own, *self.shared):
            if slice.spec.node_name or self._is_relevant(slice, site):
                _add(relevant.setdefault((slice.spec.driver, slice.spec.pool.name), []), slice)
        pools = [
            pool for id, slices in relevant.items() if (pool := self._pool(id, slices, site)) is not None
        ]
        return tuple(sorted(pools, key=lambda pool: (pool.binding, pool.id)))

    def _plain_pool(self, slice: ResourceSlice) -> Pool:
        spec = slice.spec
        id = (spec.driver, spec.pool.name)

        def make() -> tuple[Entry, ...]:
            return tuple(
                Entry((*id, device.name), model, True, slice, device) for device, model in self.devices(slice)
            )

        key = (spec.driver, _encoder.encode(spec.devices))
        shape = self._plain.get(key)
        if shape is None:
            shape = self._plain[key] = PlainShape(make())
        return Pool.plain(id, shape, slice, make)

    def _is_relevant(self, slice: ResourceSlice, site: Site) -> bool:
        spec = slice.spec
        if spec.all_nodes:
            return True
        if spec.node_selector is not None:
            return node_selector_matches(spec.node_selector, site[1], site[0])
        return spec.per_device_node_selection and any(_admits(each, site) for each in spec.devices)

    def _pool(self, id: PoolId, slices: list[ResourceSlice], site: Site) -> Pool | None:
        """None for a pool that is being replaced by a newer generation."""
        count, generation = slices[0].spec.pool.resource_slice_count, slices[0].spec.pool.generation
        everywhere: list[ResourceSlice] = []
        if len(slices) != count:
            all_of_it = self.of_pool[id]
            if any(each.spec.pool.generation > generation for each in all_of_it):
                return None
            everywhere = [each for each in all_of_it if each.spec.pool.generation == generation]
            if len(everywhere) != count:
                return self._kept((id, INCOMPLETE), Pool(id, trouble=INCOMPLETE))
        slices = sorted(slices, key=lambda each: each.name)
        names = {each.name for each in slices}
        others = sorted((each for each in everywhere if each.name not in names), key=lambda each: each.name)
        here = tuple(
            tuple(_admits(each, site) for each in slice.spec.devices)
            if slice.spec.per_device_node_selection
            else ()
            for slice in slices
        )
        key = (id, tuple(each.name for each in slices), tuple(each.name for each in others), here)
        found = self._pools.get(key)
        return found if found is not None else self._kept(key, self._built(id, slices, others, here))

    def _kept(self, key: object, pool: Pool) -> Pool:
        return self._pools.setdefault(key, pool)

    def _built(
        self,
        id: PoolId,
        slices: Sequence[ResourceSlice],
        others: Sequence[ResourceSlice],
        here: Sequence[tuple[bool, ...]],
    ) -> Pool:
        sets = [each for slice in (*slices, *others) for each in slice.spec.shared_counters]
        counters = {
            (each.name, name): nano(counter.value) for each in sets for name, counter in each.counters.items()
        }
        entries = tuple(
            Entry((*id, device.name), model, not admits or admits[index], slice, device)
            for slice, admits in zip(slices, here, strict=True)
            if not slice.spec.shared_counters
            for index, (device, model) in enumerate(self.devices(slice))
        )
        elsewhere = tuple(
            Entry((*id, device.name), model, False, slice, device)
            for slice in others
            if not slice.spec.shared_counters
            for device, model in self.devices(slice)
        )
        twice = len({each.id for each in entries}) < len(entries) or len({s.name for s in sets}) < len(sets)
        unknown = any(
            key not in counters for each in (*entries, *elsewhere) for key, _ in each.model.counters
        )
        if twice or unknown or _names_unknown_set(sets, (*entries, *elsewhere)):
            return Pool(id, trouble=INVALID)
        return Pool(id, entries, elsewhere, counters)


def _is_plain(slice: ResourceSlice) -> bool:
    """Whether it is a whole pool by itself, with nothing but devices."""
    spec = slice.spec
    return (
        spec.pool.resource_slice_count == 1
        and not spec.shared_counters
        and not spec.per_device_node_selection
    )


def _names_unknown_set(sets: Iterable[devices.CounterSet], entries: Iterable[Entry]) -> bool:
    """A consumption that lists no counter still must name a set that exists."""
    names = {each.name for each in sets}
    return any(each.counter_set not in names for entry in entries for each in entry.device.consumes_counters)


def _add(slices: list[ResourceSlice], slice: ResourceSlice) -> None:
    """Only the newest generation stays."""
    if not slices or slice.spec.pool.generation == slices[0].spec.pool.generation:
        slices.append(slice)
    elif slice.spec.pool.generation > slices[0].spec.pool.generation:
        slices[:] = [slice]


def _admits(device: Device, site: Site) -> bool:
    return matches_node(site, device.node_name, device.all_nodes, device.node_selector)


def matches_node(site: Site, node_name: str, all_nodes: bool, selector: NodeSelector | None) -> bool:
    if node_name:
        return node_name == site[0]
    return all_nodes or (selector is not None and node_selector_matches(selector, site[1], site[0]))


def with_rules(device: Device, slice: ResourceSlice, rules: Iterable[DeviceTaintRule]) -> Device:
    """The device with the taints that DeviceTaintRules add."""
    taints = []
    for rule in rules:
        wanted = rule.spec.device_selector
        names = (slice.spec.driver, slice.spec.pool.name, device.name)
        if wanted is None or all(
            each is None or each == name
            for each, name in zip((wanted.driver, wanted.pool, wanted.device), names, strict=True)
        ):
            taints.append(rule.spec.taint)
    return replace(device, taints=(*device.taints, *taints)) if taints else device
