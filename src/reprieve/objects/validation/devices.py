"""resource.k8s.io: what claims, templates, classes, slices and taint rules must be."""

from reprieve.objects.structure import REQUIRED
from reprieve.objects.validation.checks import (
    At,
    Problems,
    at_most_items,
    between,
    exactly_one,
    immutable,
    one_of,
    quantity,
    required,
    unique,
)
from reprieve.objects.validation.shared import node_selector

MOST_REQUESTS = MOST_SELECTORS = MOST_CONSTRAINTS = 32
MOST_ALTERNATIVES = 8
MOST_USERS = 256
MOST_DEVICES = 128
_NODES = ("nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection")


def claim(new: At, old: At | None) -> Problems:
    yield from _claim_spec(new.field("spec"))
    yield from at_most_items(new.field("status", "reservedFor"), MOST_USERS)
    if old is None:
        return
    yield from immutable(new.field("spec"), old.field("spec"))
    allocation, before = new.field("status", "allocation"), old.field("status", "allocation")
    if allocation.is_set and before.is_set:
        yield from immutable(allocation, before)
    if new.field("status", "reservedFor").items() and not allocation.is_set:
        yield allocation.problem("must be set where the claim is reserved", REQUIRED)


def template(new: At, old: At | None) -> Problems:
    yield from _claim_spec(new.field("spec", "spec"))
    if old is not None:
        yield from immutable(new.field("spec"), old.field("spec"))


def _claim_spec(spec: At) -> Problems:
    devices = spec.field("devices")
    requests = devices.field("requests")
    yield from at_most_items(requests, MOST_REQUESTS)
    yield from unique(each.field("name") for each in requests.items())
    for each in requests.items():
        yield from required(each.field("name"))
        yield from exactly_one(each, ("exactly", "firstAvailable"))
        if each.field("exactly").is_set:
            yield from _ask(each.field("exactly"))
        alternatives = each.field("firstAvailable")
        yield from at_most_items(alternatives, MOST_ALTERNATIVES)
        for alternative in alternatives.items():
            yield from required(alternative.field("name"))
            yield from _ask(alternative)
    yield from at_most_items(devices.field("constraints"), MOST_CONSTRAINTS)
    for each in devices.field("constraints").items():
        yield from exactly_one(each, ("matchAttribute", "distinctAttribute"))


def _ask(place: At) -> Problems:
    yield from required(place.field("deviceClassName"))
    yield from _selectors(place.field("selectors"))
    mode, count = place.field("allocationMode"), place.field("count")
    if mode.is_set:
        yield from one_of(mode, ("ExactCount", "All"))
    if mode.text == "All":
        if count.is_set and count.number != 0:
            yield count.problem("must not be specified when allocationMode is All")
    elif count.is_set:
        yield from between(count, 1, None)


def _selectors(place: At) -> Problems:
    yield from at_most_items(place, MOST_SELECTORS)
    for each in place.items():
        yield from required(each.field("cel"))
        if each.field("cel").is_set:
            yield from required(each.field("cel", "expression"))


def device_class(new: At, _old: At | None) -> Problems:
    yield from _selectors(new.field("spec", "selectors"))


def resource_slice(new: At, old: At | None) -> Problems:
    spec = new.field("spec")
    yield from required(spec.field("driver"))
    yield from required(spec.field("pool", "name"))
    yield from between(spec.field("pool", "resourceSliceCount"), 1, None)
    yield from exactly_one(spec, _NODES)
    if spec.field("nodeSelector").is_set:
        yield from node_selector(spec.field("nodeSelector"))
    yield from at_most_items(spec.field("devices"), MOST_DEVICES)
    yield from unique(each.field("name") for each in spec.field("devices").items())
    for device in spec.field("devices").items():
        yield from required(device.field("name"))
        for _, capacity in device.field("capacity").members():
            yield from quantity(capacity.field("value"))
    if old is not None:
        yield from immutable(spec.field("driver"), old.field("spec", "driver"))
        yield from immutable(spec.field("pool", "name"), old.field("spec", "pool", "name"))
        yield from immutable(spec.field("nodeName"), old.field("spec", "nodeName"))


def taint_rule(new: At, _old: At | None) -> Problems:
    taint = new.field("spec", "taint")
    yield from required(taint.field("key"))
    yield from required(taint.field("effect"))
