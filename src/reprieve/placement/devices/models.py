"""What devices are: everything about a device except its name, read once for all equal ones."""

import msgspec

from reprieve.objects import Device, devices, nano
from reprieve.placement.devices.cel import Kind, kind_of

_encoder = msgspec.json.Encoder()
_models: dict[tuple[str, bytes], "Model"] = {}
MOST_MODELS = 100_000


class Capacity(msgspec.Struct, frozen=True):
    """One capacity in billionths, with the policy for requests of it."""

    value: int
    policy: devices.CapacityPolicy | None


class Model:
    """Devices of one driver that differ in nothing but their names. Equal models are one object."""

    __slots__ = ("attributes", "binding", "capacity", "counters", "device", "kind", "shareable", "taints")

    def __init__(self, driver: str, device: Device) -> None:
        self.device = device
        self.kind: Kind = kind_of(driver, device)
        self.shareable = device.allow_multiple_allocations
        self.binding = bool(device.binding_conditions)
        self.taints = tuple(each for each in device.taints if each.effect in ("NoSchedule", "NoExecute"))
        """Only those that keep claims away."""
        self.attributes: dict[str, tuple[str, str | int | bool]] = {
            name: (kind, value) for name, kind, value in self.kind.attributes
        }
        self.capacity: dict[str, Capacity] = {
            name: Capacity(nano(each.value), each.request_policy) for name, each in device.capacity.items()
        }
        self.counters: tuple[tuple[tuple[str, str], int], ...] = tuple(
            ((consumption.counter_set, name), nano(counter.value))
            for consumption in device.consumes_counters
            for name, counter in consumption.counters.items()
        )
        """((counter set, counter), billionths)"""


def model_of(driver: str, device: Device) -> Model:
    key = driver, _encoder.encode(msgspec.structs.replace(device, name=""))
    found = _models.get(key)
    if found is None:
        if len(_models) >= MOST_MODELS:
            _models.clear()
        found = _models[key] = Model(driver, device)
    return found
