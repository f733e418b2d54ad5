"""Pods and pod groups: where they are in their life, who touched them, what they wait for."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from reprieve.explain.advice import advice
from reprieve.explain.answer import Episode, Explanation
from reprieve.explain.evidence import (
    PREEMPTED_CONDITION,
    PREEMPTED_REASON,
    Evidence,
    Target,
    condition,
    event_text,
    event_time,
    key_of,
)
from reprieve.objects.meta import Document

GROUP_LABEL = "scheduling.x-k8s.io/pod-group"


def explain_unit(
    target: Target, evidence: Evidence, config: Mapping[str, Any] | None, now: datetime
) -> Explanation:
    """A pod that belongs to a group waits with its group, so the group's story is told along."""
    if target.kind == "PodGroup":
        return _explain_group(target, evidence, config, now)
    pod = evidence.find("Pod", target.key)
    episodes = _evictions_of_pod(target.key, pod, evidence)
    group = f"{target.namespace}/{group_name(pod)}" if pod and group_name(pod) else ""
    unit = f"PodGroup/{group}" if group else str(target)
    state, sentence = _pod_state(target, pod, episodes)
    answer = Explanation(
        for_=str(target),
        state=state,
        sentence=sentence,
        preempted_by=episodes,
        preempted=list(evidence.evictions_for(unit)),
    )
    if group:
        answer.details.append(f"It belongs to PodGroup {group}.")
    if state == "waiting" and pod is not None:
        known = evidence.find("PodGroup", group) if group else None
        answer.waits_for = _waits_for(pod, known)
        if group and known is None:
            answer.waits_for.append(f"PodGroup {group}, which does not exist or may not be seen")
            answer.would_help.append("Create the PodGroup, or correct the name in spec.schedulingGroup.")
        else:
            answer.would_help = advice(unit, evidence, config, now)
    return answer


def group_name(pod: Document) -> str:
    """The group a pod names, by field or, on older clusters, by label."""
    link = (pod.get("spec") or {}).get("schedulingGroup") or {}
    labels = (pod.get("metadata") or {}).get("labels") or {}
    return str(link.get("podGroupName") or labels.get(GROUP_LABEL) or "")


def _evictions_of_pod(key: str, pod: Document | None, evidence: Evidence) -> list[Episode]:
    """Records first; without one the pod's own condition; without that the events."""
    from_records = list(evidence.evictions_of(key))
    if from_records:
        return from_records
    target = condition(pod, PREEMPTED_CONDITION)
    if target.get("status") == "True" and target.get("reason") == PREEMPTED_REASON:
        return [
            Episode(
                victim=key,
                time=str(target.get("lastTransitionTime", "")),
                reason=str(target.get("message", "")),
                source="condition",
            )
        ]
    return [
        Episode(victim=key, time=event_time(event), reason=event_text(event), source="event")
        for event in evidence.events_about("Pod", key, "Preempted")
    ]


def _pod_state(target: Target, pod: Document | None, episodes: list[Episode]) -> tuple[str, str]:
    name = f"Pod {target.key}"
    if pod is None:
        if episodes:
            return "preempted", f"{name} is gone: it was preempted{_by(episodes[0])}."
        return "gone", f"There is no pod {target.key}, and no record or event tells of it."
    status, spec = pod.get("status") or {}, pod.get("spec") or {}
    phase = status.get("phase", "Pending")
    if phase in ("Succeeded", "Failed"):
        return "finished", f"{name} has ended: {phase}."
    if (pod.get("metadata") or {}).get("deletionTimestamp"):
        if episodes:
            return "leaving", f"{name} is leaving: it was preempted{_by(episodes[0])}."
        return "leaving", f"{name} is leaving: somebody deleted it; it was not preempted."
    if spec.get("nodeName"):
        return "running", f"{name} runs on node {spec['nodeName']}."
    if spec.get("schedulingGates"):
        gates = ", ".join(gate.get("name", "?") for gate in spec["schedulingGates"])
        return "waiting", f"{name} waits: it is held by the scheduling gate {gates}."
    if status.get("nominatedNodeName"):
        node = status["nominatedNodeName"]
        return "waiting", f"{name} waits for its place on node {node}: victims there are still leaving."
    reason = condition(pod, "PodScheduled").get("message") or "no scheduler has looked at it yet"
    return "waiting", f"{name} waits: {reason}"


def _by(episode: Episode) -> str:
    if episode.by:
        return f" by {episode.by}" + (f" ({episode.reason})" if episode.reason else "")
    return f": {episode.reason}" if episode.reason else ""


def _waits_for(pod: Document, group: Document | None) -> list[str]:
    reasons = [condition(pod, "PodScheduled").get("message", "")]
    reasons.append(condition(group, "PodGroupInitiallyScheduled").get("message", ""))
    reasons.append(condition(group, "PodsNotMatchingPriority").get("message", ""))
    return list(dict.fromkeys(reason for reason in reasons if reason))


def _explain_group(
    target: Target, evidence: Evidence, config: Mapping[str, Any] | None, now: datetime
) -> Explanation:
    group = evidence.find("PodGroup", target.key)
    pods = [p for p in evidence.of_kind("Pod") if _in_group(p, target)]
    running = [p for p in pods if (p.get("spec") or {}).get("nodeName")]
    waiting = [p for p in pods if p not in running]
    evicted = list(evidence.evictions_of_unit(str(target)))
    need = (((group or {}).get("spec") or {}).get("schedulingPolicy") or {}).get("gang", {}).get("minCount")
    answer = Explanation(
        for_=str(target),
        state="waiting" if waiting else "running" if running else "unknown",
        sentence=_group_sentence(target, group, len(running), len(waiting), need, evicted),
        preempted_by=evicted,
        preempted=list(evidence.evictions_for(str(target))),
    )
    if group is None and pods:
        answer.details.append(
            "Pods name this group, but the PodGroup object does not exist (or may not be seen)."
        )
    if waiting:
        answer.waits_for = _waits_for(waiting[0], group)
        if group is not None:
            answer.would_help = advice(str(target), evidence, config, now)
    return answer


def _in_group(pod: Document, target: Target) -> bool:
    return bool(group_name(pod) == target.name and key_of(pod).split("/")[0] == target.namespace)


def _group_sentence(
    target: Target,
    group: Document | None,
    running: int,
    waiting: int,
    need: int | None,
    evicted: list[Episode],
) -> str:
    name = f"PodGroup {target.key}"
    if group is None and not running and not waiting:
        if evicted:
            return f"{name} is gone: it was preempted{_by(evicted[0])}."
        return f"There is no pod group {target.key}, and no pod names it."
    atonce = f", {need} at once needed" if need else ""
    lost = f" It was preempted{_by(evicted[0])}." if evicted else ""
    if waiting:
        return f"{name} waits with {waiting} of {running + waiting} pods{atonce}.{lost}"
    if running:
        return f"{name} runs with {running} pods{atonce}.{lost}"
    return f"{name} has no pods{atonce}.{lost}"
