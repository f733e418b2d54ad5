"""What is different once a plan is carried out: for the pods, targets and plans after it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from reprieve.cluster import Cluster
from reprieve.objects import (
    ConsumerReference,
    Document,
    Pod,
    Reference,
    Source,
    document_of,
    encode,
    kind_key,
    outcomes,
    raw,
    split_key,
    well_known,
)
from reprieve.placement import device_filter
from reprieve.preemption import Plan

After = Callable[[], list[Document | Source]]
"""The documents once a plan is carried out, made only if another plan follows."""
PLACED = (outcomes.SCHEDULED, outcomes.PREEMPTS)
_CLAIM, _VOLUME = ("", "PersistentVolumeClaim"), ("", "PersistentVolume")
_DEVICE_CLAIM = (well_known.DEVICE_API, "ResourceClaim")


def carry_out(cluster: Cluster, plan: Plan) -> None:
    """Its victims leave, and its pods run with their devices and volumes.

    A volume that is still to be made is not known: such a claim stays free to choose.
    """
    if plan.outcome not in PLACED:
        return
    for victim in plan.victims:
        cluster.remove(Pod, victim.pod)
    for pod, node in plan.placements.items():
        _take_devices(cluster, pod, node)
    cluster.storage.reserve({use.volume: claim for claim, use in plan.volumes.items() if use.volume}, {})
    for pod, node in plan.placements.items():
        cluster.assume(pod, node)


def _take_devices(cluster: Cluster, pod: str, node: str) -> None:
    row, slot = cluster.pods.row_of[pod], cluster.nodes.slot_of[node]
    own = device_filter(cluster, row)
    if own is None:
        return
    taken, claims = own.allocations(slot), cluster.devices.claims
    user = ConsumerReference(resource="pods", name=split_key(pod)[1], uid=cluster.pods.info[row].uid)
    found = [claims[key] for key in dict.fromkeys(own.claims) if key in claims]
    extended = own.extended(slot)
    if extended is not None and extended.claim.key in taken:
        found.append(extended.claim)
    for claim in found:
        given = taken.get(claim.key, claim.status.allocation)
        status = replace(claim.status, allocation=given, reserved_for=(*claim.status.reserved_for, user))
        cluster.set(replace(claim, status=status))


def documents_after(
    documents: Iterable[Document | Source], plans: Sequence[Plan], cluster: Cluster
) -> list[Document | Source]:
    """The documents once the plans, which `carry_out` has carried out on the cluster, are done: pods on their
    nodes, no victims, claims with their devices and volumes."""
    done = [plan for plan in plans if plan.outcome in PLACED]
    nodes = {pod: node for plan in done for pod, node in plan.placements.items()}
    victims = {victim.pod for plan in done for victim in plan.victims}
    volume_of = {claim: use.volume for plan in done for claim, use in plan.volumes.items() if use.volume}
    claim_of = {volume: claim for claim, volume in volume_of.items()}
    devices = {claim for plan in done for claim in plan.devices}
    after: list[Document | Source] = []
    for each in documents:
        document = document_of(each)
        match kind_key(document):
            case ("", "Pod"):
                key = Reference.read(document).key
                if key in victims:
                    continue
                if key in nodes:
                    each = {**document, "spec": {**document["spec"], "nodeName": nodes[key]}}
            case kind if kind == _CLAIM and volume_of:
                if volume := volume_of.get(Reference.read(document).key):
                    each = _bound(document, volume)
            case kind if kind == _VOLUME and claim_of:
                if claim := claim_of.get(Reference.read(document).name):
                    each = _kept_for(document, claim)
            case kind if kind == _DEVICE_CLAIM and devices:
                key = Reference.read(document).key
                if key in devices:
                    devices.discard(key)
                    each = _allocated(document, cluster, key)
        after.append(each)
    # Claims that the scheduler makes, for extended resources that a DeviceClass stands for.
    after += [_allocated({}, cluster, key) for key in sorted(devices) if key in cluster.devices.claims]
    return after


def _bound(claim: Document, volume: str) -> Document:
    meta = raw.mapping(claim, "metadata")
    notes = {**(meta.get("annotations") or {}), well_known.BIND_COMPLETED: "yes"}
    spec = {**raw.mapping(claim, "spec"), "volumeName": volume}
    return {**claim, "metadata": {**meta, "annotations": notes}, "spec": spec}


def _kept_for(volume: Document, claim: str) -> Document:
    namespace, name = split_key(claim)
    kept = {"kind": "PersistentVolumeClaim", "namespace": namespace, "name": name}
    return {**volume, "spec": {**raw.mapping(volume, "spec"), "claimRef": kept}}


def _allocated(claim: Document, cluster: Cluster, key: str) -> Document:
    found: Mapping[str, Any] = encode(cluster.devices.claims[key])
    whole = claim or {"apiVersion": f"{well_known.DEVICE_API}/v1", "kind": "ResourceClaim", **found}
    return {**whole, "status": found["status"]}
