"""Pod groups: how many of their pods run, wait or leave, who touched them, what they wait for."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from reprieve.explain.advice import advice
from reprieve.explain.answer import Episode, Explanation
from reprieve.explain.evictions import evictions_by, evictions_of_group
from reprieve.explain.evidence import Evidence, Target, key_of
from reprieve.explain.nominations import nomination_of
from reprieve.explain.units import by, ended, group_name, waits_for
from reprieve.objects import Document


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
    target: Target, evidence: Evidence, config: Mapping[str, Any] | None, now: datetime
) -> Explanation:
    group = evidence.find("PodGroup", target.key)
    pods = [pod for pod in evidence.of_kind("Pod") if _in_group(pod, target)]
    members = _members(pods)
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
    if not members.waiting:
        return answer
    promise = nomination_of(members.waiting, evidence)
    if promise.holds:
        answer.waits_for, answer.would_help = promise.leaving, [promise.advice]
    else:
        answer.waits_for = waits_for(members.waiting[0], group)
        if group is not None:
            answer.would_help = advice(str(target), evidence, config, now)
    return answer


def _in_group(pod: Document, target: Target) -> bool:
    return bool(group_name(pod) == target.name and key_of(pod).split("/")[0] == target.namespace)


def _members(pods: list[Document]) -> Members:
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


def _sentence(target: Target, group: Document | None, members: Members, evicted: list[Episode]) -> str:
    name = f"PodGroup {target.key}"
    running, waiting, leaving, done = (len(pods) for pods in members)
    lost = f" It was preempted{by(evicted[0])}." if evicted else ""
    if group is None and not any(members):
        if evicted:
            return f"{name} is gone: it was preempted{by(evicted[0])}."
        return f"There is no pod group {target.key}, and no pod names it."
    need = (((group or {}).get("spec") or {}).get("schedulingPolicy") or {}).get("gang", {}).get("minCount")
    at_once = f", {need} at once needed" if need else ""
    more = f"; {leaving} more {'is' if leaving == 1 else 'are'} leaving" if leaving else ""
    if waiting:
        return f"{name} waits with {waiting} of {running + waiting} pods{at_once}{more}.{lost}"
    if running:
        return f"{name} runs with {running} pods{at_once}{more}.{lost}"
    if leaving:
        why = f"it was preempted{by(evicted[0])}" if evicted else "somebody deleted it; it was not preempted"
        return f"{name} is leaving with {leaving} pods: {why}."
    if done:
        return f"{name} has ended: {done} pods are done."
    return f"{name} has no pods{at_once}.{lost}"
