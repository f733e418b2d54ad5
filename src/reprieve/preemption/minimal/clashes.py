"""Which pods cannot share a node: host ports, and required anti-affinity by host name in either direction.

What reaches beyond one node (affinity, spreading, anti-affinity by zone, promises to others) is not a clash; `reaches_further` says
that it is there, and the caller has the real filters look at the answer.
"""

import numpy as np

from reprieve.cluster import Cluster, PodClass, ports_clash
from reprieve.objects import well_known
from reprieve.preemption.minimal.model import Flags


def clash(cluster: Cluster, one: PodClass, other: PodClass) -> bool:
    return bool(one.ports and other.ports and ports_clash(one.ports, other.ports)) or any(
        term.key == well_known.HOSTNAME_LABEL
        and term.covers(seen.namespace, cluster.namespaces.get(seen.namespace, {}), seen.labels)
        for owner, seen in ((one, other), (other, one))
        for term in owner.anti_affinity
    )


def clashing(cluster: Cluster, cls: PodClass) -> Flags:
    """Of all classes in the cluster, those whose pods keep this one off their node."""
    known = cluster.classes
    found = np.zeros(len(known.all), np.bool_)
    if cls.anti_affinity:
        suspects = known.all
    else:
        suspects = list(known.anti_affine)
        if cls.ports:
            suspects += [known.all[i] for i in np.flatnonzero(known.with_ports[: len(known.all)]).tolist()]
    for other in suspects:
        found[other.id] = found[other.id] or clash(cluster, cls, other)
    return found


def reaches_further(cluster: Cluster, cls: PodClass) -> bool:
    """Whether pods on other nodes have a say in where this class may go."""
    if cls.affinity or cls.spread or cluster.nominated:
        return True
    if any(term.key != well_known.HOSTNAME_LABEL for term in cls.anti_affinity):
        return True
    labels = cluster.namespaces.get(cls.namespace, {})
    return any(
        term.key != well_known.HOSTNAME_LABEL and term.covers(cls.namespace, labels, cls.labels)
        for other in cluster.classes.anti_affine
        for term in other.anti_affinity
    )
