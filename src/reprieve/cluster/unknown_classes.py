"""Priority classes that objects name and that do not exist: without them priorities are guesses."""

from reprieve.cluster.priorities import resolve
from reprieve.cluster.state import Cluster
from reprieve.objects import Pod, PodGroup, Reference


def missing_classes(cluster: Cluster) -> list[str]:
    """Names of unknown priority classes that pods or groups name."""
    objects: list[Pod | PodGroup] = [
        *cluster.ranking.without_priority.values(),
        *filter(None, cluster.groups.objects),
    ]
    return sorted({resolve(each, cluster.priorities).missing for each in objects} - {""})


def unknown_class(cluster: Cluster, unit: Reference) -> str:
    """The one that a pod, or its group, names; empty where it is known or none is named."""
    row = cluster.pods.row_of.get(unit.key, -1) if unit.kind == "Pod" else -1
    number = cluster.groups.number_of.get(unit.key, -1) if unit.kind == "PodGroup" else -1
    if row >= 0:
        number = int(cluster.pods.group[row])
    group = cluster.groups.objects[number] if number >= 0 else None
    found = group if group is not None else cluster.ranking.without_priority.get(row)
    return "" if found is None else resolve(found, cluster.priorities).missing
