"""What would help a workload that waits for quota: ways out that were tried on a copy of the cluster.

1. What keeps it from being tried at all (`HOLDS`): queues that are missing or stopped, checks, limits.
2. Then, if it still gets no quota, one way each: the end of those that hold it, a higher priority, fewer
   pods, more quota. Each way contains all that is needed.
"""

from collections.abc import Callable, Iterator, Sequence

from reprieve.explain.changes import AskForLess, Change, Drop, SetPriority, Tolerate
from reprieve.explain.fixes import toleration
from reprieve.explain.labels import namespace_labels_for
from reprieve.explain.quota_changes import (
    Activate,
    ActivateChecks,
    AddPodSets,
    AllowNamespace,
    BreakCycle,
    CorrectQueue,
    CoverResource,
    CreateClusterQueue,
    CreateFlavors,
    CreateLocalQueue,
    CreatePriorityClass,
    EndWorkloads,
    FewerPods,
    KeepToLimits,
    NameQueue,
    OpenGates,
    PassChecks,
    RaiseQuota,
    Resume,
    Ungate,
    WaitUntil,
)
from reprieve.explain.quota_scene import BACKOFF, HELD, INACTIVE_WORKLOAD, QuotaScene
from reprieve.explain.remedy import Remedy, remedy
from reprieve.explain.suggest import closest
from reprieve.objects import Reference, ReprieveError, format_amount, some
from reprieve.quota import (
    Attempt,
    Demand,
    FlavorResource,
    Mismatch,
    Mode,
    QueueNode,
    Refusal,
    Shortage,
    TooLarge,
)

HIGHEST_PRIORITY = 1_000_000_000
ROUNDS = 12
HOLDERS_TRIED = 30
REMEDIES = 4
NAMED = 3


def remedies(scene: QuotaScene) -> list[Remedy]:
    """The ways out; at least one, whatever stands in the way."""
    held = held_by(scene)
    base = scene.after(held)
    if base.works:
        return [remedy(held, _result(base))] if held else []
    found: list[Remedy] = []
    for way in WAYS:
        for changes in way(base):
            needed = _needed(scene, [*held, *changes])
            if needed is not None and all(each.changes != needed for each in found):
                found.append(remedy(needed, _result(scene.after(needed))))
                break
        if len(found) == REMEDIES:
            break
    return found


def _result(scene: QuotaScene) -> str:
    if scene.fits:
        return "it gets its quota"
    return f"it gets its quota, and {some(scene.victims(), NAMED)} would make way"


def _needed(scene: QuotaScene, changes: list[Change]) -> list[Change] | None:
    """The changes without those that it works without; None when all of them together do not help."""
    if not _works(scene, changes):
        return None
    for change in list(changes):
        rest = [each for each in changes if each is not change]
        if _works(scene, rest):
            changes = rest
    return changes


def _works(scene: QuotaScene, changes: Sequence[Change]) -> bool:
    try:
        return scene.after(changes).works
    except ReprieveError:
        return False


# --- what comes before quota --------------------------------------------------------------------------------


def held_by(scene: QuotaScene) -> list[Change]:
    """Ends one hold after the other: one often hides the next."""
    changes: list[Change] = []
    for _ in range(ROUNDS):
        now = scene.after(changes)
        holds = now.holds()
        if not holds:
            return changes
        more = [each for hold in holds for each in _end(now, hold) if each not in changes]
        if not more:
            return changes
        changes += more
    return changes


def _end(scene: QuotaScene, hold: Refusal) -> list[Change]:
    by_reason = HOLDS.get(hold.reason)
    if by_reason is not None:
        return by_reason(scene, hold)
    for words, end in MISCONFIGURED.items():
        if words in hold.message:
            return end(scene, hold)
    return []


def _activate(scene: QuotaScene, _: Refusal) -> list[Change]:
    return [Activate(workload=scene.unit.key)]


def _ungate(scene: QuotaScene, hold: Refusal) -> list[Change]:
    return [Ungate(workload=scene.unit.key, by=hold.message)]


def _wait(scene: QuotaScene, hold: Refusal) -> list[Change]:
    return [WaitUntil(workload=scene.unit.key, time=hold.message)]


def _resume_local(scene: QuotaScene, _: Refusal) -> list[Change]:
    return [Resume(queue=f"LocalQueue/{scene.unit.namespace}/{scene.workload.spec.queue_name}")]


def _resume(scene: QuotaScene, _: Refusal) -> list[Change]:
    return [Resume(queue=f"ClusterQueue/{scene.queue_name}")]


def _create_flavors(scene: QuotaScene, _: Refusal) -> list[Change]:
    groups = scene.queue.spec.resource_groups
    names = {flavor.name for group in groups for flavor in group.flavors}
    return [CreateFlavors(flavors=sorted(names - scene.quota.cache.flavors.keys()))]


def _checks(scene: QuotaScene) -> list[str]:
    return [each.name for each in scene.queue.spec.admission_checks_strategy.admission_checks]


