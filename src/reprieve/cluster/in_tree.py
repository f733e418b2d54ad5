"""In-tree disks as their CSI drivers see them: the driver, the handle, and the topology that they ask for.

Kubernetes serves these disks through CSI drivers. A node counts them towards the driver's limit, and where
its CSINode names the plugin as migrated, a bound volume asks for the driver's topology labels.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from reprieve.objects import (
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    storage,
    volumes,
    well_known,
)

_UNSPECIFIED = "UNSPECIFIED"
_ZONE_DELIMITER = "__"
_EBS_VOLUME = re.compile(r"vol-[^/]*")


class Plugin(NamedTuple):
    name: str
    driver: str
    zone_key: str = ""
    """The label of nodes by which the driver knows zones; empty: it has none."""


GCE = Plugin("kubernetes.io/gce-pd", "pd.csi.storage.gke.io", "topology.gke.io/zone")
AWS = Plugin("kubernetes.io/aws-ebs", "ebs.csi.aws.com", "topology.ebs.csi.aws.com/zone")
AZURE = Plugin("kubernetes.io/azure-disk", "disk.csi.azure.com")
CINDER = Plugin("kubernetes.io/cinder", "cinder.csi.openstack.org", "topology.cinder.csi.openstack.org/zone")
PORTWORX = Plugin("kubernetes.io/portworx-volume", "pxd.portworx.com")
DRIVERS = {each.name: each.driver for each in (GCE, AWS, AZURE, CINDER, PORTWORX)}
"""Plugin to driver: a class of such a provisioner counts for the driver."""
NEVER_COUNTED = ("kubernetes.io/azure-file", "kubernetes.io/vsphere-volume")
"""Plugins that were migrated, too, and whose volumes have no limit."""


def plugin_of(disk: volumes.InTreeDisks) -> Plugin | None:
    """The plugin of an in-tree disk; None for a volume of another kind."""
    if disk.aws_elastic_block_store is not None:
        return AWS
    if disk.gce_persistent_disk is not None:
        return GCE
    if disk.azure_disk is not None:
        return AZURE
    if disk.cinder is not None:
        return CINDER
    return PORTWORX if disk.portworx_volume is not None else None


def handle_of(disk: volumes.InTreeDisks, labels: Mapping[str, str]) -> str:
    """The handle by which the driver knows the disk; `labels` are those of its PersistentVolume, if any."""
    if disk.aws_elastic_block_store is not None:
        return _ebs_handle(disk.aws_elastic_block_store.volume_id)
    if disk.gce_persistent_disk is not None:
        return _gce_handle(disk.gce_persistent_disk.pd_name, labels)
    if disk.azure_disk is not None:
        return disk.azure_disk.disk_uri
    if disk.cinder is not None:
        return disk.cinder.volume_id
    return disk.portworx_volume.volume_id if disk.portworx_volume is not None else ""


def _ebs_handle(volume_id: str) -> str:
    if not volume_id.startswith("aws://"):
        return volume_id
    path = volume_id.removeprefix("aws://").partition("/")[2].strip("/")
    return path if _EBS_VOLUME.fullmatch(path) else ""


def _gce_handle(name: str, labels: Mapping[str, str]) -> str:
    zones = (labels.get(well_known.OLD_ZONE_LABEL, "") or labels.get(well_known.ZONE_LABEL, "")).split(
        _ZONE_DELIMITER
    )
    if len(zones) > 1:
        regions = {zone.rpartition("-")[0] if zone.count("-") == 2 else "" for zone in zones}
        region = regions.pop() if len(regions) == 1 else ""
        return f"projects/{_UNSPECIFIED}/regions/{region}/disks/{name}" if region else ""
    return f"projects/{_UNSPECIFIED}/zones/{zones[0] or _UNSPECIFIED}/disks/{name}"


def required_by_driver(volume: storage.PersistentVolume, zone_key: str) -> NodeSelector | None:
    """The node affinity of an in-tree volume, in the labels of its driver.

    1. The key for zones is the one that occurs first: in the affinity (new, old), in the labels (new, old).
    2. If the affinity has values for it, that key becomes the driver's.
    3. Otherwise the zones of the label are asked of every term.
    4. An old region key in the affinity becomes the new one, where the zone key was old.
    """
    affinity = volume.spec.node_affinity
    required = affinity.required if affinity is not None else None
    zone, region = _keys(required, volume.metadata.labels)
    if _values(required, zone):
        required = _renamed(required, zone, zone_key)
    elif zone in volume.metadata.labels:
        parts = (part.strip() for part in volume.metadata.labels[zone].split(_ZONE_DELIMITER))
        required = _with_zones(required, zone_key, tuple(sorted({part for part in parts if part})))
    if region == well_known.OLD_REGION_LABEL and _values(required, region):
        required = _renamed(required, region, well_known.REGION_LABEL)
    return required


def _keys(required: NodeSelector | None, labels: Mapping[str, str]) -> tuple[str, str]:
    new = well_known.ZONE_LABEL, well_known.REGION_LABEL
    old = well_known.OLD_ZONE_LABEL, well_known.OLD_REGION_LABEL
    for found in (_mentioned(required), labels):
        for pair in (new, old):
            if pair[0] in found:
                return pair
    return new


def _mentioned(required: NodeSelector | None) -> set[str]:
    terms = required.node_selector_terms if required is not None else ()
    return {each.key for term in terms for each in term.match_expressions}


def _values(required: NodeSelector | None, key: str) -> bool:
    terms = required.node_selector_terms if required is not None else ()
    return any(each.key == key and each.values for term in terms for each in term.match_expressions)


def _renamed(required: NodeSelector | None, old: str, new: str) -> NodeSelector | None:
    if required is None:
        return None
    return NodeSelector(
        node_selector_terms=tuple(
            msgspec.structs.replace(
                term,
                match_expressions=tuple(
                    msgspec.structs.replace(each, key=new) if each.key == old else each
                    for each in term.match_expressions
                ),
            )
            for term in required.node_selector_terms
        )
    )


def _with_zones(required: NodeSelector | None, key: str, zones: tuple[str, ...]) -> NodeSelector | None:
    if not zones:
        return required
    wanted = NodeSelectorRequirement(key=key, operator="In", values=zones)
    terms = (required.node_selector_terms if required is not None else ()) or (NodeSelectorTerm(),)
    return NodeSelector(
        node_selector_terms=tuple(
            msgspec.structs.replace(term, match_expressions=(*term.match_expressions, wanted))
            for term in terms
        )
    )
