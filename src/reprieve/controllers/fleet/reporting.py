"""Records and metrics of the manager's decisions. Upstream has none for gates. Decides nothing."""

from collections.abc import Callable
from datetime import datetime

from prometheus_client import CollectorRegistry, Counter

from reprieve.controllers import utc_now
from reprieve.fleet import CloseGate, CreateCopy, DeleteCopy, OpenGate, SetCheck, Step
from reprieve.records import Decision, DecisionLog


class Reporter:
    def __init__(
        self,
        records: DecisionLog | None,
        registry: CollectorRegistry | None,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self._records = records
        self._now = now
        registry = registry or CollectorRegistry()
        self._opened = Counter(
            "reprieve_fleet_gates_opened", "Gates opened, by worker.", ["cluster"], registry=registry
        )
        self._closed = Counter(
            "reprieve_fleet_gates_closed", "Gates closed for the next worker.", ["cluster"], registry=registry
        )
        self._dispatched = Counter(
            "multikueue_workloads_dispatched", "Copies sent, by worker.", ["cluster"], registry=registry
        )
        self._admitted = Counter(
            "multikueue_workloads_admitted", "Workloads won, by worker.", ["cluster"], registry=registry
        )

    def report(self, key: str, step: Step) -> None:
        for action in step.actions:
            match action:
                case OpenGate(cluster):
                    self._opened.labels(cluster).inc()
                case CloseGate(cluster):
                    self._closed.labels(cluster).inc()
                case CreateCopy(cluster):
                    self._dispatched.labels(cluster).inc()
                case SetCheck(_, _, cluster) if cluster:
                    self._admitted.labels(cluster).inc()
        outcome = _outcome(step)
        if self._records is not None and outcome:
            text = "; ".join(step.reasons) or outcome
            self._records.add(
                Decision(
                    time=self._now(), controller="fleet", for_=f"Workload/{key}", outcome=outcome,
                    reasons=list(step.reasons), sentence=f"Workload/{key}: {text}.",
                )
            )  # fmt: skip


def _outcome(step: Step) -> str:
    """The name of a step in the records; empty for a step that is not worth a record."""
    for kind, name in (
        (SetCheck, "decided"),
        (OpenGate, "gate-opened"),
        (CreateCopy, "dispatched"),
        (DeleteCopy, "withdrawn"),
    ):
        if any(isinstance(action, kind) for action in step.actions):
            return name
    return ""
