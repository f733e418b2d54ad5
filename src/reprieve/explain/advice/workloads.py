"""What would help a workload that waits for quota: ways out that were tried on a copy of the cluster.

1. What keeps it from being tried at all (`quota_holds`): queues that are missing or stopped, checks, limits.
2. Then, if it still gets no quota, one way each: the end of those that hold it, a higher priority, fewer
   pods, more quota. Each way contains all that is needed.
"""

from collections.abc import Callable, Iterator, Sequence

from reprieve.explain.advice.changes import Change
from reprieve.explain.advice.fixes import toleration
from reprieve.explain.advice.pod_changes import AskForLess, Drop, SetPriority, Tolerate
from reprieve.explain.advice.quota_changes import (
    CoverResource,
    CreateFlavors,
    EndWorkloads,
    FewerPods,
    OpenGates,
    RaiseQuota,
)
from reprieve.explain.advice.quota_holds import held_by
from reprieve.explain.advice.quota_scene import QuotaScene
from reprieve.explain.advice.remedy import Remedy
from reprieve.explain.advice.ways import HIGHEST_PRIORITY, ROUNDS, Way, ways_out
from reprieve.explain.sentences import advice as sentences
from reprieve.objects import format_amount
from reprieve.quota import (
    Attempt,
    Cause,
    Demand,
    FlavorResource,
    Mismatch,
    Mode,
    QueueNode,
    Shortage,
    TooLarge,
)

HOLDERS_TRIED = 30


def remedies(scene: QuotaScene) -> list[Remedy]:
    """The ways out; at least one, whatever stands in the way."""
    return ways_out(scene, held_by, WAYS, _result)


def _result(scene: QuotaScene) -> str:
    return sentences.gets_quota([] if scene.fits else scene.victims())


def _when_others_end(scene: QuotaScene) -> Iterator[list[Change]]:
    """The least important of those that hold quota in the same tree, as few of them as possible."""
    root = scene.queue.root
    queues = {name for name, node in scene.quota.cache.queues.items() if node.root is root}
    holders = sorted(
        (info for info in scene.quota.cache.workloads.values() if info.queue in queues),
        key=lambda info: (info.queue != scene.queue_name, info.priority, info.key),
    )
    out = [info.key for info in holders][:HOLDERS_TRIED]
    if not out or not scene.after([EndWorkloads(workloads=out)]).works:
        return
    for key in reversed(list(out)):
        rest = [each for each in out if each != key]
        if rest and scene.after([EndWorkloads(workloads=rest)]).works:
            out = rest
    yield [EndWorkloads(workloads=out)]


def _more_important(scene: QuotaScene) -> Iterator[list[Change]]:
    unit = str(scene.unit)
    top = scene.after([SetPriority(unit=unit, priority=HIGHEST_PRIORITY)])
    victims = [scene.quota.cache.workloads[key].priority for key in top.victims()] if top.works else []
    if victims:
        yield [SetPriority(unit=unit, priority=max(victims) + 1)]


def _open_gates(scene: QuotaScene) -> Iterator[list[Change]]:
    if scene.gated:
        gates = [gate.name for gate in scene.workload.spec.preemption_gates]
        yield [OpenGates(workload=scene.unit.key, gates=gates)]


def _more_quota(scene: QuotaScene) -> Iterator[list[Change]]:
    """Ends one obstacle after the other, in the flavor with the fewest of them."""
    changes: list[Change] = []
    for _ in range(ROUNDS):
        now = scene.after(changes)
        if now.works:
            yield changes
            return
        more = [each for each in _quota_changes(now) if each not in changes]
        if not more:
            return
        changes = _latest([*changes, *more])


def _latest(changes: list[Change]) -> list[Change]:
    """A quota that is raised twice is raised once, to the higher amount."""
    found: dict[object, Change] = {}
    for change in changes:
        place: object = change
        if isinstance(change, RaiseQuota):
            place = (change.queue, change.flavor, change.resource)
            before = found.get(place)
            if isinstance(before, RaiseQuota):
                change = RaiseQuota(
                    queue=change.queue,
                    flavor=change.flavor,
                    resource=change.resource,
                    nominal=change.nominal,
                    now=before.now,
                )
        found[place if isinstance(place, tuple) else id(change)] = change
    return list(found.values())


def _quota_changes(scene: QuotaScene) -> list[Change]:
    found = scene.assignment[0]
    result = next((each for each in found.pod_sets if each.mode != Mode.FIT), None)
    if result is None:
        return []
    loose = [
        each
        for each in result.obstacles
        if isinstance(each, Mismatch) and each.cause is Cause.RESOURCE_UNAVAILABLE
    ]
    if loose:
        return [
            change
            for each in loose
            for change in _cover(scene, each.resource, result.requests[each.resource])
        ]
    groups = [group for group in result.attempts if group and all(each.obstacles for each in group)]
    return [change for group in groups[:1] for change in _in_easiest(scene, group)]


