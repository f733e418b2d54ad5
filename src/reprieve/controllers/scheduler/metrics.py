"""Prometheus metrics under the names kube-scheduler uses, so that dashboards and alerts keep working.

`docs/metrics.md` lists them. Children are kept: looking a label up costs more than counting.
"""

from collections.abc import Callable, Iterable
from functools import cache

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from reprieve.scheduler import Core, CycleResult, State

RESULTS = {
    "scheduled": "scheduled",
    "preempts": "waiting_on_preemption",
    "waits": "waiting_on_preemption",
    "error": "error",
}
CODES = {"preempts": "Success", "error": "Error"}


def _doubling(start: float, count: int) -> list[float]:
    return [start * 2**step for step in range(count)]


class _Maker:
    """Makes metrics of one registry, all under kube-scheduler's prefix."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry

    def counter(self, name: str, about: str, *labels: str) -> Callable[..., Counter]:
        """Gives the counter's child with these values of its labels."""
        counter = Counter(f"scheduler_{name}", about, labels, registry=self._registry)
        return cache(counter.labels) if labels else lambda: counter

    def histogram(
        self, name: str, about: str, buckets: list[float], *labels: str
    ) -> Callable[..., Histogram]:
        histogram = Histogram(f"scheduler_{name}", about, labels, registry=self._registry, buckets=buckets)
        return cache(histogram.labels) if labels else lambda: histogram


SECONDS = _doubling(0.001, 16)


class Metrics:
    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self.registry = registry or CollectorRegistry()
        make = _Maker(self.registry)
        self._make_attempts(make)
        self._make_preemptions(make)
        self._make_background(make)

    def _make_attempts(self, make: _Maker) -> None:
        tried = ("result", "profile")
        self._attempts = make.counter("schedule_attempts", "Attempts to schedule pods.", *tried)
        self._attempt_seconds = make.histogram(
            "scheduling_attempt_duration_seconds", "Decision time of one pod.", _doubling(0.0001, 17), *tried
        )
        self._group_attempts = make.counter(
            "podgroup_schedule_attempts", "Attempts to schedule pod groups.", *tried
        )
        self._group_seconds = make.histogram(
            "podgroup_scheduling_attempt_duration_seconds", "Decision time of one pod group.", SECONDS, *tried
        )

    def _make_preemptions(self, make: _Maker) -> None:
        by = ("preemptor", "result")
        self._pod_preemptions = make.counter("preemption_attempts", "Times a pod looked for victims.")
        self._pod_victims = make.histogram("preemption_victims", "Victims of one pod.", _doubling(1, 7))
        self._group_preemptions = make.counter(
            "workload_preemption_attempts", "Times a pod group looked for victims.", "result"
        )
        self._group_victims = make.histogram(
            "workload_preemption_victims", "Victims of one pod group.", _doubling(1, 11)
        )
        self._disruptions = make.histogram(
            "preemption_workload_disruptions",
            "Pod groups disrupted by one preemption.",
            _doubling(1, 11),
            "preemptor",
        )
        self._violations = make.counter(
            "preemption_pdb_violations", "Disruption budgets violated.", "preemptor"
        )
        self._evaluation = make.histogram(
            "preemption_evaluation_duration_seconds", "Time to find victims.", SECONDS, *by
        )
        self._execution = make.histogram(
            "preemption_execution_duration_seconds", "Time of the eviction calls.", SECONDS, *by
        )

    def _make_background(self, make: _Maker) -> None:
        long, by = _doubling(0.01, 20), ("operation", "result")
        self._task_seconds = make.histogram(
            "goroutines_duration_seconds", "Time of work in the background.", long, *by
        )
        self._tasks = make.counter("goroutines_execution", "Work in the background.", *by)
        self._preemption_seconds = make.histogram(
            "preemption_goroutines_duration_seconds",
            "Time of a preemption in the background.",
            long,
            "result",
        )
        self._preemption_tasks = make.counter(
            "preemption_goroutines_execution", "Preemptions in the background.", "result"
        )

    def watch(self, core: Core) -> None:
        """Queue depths, read when the metrics are scraped."""
        self.registry.register(_Depths(core))

    def cycle(
        self, cycle: CycleResult, seconds: float, core: Core, exemplar: dict[str, str] | None = None
    ) -> None:
        """`exemplar` names the trace of the decision, if there is one."""
        group = cycle.unit.kind == "PodGroup"
        result = RESULTS.get(cycle.outcome, "unschedulable")
        profile = core.memory.scheduler_of(cycle.unit)
        if group:
            self._group_attempts(result, profile).inc()
            self._group_seconds(result, profile).observe(seconds, exemplar)
        self._attempts("unschedulable" if result == "waiting_on_preemption" else result, profile).inc(
            max(1, cycle.pods)
        )
        if not group:
            self._attempt_seconds(result, profile).observe(seconds, exemplar)
        if cycle.outcome in ("preempts", "unschedulable"):
            self._preemption(cycle, seconds, group, exemplar)

    def _preemption(
        self, cycle: CycleResult, seconds: float, group: bool, exemplar: dict[str, str] | None
    ) -> None:
        kind = "podgroup" if group else "pod"
        code = CODES.get(cycle.outcome, "Unschedulable")
        self._evaluation(kind, code).observe(seconds, exemplar)
        if group:
            self._group_preemptions(code).inc()
        else:
            self._pod_preemptions().inc()
        if cycle.outcome != "preempts" or cycle.plan is None:
            return
        (self._group_victims if group else self._pod_victims)().observe(len(cycle.victims))
        if cycle.plan.pod_group_disruptions:
            self._disruptions(kind).observe(cycle.plan.pod_group_disruptions)
        if cycle.plan.pdb_violations:
            self._violations(kind).inc(cycle.plan.pdb_violations)

    def bound(self, error: str | None) -> None:
        self._tasks("binding", "error" if error else "success").inc()

    def evicted(self, kind: str, result: str, seconds: float, exemplar: dict[str, str] | None = None) -> None:
        self._execution(kind, result).observe(seconds, exemplar)
        self._task_seconds("preemption", result).observe(seconds)
        self._tasks("preemption", result).inc()
        self._preemption_seconds(result).observe(seconds)
        self._preemption_tasks(result).inc()


class _Depths(Collector):
    def __init__(self, core: Core) -> None:
        self._core = core

    def collect(self) -> Iterable[GaugeMetricFamily]:
        pods = GaugeMetricFamily("scheduler_pending_pods", "Pods that wait, by queue.", labels=["queue"])
        units = GaugeMetricFamily(
            "scheduler_queued_entities", "Units that wait, by queue and type.", labels=["queue", "type"]
        )
        waiting = dict.fromkeys(State, 0)
        for unit in self._core.queue.units.values():
            waiting[unit.state] += len(unit.pods)
        depths = self._core.queue.depths()
        for state in State:
            pods.add_metric([state.value], waiting[state])
            for kind, group in (("pod", False), ("podgroup", True)):
                units.add_metric([state.value, kind], depths[state, group])
        preempting = GaugeMetricFamily(
            "scheduler_preemptions_in_progress", "Units that wait for victims to end."
        )
        preempting.add_metric([], len(self._core.preemptions))
        return [pods, units, preempting]
