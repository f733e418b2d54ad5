"""Devices of pods that are being bound: held in memory from the decision on, and given back when it fails.

What is written is the claim itself, before the pod is bound. After a crash the claim alone says what was
decided: it is allocated, and the pod follows it.

- The binding fails: the pod is no user any more, and what was allocated for it alone is free again.
- An allocation that cannot be used on some node, and that nobody uses, is taken back when the pod fits
  nowhere (`unused`): the attempt after that chooses anew.
- A claim for extended resources has no life of its own: it is made anew by every attempt.
"""

from collections.abc import Iterable, Mapping

from reprieve.cluster import Cluster
from reprieve.objects import ConsumerReference, Reference, ResourceClaim, split_key
from reprieve.placement import AllocationError, DeviceFilter, binding_state, device_filter
from reprieve.scheduler import sentences
from reprieve.scheduler.actions import Bind, FreeClaim, UseDevices


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
        if own is not None:
            found[key] = _reserve(cluster, own, rows[key], cluster.nodes.slot_of[placements[key]])
    return found


def _reserve(cluster: Cluster, own: DeviceFilter, row: int, slot: int) -> tuple[UseDevices, ...]:
    table = cluster.devices
    try:
        taken = own.allocations(slot)
    except AllocationError:
        taken = {}
    users = _users(cluster, row)
    uses = [
        UseDevices(_reference(cluster, claim), taken.get(claim, table.assumed.get(claim)), users[claim])
        for claim in dict.fromkeys(own.claims)
        if claim in table.claims
    ]
    extended = own.extended(slot)
    if extended is not None and (given := taken.get(extended.claim.key)) is not None:
        uses.append(UseDevices(Reference.to(extended.claim), given, _pod(cluster, row), extended))
    for each in uses:
        table.assume(each.claim.key, each.allocation)
    return tuple(uses)


def _pod(cluster: Cluster, row: int) -> ConsumerReference:
    name = split_key(cluster.pods.keys[row])[1]
    return ConsumerReference(resource="pods", name=name, uid=cluster.pods.info[row].uid)


def _users(cluster: Cluster, row: int) -> dict[str, ConsumerReference]:
    """Who uses each claim that the pod names: the pod itself, or its group if the claim is the group's.

    A claim is the group's where both name it in the same way.
    """
    info, number = cluster.pods.info[row], int(cluster.pods.group[row])
    if info.claims is None:
        return {}
    group = cluster.groups.objects[number] if number >= 0 and cluster.devices.group_claims else None
    named = group.spec.resource_claims if group is not None else ()
    namespace = split_key(cluster.pods.keys[row])[0]
    users = {}
    for each in info.claims.named:
        name = each.resource_claim_name or info.claims.made.get(each.name)
        if group is not None and each in named:
            user = ConsumerReference(
                resource="podgroups", name=group.name, uid=group.metadata.uid, api_group="scheduling.k8s.io"
            )
        else:
            user = _pod(cluster, row)
        users[f"{namespace}/{name}"] = user
    return users


def ended(cluster: Cluster, bind: Bind) -> None:
    """The binding ended, well or not: from now on only what is written counts."""
    for each in bind.devices:
        cluster.devices.forget(each.claim.key)


def unused(cluster: Cluster, pods: Iterable[str]) -> list[FreeClaim]:
    """What pods that fit nowhere have of no use: of each pod one allocation, or what an attempt has left.

    An allocation that others use, or are about to, is left alone.
    """
    found: dict[str, FreeClaim] = {}
    for key in pods:
        row = cluster.pods.row_of[key]
        own = device_filter(cluster, row)
        if own is None:
            continue
        if own.stale is not None:
            found[own.stale.key] = _free(own.stale, delete=True)
            continue
        mine = {each.uid for each in _users(cluster, row).values()} | {cluster.pods.info[row].uid}
        idle = (each for each in own.unavailable() if _is_idle(cluster, each, mine))
        claim = next(idle, None)
        if claim is not None:
            found[claim.key] = _free(claim)
    return list(found.values())


def _is_idle(cluster: Cluster, claim: ResourceClaim, mine: set[str]) -> bool:
    """Whether nobody uses the claim but this pod, or its group of which no pod is on a node."""
    if claim.key in cluster.devices.in_flight or claim.status.allocation is None:
        return False
    for user in claim.status.reserved_for:
        if user.uid not in mine:
            return False
        if user.resource == "podgroups":
            number = cluster.groups.number_of.get(f"{claim.namespace}/{user.name}")
            rows = cluster.groups.members[number] if number is not None else ()
            if any(cluster.pods.node[row] >= 0 for row in rows):
                return False
    return True


def _free(claim: ResourceClaim, delete: bool = False) -> FreeClaim:
    return FreeClaim(Reference.to(claim), claim.metadata.resource_version, delete)


def may_wait(bind: Bind) -> bool:
    """Whether somebody has to make devices ready after they are allocated, or may have to."""
    return any(
        each.allocation is None
        or any(result.binding_conditions for result in each.allocation.devices.results)
        for each in bind.devices
    )


def ready(cluster: Cluster, bind: Bind) -> bool:
    """Whether the binding conditions of all devices are met. Raises `DevicesFailed`."""
    for each in bind.devices:
        if each.extended is not None:
            key, uid = bind.pod.key, bind.pod.uid
            claim = cluster.devices.extended_claim_of(key, uid)
        else:
            claim = cluster.devices.claims.get(each.claim.key)
        if claim is None or (each.extended is None and claim.metadata.uid != each.claim.uid):
            raise DevicesFailed(sentences.device_claim_deleted(each.claim.key))
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
