"""Why is it pending, who preempted it and for whom, what does it wait for, what would help.

`explain(target, evidence, now)` answers for a pod, a pod group, a Kueue workload, a queue, a node, or what
creates pods (a Job, a Deployment, ...). Evidence is whatever the reader may see: objects, events, decision
records and runs. A record is the best source, then a condition, then an event; what no source says is not
guessed. For something that waits, ways out are tried on a copy of the state as it is.

`collect` gathers evidence from a cluster; everything else here is pure.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from reprieve.admission import complete, refused_by_a_server
from reprieve.explain.advice.remedy import Remedy, carried_out
from reprieve.explain.ahead import look_ahead
from reprieve.explain.answer import Explanation, render
from reprieve.explain.collect import from_cluster, owner_resources
from reprieve.explain.evidence import Evidence
from reprieve.explain.nodes import explain_node
from reprieve.explain.owners import explain_owner
from reprieve.explain.pods import explain_group, explain_pod
from reprieve.explain.queues import explain_queue
from reprieve.explain.quota import explain_workload
from reprieve.explain.reading import in_plain_words
from reprieve.explain.sentences import answers
from reprieve.explain.suggest import suggestions
from reprieve.explain.trees import explain_tree
from reprieve.jobs import JobKinds
from reprieve.objects import Reference, document_of

__all__ = [
    "Evidence",
    "Explanation",
    "Remedy",
    "carried_out",
    "explain",
    "from_cluster",
    "in_plain_words",
    "owner_resources",
    "parse_target",
    "render",
]

Explainer = Callable[[Reference, Evidence, Mapping[str, Any] | None, datetime], Explanation]

EXPLAINERS: dict[str, Explainer] = {
    "Pod": explain_pod,
    "PodGroup": explain_group,
    "CompositePodGroup": explain_tree,
    "Workload": explain_workload,
    "ClusterQueue": explain_queue,
    "LocalQueue": explain_queue,
    "Node": explain_node,
    **dict.fromkeys((*(each.kind for each in JobKinds()), "DaemonSet"), explain_owner),
}


def parse_target(text: str) -> Reference:
    """What a person wrote for something that can be explained."""
    return Reference.parse(text, EXPLAINERS, JobKinds().words())


def explain(
    target: str,
    evidence: Evidence,
    now: datetime,
    config: Mapping[str, Any] | None = None,
    *,
    ahead: bool = False,
) -> Explanation:
    """The story of one object, from the evidence alone. `ahead`: of what waits also when it starts."""
    named = parse_target(target)
    stored = complete(evidence.objects, now)
    there = [*map(document_of, stored.documents)]
    if stored.refused:
        absent = stored.refused.keys() - {named}
        there = [each for each in there if Reference.read(each) not in absent]
    answer = EXPLAINERS[named.kind](named, evidence.with_objects(there), config, now)
    if named in stored.refused and answer.state == "waiting":
        answer.waits_for.insert(0, refused_by_a_server(target, stored.refused[named]))
        answer.would_help, answer.remedies = [], []  # no node helps a pod that is not created
    answer.would_help = [line for line in answer.would_help if line not in answer.waits_for]
    answer.not_shown.extend(evidence.not_shown)
    if answer.state in ("gone", "unknown") and (meant := suggestions(named, evidence)):
        answer.details.append(answers.did_you_mean([str(each) for each in meant]))
    if ahead and answer.state == "waiting":
        answer.when = look_ahead(named, evidence, now, config)
    return answer
