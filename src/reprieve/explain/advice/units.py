"""What would help a pod or a pod group that waits: ways out that were tried on a copy of the cluster.

1. What holds it before any node is looked at (`holds`): gates, a missing group, too few pods, the scheduler.
2. Then, if it still has no place, one way each: a higher priority; a change of the cluster; a change of its
   pods; more nodes; a smaller gang. Each way contains all that is needed, so two obstacles are both named.
"""

from collections.abc import Iterable, Iterator

from reprieve.explain.advice.changes import Change
from reprieve.explain.advice.fixes import Question, Side, fixes
from reprieve.explain.advice.labels import node_labels_for
from reprieve.explain.advice.node_changes import AddNodes
from reprieve.explain.advice.pod_changes import (
    AllowPreemption,
    Drop,
    EndProtection,
    LowerMinCount,
    SetPriority,
)
from reprieve.explain.advice.scene import Objections, Scene
from reprieve.explain.advice.ways import HIGHEST_PRIORITY, ROUNDS, Way
from reprieve.objects import Reference, format_amount, well_known
from reprieve.placement import Code, Reason

NODES_TRIED = 3
MOST_PROTECTED = 20
"""Above this many, who of them would have to go is not worked out."""
WEIGHTS = {
    Code.CONFLICT: 20,
    Code.OUTSIDE: 20,
    Code.AFFINITY: 4,
    Code.VETOED: 3,
}
"""How hard it is to end an objection: 2 where nothing is said, 1 for capacity."""


# --- ways ---------------------------------------------------------------------------------------------------


def more_important(scene: Scene) -> Iterator[list[Change]]:
    """The priority that would be enough: above the highest victim of a plan with the highest priority."""
    unit = str(scene.unit)
    allow: list[Change] = [AllowPreemption(unit=unit)] if _never_preempts(scene) else []
    if allow:
        yield allow
    plan = scene.after([*allow, SetPriority(unit=unit, priority=HIGHEST_PRIORITY)]).plan
    if plan.outcome == "preempts" and plan.victims:
        yield [*allow, SetPriority(unit=unit, priority=max(each.priority for each in plan.victims) + 1)]


def _never_preempts(scene: Scene) -> bool:
    pods = scene.cluster.pods
    return any(pods.info[row].never_preempts for row in scene.waiting_rows())


def when_protection_ends(scene: Scene) -> Iterator[list[Change]]:
    protected = [
        EndProtection(unit=str(Reference.read(document)))
        for kind in ("PodGroup", "Pod")
        for document in scene.draft.of_kind(kind)
        if well_known.MIN_RUNTIME_ANNOTATION in ((document.get("metadata") or {}).get("annotations") or {})
    ]
    if 0 < len(protected) <= MOST_PROTECTED:
        yield [*protected]


def changed_cluster(scene: Scene) -> Iterator[list[Change]]:
    yield from _repairs(scene, "cluster")


def changed_pod(scene: Scene) -> Iterator[list[Change]]:
    yield from _repairs(scene, "pod")


def _repairs(scene: Scene, side: Side) -> Iterator[list[Change]]:
    found = scene.objections()
    if found is None or (side == "cluster" and _missing(scene) > ROUNDS):
        return
    for node in _easiest(scene, found)[: NODES_TRIED if scene.group is None else 1]:
        changes = _repaired(scene, node, side)
        if changes:
            yield changes


def _missing(scene: Scene) -> int:
    """How many more pods have to find a node."""
    group, rows = scene.group, scene.waiting_rows()
    if scene.unit.kind == "CompositePodGroup":
        return max(1, len(rows) - len(scene.placement[0].assigned))
    running = len(scene.draft.members(scene.unit)) - len(rows)
    least = group.min_count if group is not None else 1
    return max(1, least - running - len(scene.placement[0].assigned))


def _repaired(scene: Scene, node: str, side: Side, start: Iterable[Change] = ()) -> list[Change] | None:
    """Ends one objection of one node after the other; a gang goes on with the next node."""
    changes = list(start)
    for _ in range(ROUNDS):
        now = scene.after(changes)
        if now.works:
            return changes
        found = now.objections()
        if found is None:
            return None
        if node not in found.by_node:
            node = next(iter(_easiest(now, found)), "")
        if not node:
            return None
        with now.partly_placed():
            more = fixes(Question(now, found.pod, node), found.by_node[node], side)
        if not more or all(each in changes for each in more):
            return None
        changes += [each for each in more if each not in changes]
    return None


