"""Pods: where one is in its life, who touched it, what it waits for."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from reprieve.explain.advice import advice
from reprieve.explain.answer import Episode, Explanation
from reprieve.explain.evictions import evictions_by, evictions_of_pod
from reprieve.explain.evidence import Evidence, Target, condition
from reprieve.explain.nominations import nomination_of
from reprieve.objects import Document

GROUP_LABEL = "scheduling.x-k8s.io/pod-group"
ENDED = ("Succeeded", "Failed")


def explain_pod(
    target: Target, evidence: Evidence, config: Mapping[str, Any] | None, now: datetime
) -> Explanation:
    """A pod that belongs to a group waits with its group, so the group's story is told along."""
    pod = evidence.find("Pod", target.key)
    episodes = evictions_of_pod(target.key, pod, evidence)
    group = f"{target.namespace}/{group_name(pod)}" if pod and group_name(pod) else ""
    unit = f"PodGroup/{group}" if group else str(target)
    state, sentence = _state(target, pod, episodes)
    answer = Explanation(
        for_=str(target),
        state=state,
        sentence=sentence,
        preempted_by=episodes,
        preempted=evictions_by(unit, evidence),
    )
    if group:
        answer.details.append(f"It belongs to PodGroup {group}.")
    if state in ("waiting", "running") and episodes:
        answer.details.append(f"An earlier pod of this name was preempted{by(episodes[0])}.")
    if state != "waiting" or pod is None:
        return answer
    known = evidence.find("PodGroup", group) if group else None
    promise = nomination_of([pod], evidence)
    if promise.holds:
        answer.waits_for = promise.leaving
        answer.would_help = [promise.advice]
    elif group and known is None:
        answer.waits_for = [
            *waits_for(pod, None),
            f"PodGroup {group}, which does not exist or may not be seen",
        ]
        answer.would_help = ["Create the PodGroup, or correct the name in spec.schedulingGroup."]
    else:
        answer.waits_for = waits_for(pod, known)
        answer.would_help = advice(unit, evidence, config, now)
    return answer


def group_name(pod: Document) -> str:
    """The group a pod names, by field or, on older clusters, by label."""
    link = (pod.get("spec") or {}).get("schedulingGroup") or {}
    labels = (pod.get("metadata") or {}).get("labels") or {}
    return str(link.get("podGroupName") or labels.get(GROUP_LABEL) or "")


def ended(pod: Document) -> bool:
    return (pod.get("status") or {}).get("phase") in ENDED


def by(episode: Episode) -> str:
    """` by PodGroup/ml/train (why)`, as far as it is known."""
    if episode.by:
        return f" by {episode.by}" + (f" ({episode.reason})" if episode.reason else "")
    return f": {episode.reason}" if episode.reason else ""


def waits_for(pod: Document, group: Document | None) -> list[str]:
    reasons = [condition(pod, "PodScheduled").get("message", "")]
    reasons.append(condition(group, "PodGroupInitiallyScheduled").get("message", ""))
    reasons.append(condition(group, "PodsNotMatchingPriority").get("message", ""))
    return list(dict.fromkeys(reason for reason in reasons if reason))


def _state(target: Target, pod: Document | None, episodes: list[Episode]) -> tuple[str, str]:
    name = f"Pod {target.key}"
    if pod is None:
        if episodes:
            return "preempted", f"{name} is gone: it was preempted{by(episodes[0])}."
        return "gone", f"There is no pod {target.key}, and no record or event tells of it."
    status, spec = pod.get("status") or {}, pod.get("spec") or {}
    if ended(pod):
        return "finished", f"{name} has ended: {status['phase']}."
    if (pod.get("metadata") or {}).get("deletionTimestamp"):
        if episodes:
            return "leaving", f"{name} is leaving: it was preempted{by(episodes[0])}."
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
