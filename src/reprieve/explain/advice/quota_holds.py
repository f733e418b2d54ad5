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
from reprieve.explain.advice.quota_scene import BACKOFF, HELD, INACTIVE_WORKLOAD, QuotaScene
from reprieve.explain.advice.ways import ROUNDS
from reprieve.explain.suggest import closest
from reprieve.objects import Reference
from reprieve.quota import (
    Refusal,
)


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
