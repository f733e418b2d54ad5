"""Pods and pod groups: where they are in their life, who preempted them, what they wait for."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from reprieve.config import Configuration
from reprieve.explain.advice.give import advice
from reprieve.explain.answer import Advice, Eviction, Explanation
from reprieve.explain.evictions import evictions_by, evictions_of_group, evictions_of_pod
from reprieve.explain.evidence import Evidence, key_of
from reprieve.explain.reading import in_plain_words, not_understood
from reprieve.explain.sentences import advice as advised
from reprieve.explain.sentences import answers
from reprieve.jobs import queue_of
from reprieve.objects import (
    Document,
    Reference,
    ReprieveError,
    condition_of,
    document_of,
    group_key,
    has_condition,
    well_known,
)
from reprieve.whatif import grant

LEAVING_SHOWN = 10


def explain_pod(
    target: Reference, evidence: Evidence, config: Mapping[str, Any] | None, now: datetime
) -> Explanation:
    """A pod of a group waits with its group, so the answer covers what the group waits for."""
    pod = evidence.find("Pod", target.key)
    evictions = evictions_of_pod(target.key, pod, evidence)
    group = group_key(pod) if pod else ""
    unit = Reference.of("PodGroup", group) if group else target
    state, sentence = _state(target, pod, evictions)
    answer = Explanation(
        for_=str(target),
        state=state,
        sentence=sentence,
        preempted_by=evictions,
        preempted=evictions_by(str(unit), evidence),
    )
    if group:
        answer.details.append(answers.belongs_to_group(group))
    if state in ("waiting", "running") and evictions:
        answer.details.append(answers.earlier_pod_preempted(evictions[0].by, evictions[0].reason))
    if state != "waiting" or pod is None:
        return answer
    known = evidence.find("PodGroup", group) if group else None
    nomination = _nomination_of([pod], evidence)
    if nomination.holds:
        answer.waits_for = nomination.leaving
        answer.would_help = [advised.VICTIMS_ARE_LEAVING]
    elif group and known is None:
        answer.waits_for = [*_waits_for(pod, None), answers.waits_for_missing_group(group)]
        answer.advise(advice(unit, evidence, config, now))
    else:
        answer.waits_for = [*_waits_for(pod, known), *_foreign(pod, config)]
        answer.details += map(answers.not_understood, not_understood(_messages(pod, known)))
        answer.advise(_advice(unit, pod, evidence, config, now))
    return answer


def _foreign(pod: Document, config: Mapping[str, Any] | None) -> list[str]:
    """The scheduler that a pod names, if nothing is known of it here."""
    name = str((pod.get("spec") or {}).get("schedulerName") or "")
    if not name or name in Configuration.load(config).scheduler.known_names:
        return []
    return [answers.waits_for_other_scheduler(name)]


def _advice(
    unit: Reference, pod: Document, evidence: Evidence, config: Mapping[str, Any] | None, now: datetime
) -> Advice:
    """For a unit that waits, of which this is a waiting pod; free nodes do not help one without quota."""
    gates = (pod.get("spec") or {}).get("schedulingGates") or ()
    held = any(gate.get("name") == well_known.ADMISSION_GATE for gate in gates)
    if not held and condition_of(pod, well_known.POD_SCHEDULED).get("reason") != well_known.WAITING_FOR_QUOTA:
        return _before_quota(unit, evidence, config, now)
    workload = _workload_of(unit, pod, evidence)
    if workload is None:
        return Advice([advised.QUOTA_FIRST])
    if has_condition(workload, well_known.ADMITTED):
        return Advice([advised.QUOTA_FIRST, advised.workload_is_admitted(key_of(workload))])
    found = advice(Reference.of("Workload", key_of(workload)), evidence, config, now)
    lines = [advised.QUOTA_FIRST, advised.waits_for_workload(key_of(workload)), *found.lines]
    return Advice(lines, found.remedies, found.facts)


def _before_quota(
    unit: Reference, evidence: Evidence, config: Mapping[str, Any] | None, now: datetime
) -> Advice:
    """For a unit without a gate. In a queue it gets one: quota is decided first, as in a plan, and it starts
    on the nodes of its flavors."""
    members = [each for each in evidence.of_kind("Pod") if _is_of(each, unit)]
    own = evidence.find(unit.kind, unit.key)
    if evidence.partial or not any(queue_of(each) for each in (*members, *([own] if own else []))):
        return advice(unit, evidence, config, now)
    try:
        granted = grant(
            evidence.objects, evidence.objects, unit, {"main": members}, Configuration.load(config), now
        )
    except ReprieveError as error:
        return Advice([advised.no_plan(str(error))])
    if granted is None:
        return advice(unit, evidence, config, now)
    if not granted.refusal:
        found = advice(unit, evidence.with_objects([*map(document_of, granted.documents)]), config, now)
        if not granted.victims:
            return found
        preempts = advised.preemption_would_help([each.pod for each in granted.victims])
        return Advice([preempts, *found.lines[1:]], found.remedies, found.facts)
    asked = evidence.with_objects([*evidence.objects, *granted.asked])
    found = advice(Reference.read(granted.asked[0]), asked, config, now)
    return Advice(found.lines, found.remedies, [granted.refusal, *found.facts])


def _is_of(pod: Document, unit: Reference) -> bool:
    return Reference.read(pod) == unit or (unit.kind == "PodGroup" and group_key(pod) == unit.key)


def _workload_of(unit: Reference, pod: Document, evidence: Evidence) -> Document | None:
    """The workload of its group, of its Job, or of itself."""
    group = evidence.find("PodGroup", unit.key) if unit.kind == "PodGroup" else None
    owners = [(each.get("metadata") or {}).get("uid") for each in (group or {}, pod)]
    owners += [each.get("uid") for each in (pod.get("metadata") or {}).get("ownerReferences") or ()]
    wanted = {uid for uid in owners if uid}
    for workload in evidence.of_kind("Workload"):
        references = (workload.get("metadata") or {}).get("ownerReferences") or ()
        if wanted & {each.get("uid") for each in references}:
            return workload
    return None


def ended(pod: Document) -> bool:
    return (pod.get("status") or {}).get("phase") in well_known.TERMINAL_PHASES


def _waits_for(pod: Document, group: Document | None) -> list[str]:
    return list(dict.fromkeys(map(in_plain_words, _messages(pod, group))))


def _messages(pod: Document, group: Document | None) -> list[str]:
    """What conditions of a waiting pod and of its group say."""
    found = [
        condition_of(pod, well_known.POD_SCHEDULED),
        condition_of(group, well_known.POD_GROUP_SCHEDULED),
        condition_of(group, well_known.PODS_NOT_MATCHING_PRIORITY),
    ]
    return [message for each in found if (message := each.get("message"))]


def _state(target: Reference, pod: Document | None, evictions: list[Eviction]) -> tuple[str, str]:
    name, last = target.key, evictions[0] if evictions else None
    if pod is None:
        if last:
            return "preempted", answers.pod_was_preempted(name, last.by, last.reason)
        return "gone", answers.no_such_pod(name)
    status, spec = pod.get("status") or {}, pod.get("spec") or {}
    if ended(pod):
        return "finished", answers.pod_has_ended(name, status["phase"])
    if (pod.get("metadata") or {}).get("deletionTimestamp"):
        if last:
            return "leaving", answers.pod_leaves_preempted(name, last.by, last.reason)
        return "leaving", answers.pod_leaves_deleted(name)
    if spec.get("nodeName"):
        return "running", answers.pod_runs(name, spec["nodeName"])
    cause = cause_of_waiting(pod)
    return "waiting", (
        answers.pod_waits(name, cause)
        if cause
        else answers.pod_waits_for_victims(name, status["nominatedNodeName"])
    )


def cause_of_waiting(pod: Document) -> str:
    """Why a pod has no node; empty where it is nominated to one, and victims there are still leaving."""
    gates = (pod.get("spec") or {}).get("schedulingGates")
    if gates:
        return answers.held_by_gates([str(gate.get("name", "?")) for gate in gates])
    if (pod.get("status") or {}).get("nominatedNodeName"):
        return ""
    message = condition_of(pod, well_known.POD_SCHEDULED).get("message")
    return in_plain_words(message or answers.NO_SCHEDULER_LOOKED)


class Members(NamedTuple):
    """A group's pods by what they are doing."""

    running: list[Document]
    waiting: list[Document]
    leaving: list[Document]
    ended: list[Document]

    @property
    def state(self) -> str:
        for name, pods in (("waiting", self.waiting), ("running", self.running), ("leaving", self.leaving)):
            if pods:
                return name
        return "finished" if self.ended else "unknown"


