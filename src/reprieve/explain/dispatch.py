"""Which question belongs to which kind."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from reprieve.explain.answer import Explanation
from reprieve.explain.evidence import Evidence, Target
from reprieve.explain.groups import explain_group
from reprieve.explain.nodes import explain_node
from reprieve.explain.queues import explain_queue
from reprieve.explain.units import explain_pod
from reprieve.explain.workloads import explain_workload

Explainer = Callable[[Target, Evidence, Mapping[str, Any] | None, datetime], Explanation]

EXPLAINERS: dict[str, Explainer] = {
    "Pod": explain_pod,
    "PodGroup": explain_group,
    "Workload": explain_workload,
    "ClusterQueue": explain_queue,
    "LocalQueue": explain_queue,
    "Node": explain_node,
}


def explain(
    target: str, evidence: Evidence, now: datetime, config: Mapping[str, Any] | None = None
) -> Explanation:
    """The story of one object, told from the evidence alone."""
    named = Target(target)
    answer = EXPLAINERS[named.kind](named, evidence, config, now)
    answer.would_help = [line for line in answer.would_help if line not in answer.waits_for]
    answer.not_shown.extend(evidence.not_shown)
    return answer
