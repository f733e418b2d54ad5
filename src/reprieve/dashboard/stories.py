"""Who made way for whom, and what happened to one unit: read out of the decisions that are kept."""

from collections.abc import Iterable, Iterator
from typing import Any

from reprieve.dashboard.views import View
from reprieve.records import Decision

MOST_FLOWS = 40
MOST_MOMENTS = 200


def flows(decisions: Iterable[Decision]) -> View:
    """Preemptors with their victims by unit, the last first: a gang that made way is one line."""
    found: dict[str, View] = {}
    for decision in decisions:  # newest first
        if not _evicts(decision):
            continue
        flow = found.setdefault(
            decision.for_, {"by": decision.for_, "time": _time(decision), "ids": [], "victims": {}}
        )
        flow["ids"].append(decision.id)
        for victim in decision.victims:
            _count(flow["victims"], victim)
    shown = list(found.values())[:MOST_FLOWS]
    return {
        "items": [{**flow, "victims": sorted(flow["victims"].values(), key=_most_pods)} for flow in shown],
        "more": len(found) - len(shown),
    }


def story(unit: str, decisions: Iterable[Decision]) -> View:
    """Every moment in the life of one unit that a decision was about, the last first."""
    moments = [moment for decision in decisions for moment in _moments(unit, decision)]
    return {"items": moments[:MOST_MOMENTS], "more": max(0, len(moments) - MOST_MOMENTS)}


def _moments(unit: str, decision: Decision) -> Iterator[View]:
    shown = {"time": _time(decision), "id": decision.id, "outcome": decision.outcome}
    if decision.for_ == unit:
        victims = sorted({_unit_of(victim) for victim in decision.victims})
        yield {**shown, "role": "decided", "sentence": decision.sentence, "others": victims}
    elif _evicts(decision):
        pods = [victim for victim in decision.victims if _unit_of(victim) == unit]
        if pods:
            reason = pods[0].get("reason") or pods[0].get("message") or ""
            yield {
                **shown, "role": "made way", "sentence": reason, "others": [decision.for_], "pods": len(pods),
            }  # fmt: skip


def _evicts(decision: Decision) -> bool:
    return bool(decision.victims) and decision.outcome != "waits"


def _count(victims: dict[str, View], victim: dict[str, Any]) -> None:
    unit = _unit_of(victim)
    line = victims.setdefault(unit, {"unit": unit, "pods": 0, "broken": 0})
    line["pods"] += 1
    line["broken"] += bool(victim.get("violatesBudget"))


def _unit_of(victim: dict[str, Any]) -> str:
    if victim.get("unit"):
        return str(victim["unit"])
    return f"Workload/{victim['workload']}" if victim.get("workload") else f"Pod/{victim.get('pod', '')}"


def _most_pods(line: View) -> tuple[int, str]:
    return -line["pods"], line["unit"]


def _time(decision: Decision) -> str:
    return decision.time.isoformat().replace("+00:00", "Z")