def explain_group(
    target: Reference, evidence: Evidence, config: Mapping[str, Any] | None, now: datetime
) -> Explanation:
    answer, group, members = described_group(target, evidence)
    if members.waiting:
        first = members.waiting[0]
        answer.waits_for = [*_waits_for(first, group), *_foreign(first, config)]
        answer.details += map(answers.not_understood, not_understood(_messages(first, group)))
        advise_waiting(answer, target, members.waiting, evidence, config, now)
    return answer


def described_group(target: Reference, evidence: Evidence) -> tuple[Explanation, Document | None, "Members"]:
    """How a group is, without advice."""
    group = evidence.find("PodGroup", target.key)
    pods = [pod for pod in evidence.of_kind("Pod") if _in_group(pod, target)]
    members = members_of(pods)
    evicted = evictions_of_group(str(target), pods, evidence)
    answer = Explanation(
        for_=str(target),
        state="preempted" if evicted and not pods else members.state,
        sentence=_sentence(target, group, members, evicted),
        preempted_by=evicted,
        preempted=evictions_by(str(target), evidence),
    )
    if group is None and pods:
        answer.details.append(answers.GROUP_OBJECT_MISSING)
    above = ((group or {}).get("spec") or {}).get("parentCompositePodGroupName")
    if above:
        answer.details.append(answers.placed_with_tree(above))
    return answer, group, members


