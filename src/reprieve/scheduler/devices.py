"""Devices of pods that are being bound: held in memory from the decision on, and given back when it fails.

What is written is the claim itself, before the pod is bound. After a crash the claim alone says what was
decided: it is allocated, and the pod follows it.
"""

from collections.abc import Mapping

from reprieve.cluster import Cluster
from reprieve.objects import Reference
from reprieve.placement import AllocationError, binding_state, device_filter
from reprieve.scheduler.actions import Bind, UseDevices


class DevicesFailed(Exception):
    """A device cannot be bound."""


def reserve(cluster: Cluster, placements: Mapping[str, str]) -> dict[str, tuple[UseDevices, ...]]:
    """What the pods' claims get on their nodes, by pod: held from now on.

    In the order of the decision, so that each pod gets what the plan says. Claims that members of a gang
    share are allocated with the first of them.
    """
    rows = {key: cluster.pods.row_of[key] for key in placements}
    found: dict[str, tuple[UseDevices, ...]] = {}
    filters = {key: device_filter(cluster, row) for key, row in rows.items()}
    for key, own in filters.items():
        if own is None:
            continue
        try:
            taken = own.allocations(cluster.nodes.slot_of[placements[key]])
        except AllocationError:
            taken = {}
        for claim, allocation in taken.items():
            cluster.devices.assume(claim, allocation)
        assumed = cluster.devices.assumed
        found[key] = tuple(
            UseDevices(_reference(cluster, claim), assumed.get(claim))
            for claim in own.claims
            if claim in cluster.devices.claims
        )
    return found


def release(cluster: Cluster, bind: Bind) -> None:
    """The binding failed: what was not written is free again."""
    for each in bind.devices:
        cluster.devices.forget(each.claim.key)


def ready(cluster: Cluster, bind: Bind) -> bool:
    """Whether the binding conditions of all devices are met. Raises `DevicesFailed`."""
    for each in bind.devices:
        claim = cluster.devices.claims.get(each.claim.key)
        if claim is None or claim.metadata.uid != each.claim.uid:
            raise DevicesFailed(f"claim {each.claim.key} got deleted in the meantime")
        allocation = claim.status.allocation or each.allocation
        if allocation is None or not any(result.binding_conditions for result in allocation.devices.results):
            continue
        failed, met = binding_state(claim, allocation)
        if failed:
            raise DevicesFailed(failed)
        if not met:
            return False
    return True


def _reference(cluster: Cluster, key: str) -> Reference:
    return Reference.to(cluster.devices.claims[key])
