"""resource.k8s.io/v1: what the allocation of devices (dynamic resource allocation) reads."""

# ruff: noqa: RUF012 - msgspec gives every instance its own empty dict

from typing import Any

import msgspec

from reprieve.objects.core import NodeSelector, Quantity
from reprieve.objects.meta import Condition, Int64, Object, Time, View

EXACT_COUNT = "ExactCount"
ALL = "All"
EXTENDED_CLAIM = "resource.kubernetes.io/extended-resource-claim"
"""The annotation of the claim that stands for the extended resources of the pod that owns it."""


class CelSelector(View):
    expression: str = ""


class DeviceSelector(View):
    cel: CelSelector | None = None


class DeviceToleration(View):
    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: Int64 | None = None


class CapacityRequests(View):
    requests: dict[str, Quantity] = {}


class DeviceAsk(View):
    """What an exact request and a subrequest have in common: which devices, and how many of them."""

    device_class_name: str = ""
    selectors: tuple[DeviceSelector, ...] = ()
    allocation_mode: str = EXACT_COUNT
    count: Int64 = 1
    tolerations: tuple[DeviceToleration, ...] = ()
    capacity: CapacityRequests | None = None


class ExactDeviceRequest(DeviceAsk):
    admin_access: bool | None = None


class DeviceSubRequest(DeviceAsk):
    name: str = ""


class DeviceRequest(View):
    """Either `exactly` or `firstAvailable`."""

    name: str = ""
    exactly: ExactDeviceRequest | None = None
    first_available: tuple[DeviceSubRequest, ...] = ()


class DeviceConstraint(View):
    requests: tuple[str, ...] = ()
    match_attribute: str | None = None
    distinct_attribute: str | None = None


class OpaqueConfiguration(View):
    driver: str = ""
    parameters: Any = None


class DeviceConfiguration(View):
    opaque: OpaqueConfiguration | None = None


class ClaimConfiguration(DeviceConfiguration):
    requests: tuple[str, ...] = ()


class DeviceClaim(View):
    requests: tuple[DeviceRequest, ...] = ()
    constraints: tuple[DeviceConstraint, ...] = ()
    config: tuple[ClaimConfiguration, ...] = ()


class ResourceClaimSpec(View):
    devices: DeviceClaim = DeviceClaim()


class DeviceResult(View):
    """One allocated device."""

    request: str = ""
    driver: str = ""
    pool: str = ""
    device: str = ""
    admin_access: bool | None = None
    tolerations: tuple[DeviceToleration, ...] = ()
    binding_conditions: tuple[str, ...] = ()
    binding_failure_conditions: tuple[str, ...] = ()
    share_id: str = msgspec.field(name="shareID", default="")
    consumed_capacity: dict[str, Quantity] = {}


class AllocationConfiguration(DeviceConfiguration):
    source: str = ""
    requests: tuple[str, ...] = ()


class DeviceAllocation(View):
    results: tuple[DeviceResult, ...] = ()
    config: tuple[AllocationConfiguration, ...] = ()


class Allocation(View):
    devices: DeviceAllocation = DeviceAllocation()
    node_selector: NodeSelector | None = None
    allocation_timestamp: Time | None = None


class ConsumerReference(View):
    """Who uses a claim: a pod or a PodGroup of its namespace."""

    resource: str = ""
    name: str = ""
    uid: str = ""
    api_group: str = ""


class AllocatedDeviceStatus(View):
    driver: str = ""
    pool: str = ""
    device: str = ""
    share_id: str = msgspec.field(name="shareID", default="")
    conditions: tuple[Condition, ...] = ()


class ResourceClaimStatus(View):
    allocation: Allocation | None = None
    reserved_for: tuple[ConsumerReference, ...] = ()
    devices: tuple[AllocatedDeviceStatus, ...] = ()


class ResourceClaim(Object):
    spec: ResourceClaimSpec = ResourceClaimSpec()
    status: ResourceClaimStatus = ResourceClaimStatus()


class ClaimTemplateBody(View):
    spec: ResourceClaimSpec = ResourceClaimSpec()


class ResourceClaimTemplate(Object):
    spec: ClaimTemplateBody = ClaimTemplateBody()


class DeviceClassSpec(View):
    selectors: tuple[DeviceSelector, ...] = ()
    config: tuple[DeviceConfiguration, ...] = ()
    extended_resource_name: str = ""


class DeviceClass(Object):
    spec: DeviceClassSpec = DeviceClassSpec()


class DeviceAttribute(View):
    """Exactly one member is set."""

    int_value: Int64 | None = msgspec.field(name="int", default=None)
    bool_value: bool | None = msgspec.field(name="bool", default=None)
    string: str | None = None
    version: str | None = None

    @property
    def kind_and_value(self) -> tuple[str, str | int | bool] | None:
        if self.int_value is not None:
            return "int", self.int_value
        if self.bool_value is not None:
            return "bool", self.bool_value
        if self.string is not None:
            return "string", self.string
        return None if self.version is None else ("version", self.version)


class CapacityRange(View):
    min: Quantity | None = None
    max: Quantity | None = None
    step: Quantity | None = None


class CapacityPolicy(View):
    default: Quantity | None = None
    valid_range: CapacityRange | None = None
    valid_values: tuple[Quantity, ...] = ()


class DeviceCapacity(View):
    value: Quantity = 0
    request_policy: CapacityPolicy | None = None


class DeviceTaint(View):
    key: str = ""
    value: str = ""
    effect: str = ""


class Counter(View):
    value: Quantity = 0


class CounterConsumption(View):
    counter_set: str = ""
    counters: dict[str, Counter] = {}


class CounterSet(View):
    name: str = ""
    counters: dict[str, Counter] = {}


class Device(View):
    name: str = ""
    attributes: dict[str, DeviceAttribute] = {}
    capacity: dict[str, DeviceCapacity] = {}
    taints: tuple[DeviceTaint, ...] = ()
    consumes_counters: tuple[CounterConsumption, ...] = ()
    allow_multiple_allocations: bool = False
    binding_conditions: tuple[str, ...] = ()
    binding_failure_conditions: tuple[str, ...] = ()
    binds_to_node: bool = False
    node_name: str = ""
    node_selector: NodeSelector | None = None
    all_nodes: bool = False


class ResourcePool(View):
    name: str = ""
    generation: Int64 = 0
    resource_slice_count: Int64 = 1


class ResourceSliceSpec(View):
    driver: str = ""
    pool: ResourcePool = ResourcePool()
    node_name: str = ""
    node_selector: NodeSelector | None = None
    all_nodes: bool = False
    per_device_node_selection: bool = False
    devices: tuple[Device, ...] = ()
    shared_counters: tuple[CounterSet, ...] = ()


class ResourceSlice(Object):
    spec: ResourceSliceSpec = ResourceSliceSpec()


class TaintedDevices(View):
    driver: str | None = None
    pool: str | None = None
    device: str | None = None


class DeviceTaintRuleSpec(View):
    device_selector: TaintedDevices | None = None
    taint: DeviceTaint = DeviceTaint()


class DeviceTaintRule(Object):
    spec: DeviceTaintRuleSpec = DeviceTaintRuleSpec()


DEVICE_KINDS: tuple[type[Object], ...] = (DeviceClass, DeviceTaintRule, ResourceClaim, ResourceSlice)
"""What decides which devices a pod gets."""
