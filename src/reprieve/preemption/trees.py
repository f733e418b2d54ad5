"""The tree of a composite group as a preemptor: its groups with their pods, and whether it is ready."""

from collections.abc import Iterator

from reprieve.cluster import LOST, NOWHERE
from reprieve.objects import PodGroup, Reference
from reprieve.placement import TreeGroup
from reprieve.preemption.view import View


def tree_of(view: View, number: int) -> TreeGroup:
    """The group of this number with everything below it."""
    groups = view.cluster.groups
    found = groups.object(number)
    if found is None:
        raise LookupError(f"group {number} does not exist")
    if isinstance(found, PodGroup):
        return _leaf(view, number, found)
    children = tuple(tree_of(view, each) for each in groups.trees.children(number))
    placed = tuple(row for child in children for row in child.placed)
    name = f"CompositePodGroup/{found.key}"
    minimum = found.min_group_count if view.gangs else 1
    return TreeGroup(name, minimum, found.topology_key, (), 0, placed, children)


def _leaf(view: View, number: int, group: PodGroup) -> TreeGroup:
    cluster, pods = view.cluster, view.cluster.pods
    members = sorted(cluster.groups.members[number], key=lambda row: (pods.sequence[row], pods.keys[row]))
    waiting = tuple(row for row in members if pods.node[row] == NOWHERE and not pods.terminating[row])
    placed = tuple(row for row in members if pods.node[row] >= 0 or pods.node[row] == LOST)
    counted = len(placed) + cluster.groups.ended(number, len(placed))
    minimum = group.min_count if view.gangs else 1
    return TreeGroup(f"PodGroup/{group.key}", minimum, group.topology_key, waiting, counted, placed, None)


def root_of(view: View, number: int) -> int | None:
    """The root of the tree that a group is in; None while a group above it does not exist, or never ends."""
    trees = view.cluster.groups.trees
    chain = trees.chain(number)
    return chain[-1] if chain and not trees.parent(chain[-1]) else None


def missing_parent(view: View, number: int) -> Reference:
    """The composite group that keeps a tree from being complete."""
    trees = view.cluster.groups.trees
    return Reference.of("CompositePodGroup", trees.parent(trees.chain(number)[-1]))


def unready(group: TreeGroup) -> Iterator[TreeGroup]:
    """Groups that cannot reach their minimum for want of pods or children, the lowest first."""
    for child in group.children or ():
        yield from unready(child)
    if not is_ready(group):
        yield group


def is_ready(group: TreeGroup) -> bool:
    """Whether enough pods exist for the group to reach its minimum."""
    if group.children is None:
        return len(group.rows) + group.counted >= max(1, group.minimum)
    return sum(map(is_ready, group.children)) >= max(1, group.minimum)
