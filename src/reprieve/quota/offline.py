"""Quota without a cluster: load objects into a fresh state, and run admission cycles until nothing changes.

Between two cycles everything that controllers would do happens at once: evicted workloads release their
quota and queue again, in the order of their names. The clock advances one second per cycle. Nothing ever
finishes. The creation of the queues is a change, too, noticed one second later: workloads parked in the
first cycle are tried once more in the second. With admission fair sharing the clock stands still instead:
usage that is not sampled must not fade, and nothing is noticed later.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from reprieve.objects import (
    AdmissionCheck,
    ClusterQueue,
    Cohort,
    LimitRange,
    LocalQueue,
    Namespace,
    Node,
    Object,
    Pod,
    PriorityClass,
    ResourceClaimTemplate,
    ResourceFlavor,
    Topology,
    Workload,
    WorkloadPriorityClass,
    namespace_labels,
)
from reprieve.quota.admission import cycle
from reprieve.quota.outcome import Outcome
from reprieve.quota.rules import Rules
from reprieve.quota.state import Quota
from reprieve.quota.transitions import release

QUEUES_EMPTY = "queues-empty"
STEADY = "steady"
STOPPED = "stopped"
STEADY_AFTER = 6
"""Cycles without any change after which nothing is expected to change."""
Lists = dict[str, list[str]]


def load(objects: Iterable[Object], rules: Rules, now: datetime) -> Quota:
    """A fresh state with all objects, added in an order in which each finds what it refers to.

    A namespace that is not among them is taken to exist, with only its name as a label.
    """
    quota = Quota(rules)
    everything = list(objects)
    for each in everything:
        if isinstance(each, ResourceFlavor):
            quota.cache.put_flavor(each)
        elif isinstance(each, Topology):
            quota.cache.put_topology(each)
        elif isinstance(each, Node):
            quota.cache.capacity.put_node(each)
        elif isinstance(each, Pod):
            quota.cache.capacity.put_pod(each)
        elif isinstance(each, AdmissionCheck):
            quota.cache.checks[each.name] = each
        elif isinstance(each, Cohort):
            quota.cache.put_cohort(each)
        elif isinstance(each, WorkloadPriorityClass | PriorityClass):
            quota.priority_classes[type(each).__name__, each.name] = each.value
        elif isinstance(each, LimitRange):
            quota.put_limit_range(each)
        elif isinstance(each, ResourceClaimTemplate):
            quota.put_claim_template(each, now)
        elif isinstance(each, Namespace):
            quota.put_namespace(each.name, namespace_labels(each.name, each.metadata.labels))
    for each in everything:
        if isinstance(each, ClusterQueue):
            quota.put_cluster_queue(each, now)
    for each in everything:
        if isinstance(each, LocalQueue):
            quota.put_local_queue(each, now)
    for each in everything:
        if isinstance(each, Workload):
            if each.namespace not in quota.namespaces:
                quota.put_namespace(each.namespace, namespace_labels(each.namespace))
            quota.put_workload(each, now)
    quota.cache.refresh()
    return quota


class Step(NamedTuple):
    """One cycle, and the queues right after it."""

    outcome: Outcome
    time: datetime
    pending: Lists
    inadmissible: Lists


class Run(NamedTuple):
    steps: list[Step]
    converged: str
    """Why it ended: `queues-empty`, `steady`, or `stopped` by the given number of cycles."""


def settle(
    quota: Quota,
    now: datetime,
    max_cycles: int | None = None,
    delete_after: Mapping[int, Collection[str]] | None = None,
) -> Run:
    """Run cycles on the state. `delete_after` names workloads that go away after a cycle of that number."""
    steps: list[Step] = []
    for step in _steps(quota, now):
        steps.append(step)
        _react(quota, step.time)
        if len(steps) == 1:
            for name in quota.pending if _clock_moves(quota) else ():
                quota.flush(name, step.time)
        for key in (delete_after or {}).get(len(steps), ()):
            quota.drop_workload(key, step.time)
        if max_cycles is not None and len(steps) >= max_cycles:
            return Run(steps, STOPPED)
        if _is_steady(steps):
            return Run(steps, STEADY)
    return Run(steps, QUEUES_EMPTY)


def _steps(quota: Quota, now: datetime) -> Iterator[Step]:
    """At least one step, so that there is a result even when no workload can be tried."""
    while True:
        outcome = cycle(quota, now)
        yield Step(outcome, now, waiting_lists(quota, "active"), waiting_lists(quota, "inadmissible"))
        if not quota.has_heads():
            return
        if _clock_moves(quota):
            now += timedelta(seconds=1)


def _clock_moves(quota: Quota) -> bool:
    return quota.local_usage is None


def waiting_lists(quota: Quota, state: str) -> Lists:
    """{queue: keys in order of name} of the `active` or the `inadmissible` workloads."""
    found = {name: sorted(getattr(pending, state)) for name, pending in quota.pending.items()}
    return {name: keys for name, keys in found.items() if keys}


def _react(quota: Quota, now: datetime) -> None:
    for info in sorted(quota.cache.workloads.values(), key=lambda info: info.key):
        if info.evicted:
            quota.put_workload(release(info.workload, now), now)


def _is_steady(steps: list[Step]) -> bool:
    """Whether the last cycles all left everything as the one before them had."""
    last = steps[-STEADY_AFTER - 1 :]
    return len(last) > STEADY_AFTER and all(
        not step.outcome.made_progress
        and step.pending == last[0].pending
        and step.inadmissible == last[0].inadmissible
        for step in last[1:]
    )