def advise_waiting(
    answer: Explanation,
    unit: Reference,
    waiting: list[Document],
    evidence: Evidence,
    config: Mapping[str, Any] | None,
    now: datetime,
) -> None:
    """What would help a group, or a tree of groups, of which these pods wait; time alone if victims leave."""
    nomination = _nomination_of(waiting, evidence)
    if nomination.holds:
        answer.waits_for, answer.would_help = nomination.leaving, [advised.VICTIMS_ARE_LEAVING]
    else:
        answer.advise(_advice(unit, waiting[0], evidence, config, now))


def _in_group(pod: Document, target: Reference) -> bool:
    return group_key(pod) == target.key


def members_of(pods: list[Document]) -> Members:
    members = Members([], [], [], [])
    for pod in pods:
        if ended(pod):
            members.ended.append(pod)
        elif (pod.get("metadata") or {}).get("deletionTimestamp"):
            members.leaving.append(pod)
        elif (pod.get("spec") or {}).get("nodeName"):
            members.running.append(pod)
        else:
            members.waiting.append(pod)
    return members


def _sentence(target: Reference, group: Document | None, members: Members, evicted: list[Eviction]) -> str:
    name, last = target.key, evicted[0] if evicted else None
    running, waiting, leaving, done = (len(pods) for pods in members)
    if group is None and not any(members):
        return (
            answers.group_was_preempted(name, last.by, last.reason) if last else answers.no_such_group(name)
        )
    policy = ((group or {}).get("spec") or {}).get("schedulingPolicy") or {}
    at_once = policy.get("gang", {}).get("minCount") or 0
    if waiting:
        said = answers.group_waits(name, waiting, running + waiting, at_once, leaving)
    elif running:
        said = answers.group_runs(name, running, at_once, leaving)
    elif leaving:
        if last:
            return answers.group_leaves_preempted(name, leaving, last.by, last.reason)
        return answers.group_leaves_deleted(name, leaving)
    elif done:
        return answers.group_has_ended(name, done)
    else:
        said = answers.group_has_no_pods(name, at_once)
    return f"{said} {answers.it_was_preempted(last.by, last.reason)}" if last else said


class Nomination(NamedTuple):
    """The nodes that a waiting unit is nominated to, and the pods that still occupy them."""

    nodes: list[str]
    leaving: list[str]
    """Sentences: which pods still have to leave those nodes, and since when they have been terminating."""

    @property
    def holds(self) -> bool:
        """Every waiting pod has a node, and victims there are still leaving."""
        return bool(self.nodes and self.leaving)


def _nomination_of(waiting: list[Document], evidence: Evidence) -> Nomination:
    """The nomination of all these waiting pods; a group with pods that have no node yet has none."""
    nodes = [str((pod.get("status") or {}).get("nominatedNodeName") or "") for pod in waiting]
    if not all(nodes):
        return Nomination([], [])
    leaving = [
        answers.waits_for_pod_to_leave(key_of(pod), node, since)
        for pod in evidence.of_kind("Pod")
        if (node := (pod.get("spec") or {}).get("nodeName")) in nodes
        and (since := (pod.get("metadata") or {}).get("deletionTimestamp"))
    ]
    more = len(leaving) - LEAVING_SHOWN
    hidden = [answers.waits_for_more_pods(more)] if more > 0 else []
    return Nomination(sorted(set(nodes)), [*leaving[:LEAVING_SHOWN], *hidden])
