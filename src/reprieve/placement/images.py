"""ImageLocality: a node that holds the pod's images already is a little better."""

import numpy as np

from reprieve.cluster import Cluster, Ints, PodClass

MIB = 1024 * 1024
LEAST = 23 * MIB
MOST_PER_CONTAINER = 1000 * MIB


def image_scores(cluster: Cluster, cls: PodClass) -> Ints:
    """0 to 100 for each node: the bytes it need not pull, scaled down by how rare each image is."""
    nodes = cluster.nodes
    saved = np.zeros(nodes.slots, dtype=np.int64)
    for image in cls.images:
        holders = nodes.images.holders.get(image)
        if holders:
            saved[list(holders)] += int(_size(cluster, holders) * (len(holders) / len(nodes)))
    most = MOST_PER_CONTAINER * max(cls.container_count, 1)
    return np.asarray(100 * (np.clip(saved, LEAST, most) - LEAST) // (most - LEAST), dtype=np.int64)


def _size(cluster: Cluster, holders: dict[int, int]) -> int:
    """An image has the size that the first node in the scheduler's order states."""
    sizes = set(holders.values())
    if len(sizes) == 1:
        return sizes.pop()
    return holders[next(slot for slot in cluster.nodes.order.tolist() if slot in holders)]
