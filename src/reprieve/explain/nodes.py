"""Nodes: what runs there, which waiting pods are nominated to it, which pods were preempted."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from reprieve.explain.answer import Explanation
from reprieve.explain.evictions import evictions_on
from reprieve.explain.evidence import Evidence, key_of
from reprieve.explain.pods import ended
from reprieve.objects import Reference, condition_of, counted, is_or_are, well_known

SHOWN = 10


def _sentence(name: str, here: int, leaving: int, nominated: int) -> str:
    text = f"Node {name} runs {counted(here, 'pod') if here else 'no pod'}"
    if leaving:
        text += f", {leaving} of which {is_or_are(leaving)} leaving"
    if nominated:
        text += f"; {nominated} more {is_or_are(nominated)} nominated to it"
    return f"{text}."


def explain_node(
    target: Reference,
    evidence: Evidence,
    config: Mapping[str, Any] | None,  # noqa: ARG001 - one signature for all explainers
    now: datetime,  # noqa: ARG001
) -> Explanation:
    node = evidence.find("Node", target.name)
    if node is None:
        return Explanation(for_=str(target), state="gone", sentence=f"There is no node {target.name}.")
    pods = list(evidence.of_kind("Pod"))
    here = [p for p in pods if (p.get("spec") or {}).get("nodeName") == target.name and not ended(p)]
    nominated = [p for p in pods if (p.get("status") or {}).get("nominatedNodeName") == target.name]
    nominated = [p for p in nominated if not (p.get("spec") or {}).get("nodeName")]
    leaving = [p for p in here if (p.get("metadata") or {}).get("deletionTimestamp")]
    ready = condition_of(node, well_known.READY).get("status", "True") == "True"
    cordoned = bool((node.get("spec") or {}).get("unschedulable"))
    answer = Explanation(
        for_=str(target),
        state="ready" if ready and not cordoned else "not-ready",
        sentence=_sentence(target.name, len(here), len(leaving), len(nominated)),
        preempted_by=evictions_on(target.name, evidence),
    )
    if cordoned:
        answer.details.append(
            "It is cordoned: nothing new is placed here (kubectl uncordon takes that back)."
        )
    if not ready:
        answer.details.append(
            f"It is not ready: {condition_of(node, 'Ready').get('message') or 'no reason given'}"
        )
    answer.details += [f"{key_of(p)} is nominated to it." for p in nominated[:SHOWN]]
    return answer
