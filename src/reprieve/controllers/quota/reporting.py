"""Records and metrics of each cycle, under Kueue's names. Decides nothing."""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from reprieve.objects import Reference, Workload, find_condition, well_known
from reprieve.quota import Eviction, Outcome, Quota, WorkloadInfo
from reprieve.records import Decision, DecisionLog, End, Run

_SECONDS = [0.001 * 2**step for step in range(14)]


class Reporter:
    """Records every outcome."""

    def __init__(
        self,
        quota: Quota,
        records: DecisionLog | None,
        registry: CollectorRegistry | None,
        now: Callable[[], datetime],
    ) -> None:
        self._quota = quota
        self._records = records
        self._now = now
        registry = registry or CollectorRegistry()
        self._attempts = Counter(
            "kueue_admission_attempts", "Admission cycles by result.", ["result"], registry=registry
        )
        self._duration = Histogram(
            "kueue_admission_attempt_duration_seconds", "Time of one admission cycle.", ["result"],
            buckets=_SECONDS, registry=registry,
        )  # fmt: skip
        self._pending = Gauge(
            "kueue_pending_workloads", "Workloads that wait.", ["cluster_queue", "status"], registry=registry
        )
        self._reserved = Counter(
            "kueue_quota_reserved_workloads",
            "Workloads that got quota.",
            ["cluster_queue"],
            registry=registry,
        )
        self._preempted = Counter(
            "kueue_preempted_workloads", "Workloads asked to leave.", ["preempting_cluster_queue", "reason"],
            registry=registry,
        )  # fmt: skip
        self._gated = Counter(
            "reprieve_gated_preemptions", "Times a closed gate held a preemption back.", ["cluster_queue"],
            registry=registry,
        )  # fmt: skip

    def report(self, outcome: Outcome, seconds: float) -> None:
        """`seconds` is how long the cycle took."""
        result = "success" if outcome.made_progress else "inadmissible"
        self._attempts.labels(result).inc()
        self._duration.labels(result).observe(seconds)
        for name, pending in self._quota.pending.items():
            self._pending.labels(name, "active").set(len(pending.active))
            self._pending.labels(name, "inadmissible").set(len(pending.inadmissible))
        for reservation in outcome.reserved:
            self._reserved.labels(reservation.info.queue).inc()
        for eviction in outcome.evicted:
            self._preempted.labels(eviction.preemptor.queue, eviction.victim.reason).inc()
        for waiting in outcome.waiting:
            if waiting.gated:
                self._gated.labels(waiting.info.queue).inc()
        if self._records is not None:
            for decision in _decisions(outcome, seconds, self._now()):
                self._records.add(decision)
        for eviction in outcome.evicted:
            self._ran(eviction.victim.info.workload, "stopped")

    def followed_up(self, before: Workload, after: Workload) -> None:
        over = find_condition(after.status.conditions, well_known.FINISHED)
        if over is not None and find_condition(before.status.conditions, well_known.FINISHED) is None:
            self._ran(before, "failed" if over.reason == well_known.JOB_FAILED else "ended")

    def _ran(self, workload: Workload, end: End) -> None:
        """It is over, or has lost its quota: how long it ran."""
        admitted = find_condition(workload.status.conditions, well_known.ADMITTED)
        since = None if admitted is None or admitted.status != "True" else admitted.last_transition_time
        if self._records is None or since is None:
            return
        now = self._now()
        owners = workload.metadata.owner_references
        owner = next((each for each in owners if each.controller or each.kind != "Pod"), None)
        self._records.add_run(
            Run(
                ran=str(
                    Reference.of("Workload", workload.key)
                    if owner is None
                    else Reference(owner.kind, workload.namespace, owner.name)
                ),
                uid=workload.metadata.uid if owner is None else owner.uid,
                queue=workload.spec.queue_name,
                time=now,
                seconds=round(max(0.0, (now - since).total_seconds()), 3),
                end=end,
            )
        )


def _decisions(outcome: Outcome, seconds: float, now: datetime) -> list[Decision]:
    """One record for each workload that got quota, preempted others, or waits for something new."""
    by_preemptor: dict[str, list[Eviction]] = {}
    for eviction in outcome.evicted:
        by_preemptor.setdefault(eviction.preemptor.key, []).append(eviction)
    record = partial(_record, now=now, seconds=seconds)
    return [
        *(
            record(each.info, "scheduled", f"gets quota in ClusterQueue {each.info.queue}.")
            for each in outcome.reserved
        ),
        *(record(each[0].preemptor, "preempts", _leaving(each), each) for each in by_preemptor.values()),
        *(
            record(each.info, "gated" if each.gated else "unschedulable", f"waits: {each.message}")
            for each in outcome.waiting
            if each.workload is not None and each.info.key not in by_preemptor
        ),
    ]


def _record(
    info: WorkloadInfo,
    outcome: str,
    text: str,
    evictions: Sequence[Eviction] = (),
    *,
    now: datetime,
    seconds: float,
) -> Decision:
    return Decision(
        time=now,
        controller="quota",
        for_=f"Workload/{info.key}",
        outcome=outcome,
        revision=info.workload.metadata.resource_version,
        duration_ms=round(seconds * 1000, 3),
        victims=[_victim(each) for each in evictions],
        reasons=[each.message for each in evictions] or [text],
        sentence=f"Workload/{info.key} {text}",
    )


def _leaving(evictions: Sequence[Eviction]) -> str:
    names = ", ".join(each.victim.info.key for each in evictions)
    return f"needs quota in ClusterQueue {evictions[0].preemptor.queue}; {names} must leave."


def _victim(eviction: Eviction) -> dict[str, object]:
    info = eviction.victim.info
    return {
        "workload": info.key,
        "clusterQueue": info.queue,
        "priority": info.priority,
        "reason": eviction.victim.reason,
    }
