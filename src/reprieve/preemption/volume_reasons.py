"""Sentences about volumes: what a victim holds that the preemptor needs, and what no eviction would help."""

from collections.abc import Iterator, Sequence

from reprieve.objects import well_known
from reprieve.placement import NO_LIMIT, Assignment, Code, Diagnosis, Reason
from reprieve.preemption import sentences
from reprieve.preemption.view import View

HELPLESS = {
    Reason(Code.VOLUME_FAR): sentences.volume_is_out_of_reach,
    Reason(Code.NO_VOLUME): sentences.no_volume_fits,
    Reason(Code.STORAGE_FULL): sentences.storage_is_too_small,
    Reason(Code.VOLUME_LOST): sentences.volume_does_not_exist,
    Reason(Code.VOLUME_ZONE): sentences.volume_is_in_another_zone,
}
"""For each reason about volumes that evictions do not free: the sentence for people."""


def held_by_victim(view: View, assigned: Sequence[Assignment], rows: Sequence[int]) -> str:
    """What the pods of a unit hold that the preemptor's volumes need; empty for nothing."""
    pods = view.cluster.storage.pods
    holders = [row for row in rows if row in pods]
    for each in assigned if holders else ():
        if each.filters.volumes is not None:
            for row in holders:
                for text in _holds(view, each, row):
                    return text
    return ""


def _holds(view: View, each: Assignment, row: int) -> Iterator[str]:
    cluster, table = view.cluster, view.cluster.storage
    name, here = cluster.pods.keys[each.row], view.home[row] == each.slot
    mine, theirs = table.pods[each.row], table.pods[row]
    used = {claim.key for claim in theirs.claims if not claim.ephemeral}
    for claim in mine.claims:
        found = table.claims.get(claim.key)
        if claim.key in used and found and well_known.READ_WRITE_ONCE_POD in found.spec.access_modes:
            yield sentences.uses_claim_for_one_pod(claim.key, name)
    if not here:
        return
    node = cluster.nodes.names[each.slot]
    for disk in mine.disks:
        if any(disk.conflicts(other) for other in theirs.disks):
            yield sentences.holds_disk(disk.id, name, node)
    volumes = each.filters.volumes
    limits = volumes.limits if volumes is not None and not volumes.refusal else None
    for driver in limits.drivers if limits is not None else ():
        assert limits is not None
        slots = limits.slots_of(driver, row)
        if slots and limits.limit[driver][each.slot] != NO_LIMIT:
            yield sentences.frees_volume_slots(slots, driver, node, name)


def no_eviction_helps(diagnosis: Diagnosis) -> list[str]:
    """Where volumes keep a pod from nodes whoever is evicted."""
    if diagnosis.over_claims:
        return [sentences.CLAIMS_ARE_THE_PROBLEM]
    return [say(nodes) for reason, say in HELPLESS.items() if (nodes := diagnosis.reasons.get(reason))]
