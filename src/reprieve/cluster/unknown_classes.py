"""Priority classes that objects name and that do not exist: without them priorities are guesses."""

from reprieve.cluster.priorities import resolve
from reprieve.cluster.state import Cluster
from reprieve.objects import CompositePodGroup, Pod, PodGroup, Reference


def missing_classes(cluster: Cluster) -> list[str]:
    """Names of unknown priority classes that pods or groups name."""
    objects: list[Pod | PodGroup | CompositePodGroup] = [
        *cluster.ranking.without_priority.values(),
        *filter(None, cluster.groups.objects),
        *cluster.groups.trees.objects.values(),
    ]
    return sorted({resolve(each, cluster.priorities).missing for each in objects} - {""})


def unknown_class(cluster: Cluster, unit: Reference) -> str:
    """The one that a pod, its group or the root of its tree names; empty where it is known."""
    groups = cluster.groups
    row = cluster.pods.row_of.get(unit.key, -1) if unit.kind == "Pod" else -1
    known = {"PodGroup": groups.number_of, "CompositePodGroup": groups.trees.number_of}.get(unit.kind, {})
    number = int(cluster.pods.group[row]) if row >= 0 else known.get(unit.key, -1)
    chain = groups.trees.chain(number) if number >= 0 else []
    group = groups.object(chain[-1]) if chain else None
    found = group if group is not None else cluster.ranking.without_priority.get(row)
    return "" if found is None else resolve(found, cluster.priorities).missing
