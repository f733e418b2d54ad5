"""Consumable capacity: how much a request takes of a device, and whether that is there.

Applies to every device: for one that is not shared the request is a minimum size. All amounts are billionths.
"""

from collections.abc import Mapping

from reprieve.objects import Quantity, devices, nano
from reprieve.placement.devices.models import Capacity, Model
from reprieve.placement.sentences import devices as sentences

NANO = 10**9
MILLI = 10**6
LARGEST = 2**63 - 1


class CapacityError(Exception):
    """A request that no device can be measured against."""


def needs(requested: Mapping[str, Quantity] | None, model: Model) -> dict[str, int] | None:
    """What the request takes of each capacity; None where the device cannot serve it at all."""
    requested = requested or {}
    if any(name not in model.capacity for name in requested):
        return None
    found = {}
    for name, capacity in model.capacity.items():
        need = _need(requested.get(name), capacity, name)
        if need < 0:
            raise CapacityError(sentences.negative_capacity(name))
        found[name] = need
    for name, capacity in model.capacity.items():
        if _violates(found[name], requested.get(name), capacity.policy):
            return None
    return found


def fits(need: Mapping[str, int], model: Model, *taken: Mapping[str, int]) -> bool:
    """Whether the need is left next to what others have taken."""
    for name, capacity in model.capacity.items():
        if need[name] + sum(each.get(name, 0) for each in taken) > capacity.value:
            return False
    return True


def _need(requested: Quantity | None, capacity: Capacity, name: str) -> int:
    policy = capacity.policy
    if requested is None:
        return nano(policy.default) if policy is not None and policy.default is not None else capacity.value
    wanted = nano(requested)
    if policy is None:
        return wanted
    if policy.valid_range is not None and policy.valid_range.min is not None:
        return _rounded(wanted, policy.valid_range, name, requested)
    return next((listed for each in policy.valid_values if (listed := nano(each)) >= wanted), wanted)


def _rounded(wanted: int, limits: devices.CapacityRange, name: str, written: Quantity) -> int:
    """Up to the next step from the minimum."""
    least = nano(limits.min or 0)
    if wanted < least:
        return least
    if limits.step is None:
        return wanted
    unit = MILLI if _in_thousandths(limits) else NANO
    if unit == MILLI and wanted % MILLI:
        raise CapacityError(sentences.request_is_too_fine(name, str(written)))
    if unit == NANO and wanted > LARGEST * NANO:
        raise CapacityError(sentences.request_is_too_large(name, str(written)))
    low, step, number = (-(-each // unit) for each in (least, nano(limits.step), wanted))
    steps = -(-(number - low) // step)
    if low + step * steps > LARGEST:
        text = sentences.rounded_request_is_too_large(name, str(written), thousandths=unit == MILLI)
        raise CapacityError(text)
    return (low + step * steps) * unit


def _in_thousandths(limits: devices.CapacityRange) -> bool:
    """Whether minimum, maximum and step are all whole thousandths; otherwise whole units count."""
    given = [nano(each) for each in (limits.min, limits.max, limits.step) if each is not None]
    small = all(each % MILLI == 0 and abs(each) <= LARGEST * MILLI for each in given)
    return small and (limits.step is None or nano(limits.step) >= MILLI)


def _violates(need: int, requested: Quantity | None, policy: devices.CapacityPolicy | None) -> bool:
    if policy is None or (policy.default is not None and requested is None):
        return False
    if policy.default is not None and requested == policy.default and need == nano(requested):
        return False
    limits = policy.valid_range
    if limits is not None:
        if limits.max is not None and need > nano(limits.max):
            return True
        if limits.step is None:
            return False
        unit = MILLI if _in_thousandths(limits) else NANO
        if unit == MILLI and need % MILLI:
            return True
        low, step, number = (-(-each // unit) for each in (nano(limits.min or 0), nano(limits.step), need))
        return (number - low) % step != 0
    return bool(policy.valid_values) and need not in [nano(each) for each in policy.valid_values]
