"""Groups of one tree: queued one by one, decided on together.

Each pod group of a tree is a queued unit of its own, so that pods, quota and conditions stay where they are.
A decision about any of them is a decision about the whole tree: it binds pods of all, or has victims evicted
for all. What one of them waits for, the others wait for, too.
"""

from collections.abc import Iterator

from reprieve.cluster import Cluster
from reprieve.objects import CompositePodGroup, Reference


def mates(cluster: Cluster, unit: Reference) -> Iterator[Reference]:
    """The other pod groups of the tree that a group is in; none for a group on its own."""
    groups = cluster.groups
    number = groups.number_of.get(unit.key) if unit.kind == "PodGroup" else None
    if number is None or not groups.trees.parent(number):
        return
    for leaf in groups.trees.leaves(int(groups.root[number])):
        if leaf != number:
            yield Reference.of("PodGroup", groups.keys[leaf])


def below(cluster: Cluster, group: CompositePodGroup) -> list[Reference]:
    """The pod groups below a composite group."""
    groups = cluster.groups
    number = groups.trees.number_of.get(group.key)
    leaves = () if number is None else groups.trees.leaves(number)
    return [Reference.of("PodGroup", groups.keys[leaf]) for leaf in leaves]
