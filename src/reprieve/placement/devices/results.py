"""From the devices of a search to the allocation that is written into a claim."""

from collections.abc import Iterable, Mapping, Sequence

from reprieve.objects import (
    Allocation,
    DeviceClass,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    devices,
    written,
)
from reprieve.placement.devices.asks import Ask, ClaimAsk
from reprieve.placement.devices.pools import Entry
from reprieve.placement.devices.search import Pick

SHARE = "share"
"""Stands for a share's id until it is written: whoever writes it makes a random one."""


def allocation_of(
    ask: ClaimAsk,
    picks: Sequence[Pick],
    entries: Sequence[Entry],
    node: str,
    classes: Mapping[str, DeviceClass],
) -> Allocation:
    results = tuple(_result(pick, entries[pick.at]) for pick in picks)
    chosen = [entries[pick.at] for pick in picks]
    return Allocation(
        devices=devices.DeviceAllocation(results=results, config=_configuration(ask, picks, classes)),
        node_selector=_node_selector(chosen, node),
    )


def _configuration(
    ask: ClaimAsk, picks: Sequence[Pick], classes: Mapping[str, DeviceClass]
) -> tuple[devices.AllocationConfiguration, ...]:
    """What classes say, once a class; then what the claim says for the requests that were served."""
    names = {pick.ask.name for pick in picks}
    served = [next((each for each in request if each.name in names), request[0]) for request in ask.requests]
    by_class: dict[str, list[str]] = {}
    for each in served:
        by_class.setdefault(each.spec.device_class_name, []).append(each.name)
    entries = [
        ("FromClass", requests, config.opaque)
        for name, requests in by_class.items()
        for config in classes[name].spec.config
    ]
    entries += [
        ("FromClaim", list(config.requests), config.opaque)
        for config in ask.claim.spec.devices.config
        if not config.requests or any(_applies(config.requests, each) for each in served)
    ]
    return tuple(
        devices.AllocationConfiguration(
            source=source,
            requests=() if all(_applies(requests, each) for each in served) else tuple(requests),
            opaque=opaque,
        )
        for source, requests, opaque in entries
    )


def _applies(requests: Iterable[str], ask: Ask) -> bool:
    return ask.base in requests or ask.name in requests


def _result(pick: Pick, entry: Entry) -> devices.DeviceResult:
    driver, pool, name = entry.id
    return devices.DeviceResult(
        request=pick.ask.name,
        driver=driver,
        pool=pool,
        device=name,
        admin_access=True if pick.ask.admin else None,
        tolerations=pick.ask.spec.tolerations,
        binding_conditions=entry.device.binding_conditions,
        binding_failure_conditions=entry.device.binding_failure_conditions,
        share_id=SHARE if pick.consumed is not None else "",
        consumed_capacity=_written(pick.consumed or {}),
    )


def _written(consumed: dict[str, int]) -> dict[str, str | int | float]:
    return {name: written(name, amount) for name, amount in consumed.items()}


def _node_selector(entries: Iterable[Entry], node: str) -> NodeSelector | None:
    """The chosen node if a device is local to one; otherwise all that the devices' selectors require."""
    fields: list[NodeSelectorRequirement] = []
    expressions: list[NodeSelectorRequirement] = []
    for entry in entries:
        spec = entry.slice.spec
        own = spec.per_device_node_selection
        name = entry.device.node_name if own else spec.node_name
        selector = entry.device.node_selector if own else spec.node_selector
        if name or entry.device.binds_to_node:
            only = NodeSelectorRequirement(key="metadata.name", operator="In", values=(node,))
            return NodeSelector(node_selector_terms=(NodeSelectorTerm(match_fields=(only,)),))
        if selector is not None and selector.node_selector_terms:
            term = selector.node_selector_terms[0]
            _add_new(term.match_fields, fields)
            _add_new(term.match_expressions, expressions)
    if not fields and not expressions:
        return None
    term = NodeSelectorTerm(match_fields=tuple(fields), match_expressions=tuple(expressions))
    return NodeSelector(node_selector_terms=(term,))


def _add_new(more: Iterable[NodeSelectorRequirement], into: list[NodeSelectorRequirement]) -> None:
    for each in more:
        known = any(
            (old.key, old.operator, set(old.values)) == (each.key, each.operator, set(each.values))
            for old in into
        )
        if not known:
            into.append(each)
