"""Which cluster would get a workload, and why: a quota plan for each worker, then the choice.

Nothing is dispatched and no gate is opened. The choice follows the manager's rules (`reprieve.fleet.gates`);
who signals first cannot be known beforehand, so with `first-come` the workers are taken in the order given.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import msgspec

from reprieve.config import Configuration
from reprieve.fleet import LEAST_COST, PreemptionCost, Signal, choose, preemption_cost, settings_from
from reprieve.objects import (
    Document,
    Ignored,
    PlanOutcome,
    Reference,
    ReprieveError,
    Source,
    given,
    ignored,
    outcomes,
    well_known,
)
from reprieve.quota import QuotaPlan
from reprieve.whatif import sentences
from reprieve.whatif.quota import plan_workload


@dataclass(frozen=True, slots=True)
class Candidate:
    """What one worker would do with the workload."""

    cluster: str
    plan: QuotaPlan | None
    cost: PreemptionCost | None = None
    problem: str = ""

    @property
    def outcome(self) -> PlanOutcome:
        return self.plan.outcome if self.plan is not None else outcomes.UNSCHEDULABLE

    @property
    def victims(self) -> list[str]:
        return [victim.info.key for victim in self.plan.proposal.victims] if self.plan is not None else []

    @property
    def cost_text(self) -> str:
        """What its preemption would cost, in words; empty without one."""
        if self.cost is None:
            return ""
        cost = self.cost
        return sentences.preemption_cost(cost.victims, cost.highest_priority, cost.lost_pod_seconds)

    def to_dict(self) -> dict[str, Any]:
        document: dict[str, Any] = {"cluster": self.cluster, "outcome": self.outcome}
        if self.plan is not None:
            answer = self.plan.to_dict()
            document |= {key: answer[key] for key in ("mode", "flavors", "victims", "reasons")}
            if self.plan.ignored:
                document["ignored"] = [*map(msgspec.to_builtins, self.plan.ignored)]
        if self.cost is not None:
            document["cost"] = {
                "highestPriority": self.cost.highest_priority,
                "lostPodSeconds": self.cost.lost_pod_seconds,
                "victims": self.cost.victims,
            }
        if self.problem:
            document["reasons"] = [self.problem]
        return document


@dataclass(frozen=True, slots=True)
class FleetPlan:
    """The cluster that would get the workload, and what every worker would have done."""

    workload: str
    policy: str
    chosen: Candidate | None
    candidates: list[Candidate] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    ignored: tuple[Ignored, ...] = ()
    """What was given with the workload: every worker brings its own objects."""

    @property
    def outcome(self) -> PlanOutcome:
        return self.chosen.outcome if self.chosen is not None else outcomes.UNSCHEDULABLE

    @property
    def notes(self) -> list[str]:
        """Sentences about what the plan did not use: of what was given, and of what each worker holds."""
        held = [(each.cluster, each.plan.ignored) for each in self.candidates if each.plan is not None]
        found = [sentences.ignored_objects(self.ignored)] if self.ignored else []
        return [*found, *(sentences.ignored_of_worker(name, left) for name, left in held if left)]

    def to_dict(self) -> dict[str, Any]:
        more = {"ignored": [*map(msgspec.to_builtins, self.ignored)]} if self.ignored else {}
        return {
            "apiVersion": well_known.API_VERSION,
            "kind": "FleetPlan",
            "for": f"Workload/{self.workload}",
            "outcome": self.outcome,
            "cluster": self.chosen.cluster if self.chosen is not None else None,
            "gatePolicy": self.policy,
            "victims": self.chosen.to_dict().get("victims", []) if self.chosen is not None else [],
            "reasons": self.reasons,
            "clusters": [candidate.to_dict() for candidate in self.candidates],
            **more,
        }


def plan_for_clusters(
    workload: Document,
    clusters: Mapping[str, Sequence[Document]],
    config: Configuration,
    now: datetime,
    others: Iterable[Document | Source] = (),
) -> FleetPlan:
    """The choice among `clusters` (name to the objects that cluster holds), changing nothing. `others` were
    given with the workload: they are named, and not used.
    """
    target = Reference.read(workload)
    # Which worker may preempt is what the plan decides, so each is planned as if its gate were open.
    spec = {field: value for field, value in workload["spec"].items() if field != "preemptionGates"}
    metadata = {**workload["metadata"], "namespace": target.namespace}
    submitted = {**workload, "metadata": metadata, "spec": spec, "status": {}}
    candidates = [
        _candidate(name, [*objects, submitted], target, config, now) for name, objects in clusters.items()
    ]
    policy = settings_from(config.to_dict()).gate_policy
    chosen, reasons = _choose(candidates, policy, now)
    left = ignored(given(others), frozenset(), sentences.NO_WORKLOAD)
    return FleetPlan(target.key, policy, chosen, candidates, reasons, left)


def _candidate(
    cluster: str, objects: list[Document], for_: Reference, config: Configuration, now: datetime
) -> Candidate:
    try:
        plan, _ = plan_workload(objects, for_, config, now)
    except ReprieveError as error:
        return Candidate(cluster, None, problem=str(error))
    victims = [victim.info for victim in plan.proposal.victims]
    return Candidate(cluster, plan, preemption_cost(victims, now) if victims else None)


def _choose(candidates: list[Candidate], policy: str, now: datetime) -> tuple[Candidate | None, list[str]]:
    """1. a worker with room, in the order given; 2. the one whose gate would open first; 3. nobody."""
    free = [candidate for candidate in candidates if candidate.outcome == outcomes.SCHEDULED]
    if free:
        return free[0], [sentences.has_room(free[0].cluster, [each.cluster for each in free[1:]])]
    able = {each.cluster: each for each in candidates if each.outcome == outcomes.PREEMPTS}
    if not able:
        return None, [sentences.NO_ROOM_AT_ALL]
    waiting = [
        Signal(name, now + timedelta(seconds=position), each.cost)
        for position, (name, each) in enumerate(able.items())
    ]
    winner = able[choose(waiting, {}, policy).cluster]
    if policy == LEAST_COST:
        reason = sentences.preempts_at_lowest_cost(winner.cluster, winner.cost_text)
    else:
        reason = sentences.preempts_if_first(winner.cluster)
    return winner, [sentences.NO_ROOM_WITHOUT_PREEMPTION, reason]