def _cover(scene: QuotaScene, resource: str, number: int) -> list[Change]:
    flavors = [flavor.name for group in scene.queue.spec.resource_groups for flavor in group.flavors]
    nominal = format_amount(resource, number)
    flavor = (flavors or sorted(scene.quota.cache.flavors) or ["default"])[0]
    return [CoverResource(queue=scene.queue_name, flavor=flavor, resource=resource, nominal=nominal)]


def _in_easiest(scene: QuotaScene, attempts: Sequence[Attempt]) -> list[Change]:
    """In the flavor with the fewest obstacles; a flavor that the pods may not use counts for more."""

    def hardness(attempt: Attempt) -> int:
        return sum(3 if isinstance(each, Mismatch) else 1 for each in attempt.obstacles)

    easiest = min(attempts, key=hardness)
    changes: list[Change] = []
    for obstacle in easiest.obstacles:
        if isinstance(obstacle, Mismatch):
            changes += _usable(scene, obstacle)
        elif isinstance(obstacle, TooLarge):
            missing = obstacle.before + obstacle.request - obstacle.most
            changes.append(_raise(scene, obstacle.key, missing))
        elif isinstance(obstacle, Shortage):
            over = max(0, -scene.queue.cell(obstacle.key).free())
            changes.append(_raise(scene, obstacle.key, obstacle.missing + over))
    return changes


def _raise(scene: QuotaScene, key: FlavorResource, more: int) -> RaiseQuota:
    limits = scene.queue.limits.get(key)
    now = limits.nominal if limits is not None else 0
    return RaiseQuota(
        queue=scene.queue_name,
        flavor=key.flavor,
        resource=key.resource,
        nominal=format_amount(key.resource, now + more),
        now=format_amount(key.resource, now),
    )


def _usable(scene: QuotaScene, mismatch: Mismatch) -> list[Change]:
    """Let the pods use the flavor."""
    return [] if mismatch.cause in NOT_USABLE else USABLE[mismatch.cause](scene, mismatch)


def _create_flavor(_: QuotaScene, mismatch: Mismatch) -> list[Change]:
    return [CreateFlavors(flavors=[mismatch.flavor])]


def _tolerate(scene: QuotaScene, mismatch: Mismatch) -> list[Change]:
    taint = mismatch.taint
    return [Tolerate(unit=str(scene.unit), tolerations=[toleration(taint)])] if taint is not None else []


def _drop_selection(scene: QuotaScene, mismatch: Mismatch) -> list[Change]:
    labels, unit = scene.quota.cache.flavors[mismatch.flavor].spec.node_labels, str(scene.unit)
    keys = {
        key
        for demand in scene.info.demands
        for key, value in demand.spec.node_selector.items()
        if labels.get(key, value) != value
    }
    return (
        [Drop(unit=unit, field="nodeSelector", keys=sorted(keys))]
        if keys
        else [Drop(unit=unit, field="affinity.nodeAffinity")]
    )


USABLE: dict[Cause, Callable[[QuotaScene, Mismatch], list[Change]]] = {
    Cause.FLAVOR_NOT_FOUND: _create_flavor,
    Cause.FLAVOR_TAINTED: _tolerate,
    Cause.FLAVOR_NOT_SELECTED: _drop_selection,
}
NOT_USABLE = frozenset(
    {
        Cause.FLAVOR_NOT_NOMINATED,
        Cause.FLAVOR_DIFFERS,
        Cause.FLAVOR_NEEDS_TOPOLOGY,
        Cause.FLAVOR_HAS_NO_TOPOLOGY,
        Cause.FLAVOR_TOPOLOGY_UNKNOWN,
        Cause.FLAVOR_LACKS_LEVEL,
    }
)
"""Another flavor is the way, or a topology."""


def _fewer_pods(scene: QuotaScene) -> Iterator[list[Change]]:
    """As many pods as there is quota for now; or smaller ones."""
    demands = scene.info.demands
    if len(demands) != 1 or not demands[0].count:
        return
    demand, queue = demands[0], scene.queue
    flavors = sorted({each.flavor for each in queue.limits})
    counts = {_most_pods(queue, flavor, demand) for flavor in flavors}
    for count in sorted((each for each in counts if 0 < each < demand.count), reverse=True):
        yield [FewerPods(workload=scene.unit.key, pod_set=demand.name, count=count)]
    for flavor in flavors:
        less: list[Change] = []
        for resource, number in demand.requests.items():
            available = queue.cell(FlavorResource(flavor, resource)).available()
            if number > available and available >= demand.count:
                most = format_amount(resource, available // demand.count)
                less.append(AskForLess(unit=str(scene.unit), resource=resource, most=most))
        if less:
            yield less


def _most_pods(queue: QueueNode, flavor: str, demand: Demand) -> int:
    """How many of these pods the quota in one flavor is enough for now."""
    enough = (
        queue.cell(FlavorResource(flavor, resource)).available() * demand.count // number
        for resource, number in demand.requests.items()
        if number
    )
    return min(enough, default=0)


WAYS: tuple[Way[QuotaScene], ...] = (
    _open_gates,
    _more_important,
    _when_others_end,
    _fewer_pods,
    _more_quota,
)
