"""Devices for pods: kube-scheduler's structured allocator over columns (dynamic resource allocation)."""

from reprieve.placement.devices.asks import AllocationError
from reprieve.placement.devices.claims import binding_state
from reprieve.placement.devices.extended import ExtendedClaim
from reprieve.placement.devices.filter import DeviceFilter, device_filter, has_devices, named

__all__ = [
    "AllocationError",
    "DeviceFilter",
    "ExtendedClaim",
    "binding_state",
    "device_filter",
    "has_devices",
    "named",
]
