"""What the claims of pods get when a plan is carried out, for the plans after it."""

from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from reprieve.cluster import Cluster
from reprieve.objects import (
    ConsumerReference,
    split_key,
)
from reprieve.placement import device_filter
from reprieve.preemption import Plan
from reprieve.whatif import sentences

if TYPE_CHECKING:
    from reprieve.whatif.jobs import JobPlan

_Answer = TypeVar("_Answer", "Plan", "JobPlan")


def with_note(answer: _Answer, taken: bool) -> _Answer:
    """`taken`: plans before this one give devices or volumes away, of which the documents know nothing."""
    return replace(answer, reasons=(*answer.reasons, sentences.CLAIMS_NOT_COUNTED)) if taken else answer


def take(cluster: Cluster, plan: Plan) -> None:
    """The claims of the pods that a plan places get its devices and volumes. Where a volume is to be made
    nobody knows who else can reach it: such a claim stays free to choose."""
    for pod, node in plan.placements.items():
        _take_devices(cluster, pod, node)
    cluster.storage.reserve({use.volume: claim for claim, use in plan.volumes.items() if use.volume}, {})


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
