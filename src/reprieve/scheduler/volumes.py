"""Claims on their way to a volume: what is written for a pod that was placed, and whether it has come true.

Until then the volumes and claims are reserved in memory, so that nobody else takes them; nothing of what was
written is taken back. After a failure or a crash the next decision finds it in the API: a volume that is kept
for the claim, a claim with its selected node.
"""

from collections.abc import Mapping

from reprieve.cluster import Cluster, plugin_of, required_by_driver
from reprieve.objects import Reference, node_selector_matches, storage, well_known, whole_number
from reprieve.preemption import ClaimUse
from reprieve.scheduler import sentences
from reprieve.scheduler.actions import Bind, BindClaim


def claims_of(cluster: Cluster, pod: str, uses: Mapping[str, ClaimUse]) -> tuple[BindClaim, ...]:
    """What is to be done for the claims of a pod: volumes first, then what is to be made."""
    found = cluster.storage.pods.get(cluster.pods.row_of[pod])
    if found is None:
        return ()
    keys = [each.key for each in found.claims if each.key in uses]
    table = cluster.storage
    writes = []
    for key in dict.fromkeys(keys):
        claim, use = table.claims[key], uses[key]
        reference = Reference.to(claim)
        if use.volume:
            volume = table.volumes[use.volume]
            kept = volume.spec.claim_ref is not None
            writes.append(BindClaim(reference, use.volume, volume.metadata.resource_version, kept))
        else:
            writes.append(BindClaim(reference, "", claim.metadata.resource_version))
    return tuple(sorted(writes, key=lambda each: not each.volume))


def reserve(cluster: Cluster, bind: Bind) -> None:
    volumes = {each.volume: each.claim.key for each in bind.claims if each.volume}
    cluster.storage.reserve(volumes, {each.claim.key: bind.node for each in bind.claims if not each.volume})


def release(cluster: Cluster, bind: Bind) -> None:
    """The binding ended, well or not: what the API shows counts from now on."""
    table = cluster.storage
    for each in bind.claims:
        if each.volume and table.taken.get(each.volume) == each.claim.key:
            del table.taken[each.volume]
        elif not each.volume and table.selected.get(each.claim.key) == bind.node:
            del table.selected[each.claim.key]


class BindingFailed(Exception):
    """The claims of a pod will not be bound for it on this node."""


def all_bound(cluster: Cluster, bind: Bind, written: Mapping[str, str]) -> bool:
    """Whether every claim has its volume; raises `BindingFailed` when waiting makes no sense.

    `written`: by claim, the version of what was written for it; what is older is not looked at.
    """
    if bind.node not in cluster.nodes.slot_of:
        raise BindingFailed(sentences.node_not_found(bind.node))
    if bind.pod.key not in cluster.pods.row_of:
        raise BindingFailed(sentences.pod_not_found(bind.pod.name))
    return all(_bound(cluster, bind.node, each, written.get(each.claim.key, "")) for each in bind.claims)


def _bound(cluster: Cluster, node: str, each: BindClaim, version: str) -> bool:
    table, name = cluster.storage, each.claim.name
    claim = table.claims.get(each.claim.key)
    if each.volume:
        volume = table.volumes.get(each.volume)
        if volume is None:
            raise BindingFailed(sentences.volume_not_found(each.volume))
        if claim is None:
            raise BindingFailed(sentences.claim_not_found(name))
        if _older(volume.metadata.resource_version, version):
            return False
        _must_reach(cluster, volume, node)
        if volume.spec.claim_ref is None or not volume.spec.claim_ref.uid:
            raise BindingFailed(sentences.volume_was_reset(each.volume))
        return claim.fully_bound
    if claim is None:
        raise BindingFailed(sentences.provisioned_claim_not_found(name))
    if _older(claim.metadata.resource_version, version):
        return False
    if not claim.metadata.annotations:
        raise BindingFailed(sentences.claim_was_reset(name))
    if claim.metadata.annotations.get(well_known.SELECTED_NODE) != node:
        raise BindingFailed(sentences.provisioning_failed(name))
    if claim.spec.volume_name:
        volume = table.volumes.get(claim.spec.volume_name)
        if volume is None:
            return False
        _must_reach(cluster, volume, node)
    return claim.fully_bound


def _must_reach(cluster: Cluster, volume: storage.PersistentVolume, node: str) -> None:
    found = cluster.nodes.objects[cluster.nodes.slot_of[node]]
    affinity = volume.spec.node_affinity
    required = affinity.required if affinity is not None else None
    plugin, csi_node = plugin_of(volume.spec), cluster.storage.csi_nodes.get(node)
    if plugin is not None and plugin.zone_key and csi_node is not None:
        migrated = csi_node.metadata.annotations.get(well_known.MIGRATED_PLUGINS, "").split(",")
        required = required_by_driver(volume, plugin.zone_key) if plugin.name in migrated else required
    if required is None or found is None:
        return
    if not node_selector_matches(required, found.metadata.labels, ""):
        raise BindingFailed(sentences.volume_out_of_reach(volume.name, node))


def _older(seen: str, written: str) -> bool:
    before, after = whole_number(seen), whole_number(written)
    return before is not None and after is not None and before < after
