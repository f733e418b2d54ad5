"""What would help a unit that waits: the planner's reasons, and what a change would bring.

Where not even a preemption helps, that is a higher priority, more free capacity on one node, or the end of a
workload that holds the quota.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from reprieve.explain.evictions import in_words
from reprieve.explain.evidence import Evidence, key_of
from reprieve.objects import (
    Document,
    Node,
    Pod,
    Reference,
    ReprieveError,
    amount,
    decode_all,
    format_amount,
    group_key,
    has_condition,
    pod_requests,
    some,
    well_known,
)
from reprieve.whatif import plan

HIGHEST_PRIORITY = 1_000_000_000
"""The highest that a user may give."""
PRIORITY_CLASS_FIELDS = ("priorityClassName", "priorityClassRef", "priorityClassSource")
NAMED = 3
HOLDERS_NAMED = 5
BLIND = (
    "What would help cannot be said from what you may see: what looks free may be taken. "
    "Ask somebody who may list pods and nodes of the whole cluster."
)


def advice(unit: Reference, evidence: Evidence, config: Mapping[str, Any] | None, now: datetime) -> list[str]:
    """Sentences. If no plan can be made, one of them says why."""
    if evidence.partial:
        return [BLIND]
    try:
        answer = plan(evidence.objects, str(unit), config=config, now=now).to_dict()
    except ReprieveError as error:
        return [f"No plan can be made from what is visible: {error}"]
    outcome = answer.get("outcome") or answer.get("mode")
    # Notes are about how a plan was made; they do not help anybody who waits.
    lines = [str(reason) for reason in answer.get("reasons", ()) if not str(reason).startswith("Note:")]
    victims = [v.get("pod") or v.get("workload") for v in answer.get("victims", ())]
    if outcome in ("scheduled", "Fit"):
        lines.insert(0, "It fits now; the next cycle places it.")
    elif victims:
        lines.insert(0, f"A preemption would make room: {some(victims, NAMED)} would make way.")
    elif outcome == "unschedulable":
        lines += _remedies(unit, evidence.objects, config, now)
    lines += [in_words(other) for other in answer.get("alternatives", ())]
    return lines


def _remedies(
    unit: Reference, objects: list[Document], config: Mapping[str, Any] | None, now: datetime
) -> list[str]:
    """Sentences, each true by itself. The planner's own reasons are not repeated."""
    found = _enough_priority(unit, objects, config, now)
    if unit.kind == "Pod":
        found += _free_capacity(unit.key, objects)
    if unit.kind == "Workload":
        found += _holders(_queue_of(unit, objects), objects)
    return found


def _enough_priority(
    unit: Reference, objects: list[Document], config: Mapping[str, Any] | None, now: datetime
) -> list[str]:
    """The priority that would be enough: above the highest victim of a plan with the highest priority."""
    try:
        answer = plan(
            [_raised(document, unit) for document in objects], str(unit), config=config, now=now
        ).to_dict()
    except ReprieveError:
        return []
    victims = answer.get("victims") or []
    if answer.get("outcome") != "preempts" or not victims:
        return []
    bound = max(victim["priority"] for victim in victims)
    units = list(dict.fromkeys(victim.get("unit") or victim["workload"] for victim in victims))
    what = "quota" if unit.kind == "Workload" else "room"
    return [f"With a priority above {bound} it would find {what}: {some(units, NAMED)} would make way."]


def _raised(document: Document, unit: Reference) -> Document:
    """The unit's own objects with the highest priority; everything else as it is."""
    spec = document.get("spec") or {}
    this = Reference.read(document)
    member = this.kind == "Pod" and unit.kind == "PodGroup" and group_key(document) == unit.key
    if this != unit and not member:
        return document
    kept = {name: value for name, value in spec.items() if name not in PRIORITY_CLASS_FIELDS}
    policy = {} if unit.kind == "Workload" else {"preemptionPolicy": "PreemptLowerPriority"}
    return {**document, "spec": {**kept, "priority": HIGHEST_PRIORITY, **policy}}


def _free_capacity(key: str, objects: Iterable[Document]) -> list[str]:
    """For each resource that is short everywhere: the request against the largest and the emptiest node."""
    views = list(decode_all([d for d in objects if d.get("kind") in ("Node", "Pod")]))
    nodes = {each.name: each for each in views if isinstance(each, Node)}
    pods = [each for each in views if isinstance(each, Pod)]
    requests = next((pod_requests(pod.spec) for pod in pods if pod.key == key), {})
    total = {
        name: {r: amount(r, q) for r, q in (node.status.allocatable or node.status.capacity).items()}
        for name, node in nodes.items()
    }
    free = {name: dict(resources) for name, resources in total.items()}
    for pod in pods:
        if pod.spec.node_name in free and pod.status.phase not in well_known.TERMINAL_PHASES:
            for resource, number in pod_requests(pod.spec, pod.status).items():
                here = free[pod.spec.node_name]
                here[resource] = here.get(resource, 0) - number
    return [line for r, n in requests.items() if n and total for line in [_short(r, n, total, free)] if line]


def _short(
    resource: str, requested: int, total: dict[str, dict[str, int]], free: dict[str, dict[str, int]]
) -> str:
    def most(amounts: dict[str, dict[str, int]]) -> tuple[str, int]:
        name = max(sorted(amounts), key=lambda each: amounts[each].get(resource, 0))
        return name, max(0, amounts[name].get(resource, 0))

    wanted = f"{format_amount(resource, requested)} {resource}"
    largest, size = most(total)
    if requested > size:
        return (
            f"It asks for {wanted}, and no node has more than {format_amount(resource, size)} ({largest}): "
            "ask for less, or add a larger node."
        )
    node, available = most(free)
    if requested > available:
        most_free = format_amount(resource, available)
        return f"It needs {wanted} free on one node; the most there is now is {most_free} ({node})."
    return ""


def _queue_of(workload: Reference, objects: Iterable[Document]) -> str:
    """The ClusterQueue in which a workload waits; empty if it is not known."""
    documents = list(objects)
    found = next((d for d in documents if Reference.read(d) == workload), {})
    local = Reference("LocalQueue", workload.namespace, (found.get("spec") or {}).get("queueName", ""))
    queue = next((d for d in documents if Reference.read(d) == local), {})
    return str((queue.get("spec") or {}).get("clusterQueue", ""))


def _holders(queue: str, objects: Iterable[Document]) -> list[str]:
    """The workloads that hold this queue's quota, the least important first."""
    admitted = [
        (int((d.get("spec") or {}).get("priority") or 0), key_of(d))
        for d in objects
        if d.get("kind") == "Workload"
        and ((d.get("status") or {}).get("admission") or {}).get("clusterQueue") == queue
        and has_condition(d, well_known.QUOTA_RESERVED)
        and not has_condition(d, well_known.FINISHED)
    ]
    if not admitted:
        return []
    names = some([f"{key} (priority {priority})" for priority, key in sorted(admitted)], HOLDERS_NAMED)
    return [f"The quota of ClusterQueue {queue} is held by {names}: it waits until one of them ends."]
