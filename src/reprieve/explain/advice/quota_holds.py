"""What keeps a workload from being tried at all, and the changes that end it."""

from collections.abc import Callable

from reprieve.explain.advice.changes import Change
from reprieve.explain.advice.labels import namespace_labels_for
from reprieve.explain.advice.quota_changes import (
    Activate,
    ActivateChecks,
    AddPodSets,
    AllowNamespace,
    BreakCycle,
    CorrectQueue,
    CreateClusterQueue,
    CreateFlavors,
    CreateLocalQueue,
    CreatePriorityClass,
    KeepToLimits,
    NameQueue,
    PassChecks,
    Resume,
    Ungate,
    WaitUntil,
)
from reprieve.explain.advice.quota_scene import Hold, Own, QuotaScene
from reprieve.explain.advice.ways import ROUNDS
from reprieve.explain.suggest import closest
from reprieve.objects import Reference
from reprieve.quota import Cause


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


def _end(scene: QuotaScene, hold: Hold) -> list[Change]:
    return [] if hold.cause in NO_END else ENDS[hold.cause](scene, hold)


def _activate(scene: QuotaScene, _: Hold) -> list[Change]:
    return [Activate(workload=scene.unit.key)]


def _ungate(scene: QuotaScene, hold: Hold) -> list[Change]:
    return [Ungate(workload=scene.unit.key, by=hold.message)]


def _wait(scene: QuotaScene, hold: Hold) -> list[Change]:
    return [WaitUntil(workload=scene.unit.key, time=hold.message)]


def _resume_local(scene: QuotaScene, _: Hold) -> list[Change]:
    return [Resume(queue=f"LocalQueue/{scene.unit.namespace}/{scene.workload.spec.queue_name}")]


def _resume(scene: QuotaScene, _: Hold) -> list[Change]:
    return [Resume(queue=f"ClusterQueue/{scene.queue_name}")]


def _create_flavors(scene: QuotaScene, _: Hold) -> list[Change]:
    groups = scene.queue.spec.resource_groups
    names = {flavor.name for group in groups for flavor in group.flavors}
    return [CreateFlavors(flavors=sorted(names - scene.quota.cache.flavors.keys()))]


def _checks(scene: QuotaScene) -> list[str]:
    return [each.name for each in scene.queue.spec.admission_checks_strategy.admission_checks]


def _create_checks(scene: QuotaScene, _: Hold) -> list[Change]:
    missing = sorted(set(_checks(scene)) - scene.quota.cache.checks.keys())
    return [ActivateChecks(checks=missing, missing=True)]


def _activate_checks(_: QuotaScene, hold: Hold) -> list[Change]:
    (names,) = hold.values
    return [ActivateChecks(checks=list(names))] if isinstance(names, tuple) else []


def _break_cycle(scene: QuotaScene, _: Hold) -> list[Change]:
    """Follow the parents until one comes again."""
    seen, name = [], scene.queue.spec.cohort_name
    while name and name not in seen:
        seen.append(name)
        cohort = scene.draft.find("Cohort", name) or {}
        name = str((cohort.get("spec") or {}).get("parentName") or "")
    return [BreakCycle(cohort=seen[-1])]


def _fail_checks(scene: QuotaScene, _: Hold) -> list[Change]:
    failed = [c.name for c in scene.workload.status.admission_checks if c.state in ("Retry", "Rejected")]
    return [PassChecks(workload=scene.unit.key, checks=failed)]


def _name_queue(scene: QuotaScene, _: Hold) -> list[Change]:
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


def _create_cluster_queue(scene: QuotaScene, _: Hold) -> list[Change]:
    return [CreateClusterQueue(queue=scene.queue_name)]


def _create_class(scene: QuotaScene, _: Hold) -> list[Change]:
    ref = scene.workload.spec.priority_class_ref
    return [CreatePriorityClass(kind=ref.kind or "WorkloadPriorityClass", name=ref.name)] if ref else []


def _add_pods(scene: QuotaScene, _: Hold) -> list[Change]:
    return [AddPodSets(workload=scene.unit.key)]


def _allow_namespace(scene: QuotaScene, _: Hold) -> list[Change]:
    name = scene.unit.namespace
    labels = scene.quota.namespaces.get(name, {})
    added = namespace_labels_for(scene.queue.spec.namespace_selector, labels)
    return [AllowNamespace(queue=scene.queue_name, namespace=name, labels=added or {})]


def _keep_to_limits(scene: QuotaScene, hold: Hold) -> list[Change]:
    return [KeepToLimits(workload=scene.unit.key, problem=hold.message)]


def _correct_queue(scene: QuotaScene, hold: Hold) -> list[Change]:
    return [CorrectQueue(queue=scene.queue_name, problem=hold.message)]


ENDS: dict[Cause | Own, Callable[[QuotaScene, Hold], list[Change]]] = {
    Own.INACTIVE: _activate,
    Own.HELD: _ungate,
    Own.BACKOFF: _wait,
    Cause.NO_POD_SETS: _add_pods,
    Cause.NO_QUEUE_NAMED: _name_queue,
    Cause.NO_LOCAL_QUEUE: _name_queue,
    Cause.LOCAL_QUEUE_INACTIVE: _resume_local,
    Cause.NO_CLUSTER_QUEUE: _create_cluster_queue,
    Cause.NO_PRIORITY_CLASS: _create_class,
    Cause.NAMESPACE_MISMATCH: _allow_namespace,
    Cause.FAILED_CHECKS: _fail_checks,
    Cause.ABOVE_LIMITS: _keep_to_limits,
    Cause.OUTSIDE_LIMIT_RANGES: _keep_to_limits,
    Cause.STOPPED: _resume,
    Cause.FLAVORS_MISSING: _create_flavors,
    Cause.CHECKS_MISSING: _create_checks,
    Cause.CHECKS_INACTIVE: _activate_checks,
    Cause.COHORT_CYCLE: _break_cycle,
    Cause.FLAVOR_IN_TWO_GROUPS: _correct_queue,
    Cause.RESOURCE_NOT_COVERED: _correct_queue,
    Cause.NEGATIVE_AMOUNT: _correct_queue,
    Cause.UNREADABLE_AMOUNT: _correct_queue,
}
NO_END = frozenset[Cause | Own](
    {Cause.TOPOLOGY_MISSING, Cause.REQUEST_UNREADABLE, Cause.DEVICES_UNCOUNTABLE, Cause.LETS_PASS}
)
"""The sentence says what is missing or wrong in objects that no change here touches; or only time helps."""
