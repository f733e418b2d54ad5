"""VolumeZone: the labels of a bound volume name zones and regions; a node that names others is refused."""

import numpy as np

from reprieve.cluster import Cluster, Mask
from reprieve.objects import storage, well_known

KEYS = {
    well_known.OLD_ZONE_LABEL: well_known.ZONE_LABEL,
    well_known.OLD_REGION_LABEL: well_known.REGION_LABEL,
    well_known.ZONE_LABEL: well_known.ZONE_LABEL,
    well_known.REGION_LABEL: well_known.REGION_LABEL,
}
"""Labels that count, and the label of a node that does for a missing one: old to new, not the other way."""


def refused_zones(cluster: Cluster, volumes: tuple[storage.PersistentVolume, ...]) -> Mask | None:
    """Nodes outside the volumes' zones; None where the volumes name none."""
    nodes = cluster.nodes
    columns = {key: nodes.topology(key) for key in KEYS} if volumes else {}
    refused: Mask | None = None
    for volume in volumes:
        for key, instead in KEYS.items():
            values = _values(volume.metadata.labels.get(key, ""))
            if not values:
                continue
            fine = np.zeros(nodes.slots, dtype=np.bool_)
            own = columns[key].ids[: nodes.slots]
            for topology, here in ((columns[key], own >= 0), (columns[instead], own < 0)):
                numbers = [topology.number_of[value] for value in values if value in topology.number_of]
                fine |= here & np.isin(topology.ids[: nodes.slots], numbers)
            refused = ~fine if refused is None else refused | ~fine
    if refused is None:
        return None
    labelled = np.zeros(nodes.slots, dtype=np.bool_)
    for topology in columns.values():
        labelled |= topology.ids[: nodes.slots] >= 0
    return refused & labelled


def _values(label: str) -> frozenset[str]:
    """Several zones are joined by two underscores; with an empty part the label says nothing."""
    parts = [part.strip() for part in label.split("__")]
    return frozenset(parts) if all(parts) else frozenset()
