"""What would have to change for a pod or a group that not even a preemption helps: its priority, or the room there is."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from reprieve.explain.evidence import key_of
from reprieve.explain.holders import holders, queue_of
from reprieve.objects import (
    Document,
    Node,
    Pod,
    ReprieveError,
    amount,
    decode_all,
    format_amount,
    pod_requests,
)
from reprieve.whatif import plan

HIGHEST = 1_000_000_000
"""The highest priority a user may give."""
NAMED = 3
CLASSES = ("priorityClassName", "priorityClassRef", "priorityClassSource")


def remedies(
    unit: str, objects: list[Document], config: Mapping[str, Any] | None, now: datetime
) -> list[str]:
    """Sentences, each of which is true by itself; nothing for what only the planner's reasons can say."""
    found = _priority(unit, objects, config, now)
    kind, _, key = unit.partition("/")
    if kind == "Pod":
        found += _room(key, objects)
    if kind == "Workload":
        found += holders(queue_of(key, objects), objects)
    return found


def _priority(
    unit: str, objects: list[Document], config: Mapping[str, Any] | None, now: datetime
) -> list[str]:
    """Which priority would be enough. The planner spares the important ones, so the first it takes is the bound."""
    try:
        answer = plan(
            [_raised(document, unit) for document in objects], unit, config=config, now=now
        ).to_dict()
    except ReprieveError:
        return []
    victims = answer.get("victims") or []
    if answer.get("outcome") != "preempts" or not victims:
        return []
    bound = max(victim["priority"] for victim in victims)
    units = list(dict.fromkeys(victim.get("unit") or victim["workload"] for victim in victims))
    some = ", ".join(units[:NAMED]) + (f" and {len(units) - NAMED} more" if len(units) > NAMED else "")
    room = "quota" if unit.startswith("Workload/") else "room"
    return [f"With a priority above {bound} it would find {room}: {some} would make way."]


def _raised(document: Document, unit: str) -> Document:
    """The unit's own objects with the highest priority; everything else as it is."""
    kind, _, key = unit.partition("/")
    spec = document.get("spec") or {}
    group = (spec.get("schedulingGroup") or {}).get("podGroupName")
    own = document.get("kind") == kind and key_of(document) == key
    member = (
        kind == "PodGroup"
        and document.get("kind") == "Pod"
        and f"{key_of(document).split('/')[0]}/{group}" == key
    )
    if not own and not member:
        return document
    kept = {name: value for name, value in spec.items() if name not in CLASSES}
    policy = {} if kind == "Workload" else {"preemptionPolicy": "PreemptLowerPriority"}
    return {**document, "spec": {**kept, "priority": HIGHEST, **policy}}


def _room(key: str, objects: Iterable[Document]) -> list[str]:
    """For each resource that is short everywhere: what it asks for, the largest node, the most that is free on one."""
    views = list(decode_all([d for d in objects if d.get("kind") in ("Node", "Pod")]))
    nodes = {each.name: each for each in views if isinstance(each, Node)}
    pods = [each for each in views if isinstance(each, Pod)]
    asked = next((pod_requests(pod.spec) for pod in pods if pod.key == key), {})
    total = {
        name: {r: amount(r, q) for r, q in (node.status.allocatable or node.status.capacity).items()}
        for name, node in nodes.items()
    }
    free = {name: dict(resources) for name, resources in total.items()}
    for pod in pods:
        if pod.spec.node_name in free and pod.status.phase not in ("Succeeded", "Failed"):
            for resource, number in pod_requests(pod.spec, pod.status).items():
                here = free[pod.spec.node_name]
                here[resource] = here.get(resource, 0) - number
    return [line for r, n in asked.items() if n and total for line in [_short(r, n, total, free)] if line]


def _short(
    resource: str, asked: int, total: dict[str, dict[str, int]], free: dict[str, dict[str, int]]
) -> str:
    def most(amounts: dict[str, dict[str, int]]) -> tuple[str, int]:
        name = max(sorted(amounts), key=lambda each: amounts[each].get(resource, 0))
        return name, max(0, amounts[name].get(resource, 0))

    wanted = f"{format_amount(resource, asked)} {resource}"
    largest, size = most(total)
    if asked > size:
        return f"It asks for {wanted}, and no node has more than {format_amount(resource, size)} ({largest}): ask for less, or add a larger node."
    node, room = most(free)
    if asked > room:
        return f"It needs {wanted} free on one node; the most there is now is {format_amount(resource, room)} ({node})."
    return ""
