"""Nodes: what runs there, which waiting pods are nominated to it, which pods were preempted."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from reprieve.explain.answer import Explanation
from reprieve.explain.evictions import evictions_on
from reprieve.explain.evidence import Evidence, key_of
from reprieve.explain.pods import ended
from reprieve.explain.sentences import answers
from reprieve.objects import Reference, condition_of, well_known

SHOWN = 10


def explain_node(
    target: Reference,
    evidence: Evidence,
    config: Mapping[str, Any] | None,  # noqa: ARG001 - one signature for all explainers
    now: datetime,  # noqa: ARG001
) -> Explanation:
    node = evidence.find("Node", target.name)
    if node is None:
        return Explanation(for_=str(target), state="gone", sentence=answers.no_such_node(target.name))
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
        sentence=answers.node_runs(target.name, len(here), len(leaving), len(nominated)),
        preempted_by=evictions_on(target.name, evidence),
    )
    if cordoned:
        answer.details.append(answers.NODE_IS_CORDONED)
    if not ready:
        message = condition_of(node, well_known.READY).get("message", "")
        answer.details.append(answers.node_is_not_ready(message))
    answer.details += [answers.nominated_to_node(key_of(p)) for p in nominated[:SHOWN]]
    return answer
