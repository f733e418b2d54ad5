"""Prometheus metrics under the names kube-scheduler uses, so that dashboards and alerts keep working.

`docs/metrics.md` lists them. Children with fixed labels are made once: looking a label up costs more than counting.
"""

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from reprieve.scheduler.core import Core, Cycle
from reprieve.scheduler.queue import State

RESULTS = {
    "scheduled": "scheduled",
    "preempts": "waiting_on_preemption",
    "waits": "waiting_on_preemption",
    "error": "error",
}
CODES = {"preempts": "Success", "error": "Error"}


def _doubling(start: float, count: int) -> list[float]:
    return [start * 2**step for step in range(count)]


class Metrics:
    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self.registry = registry or CollectorRegistry()

        def counter(name: str, about: str, *labels: str) -> Counter:
            return Counter(f"scheduler_{name}", about, labels, registry=self.registry)

        def histogram(name: str, about: str, buckets: list[float], *labels: str) -> Histogram:
            return Histogram(f"scheduler_{name}", about, labels, registry=self.registry, buckets=buckets)

        tried, seconds = ("result", "profile"), _doubling(0.001, 16)
        self._attempts = counter("schedule_attempts", "Attempts to schedule pods.", *tried)
        self._attempt_seconds = histogram(
            "scheduling_attempt_duration_seconds", "Decision time of one pod.", _doubling(0.0001, 17), *tried
        )
        self._group_attempts = counter(
            "podgroup_schedule_attempts", "Attempts to schedule pod groups.", *tried
        )
        self._group_seconds = histogram(
            "podgroup_scheduling_attempt_duration_seconds", "Decision time of one pod group.", seconds, *tried
        )
        self._pod_preemptions = counter("preemption_attempts", "Times a pod looked for victims.")
        self._pod_victims = histogram("preemption_victims", "Victims of one pod.", _doubling(1, 7))
        self._group_preemptions = counter(
            "workload_preemption_attempts", "Times a pod group looked for victims.", "result"
        )
        self._group_victims = histogram(
            "workload_preemption_victims", "Victims of one pod group.", _doubling(1, 11)
        )
        self._disruptions = histogram(
            "preemption_workload_disruptions",
            "Pod groups disrupted by one preemption.",
            _doubling(1, 11),
            "preemptor",
        )
        self._violations = counter("preemption_pdb_violations", "Disruption budgets violated.", "preemptor")
        self._evaluation = histogram(
            "preemption_evaluation_duration_seconds", "Time to find victims.", seconds, "preemptor", "result"
        )
        self._execution = histogram(
            "preemption_execution_duration_seconds",
            "Time of the eviction calls.",
            seconds,
            "preemptor",
            "result",
        )
        background = _doubling(0.01, 20)
        self._task_seconds = histogram(
            "goroutines_duration_seconds",
            "Time of work in the background.",
            background,
            "operation",
            "result",
        )
        self._tasks = counter("goroutines_execution", "Work in the background.", "operation", "result")
        self._preemption_seconds = histogram(
            "preemption_goroutines_duration_seconds",
            "Time of a preemption in the background.",
            background,
            "result",
        )
        self._preemption_tasks = counter(
            "preemption_goroutines_execution", "Preemptions in the background.", "result"
        )
        self.leading = Gauge(
            "leader_election_master_status", "1 while this replica leads.", ["name"], registry=self.registry
        )

    def watch(self, core: Core) -> None:
        """Queue depths, read when asked for."""
        self.registry.register(_Depths(core))

    def cycle(self, cycle: Cycle, seconds: float, core: Core) -> None:
        group = cycle.unit.startswith("PodGroup/")
        result = RESULTS.get(cycle.outcome, "unschedulable")
        if group:
            self._group_attempts.labels(result, core.name).inc()
            self._group_seconds.labels(result, core.name).observe(seconds)
        self._attempts.labels(
            "unschedulable" if result == "waiting_on_preemption" else result, core.name
        ).inc(max(1, cycle.pods))
        if not group:
            self._attempt_seconds.labels(result, core.name).observe(seconds)
        if cycle.outcome in ("preempts", "unschedulable"):
            self._preemption(cycle, seconds, group)

    def _preemption(self, cycle: Cycle, seconds: float, group: bool) -> None:
        kind = "podgroup" if group else "pod"
        code = CODES.get(cycle.outcome, "Unschedulable")
        self._evaluation.labels(kind, code).observe(seconds)
        if group:
            self._group_preemptions.labels(code).inc()
        else:
            self._pod_preemptions.inc()
        if cycle.outcome != "preempts" or cycle.plan is None:
            return
        (self._group_victims if group else self._pod_victims).observe(len(cycle.victims))
        if cycle.plan.pod_group_disruptions:
            self._disruptions.labels(kind).observe(cycle.plan.pod_group_disruptions)
        if cycle.plan.pdb_violations:
            self._violations.labels(kind).inc(cycle.plan.pdb_violations)

    def bound(self, error: str | None) -> None:
        self._tasks.labels("binding", "error" if error else "success").inc()

    def evicted(self, kind: str, result: str, seconds: float) -> None:
        self._execution.labels(kind, result).observe(seconds)
        self._task_seconds.labels("preemption", result).observe(seconds)
        self._tasks.labels("preemption", result).inc()
        self._preemption_seconds.labels(result).observe(seconds)
        self._preemption_tasks.labels(result).inc()


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
