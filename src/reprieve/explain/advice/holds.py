"""What keeps a pod or a group from being tried at all, and the changes that end it."""

from collections.abc import Callable, Iterator
from typing import Any

from reprieve.cluster import resolve
from reprieve.explain.advice.changes import Change
from reprieve.explain.advice.draft import Draft
from reprieve.explain.advice.node_changes import EndPods
from reprieve.explain.advice.pod_changes import CreateGroup, CreatePods, RemoveGates, SameForAll, UseScheduler
from reprieve.explain.advice.scene import Scene
from reprieve.explain.sentences import changes as sentences
from reprieve.objects import Document, Reference, condition_of, group_key, well_known
from reprieve.preemption import groups_rule


def holds(scene: Scene) -> list[Change]:
    """In the order in which a scheduler would find them; each is looked for after the earlier ones ended."""
    changes: list[Change] = []
    for look in LOOKS:
        changes += look(scene.after(changes))
    return changes


def _pods(scene: Scene) -> Iterator[Document]:
    for key in scene.draft.members(scene.unit):
        pod = scene.draft.find("Pod", key)
        if pod is not None:
            yield pod


def _spec(document: Document) -> dict[str, Any]:
    return document.get("spec") or {}


def _gates(scene: Scene) -> list[Change]:
    gates = {
        str(gate.get("name")): None
        for pod in _pods(scene)
        if not _spec(pod).get("nodeName")
        for gate in _spec(pod).get("schedulingGates") or ()
    }
    return [RemoveGates(unit=str(scene.unit), gates=list(gates))] if gates else []


def _missing_group(scene: Scene) -> list[Change]:
    if not scene.config.gate("GenericWorkload"):
        return []
    key = scene.unit.key if scene.unit.kind == "PodGroup" else _group_of(scene.draft, scene.unit)
    return [CreateGroup(group=key)] if key and scene.draft.find("PodGroup", key) is None else []


def _group_of(draft: Draft, pod: Reference) -> str:
    return group_key(draft.find("Pod", pod.key) or {})


def _too_few(scene: Scene) -> list[Change]:
    group = scene.group
    if group is None or not scene.config.gate("GangScheduling"):
        return []
    missing = group.min_count - len(scene.draft.members(scene.unit))
    return [CreatePods(group=scene.unit.key, count=missing)] if missing > 0 else []


def _leaving(scene: Scene) -> list[Change]:
    """A gang that never was complete waits until its former pods are gone."""
    group = scene.group
    if group is None or not group.is_gang or not scene.config.gate("GangScheduling"):
        return []
    placed = condition_of(scene.draft.find("PodGroup", scene.unit.key), well_known.POD_GROUP_SCHEDULED)
    if placed.get("status") == "True":
        return []
    leaving = [
        Reference.read(pod).key
        for pod in _pods(scene)
        if (pod.get("metadata") or {}).get("deletionTimestamp") and _spec(pod).get("nodeName")
    ]
    ending = EndPods(pods=sorted(leaving), why=sentences.FORMER_PODS, leaving=True)
    return [ending] if leaving else []


def _unequal(scene: Scene) -> list[Change]:
    """A group's pods must have one scheduler, the group's priority and one preemption policy."""
    if scene.unit.kind != "PodGroup" or scene.group is None:
        return []
    cluster, key = scene.cluster, scene.unit.key
    info = [cluster.pods.info[row] for row in cluster.groups.members[cluster.groups.number_of[key]]]
    found: list[Change] = []
    names = {each.scheduler or well_known.DEFAULT_SCHEDULER for each in info}
    if len(names) > 1:
        ours = sorted(names & scene.config.scheduler.known_names) or sorted(names)
        found.append(SameForAll(group=key, field="schedulerName", value=ours[0]))
    if groups_rule(scene.config):
        return found  # priority and policy are the group's, whatever its pods say
    number = cluster.groups.number_of[key]
    wanted = int(cluster.groups.priority[number])
    if any(int(cluster.pods.own_priority[row]) != wanted for row in cluster.groups.members[number]):
        found.append(SameForAll(group=key, field="priority", value=wanted))
    policies = {each.never_preempts for each in info}
    never = False
    if scene.config.gate("PodGroupPreemptionPolicy"):
        never = resolve(scene.group, cluster.priorities).never_preempts
        policies.add(never)
    if len(policies) > 1:
        value = "Never" if never else "PreemptLowerPriority"
        found.append(SameForAll(group=key, field="preemptionPolicy", value=value))
    return found


def _scheduler(scene: Scene) -> list[Change]:
    names = {str(_spec(pod).get("schedulerName") or well_known.DEFAULT_SCHEDULER) for pod in _pods(scene)}
    if not names or names & scene.config.scheduler.known_names:
        return []
    ours = scene.config.scheduler.scheduler_name
    return [UseScheduler(unit=str(scene.unit), name=ours)]


LOOKS: tuple[Callable[[Scene], list[Change]], ...] = (
    _gates,
    _missing_group,
    _leaving,
    _too_few,
    _unequal,
    _scheduler,
)