def _easiest(scene: Scene, found: Objections) -> list[str]:
    """The nodes by how much stands in the way there; not those that are too small at any rate."""
    nodes, requests = scene.cluster.nodes, scene.requests(found.pod)
    wanted = [(nodes.resource_index[name], number) for name, number in requests.items()]

    def large_enough(name: str) -> bool:
        return all(nodes.allocatable[index, nodes.slot_of[name]] >= number for index, number in wanted)

    def hardness(name: str) -> int:
        return sum(map(_weight, found.by_node[name]))

    large = [name for name in found.by_node if large_enough(name)]
    return sorted(large, key=hardness)


def _weight(reason: Reason) -> int:
    return 1 if reason.is_capacity else WEIGHTS.get(reason.code, 2)


def _smaller_pod(scene: Scene) -> Iterator[list[Change]]:
    """On the node that has most of what it asks for, though not enough of it at any rate."""
    found = scene.objections()
    nodes = sorted(found.by_node, key=lambda name: sum(map(_weight, found.by_node[name]))) if found else []
    for node in nodes[: NODES_TRIED if scene.group is None else 1]:
        changes = _repaired(scene, node, "pod")
        if changes:
            yield changes


def _more_nodes(scene: Scene) -> Iterator[list[Change]]:
    """As many as pods are without a node; where constraints of the pods rule that out, without those."""
    found = scene.objections()
    if found is None:
        return
    rows, cluster = scene.waiting_rows(), scene.cluster
    spec = cluster.class_of(cluster.pods.row_of[found.pod]).spec
    wanted = node_labels_for(spec, {}, "")
    amounts = largest(scene, rows)
    for count in dict.fromkeys((1, _missing(scene), len(rows))):
        labels = (wanted.labels if wanted is not None else {}) | _domain_label(scene)
        add = AddNodes(count=count, amounts=amounts, labels=labels)
        yield [add]
        yield [*_without_constraints(scene, keep_selection=wanted is not None), add]
    yield [
        *_without_constraints(scene),
        AddNodes(count=len(rows), amounts=amounts, labels=_domain_label(scene)),
    ]


def largest(scene: Scene, rows: Iterable[int]) -> dict[str, str]:
    """Of each resource the most that one of the pods asks for."""
    most: dict[str, int] = {}
    for row in rows:
        for resource, number in scene.requests(scene.cluster.pods.keys[row]).items():
            most[resource] = max(most.get(resource, 0), number)
    return {resource: format_amount(resource, number) for resource, number in most.items()}


def _domain_label(scene: Scene) -> dict[str, str]:
    """The label that new nodes need to be in the domain where most of the group fits."""
    group = scene.group
    constraints = group.spec.scheduling_constraints if group is not None else None
    if not constraints or not constraints.topology:
        return {}
    return {constraints.topology[0].key: scene.placement[1].name or "new"}


def _without_constraints(scene: Scene, keep_selection: bool = False) -> list[Change]:
    unit = str(scene.unit)
    fields = ["affinity.podAffinity", "affinity.podAntiAffinity", "topologySpreadConstraints", "hostPort"]
    if not keep_selection:
        fields += ["nodeSelector", "affinity.nodeAffinity"]
    return [Drop(unit=unit, field=field) for field in fields]


def _smaller_gang(scene: Scene) -> Iterator[list[Change]]:
    group = scene.group
    rows = scene.waiting_rows()
    running = len(scene.draft.members(scene.unit)) - len(rows)
    fitting = len(scene.placement[0].assigned)
    if group is not None and group.is_gang and fitting and running + fitting < group.min_count:
        yield [LowerMinCount(group=scene.unit.key, min_count=running + fitting)]


WAYS: tuple[Way[Scene], ...] = (
    when_protection_ends,
    more_important,
    changed_cluster,
    changed_pod,
    _smaller_gang,
    _smaller_pod,
    _more_nodes,
)
