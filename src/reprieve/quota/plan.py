"""What would happen to one workload if it was tried now: flavors, victims and reasons, as a document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from reprieve.objects import Ignored, PlanOutcome, format_amount, outcomes, well_known
from reprieve.quota import sentences
from reprieve.quota.assignment import Assignment, Mode
from reprieve.quota.outcome import preempted_message
from reprieve.quota.queue import QueueNode
from reprieve.quota.victims.candidates import Victim
from reprieve.quota.workload_info import WorkloadInfo


@dataclass(frozen=True, slots=True)
class Proposal:
    """Flavors for a workload, and the victims whose quota it would take."""

    assignment: Assignment
    victims: list[Victim]

    @property
    def works(self) -> bool:
        return self.assignment.mode == Mode.FIT or (
            self.assignment.mode == Mode.PREEMPT and bool(self.victims)
        )

    def to_dict(self) -> dict[str, Any]:
        found = self.assignment
        topology = {each.name: each.placement.to_dict() for each in found.pod_sets if each.placement}
        delayed = {each.name: each.delayed for each in found.pod_sets if each.delayed is not None}
        return {
            "mode": str(found.mode),
            "flavors": found.flavors(),
            "counts": {each.name: each.count for each in found.pod_sets},
            "borrowing": found.borrowing,
            "modes": {
                each.name: {r: str(choice.mode) for r, choice in each.choices.items()}
                for each in found.pod_sets
            },
            "usage": usage_dict(found.usage),
            "triedFlavorIdx": {
                each.name: {r: choice.tried for r, choice in each.choices.items()} for each in found.pod_sets
            },
            "attempts": {
                each.name: [str(attempt) for group in each.attempts for attempt in group]
                for each in found.pod_sets
            },
            "victims": [
                {"workload": victim.info.key, "reason": victim.reason}
                for victim in sorted(self.victims, key=lambda victim: victim.info.key)
            ],
            **({"topology" if self.works else "reservedTopology": topology} if topology else {}),
            **({"delayedTopologyRequest": delayed} if delayed else {}),
        }


@dataclass(frozen=True, slots=True)
class QuotaPlan:
    """What would happen to one workload if it was tried now."""

    info: WorkloadInfo
    queue: QueueNode
    whole: Proposal
    """For all its pods."""
    reduced: Proposal | None
    """With fewer pods, when the workload allows that."""
    gate_closed: bool
    """A closed preemption gate forbids preemption."""
    ignored: tuple[Ignored, ...] = ()
    """Documents that were given and that no quota reads."""
    notes: tuple[str, ...] = ()

    @property
    def proposal(self) -> Proposal:
        """What the workload would get."""
        return self.reduced if self.reduced is not None else self.whole

    @property
    def outcome(self) -> PlanOutcome:
        if not self.proposal.works:
            return outcomes.UNSCHEDULABLE
        if self.proposal.assignment.mode == Mode.FIT:
            return outcomes.SCHEDULED
        return outcomes.GATED if self.gate_closed else outcomes.PREEMPTS

    def to_dict(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            "apiVersion": well_known.API_VERSION,
            "kind": "Plan",
            "for": f"Workload/{self.info.key}",
            "outcome": self.outcome,
            "clusterQueue": self.queue.name,
            **self.whole.to_dict(),
            "gated": self.gate_closed and bool(self.whole.victims),
            "reasons": self.reasons,
        }
        found["victims"] = [self._victim(victim) for victim in _by_name(self.whole.victims)]
        if self.whole.assignment.mode == Mode.NO_FIT:
            found["noFitReason"] = self.whole.assignment.no_fit_reason()
        if self.reduced is not None:
            found["withPartialAdmission"] = self.reduced.to_dict()
        if self.ignored:
            found["ignored"] = [msgspec.to_builtins(each) for each in self.ignored]
        return found

    def _victim(self, victim: Victim) -> dict[str, Any]:
        return {
            "workload": victim.info.key,
            "reason": victim.reason,
            "clusterQueue": victim.queue.name,
            "priority": victim.info.priority,
            "message": preempted_message(self.info, self.queue, victim)
            if victim.reason
            else sentences.replaced_by(self.info.key),
        }

    @property
    def reasons(self) -> list[str]:
        obstacles = [
            sentences.in_pod_set(each.name, reason)
            for each in self.proposal.assignment.pod_sets
            for reason in sorted(map(str, each.obstacles))
        ]
        return [*obstacles, *self.notes]


def _by_name(victims: list[Victim]) -> list[Victim]:
    return sorted(victims, key=lambda victim: victim.info.key)


def usage_dict(usage: dict[Any, int]) -> dict[str, dict[str, str]]:
    """{flavor: {resource: quantity}}"""
    found: dict[str, dict[str, str]] = {}
    for (flavor, resource), amount in usage.items():
        found.setdefault(flavor, {})[resource] = format_amount(resource, amount)
    return found
