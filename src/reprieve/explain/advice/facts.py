"""What stands in the way of a unit, in numbers and in the words of its manifest."""

from collections.abc import Iterable, Iterator

from reprieve.explain.advice.quota_scene import QuotaScene
from reprieve.explain.advice.scene import Objections, Scene
from reprieve.explain.sentences import advice as sentences
from reprieve.objects import Node, PodSpec, format_amount, outcomes
from reprieve.preemption import UnknownTarget
from reprieve.quota import Mode, Shortage, TooLarge, vain_wait


def unit_facts(scene: Scene) -> list[str]:
    """For a pod or a group that has no place."""
    try:
        plan = scene.plan
    except UnknownTarget:
        return []
    found = scene.objections()
    facts = list(_about_nodes(scene, found)) if found is not None else []
    # The planner's first reason is the scheduler's message, which stands in the condition as well.
    return facts + (list(plan.reasons[1:]) if plan.outcome == outcomes.UNSCHEDULABLE else [])


def _about_nodes(scene: Scene, found: Objections) -> Iterator[str]:
    cluster = scene.cluster
    spec = cluster.class_of(cluster.pods.row_of[found.pod]).spec
    yield from _unknown_labels(spec, (node for node in cluster.nodes.objects if node is not None))
    if scene.unit.kind == "Pod":
        admitting = [
            name for name, reasons in found.by_node.items() if all(each.is_capacity for each in reasons)
        ]
        for resource, number in scene.requests(found.pod).items():
            if admitting and resource != "pods":
                yield from _short(scene, resource, number, admitting)


def _unknown_labels(spec: PodSpec, nodes: Iterable[Node]) -> Iterator[str]:
    known = {pair for node in nodes for pair in node.metadata.labels.items()}
    for key, value in spec.node_selector.items():
        if (key, value) not in known:
            yield sentences.no_node_has_label(key, value)


def _short(scene: Scene, resource: str, requested: int, nodes: list[str]) -> Iterator[str]:
    """The request against the largest and the emptiest of the nodes that would take the pod otherwise."""
    table = scene.cluster.nodes
    index = table.resource_index[resource]
    total = {name: int(table.allocatable[index, table.slot_of[name]]) for name in nodes}
    free = {name: max(0, scene.free(name)[resource]) for name in nodes}
    wanted = format_amount(resource, requested)
    largest, emptiest = (max(sorted(each), key=each.__getitem__) for each in (total, free))
    if not total[largest]:
        yield _nobody_has(scene, wanted, resource)
    elif requested > total[largest]:
        most = format_amount(resource, total[largest])
        yield sentences.no_node_is_large_enough(wanted, resource, most, largest)
    elif requested > free[emptiest]:
        most = format_amount(resource, free[emptiest])
        yield sentences.no_node_is_free_enough(wanted, resource, most, emptiest)


def _nobody_has(scene: Scene, wanted: str, resource: str) -> str:
    """Who has the resource and does not take the pod; where nobody has it, what was perhaps meant."""
    table = scene.cluster.nodes
    amounts = table.allocatable[table.resource_index[resource]]
    having = [name for name, slot in sorted(table.slot_of.items()) if amounts[slot]]
    if having:
        return sentences.only_others_have(wanted, resource, having)
    offered = [name for row, name in enumerate(table.resources) if table.allocatable[row].any()]
    return sentences.no_node_has(wanted, resource, offered)


def quota_facts(scene: QuotaScene) -> list[str]:
    """For a workload that gets no quota."""
    if scene.holds():
        return [hold.message for hold in scene.holds()]
    vain = vain_wait(scene.quota, scene.info, scene.queue, scene.assignment[0])
    return [*vain, *_too_large(scene), *_holders(scene)]


def _too_large(scene: QuotaScene) -> Iterator[str]:
    """Requests that are larger than the queue can ever get, in every flavor."""
    for result in scene.assignment[0].pod_sets:
        for group in result.attempts:
            hopeless = [
                [each for each in attempt.obstacles if isinstance(each, TooLarge)] for attempt in group
            ]
            if not hopeless or not all(hopeless):
                continue
            most: dict[str, dict[str, int]] = {}
            before: dict[str, int] = {}
            for each in (each for attempt in hopeless for each in attempt):
                most.setdefault(each.key.resource, {})[each.key.flavor] = each.most
                before[each.key.resource] = max(before.get(each.key.resource, 0), each.before)
            for resource, flavors in most.items():
                asked, others = result.requests[resource], before[resource]
                yield sentences.never_enough_quota(
                    result.name,
                    resource,
                    asked=format_amount(resource, asked),
                    before=format_amount(resource, others) if others else "",
                    queue=scene.queue_name,
                    most={flavor: format_amount(resource, number) for flavor, number in flavors.items()},
                )


def _holders(scene: QuotaScene) -> Iterator[str]:
    """Those that hold what is missing, the least important first."""
    obstacles = [
        obstacle
        for result in scene.assignment[0].pod_sets
        if result.mode != Mode.FIT
        for obstacle in result.obstacles
        if isinstance(obstacle, Shortage)
    ]
    keys = {obstacle.key for obstacle in obstacles}
    root = scene.queue.root
    holding = sorted(
        (info.priority, info.key)
        for info in scene.quota.cache.workloads.values()
        if keys & info.usage.keys() and scene.quota.cache.queues[info.queue].root is root
    )
    if holding:
        yield sentences.quota_held_by(holding)
