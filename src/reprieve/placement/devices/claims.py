"""The claims of a pod: which ones it has, which are allocated, and why it may have to wait for one."""

from typing import NamedTuple

from reprieve.cluster import Cluster, DeviceTable
from reprieve.objects import (
    AllocatedDeviceStatus,
    Allocation,
    DeviceResult,
    Node,
    ResourceClaim,
    find_condition,
    node_selector_matches,
    split_key,
)
from reprieve.placement.reasons import Code, Reason
from reprieve.placement.sentences import devices as sentences

BINDING_TIMEOUT = 600 * 1_000_000
"""Microseconds that binding conditions may take."""


class Refused(Exception):
    """The pod cannot go to any node. `early`: it does not even enter the queue."""

    def __init__(self, code: Code, *values: str, early: bool = False) -> None:
        self.reason, self.early = Reason(code, values), early
        super().__init__(self.reason)


class Held(NamedTuple):
    """A claim of the pod that is allocated."""

    claim: ResourceClaim
    allocation: Allocation
    usable: bool
    """Whether its binding conditions can still be met."""

    def admits(self, node: Node) -> bool:
        selector = self.allocation.node_selector
        return selector is None or node_selector_matches(selector, node.metadata.labels, node.name)


def claims_of(cluster: Cluster, row: int) -> tuple[ResourceClaim, ...]:
    """The claims that the pod names. Raises `Refused` for one that is not there, or not its own."""
    info, table = cluster.pods.info[row], cluster.devices
    if info.claims is None:
        return ()
    key = cluster.pods.keys[row]
    namespace, _ = split_key(key)
    found = []
    for each in info.claims.named:
        name, checked = each.resource_claim_name, False
        if name is None:
            if each.resource_claim_template_name is None:
                raise Refused(Code.CLAIM_NAMES_NOTHING, key, each.name, early=True)
            if each.name not in info.claims.made:
                raise Refused(Code.CLAIM_NOT_MADE, key, early=True)
            name, checked = info.claims.made[each.name], True
            if name is None:
                continue
        claim = table.claims.get(f"{namespace}/{name}")
        if claim is None:
            raise Refused(Code.CLAIM_NOT_FOUND, f"{namespace}/{name}", early=True)
        if claim.metadata.deletion_timestamp is not None:
            raise Refused(Code.CLAIM_DELETED, name, early=True)
        if checked:
            _check_owner(cluster, row, claim)
        found.append(claim)
    return tuple(found)


def _check_owner(cluster: Cluster, row: int, claim: ResourceClaim) -> None:
    key, uid = cluster.pods.keys[row], cluster.pods.info[row].uid
    owner = next((each for each in claim.metadata.owner_references if each.controller), None)
    if owner is not None and owner.uid == uid and (uid or owner.name == split_key(key)[1]):
        return
    group = int(cluster.pods.group[row])
    if group < 0 or not cluster.devices.group_claims:
        raise Refused(Code.CLAIM_OF_ANOTHER_POD, claim.key, key, early=True)
    name = split_key(cluster.groups.keys[group])[1]
    of_group = owner is not None and owner.kind == "PodGroup" and owner.name == name
    if not of_group or owner is None or not owner.api_version.startswith("scheduling."):
        raise Refused(Code.CLAIM_OF_ANOTHER_GROUP, claim.key, key, name, early=True)


def checked_claims(cluster: Cluster, row: int) -> tuple[ResourceClaim, ...]:
    """The pod's claims, in its order. Raises `Refused` for what keeps it from every node."""
    claims = claims_of(cluster, row)
    for claim in claims:
        if claim.key in cluster.devices.assumed:
            raise Refused(Code.CLAIM_BEING_ALLOCATED, claim.key)
        if claim.key not in cluster.devices.allocations:
            _check_classes(cluster, claim)
    return claims


def held(claim: ResourceClaim, table: DeviceTable) -> Held | None:
    """The claim with its present allocation, if it has one."""
    allocation = table.allocations.get(claim.key)
    if allocation is None:
        return None
    return Held(claim, allocation, _usable(claim, allocation, table.now))


def _check_classes(cluster: Cluster, claim: ResourceClaim) -> None:
    for request in claim.spec.devices.requests:
        if request.exactly is not None:
            named = [(request.name, request.exactly.device_class_name)]
        elif request.first_available:
            named = [(f"{request.name}/{s.name}", s.device_class_name) for s in request.first_available]
        else:
            raise Refused(Code.UNKNOWN_REQUEST_TYPE, claim.key, request.name)
        for name, cls in named:
            if cls not in cluster.devices.classes:
                raise Refused(Code.NO_SUCH_CLASS, name, cls)


# --- binding conditions -------------------------------------------------------------------------------------


def _usable(claim: ResourceClaim, allocation: Allocation, now: int | None) -> bool:
    failed, ready = binding_state(claim, allocation)
    if failed:
        return False
    stamp = allocation.allocation_timestamp
    waits = any(each.binding_conditions for each in allocation.devices.results)
    if ready or not waits or stamp is None or now is None:
        return True
    return int(stamp.timestamp() * 1_000_000) + BINDING_TIMEOUT >= now


def binding_state(claim: ResourceClaim, allocation: Allocation) -> tuple[str, bool]:
    """(why binding failed, whether all its conditions are met)."""
    for result in allocation.devices.results:
        if not result.binding_conditions:
            continue
        status = _status_of(claim, result)
        if status is None:
            return "", False
        for name in result.binding_failure_conditions:
            found = find_condition(status.conditions, name)
            if found is not None and found.status == "True":
                return sentences.binding_failed(claim.name, found.reason, found.message), False
        for name in result.binding_conditions:
            found = find_condition(status.conditions, name)
            if found is None or found.status != "True":
                return "", False
    return "", True


def _status_of(claim: ResourceClaim, result: DeviceResult) -> AllocatedDeviceStatus | None:
    wanted = (result.driver, result.pool, result.device, result.share_id)
    for each in claim.status.devices:
        if (each.driver, each.pool, each.device, each.share_id) == wanted:
            return each
    return None
