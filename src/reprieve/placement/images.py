"""ImageLocality: a node that holds the pod's images already is a little better."""

import numpy as np

from reprieve.cluster import Cluster
from reprieve.cluster.classes import PodClass
from reprieve.cluster.columns import Ints

MIB = 1024 * 1024
LEAST = 23 * MIB
MOST_PER_CONTAINER = 1000 * MIB

Holders = dict[str, tuple[int, list[int]]]
"""Image name to (size, slots that hold it)."""


def image_scores(cluster: Cluster, cls: PodClass) -> Ints:
    """0 to 100 for each node: the bytes it need not pull, scaled down by how rare each image is."""
    nodes = cluster.nodes
    saved = np.zeros(nodes.slots, dtype=np.int64)
    holders = _holders(cluster)
    for image in cls.images:
        if image in holders:
            size, slots = holders[image]
            saved[slots] += int(size * (len(slots) / len(nodes)))
    most = MOST_PER_CONTAINER * max(cls.container_count, 1)
    return np.asarray(100 * (np.clip(saved, LEAST, most) - LEAST) // (most - LEAST), dtype=np.int64)


def _holders(cluster: Cluster) -> Holders:
    """Who holds which image; an image has the size that the first node stated."""
    nodes = cluster.nodes
    kept: tuple[int, Holders] | None = cluster.lasting.get("images")
    if kept is not None and kept[0] == nodes.image_version:
        return kept[1]
    holders: Holders = {}
    for slot in nodes.order.tolist():
        node = nodes.objects[slot]
        for image in node.status.images if node else ():
            for name in dict.fromkeys(image.names):
                holders.setdefault(name, (image.size_bytes, []))[1].append(slot)
    cluster.lasting["images"] = (nodes.image_version, holders)
    return holders
