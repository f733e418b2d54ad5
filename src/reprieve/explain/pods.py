"""Pods and pod groups: where they are in their life, who preempted them, what they wait for."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from reprieve.config import Configuration
from reprieve.explain.advice.give import advice
from reprieve.explain.answer import Advice, Eviction, Explanation
from reprieve.explain.evictions import evictions_by, evictions_of_group, evictions_of_pod
from reprieve.explain.evidence import Evidence, key_of
from reprieve.explain.wording import in_plain_words
from reprieve.objects import (
    Document,
    Reference,
    condition_of,
    counted,
    group_key,
    has_condition,
    is_or_are,
    well_known,
)

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
        answer.details.append(f"It belongs to PodGroup {group}.")
    if state in ("waiting", "running") and evictions:
        answer.details.append(f"An earlier pod of this name was preempted{_by(evictions[0])}.")
    if state != "waiting" or pod is None:
        return answer
    known = evidence.find("PodGroup", group) if group else None
    nomination = _nomination_of([pod], evidence)
    if nomination.holds:
        answer.waits_for = nomination.leaving
        answer.would_help = [nomination.advice]
    elif group and known is None:
        answer.waits_for = [
            *_waits_for(pod, None),
            f"PodGroup {group}, which does not exist or may not be seen",
        ]
        answer.advise(advice(unit, evidence, config, now))
    else:
        answer.waits_for = [*_waits_for(pod, known), *_foreign(pod, config)]
        answer.advise(_advice(unit, pod, evidence, config, now))
    return answer


def _foreign(pod: Document, config: Mapping[str, Any] | None) -> list[str]:
    """The scheduler that a pod names, if nothing is known of it here."""
    name = str((pod.get("spec") or {}).get("schedulerName") or "")
    if not name or name in Configuration.load(config).scheduler.known_names:
        return []
    return [
        f"the scheduler {name}, which is not Reprieve's: whether it will place the pod cannot be said here"
    ]


def _advice(
    unit: Reference, pod: Document, evidence: Evidence, config: Mapping[str, Any] | None, now: datetime
) -> Advice:
    """For a unit that waits, of which this is a waiting pod; free nodes do not help one without quota."""
    gates = (pod.get("spec") or {}).get("schedulingGates") or ()
    held = any(gate.get("name") == well_known.ADMISSION_GATE for gate in gates)
    if not held and condition_of(pod, well_known.POD_SCHEDULED).get("reason") != well_known.WAITING_FOR_QUOTA:
        return advice(unit, evidence, config, now)
    text = "Quota: it is not tried on any node, and preempts nobody, before its Workload is admitted."
    workload = _workload_of(unit, pod, evidence)
    if workload is None:
        return Advice([text])
    if has_condition(workload, well_known.ADMITTED):
        return Advice(
            [text, f"Workload {key_of(workload)} is admitted: the quota controller releases its pods."]
        )
    found = advice(Reference.of("Workload", key_of(workload)), evidence, config, now)
    lines = [text, f"It waits for Workload {key_of(workload)}; what would help that:", *found.lines]
    return Advice(lines, found.remedies, found.facts)


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


def _by(eviction: Eviction) -> str:
    """` by PodGroup/ml/train (why)`, as far as it is known."""
    if eviction.by:
        return f" by {eviction.by}" + (f" ({eviction.reason})" if eviction.reason else "")
    return f": {eviction.reason}" if eviction.reason else ""


def _waits_for(pod: Document, group: Document | None) -> list[str]:
    reasons = [condition_of(pod, well_known.POD_SCHEDULED).get("message", "")]
    reasons.append(condition_of(group, well_known.POD_GROUP_SCHEDULED).get("message", ""))
    reasons.append(condition_of(group, well_known.PODS_NOT_MATCHING_PRIORITY).get("message", ""))
    return list(dict.fromkeys(in_plain_words(reason) for reason in reasons if reason))


def _state(target: Reference, pod: Document | None, evictions: list[Eviction]) -> tuple[str, str]:
    name = f"Pod {target.key}"
    if pod is None:
        if evictions:
            return "preempted", f"{name} is gone: it was preempted{_by(evictions[0])}."
        return "gone", f"There is no pod {target.key}, and no record or event tells of it."
    status, spec = pod.get("status") or {}, pod.get("spec") or {}
    if ended(pod):
        return "finished", f"{name} has ended: {status['phase']}."
    if (pod.get("metadata") or {}).get("deletionTimestamp"):
        if evictions:
            return "leaving", f"{name} is leaving: it was preempted{_by(evictions[0])}."
        return "leaving", f"{name} is leaving: somebody deleted it; it was not preempted."
    if spec.get("nodeName"):
        return "running", f"{name} runs on node {spec['nodeName']}."
    if spec.get("schedulingGates"):
        gates = [str(gate.get("name", "?")) for gate in spec["schedulingGates"]]
        noun = "gate" if len(gates) == 1 else "gates"
        return "waiting", f"{name} waits: it is held by the scheduling {noun} {', '.join(gates)}."
    if status.get("nominatedNodeName"):
        node = status["nominatedNodeName"]
        return "waiting", f"{name} waits for its place on node {node}: victims there are still leaving."
    reason = condition_of(pod, well_known.POD_SCHEDULED).get("message") or "no scheduler has looked at it yet"
    return "waiting", f"{name} waits: {in_plain_words(reason)}"


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
        answer.waits_for = [*_waits_for(members.waiting[0], group), *_foreign(members.waiting[0], config)]
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
        answer.details.append(
            "Pods name this group, but the PodGroup object does not exist (or may not be seen)."
        )
    above = ((group or {}).get("spec") or {}).get("parentCompositePodGroupName")
    if above:
        answer.details.append(f"It waits and is placed with the tree of CompositePodGroup {above}.")
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
        answer.waits_for, answer.would_help = nomination.leaving, [nomination.advice]
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
    name = f"PodGroup {target.key}"
    running, waiting, leaving, done = (len(pods) for pods in members)
    lost = f" It was preempted{_by(evicted[0])}." if evicted else ""
    if group is None and not any(members):
        if evicted:
            return f"{name} is gone: it was preempted{_by(evicted[0])}."
        return f"There is no pod group {target.key}, and no pod names it."
    need = (((group or {}).get("spec") or {}).get("schedulingPolicy") or {}).get("gang", {}).get("minCount")
    at_once = f", {need} at once needed" if need else ""
    more = f"; {leaving} more {is_or_are(leaving)} leaving" if leaving else ""
    if waiting:
        return f"{name} waits with {waiting} of {counted(running + waiting, 'pod')}{at_once}{more}.{lost}"
    if running:
        return f"{name} runs with {counted(running, 'pod')}{at_once}{more}.{lost}"
    if leaving:
        why = f"it was preempted{_by(evicted[0])}" if evicted else "somebody deleted it; it was not preempted"
        return f"{name} is leaving with {counted(leaving, 'pod')}: {why}."
    if done:
        return f"{name} has ended: {counted(done, 'pod')} {is_or_are(done)} done."
    return f"{name} has no pods{at_once}.{lost}"


class Nomination(NamedTuple):
    """The nodes that a waiting unit is nominated to, and the pods that still occupy them."""

    nodes: list[str]
    leaving: list[str]
    """Sentences: which pods still have to leave those nodes, and since when they have been terminating."""

    @property
    def holds(self) -> bool:
        """Every waiting pod has a node, and victims there are still leaving."""
        return bool(self.nodes and self.leaving)

    @property
    def advice(self) -> str:
        return (
            "Only time: it is nominated to its nodes and starts when those pods have ended; "
            "a finalizer or a long grace period can delay them."
        )


def _nomination_of(waiting: list[Document], evidence: Evidence) -> Nomination:
    """The nomination of all these waiting pods; a group with pods that have no node yet has none."""
    nodes = [str((pod.get("status") or {}).get("nominatedNodeName") or "") for pod in waiting]
    if not all(nodes):
        return Nomination([], [])
    leaving = [
        f"{key_of(pod)} to leave {node} (asked at {since})"
        for pod in evidence.of_kind("Pod")
        if (node := (pod.get("spec") or {}).get("nodeName")) in nodes
        and (since := (pod.get("metadata") or {}).get("deletionTimestamp"))
    ]
    hidden = (
        [f"{counted(len(leaving) - LEAVING_SHOWN, 'more pod')} to leave"]
        if len(leaving) > LEAVING_SHOWN
        else []
    )
    return Nomination(sorted(set(nodes)), [*leaving[:LEAVING_SHOWN], *hidden])