def _create_checks(scene: QuotaScene, _: Refusal) -> list[Change]:
    missing = sorted(set(_checks(scene)) - scene.quota.cache.checks.keys())
    return [ActivateChecks(checks=missing, missing=True)]


def _activate_checks(_: QuotaScene, hold: Refusal) -> list[Change]:
    names = hold.message.rpartition(": ")[2].split(",")
    return [ActivateChecks(checks=names)]


def _break_cycle(scene: QuotaScene, _: Refusal) -> list[Change]:
    """Follow the parents until one comes again."""
    seen, name = [], scene.queue.spec.cohort_name
    while name and name not in seen:
        seen.append(name)
        cohort = scene.draft.find("Cohort", name) or {}
        name = str((cohort.get("spec") or {}).get("parentName") or "")
    return [BreakCycle(cohort=seen[-1])]


def _fail_checks(scene: QuotaScene, _: Refusal) -> list[Change]:
    failed = [c.name for c in scene.workload.status.admission_checks if c.state in ("Retry", "Rejected")]
    return [PassChecks(workload=scene.unit.key, checks=failed)]


def _name_queue(scene: QuotaScene, _: Refusal) -> list[Change]:
    """An existing queue of the namespace, the one with the nearest name first; or a new one."""
    here = [Reference.read(each) for each in scene.draft.of_kind("LocalQueue")]
    names = sorted(each.name for each in here if each.namespace == scene.unit.namespace)
    wanted = scene.workload.spec.queue_name
    if names:
        return [NameQueue(workload=scene.unit.key, queue=(closest(wanted, names) or names)[0])]
    queues = sorted(Reference.read(each).name for each in scene.draft.of_kind("ClusterQueue"))
    name = wanted or "main"
    create: list[Change] = [
        CreateLocalQueue(queue=f"{scene.unit.namespace}/{name}", cluster_queue=(queues or ["main"])[0])
    ]
    return create if wanted else [NameQueue(workload=scene.unit.key, queue=name), *create]


def _create_cluster_queue(scene: QuotaScene, _: Refusal) -> list[Change]:
    return [CreateClusterQueue(queue=scene.queue_name)]


def _create_class(scene: QuotaScene, _: Refusal) -> list[Change]:
    ref = scene.workload.spec.priority_class_ref
    return [CreatePriorityClass(kind=ref.kind or "WorkloadPriorityClass", name=ref.name)] if ref else []


def _add_pods(scene: QuotaScene, _: Refusal) -> list[Change]:
    return [AddPodSets(workload=scene.unit.key)]


def _allow_namespace(scene: QuotaScene, _: Refusal) -> list[Change]:
    name = scene.unit.namespace
    labels = scene.quota.namespaces.get(name, {})
    added = namespace_labels_for(scene.queue.spec.namespace_selector, labels)
    return [AllowNamespace(queue=scene.queue_name, namespace=name, labels=added or {})]


def _keep_to_limits(scene: QuotaScene, hold: Refusal) -> list[Change]:
    return [KeepToLimits(workload=scene.unit.key, problem=hold.message)]


def _correct_queue(scene: QuotaScene, hold: Refusal) -> list[Change]:
    return [CorrectQueue(queue=scene.queue_name, problem=hold.message)]


End = Callable[[QuotaScene, Refusal], list[Change]]
HOLDS: dict[str, End] = {
    INACTIVE_WORKLOAD: _activate,
    HELD: _ungate,
    BACKOFF: _wait,
    "Suspended": _resume_local,
    "Stopped": _resume,
    "FlavorNotFound": _create_flavors,
    "AdmissionCheckNotFound": _create_checks,
    "AdmissionCheckInactive": _activate_checks,
    "HasCycle": _break_cycle,
    "PendingEvaluation": _fail_checks,
}
"""By the reason of the hold."""
MISCONFIGURED: dict[str, End] = {
    "names no LocalQueue": _name_queue,
    "LocalQueue ": _name_queue,
    "ClusterQueue selector": _allow_namespace,
    "ClusterQueue ": _create_cluster_queue,
    "Class ": _create_class,
    "no pod sets": _add_pods,
    "resources validation failed": _keep_to_limits,
    "LimitRange constraints": _keep_to_limits,
    "": _correct_queue,
}
"""One reason, many causes: by words of the message; whatever is left is wrong in the queue itself."""


# --- ways to quota ------------------------------------------------------------------------------------------


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
    loose = [each for each in result.obstacles if isinstance(each, Mismatch) and each.resource]
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
    flavor, unit = scene.quota.cache.flavors.get(mismatch.flavor), str(scene.unit)
    if flavor is None:
        return [CreateFlavors(flavors=[mismatch.flavor])]
    if mismatch.taint is not None:
        return [Tolerate(unit=unit, tolerations=[toleration(mismatch.taint)])]
    labels = flavor.spec.node_labels
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


WAYS: tuple[Callable[[QuotaScene], Iterator[list[Change]]], ...] = (
    _open_gates,
    _more_important,
    _when_others_end,
    _fewer_pods,
    _more_quota,
)
