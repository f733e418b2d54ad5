"""Who made way for whom, decision by decision, with what it cost: pods, budgets, hours of GPUs.

Decisions name their victims, the inventory knew what these used and since when. Each decision is read once,
soon after it was made; what it said is kept by owner, so that a page costs what it shows and not what went.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, date, datetime
from typing import Any

from reprieve.dashboard.compact import PodRecord
from reprieve.dashboard.inventory import Inventory
from reprieve.objects import find_condition, format_time, kueue, well_known
from reprieve.quota import DUE_TO
from reprieve.records import Decision

View = dict[str, Any]

MOST_DECISIONS = 2000
MOST_FLOWS = 40
MOST_LINES = 400
"""Owners that are named for one preemptor."""
MOST_DAYS = 2
MOST_LOOKED_AT = 20_000
"""Victims that are compared with one pod: the controller shares this process."""
WHOLE_UNITS = ("PodGroup/", "CompositePodGroup/", "Workload/")


class Departures:
    """The ledger of one inventory's victims."""

    def __init__(self, inventory: Inventory) -> None:
        self._inventory = inventory
        self._kept: OrderedDict[str, tuple[Decision, dict[str, View]]] = OrderedDict()
        self._last = 0
        self.pods = 0
        """That ever went; it only grows."""
        self._days: dict[date, View] = {}

    def read(self, decisions: Iterable[Decision]) -> None:
        """Take in the decisions that are new, of all that are kept, newest first."""
        fresh = []
        for decision in decisions:
            if int(decision.id) <= self._last:
                break
            fresh.append(decision)
        for decision in reversed(fresh):
            self._last = int(decision.id)
            if evicts(decision):
                self._take(decision)

    def _take(self, decision: Decision) -> None:
        lines: dict[str, View] = {}
        for victim in decision.victims:
            unit = unit_of(victim)
            known = self._seen(victim)
            name = self._owner(unit, known)
            if name not in lines and len(lines) >= MOST_LINES:
                name = ""
            line = lines.setdefault(name, _line(name, unit, victim))
            line["pods"] += _pods(known)
            line["broken"] += bool(victim.get("violatesBudget"))
            line["priority"] = _higher(line["priority"], victim.get("priority"))
            hours = self._gpu_hours(known, decision.time)
            line["gpuHours"] += hours or 0.0
            line["unknown"] += hours is None
        self._kept[decision.id] = (decision, lines)
        if len(self._kept) > MOST_DECISIONS:
            self._kept.popitem(last=False)
        self._count(decision, lines.values())

    def _seen(self, victim: dict[str, Any]) -> PodRecord | kueue.Workload | None:
        """The victim as it was when it ran."""
        inventory = self._inventory
        if key := victim.get("workload"):
            held = inventory.workloads.get(key)
            gone = inventory.departed.get(f"Workload/{key}")
            return gone if gone is not None else held
        pod = inventory.pods.get(victim.get("pod", ""))
        return pod if pod is not None and pod.node else inventory.departed.get(f"Pod/{victim.get('pod')}")

    def _gpu_hours(self, known: PodRecord | kueue.Workload | None, end: datetime) -> float | None:
        """What it worked for nothing; None when its start is not known."""
        if known is None:
            return None
        if isinstance(known, PodRecord):
            gpus, start = self._inventory.devices.gpus_of_pod(known), known.started
        else:
            gpus, start = self._inventory.devices.gpus_of_workload(known), _admitted(known)
        if not gpus:
            return 0.0
        return None if start is None else max(0.0, gpus * (end - start).total_seconds() / 3600)

    def _owner(self, unit: str, known: PodRecord | kueue.Workload | None) -> str:
        if unit.startswith(WHOLE_UNITS) or not isinstance(known, PodRecord):
            return unit
        return f"PodGroup/{known.group}" if known.group else known.owner or unit

    def _count(self, decision: Decision, lines: Iterable[View]) -> None:
        day = self._days.setdefault(decision.time.astimezone(UTC).date(), _nothing())
        day["preemptions"] += 1
        for line in lines:
            self.pods += line["pods"]
            day["pods"] += line["pods"]
            day["gpuHours"] += line["gpuHours"]
            day["unknown"] += line["unknown"]
        for old in sorted(self._days)[:-MOST_DAYS]:
            del self._days[old]

    def went(self) -> Iterator[tuple[datetime, int]]:
        """When how many pods did."""
        for decision, lines in self._kept.values():
            yield decision.time, sum(line["pods"] for line in lines.values())

    def today(self, now: datetime) -> View:
        """Since midnight UTC: preemptions, pods, hours of GPUs; `unknown`: victims whose start nobody saw."""
        day = self._days.get(now.astimezone(UTC).date(), _nothing())
        return {**day, "gpuHours": round(day["gpuHours"], 4)}  # seconds of one GPU are not nothing

    def flows(self, wanted: Callable[[Decision], bool] = lambda _: True) -> View:
        """Preemptors with their victims by owner, the last first: a gang or a job that made way is one."""
        found: dict[str, View] = {}
        others: set[str] = set()
        for decision, lines in reversed(self._kept.values()):
            if not wanted(decision):
                continue
            name = decision.for_
            if name not in found:
                if len(found) == MOST_FLOWS:
                    others.add(name)
                    continue
                found[name] = {"by": name, "time": format_time(decision.time), "ids": [], "victims": {}}
            _count_in(found[name], decision, lines)
        items = [
            {**flow, "victims": sorted(map(_rounded, flow["victims"].values()), key=_most_pods)}
            for flow in found.values()
        ]
        return {"items": items, "more": len(others)}

    def owners(self, decision: Decision) -> list[str]:
        """Who went for a decision, by owner."""
        _, lines = self._kept.get(decision.id, (decision, {}))
        return [name for name in lines if name]

    def of(self, names: set[str]) -> Iterator[tuple[Decision, View]]:
        """Decisions that had one of these make way, and what went with it; newest first."""
        pods = {name.partition("/")[2] for name in names if name.startswith("Pod/")}
        looked_at = 0
        for decision, lines in reversed(self._kept.values()):
            line = next((lines[name] for name in names if name in lines), None)
            if line is None and pods and looked_at < MOST_LOOKED_AT:
                looked_at += len(decision.victims)
                gone = [victim for victim in decision.victims if victim.get("pod") in pods]
                if gone:
                    line = {**_line(unit_of(gone[0]), unit_of(gone[0]), gone[0]), "pods": len(gone)}
            if line is not None:
                yield decision, line


