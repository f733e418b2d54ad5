"""What would help a tree of groups that waits: as for a group, and by fewer groups, or without a domain."""

from collections.abc import Iterator

from reprieve.cluster import MOST_LEVELS
from reprieve.explain.advice.changes import Change
from reprieve.explain.advice.draft import Draft
from reprieve.explain.advice.node_changes import AddNodes
from reprieve.explain.advice.pod_changes import CreatePods, LowerMinCount
from reprieve.explain.advice.scene import Scene
from reprieve.explain.advice.tree_changes import CreateComposite, DropTopology, LowerMinGroupCount
from reprieve.explain.advice.units import (
    changed_cluster,
    changed_pod,
    largest,
    more_important,
    when_protection_ends,
)
from reprieve.explain.advice.ways import ROUNDS, Way
from reprieve.objects import CompositePodGroup, PodGroup, Reference, group_key


def tree_around(draft: Draft, unit: Reference) -> Reference:
    """The root of the tree that a pod or a group is in; the unit itself if it is in none that is whole."""
    start = unit
    if unit.kind == "Pod":
        start = Reference.of("PodGroup", group_key(draft.find("Pod", unit.key) or {}))
    chain = list(_chain(draft, start))
    return chain[-1] if len(chain) > 1 and not _parent(draft, chain[-1]) else unit


def _chain(draft: Draft, group: Reference) -> Iterator[Reference]:
    """The group and those above it, as far as they exist; a circle ends where it began."""
    seen: set[Reference] = set()
    while group not in seen and draft.find(group.kind, group.key) is not None:
        yield group
        seen.add(group)
        parent = _parent(draft, group)
        if not parent:
            return
        group = Reference.of("CompositePodGroup", parent)


def _parent(draft: Draft, group: Reference) -> str:
    document = draft.find(group.kind, group.key) or {}
    name = (document.get("spec") or {}).get("parentCompositePodGroupName")
    return f"{group.namespace}/{name}" if name else ""


# --- what keeps it from being tried -------------------------------------------------------------------------


def missing_parent(scene: Scene) -> list[Change]:
    """A group above it that does not exist."""
    if not scene.config.gate("CompositePodGroup") or scene.unit.kind not in ("PodGroup", "CompositePodGroup"):
        return []
    chain = list(_chain(scene.draft, scene.unit))
    parent = _parent(scene.draft, chain[-1]) if chain else ""
    missing = parent and scene.draft.find("CompositePodGroup", parent) is None
    return [CreateComposite(group=parent)] if missing else []


def below_quorum(scene: Scene) -> list[Change]:
    """Groups without enough pods, and composite groups without enough groups; not all may be needed."""
    if scene.unit.kind != "CompositePodGroup" or scene.works or _is_ready(scene, scene.unit):
        return []
    found: list[Change] = []
    for group in _groups(scene):
        if isinstance(group, PodGroup):
            missing = group.min_count - len(scene.draft.members(Reference.of("PodGroup", group.key)))
            if missing > 0:
                found.append(CreatePods(group=group.key, count=missing))
        elif 0 < len(scene.draft.children(group.key)) < group.min_group_count:
            count = len(scene.draft.children(group.key))
            found.append(LowerMinGroupCount(group=group.key, min_group_count=count))
    return found


def _is_ready(scene: Scene, unit: Reference, levels: int = MOST_LEVELS) -> bool:
    """Whether enough pods exist for the group, or for enough of the groups below it, so many levels down."""
    table, draft = scene.cluster.groups, scene.draft
    group = table.object(table.number_of_unit(unit))
    if isinstance(group, CompositePodGroup):
        below = draft.children(unit.key) if levels > 1 else []
        return sum(_is_ready(scene, each, levels - 1) for each in below) >= group.min_group_count
    return group is not None and len(draft.members(unit)) >= group.min_count


# --- ways ---------------------------------------------------------------------------------------------------


def _fewer_groups(scene: Scene) -> Iterator[list[Change]]:
    """One group after the other that need not be there, the outermost first; then smaller groups."""
    groups = _groups(scene)
    tries: list[list[Change]] = []
    for group in groups:
        if isinstance(group, CompositePodGroup):
            counts = range(group.min_group_count - 1, 0, -1)
            tries += [[LowerMinGroupCount(group=group.key, min_group_count=count)] for count in counts]
    for group in groups:
        if isinstance(group, PodGroup):
            counts = range(group.min_count - 1, 0, -1)
            tries += [[LowerMinCount(group=group.key, min_count=count)] for count in counts]
    yield from tries[:ROUNDS]


def _without_domains(scene: Scene) -> Iterator[list[Change]]:
    """One group that spreads, the innermost first; or all of them."""
    found = [
        DropTopology(group=f"{type(group).__name__}/{group.key}", key=group.topology_key)
        for group in reversed(_groups(scene))
        if group.topology_key
    ]
    for each in found[:ROUNDS]:
        yield [each]
    if len(found) > 1:
        yield [*found]


def _more_nodes(scene: Scene) -> Iterator[list[Change]]:
    """In the outermost domain where most of its pods fit, or in new ones."""
    rows = scene.waiting_rows()
    keys = list(dict.fromkeys(group.topology_key for group in _groups(scene) if group.topology_key))
    placement, domain = scene.placement
    fresh = dict.fromkeys(keys, "new")
    within = {**fresh, keys[0]: domain.name} if keys and domain.name else fresh
    amounts = largest(scene, rows)
    for count in dict.fromkeys((1, max(1, len(rows) - len(placement.assigned)), len(rows))):
        for labels in (within, fresh) if within != fresh else (fresh,):
            yield [AddNodes(count=count, amounts=amounts, labels=labels)]


def _groups(scene: Scene) -> list[PodGroup | CompositePodGroup]:
    """The tree, from the root down."""
    table = scene.cluster.groups
    found: list[PodGroup | CompositePodGroup] = []
    for each in [scene.unit, *scene.draft.below(scene.unit.key)]:
        group = table.object(table.number_of_unit(each))
        if group is not None:
            found.append(group)
    return found


TREE_WAYS: tuple[Way[Scene], ...] = (
    when_protection_ends,
    more_important,
    changed_cluster,
    _fewer_groups,
    _without_domains,
    changed_pod,
    _more_nodes,
)
