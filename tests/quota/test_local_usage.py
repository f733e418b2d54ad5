"""Admission fair sharing: what LocalQueues used counts, fades, and decides who goes first."""

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given
from msgspec import structs

from reprieve.config import Configuration
from reprieve.objects import decode_all
from reprieve.objects.kueue import LocalQueue
from reprieve.quota import Quota, Rules, WorkloadInfo, cycle, load
from reprieve.quota.local_usage import LocalUsage
from reprieve.quota.rules import UsageRules
from tests import builders
from tests.builders import view
from tests.scale import examples

NOW = datetime(2026, 8, 23, 12, tzinfo=UTC)
HALF_LIFE = 60.0


def ledger(weight: str = "1", consumed: dict[str, str] | None = None, **rules: Any) -> LocalUsage:
    found = LocalUsage(UsageRules(**{"half_life": HALF_LIFE, "interval": HALF_LIFE, "weights": {}, **rules}))
    queue = builders.local_queue("q")
    queue["spec"]["fairSharing"] = {"weight": weight}
    if consumed:
        status = {"admissionFairSharingStatus": {"consumedResources": consumed}}
        queue["status"] = {"fairSharing": status}
    document: LocalQueue = view(queue)
    found.put(document, NOW)
    return found


def test_usage_is_what_the_status_says_by_weight() -> None:
    assert ledger(consumed={"cpu": "3", "memory": "2"}).usage("default/q") == 5
    assert ledger("2", {"cpu": "3"}).usage("default/q") == 1.5
    assert ledger(consumed={"cpu": "3"}, weights={"cpu": 10.0}).usage("default/q") == 30
    assert ledger("0").usage("default/q") == math.inf
    assert ledger().usage("default/unknown") == 0


def test_after_a_half_life_half_of_it_counts() -> None:
    found = ledger(consumed={"cpu": "8"})
    found.sample("default/q", {}, NOW + timedelta(seconds=HALF_LIFE))
    assert found.usage("default/q") == 4
    found.sample("default/q", {"cpu": 6000}, NOW + timedelta(seconds=2 * HALF_LIFE))
    assert found.usage("default/q") == 2 + 3


def test_an_admission_counts_at_once_and_once() -> None:
    found = ledger()
    found.admitted("default/q", "w", {"cpu": 4000}, NOW)
    found.admitted("default/q", "w", {"cpu": 4000}, NOW)
    assert found.usage("default/q") == 2
    found.sample("default/q", {"cpu": 4000}, NOW)
    assert found.usage("default/q") == 2  # the sample took the penalty over


def test_without_a_half_life_nothing_is_remembered() -> None:
    found = ledger(consumed={"cpu": "8"}, half_life=0.0)
    assert found.sample("default/q", {"cpu": 1000}, NOW) == {}
    assert found.usage("default/q") == 0


@examples(100, least=20)
@given(st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 600)), max_size=8), st.integers(0, 10**6))
def test_usage_never_exceeds_what_was_ever_used_at_once(samples: list[tuple[int, int]], start: int) -> None:
    found, now, most = ledger(consumed={"cpu": f"{start}m"}), NOW, start
    for running, elapsed in samples:
        now += timedelta(seconds=elapsed)
        most = max(most, running)
        found.sample("default/q", {"cpu": running}, now)
        assert 0 <= found.usage("default/q") <= most / 1000


def two_queues(**queue: Any) -> Quota:
    scope: dict[str, Any] = {"admissionScope": {"admissionMode": "UsageBasedAdmissionFairSharing"}}
    objects = [
        builders.flavor(),
        builders.cluster_queue("cq", "4", **scope, **queue),
        builders.local_queue("busy", "cq"),
        builders.local_queue("idle", "cq"),
    ]
    for name, local in (("first", "busy"), ("second", "busy"), ("other", "idle")):
        made = builders.workload(name, cpu=4)
        made["spec"]["queueName"] = local
        objects.append(made)
    sharing = {"usageHalfLifeTime": "60s", "usageSamplingInterval": "60s"}
    rules = Rules.of(Configuration.load({"admissionFairSharing": sharing}))
    return load(decode_all(objects), rules, NOW)


def admitted(quota: Quota) -> list[str]:
    return sorted(each.info.workload.name for each in cycle(quota, NOW).reserved)


def test_the_queue_that_used_less_goes_first_although_its_workload_is_younger() -> None:
    quota = two_queues()
    assert admitted(quota) == ["first"]
    quota.drop_workload("default/first", NOW)
    assert admitted(quota) == ["other"]
    quota.drop_workload("default/other", NOW)
    assert admitted(quota) == ["second"]


def test_samples_see_what_runs_in_each_local_queue() -> None:
    quota = two_queues()
    admitted(quota)
    consumed = quota.sample_usage(NOW + timedelta(seconds=60))
    assert consumed == {"default/busy": {"cpu": "4"}, "default/idle": {}}


def test_what_waits_in_a_local_queue_is_not_sampled() -> None:
    quota = two_queues()
    waiting = quota.sample_usage(NOW + timedelta(seconds=60))
    assert waiting == {"default/busy": {}, "default/idle": {}}


def test_of_quota_that_is_reserved_and_not_admitted_samples_see_nothing() -> None:
    quota = two_queues()
    [reservation] = cycle(quota, NOW).reserved
    workload = reservation.workload
    kept = tuple(each for each in workload.status.conditions if each.type != "Admitted")
    status = structs.replace(workload.status, conditions=kept)
    quota.put_workload(structs.replace(workload, status=status), NOW)
    counted = quota.sample_usage(NOW + timedelta(seconds=60))["default/busy"]
    assert counted == {"cpu": "2"}, "what its reservation counted at once, and no sample of what runs"


@pytest.mark.parametrize("strategy", ["BlockUndeclared", "IgnoreUndeclared"])
def test_resources_that_the_queue_does_not_declare_count_unless_they_are_ignored(strategy: str) -> None:
    """When a workload is admitted half of what it asks for counts at once."""
    quota = two_queues()
    ignored = strategy == "IgnoreUndeclared"
    quota.rules = replace(quota.rules, ignore_undeclared=ignored)
    made = builders.workload("mixed", cpu=4, queue="idle")
    containers = made["spec"]["podSets"][0]["template"]["spec"]["containers"]
    containers[0]["resources"]["requests"]["example.com/gpu"] = "2"
    quota.count_admission(WorkloadInfo(view(made), "cq", quota.rules), NOW)
    assert quota.local_usage is not None
    assert quota.local_usage.usage("default/idle") == (2 if ignored else 3)