def evicts(decision: Decision) -> bool:
    return bool(decision.victims) and decision.outcome != "waits"


def unit_of(victim: dict[str, Any]) -> str:
    if victim.get("unit"):
        return str(victim["unit"])
    return f"Workload/{victim['workload']}" if victim.get("workload") else f"Pod/{victim.get('pod', '')}"


def _line(name: str, unit: str, victim: dict[str, Any]) -> View:
    return {
        "name": name,
        "unit": unit,
        "pods": 0,
        "broken": 0,
        "gpuHours": 0.0,
        "unknown": 0,
        "priority": None,
        **_what(victim),
    }


def _what(victim: dict[str, Any]) -> View:
    """One victim's reason, and the names in it, for those who say it once for many."""
    reason = victim.get("reason") or victim.get("message") or ""
    return {
        "reason": DUE_TO.get(reason, reason),
        "node": victim.get("node", ""),
        "pod": victim.get("pod", ""),
    }


def _count_in(flow: View, decision: Decision, lines: dict[str, View]) -> None:
    flow["ids"].append(decision.id)
    for name, line in lines.items():
        known = flow["victims"].setdefault(name, {**_line(name, line["unit"], {}), **_what(line)})
        _add(known, line)


def _add(sum_: View, line: View) -> None:
    for name in ("pods", "broken", "gpuHours", "unknown"):
        sum_[name] += line[name]
    sum_["priority"] = _higher(sum_["priority"], line["priority"])


def _higher(one: int | None, other: int | None) -> int | None:
    return max((each for each in (one, other) if each is not None), default=None)


def _nothing() -> View:
    return {"preemptions": 0, "pods": 0, "gpuHours": 0.0, "unknown": 0}


def _rounded(line: View) -> View:
    return {**line, "gpuHours": round(line["gpuHours"], 4)}


def _most_pods(line: View) -> tuple[int, str]:
    return -line["pods"], line["name"]


def _pods(known: PodRecord | kueue.Workload | None) -> int:
    return sum(each.count for each in known.spec.pod_sets) if isinstance(known, kueue.Workload) else 1


def _admitted(workload: kueue.Workload) -> datetime | None:
    admitted = find_condition(workload.status.conditions, well_known.ADMITTED)
    return admitted.last_transition_time if admitted is not None else None
