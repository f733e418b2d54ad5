"""The claims of a pod, sorted into those with a volume and those without, or the reason why it must wait.

What is said here is said before any node is looked at: no eviction helps. The order of the questions is that
of the plugins: VolumeRestrictions, VolumeBinding, VolumeZone.
"""

from typing import NamedTuple

from reprieve.cluster import PodVolumes, StorageTable, owns
from reprieve.objects import storage, well_known
from reprieve.placement.reasons import Code, Reason
from reprieve.placement.sentences import volumes as sentences


class Claims(NamedTuple):
    bound: tuple[storage.PersistentVolumeClaim, ...] = ()
    unbound: tuple[storage.PersistentVolumeClaim, ...] = ()
    """They wait for their first consumer."""
    labelled: tuple[storage.PersistentVolume, ...] = ()
    """Volumes of the bound claims that are not ephemeral: their labels may name zones."""
    refusal: Reason | None = None
    """Why the pod fits nowhere, whoever is evicted."""
    error: str = ""
    """Why nobody can tell; kube-scheduler's attempt fails with this."""


def sort_claims(table: StorageTable, pod: PodVolumes) -> Claims:
    refusal = _missing(table, pod) or _unusable(table, pod)
    if refusal is not None:
        return Claims(refusal=refusal)
    bound, unbound, immediate = [], [], False
    for each in pod.claims:
        claim = table.claims[each.key]
        if claim.fully_bound:
            bound.append(claim)
            continue
        found = table.classes.get(claim.storage_class) if claim.storage_class else None
        if found is not None and not found.volume_binding_mode:
            return Claims(error=sentences.no_binding_mode(claim.storage_class))
        delayed = found is not None and found.volume_binding_mode == well_known.WAIT_FOR_FIRST_CONSUMER
        if delayed and not claim.spec.volume_name:
            unbound.append(claim)
        else:
            immediate = True
    if immediate:
        return Claims(refusal=Reason(Code.UNBOUND_IMMEDIATE))
    labelled = []
    for each in pod.claims:
        name = table.claims[each.key].spec.volume_name
        if each.ephemeral or not name:
            continue
        volume = table.volumes.get(name)
        if volume is None:
            return Claims(refusal=Reason(Code.VOLUME_NOT_FOUND, (name,)))
        labelled.append(volume)
    return Claims(tuple(bound), tuple(unbound), tuple(labelled))


def _missing(table: StorageTable, pod: PodVolumes) -> Reason | None:
    for each in pod.claims:
        if not each.ephemeral and each.key not in table.claims:
            return Reason(Code.VOLUME_CLAIM_NOT_FOUND, (each.name,))
    return None


def _unusable(table: StorageTable, pod: PodVolumes) -> Reason | None:
    for each in pod.claims:
        claim = table.claims.get(each.key)
        if claim is None:
            return Reason(Code.VOLUME_CLAIM_NOT_MADE, (each.name,))
        if claim.status.phase == "Lost":
            return Reason(Code.VOLUME_CLAIM_LOST, (each.name, claim.spec.volume_name))
        if claim.metadata.deletion_timestamp is not None:
            return Reason(Code.VOLUME_CLAIM_DELETED, (each.name,))
        if each.ephemeral and not owns(pod, claim):
            return Reason(Code.VOLUME_CLAIM_OF_ANOTHER, (claim.key, pod.pod))
    return None
