"""Sentences about volumes: what a victim holds that the preemptor needs, and what no eviction would help."""

from collections.abc import Iterator, Mapping, Sequence

from reprieve.objects import counted, well_known
from reprieve.placement import NO_LIMIT, Assignment, Diagnosis, volume_texts
from reprieve.preemption.view import View

HELPLESS = {
    volume_texts.FAR: "a volume of one of its claims cannot be reached from there",
    volume_texts.NOTHING: "no free volume fits its claims, and none can be made there",
    volume_texts.FULL: "the storage that the driver reports there is too small for its claims",
    volume_texts.LOST: "one of its claims is bound to a volume that does not exist",
    volume_texts.ZONE: "a volume of one of its claims is in another zone",
}
"""For each text of kube-scheduler about volumes that evictions do not free: the same for people."""


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
            yield f"it uses the claim {claim.key}, which only one pod may use (ReadWriteOncePod), for {name}"
    if not here:
        return
    node = cluster.nodes.names[each.slot]
    for disk in mine.disks:
        if any(disk.conflicts(other) for other in theirs.disks):
            yield f"it holds the disk {disk.id}, which {name} cannot share with it on {node}"
    volumes = each.filters.volumes
    limits = volumes.limits if volumes is not None and not volumes.refusal else None
    for driver in limits.drivers if limits is not None else ():
        assert limits is not None
        slots = limits.slots_of(driver, row)
        if slots and limits.limit[driver][each.slot] != NO_LIMIT:
            yield f"evicting it frees {counted(slots, 'slot')} of {driver} on {node} for {name}"


def no_eviction_helps(diagnosis: Diagnosis) -> list[str]:
    """Where volumes keep a pod from nodes whoever is evicted."""
    if diagnosis.over_claims:
        return ["That is about its claims: no eviction would help."]
    return [_sentence(diagnosis.reasons, text) for text in HELPLESS if diagnosis.reasons.get(text)]


def _sentence(reasons: Mapping[str, int], text: str) -> str:
    return f"On {counted(reasons[text], 'node')} {HELPLESS[text]}: no eviction would help there."
