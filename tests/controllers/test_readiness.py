"""Workloads that hold quota and whose pods do not get ready (`quota.waitForPodsReady`)."""

import asyncio
from contextlib import AsyncExitStack
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprieve.config import Configuration, ConfigurationError, WaitForPodsReady
from reprieve.controllers.quota import watching
from reprieve.controllers.quota.controller import QuotaController
from reprieve.controllers.quota.group_shape import crew_owner, group_owner
from reprieve.controllers.quota.job_shape import job_owner
from reprieve.controllers.quota.lifecycle import RUNNING, Next, Owner, Situation, next_state
from reprieve.jobs import JobKinds
from reprieve.kube import Client
from reprieve.objects import Condition, Pod, RequeueState, Workload, condition_of, decode_as, find_condition
from reprieve.quota.rules import Rules
from reprieve.quota.workload_info import WorkloadInfo, is_true
from tests import builders
from tests.controllers.memory_api import Document, MemoryApi
from tests.controllers.virtual_time import run_virtually, utc_now

NOW = datetime(2026, 8, 23, 12, 0, tzinfo=UTC)
NAMESPACE = "ml"
KINDS = JobKinds()
READY = {"conditions": [{"type": "Ready", "status": "True"}], "phase": "Running"}


def rules(**given: Any) -> WaitForPodsReady:
    loaded = Configuration.load({"quota": {"waitForPodsReady": {"timeout": "60s", **given}}})
    assert loaded.quota.wait_for_pods_ready is not None
    return loaded.quota.wait_for_pods_ready


def at(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


def condition(type: str, reason: str, ago: float = 0, status: str = "True") -> Condition:
    return Condition(type=type, status=status, reason=reason, last_transition_time=at(ago))


def admitted(ago: float, *more: Condition, **status: Any) -> Workload:
    """A workload that was admitted so many seconds ago."""
    made = decode_as(builders.workload("w", cpu=1, count=2, namespace=NAMESPACE), Workload)
    conditions = (condition("QuotaReserved", "QuotaReserved", ago), condition("Admitted", "Admitted", ago))
    changed = msgspec.structs.replace(made.status, conditions=(*conditions, *more), **status)
    return msgspec.structs.replace(made, status=changed)


def after(workload: Workload, ready: bool | None, patience: WaitForPodsReady | None) -> Next:
    return next_state(Situation(workload, Owner(RUNNING, ready=ready), patience=patience), NOW)


def story(workload: Workload, type: str) -> tuple[str, str]:
    found = find_condition(workload.status.conditions, type)
    return (found.status, found.reason) if found is not None else ("", "")


def test_without_the_setting_nothing_is_said_and_nobody_goes() -> None:
    seen = after(admitted(10**6), False, None)
    assert story(seen.workload, "PodsReady") == ("", "")
    assert not is_true(seen.workload, "Evicted")


def test_it_says_how_its_pods_are() -> None:
    waits = after(admitted(20), False, rules())
    assert story(waits.workload, "PodsReady") == ("False", "WaitForStart")
    assert waits.after == 40.0
    started = after(waits.workload, True, rules())
    assert story(started.workload, "PodsReady") == ("True", "Started")
    assert started.after == 0.0
    lost = after(started.workload, False, rules(recoveryTimeout="15s"))
    assert story(lost.workload, "PodsReady") == ("False", "WaitForRecovery")
    assert lost.after == 15.0
    back = after(lost.workload, True, rules())
    assert story(back.workload, "PodsReady") == ("True", "Recovered")
    again = after(back.workload, False, rules())
    assert story(again.workload, "PodsReady") == ("False", "WaitForRecovery")


def test_whose_pods_are_not_ready_in_time_gives_its_quota_back_and_waits_before_it_is_tried_again() -> None:
    gone = after(admitted(60), False, rules())
    assert story(gone.workload, "Evicted") == ("True", "PodsReadyTimeout")
    assert not gone.deactivate
    assert gone.workload.status.requeue_state == RequeueState(count=1, requeue_at=NOW + timedelta(seconds=60))
    freed = next_state(Situation(gone.workload, patience=rules()), NOW).workload
    assert story(freed, "Requeued") == ("False", "PodsReadyTimeout")
    assert story(freed, "PodsReady") == ("False", "WaitForStart")
    waits = next_state(Situation(freed, patience=rules()), NOW + timedelta(seconds=45))
    assert (waits.workload, waits.after) == (freed, 15.0)
    back = next_state(Situation(freed, patience=rules()), NOW + timedelta(seconds=60)).workload
    assert story(back, "Requeued") == ("True", "BackoffFinished")
    assert back.status.requeue_state == RequeueState(count=1), "how often is still known"


@given(times=st.integers(0, 10**6), base=st.integers(0, 10**6), longest=st.integers(0, 10**6))
def test_each_pause_is_twice_as_long_as_the_one_before_up_to_the_longest(times, base, longest) -> None:
    strategy = {"backoffBaseSeconds": base, "backoffMaxSeconds": longest}
    tried = admitted(60, requeue_state=RequeueState(count=times))
    state = after(tried, False, rules(requeuingStrategy=strategy)).workload.status.requeue_state
    assert state is not None
    assert state.count == times + 1
    assert state.requeue_at is not None
    doubled = base << times if times < 40 else (longest if base else 0)
    assert (state.requeue_at - NOW).total_seconds() == min(doubled, longest)


def test_after_the_last_return_it_is_switched_off_and_its_count_begins_anew() -> None:
    patience = rules(requeuingStrategy={"backoffLimitCount": 2})
    last = after(admitted(60, requeue_state=RequeueState(count=1)), False, patience)
    assert not last.deactivate
    over = after(admitted(60, requeue_state=RequeueState(count=2)), False, patience)
    assert over.deactivate
    assert story(over.workload, "Evicted") == ("True", "DeactivatedDueToRequeuingLimitExceeded")
    assert over.workload.status.requeue_state is None


def test_recovery_may_take_for_ever_or_as_long_as_the_start() -> None:
    lost = condition("PodsReady", "WaitForRecovery", 59, status="False")
    assert after(admitted(1000, lost), False, rules()).after == 1.0
    lost = condition("PodsReady", "WaitForRecovery", 10**6, status="False")
    for_ever = after(admitted(10**6, lost), False, rules(recoveryTimeout="0s"))
    assert not is_true(for_ever.workload, "Evicted")
    assert for_ever.after == 0.0


def test_what_another_cluster_runs_is_looked_after_there() -> None:
    seen = after(admitted(10**6, cluster_name="worker-1"), False, rules())
    assert not is_true(seen.workload, "Evicted")


def test_where_nobody_here_can_tell_the_condition_is_somebody_elses() -> None:
    ready = condition("PodsReady", "Started", 5)
    seen = after(admitted(10**6, ready), None, rules()).workload
    assert find_condition(seen.status.conditions, "PodsReady") == ready
    assert not is_true(seen, "Evicted")
    ownerless = next_state(Situation(admitted(60), patience=rules()), NOW).workload
    assert is_true(ownerless, "Evicted")


def test_before_its_job_was_read_nothing_is_decided() -> None:
    """A controller that starts may read the workload long before the job, which has got ready meanwhile."""
    stale = admitted(10**6, condition("PodsReady", "WaitForStart", 10**6, status="False"))
    assert after(stale, None, rules()).workload.status.conditions[2:] == stale.status.conditions[2:]
    assert not is_true(after(stale, None, rules()).workload, "Evicted")


@pytest.mark.parametrize(("timestamp", "is_behind"), [("Eviction", True), ("Creation", False)])
def test_who_comes_back_stands_behind_the_others_unless_it_keeps_its_turn(timestamp, is_behind) -> None:
    waits = {"timeout": "60s", "requeuingStrategy": {"timestamp": timestamp}}
    config = Configuration.load({"quota": {"waitForPodsReady": waits}})
    evicted = msgspec.structs.replace(
        admitted(0), status=admitted(0, condition("Evicted", "PodsReadyTimeout")).status
    )
    queued_at = WorkloadInfo(evicted, "cq", Rules.of(config)).queued_at
    assert (queued_at == NOW.timestamp()) == is_behind


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"timeout": "-1s"}, "quota.waitForPodsReady.timeout"),
        ({"blockAdmission": True}, "quota.waitForPodsReady.blockAdmission"),
        (
            {"requeuingStrategy": {"backoffLimitCount": -1}},
            "quota.waitForPodsReady.requeuingStrategy.backoffLimitCount",
        ),
        ({"requeuingStrategy": {"timestamp": "Now"}}, "quota.waitForPodsReady.requeuingStrategy.timestamp"),
    ],
)
def test_a_wrong_setting_is_named(given, field) -> None:
    with pytest.raises(ConfigurationError, match=field):
        rules(**given)


# Whether all pods are ready


def member(name: str, **status: Any) -> Pod:
    return decode_as(builders.pod(name, 1, namespace=NAMESPACE, status=status), Pod)


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({}, False),
        ({"active": 2, "ready": 1}, False),
        ({"active": 2, "ready": 2}, True),
        ({"active": 1, "ready": 1, "succeeded": 1}, True),
        ({"active": 2, "ready": "two"}, False),
    ],
)
def test_a_jobs_status_counts_its_ready_pods(status, expected) -> None:
    made = {**builders.job("a", cpu=1, count=2, namespace=NAMESPACE), "status": status}
    made["spec"]["suspend"] = False
    assert job_owner({"apiVersion": "batch/v1", "kind": "Job", **made}, KINDS, (), ()).ready is expected


def test_of_other_kinds_the_pods_are_looked_at() -> None:
    template = {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}}
    replicas = {"Worker": {"replicas": 2, "template": template}}
    made = {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": "train", "namespace": NAMESPACE},
        "spec": {"pytorchReplicaSpecs": replicas},
    }
    assert job_owner(made, KINDS, (), [member("a", **READY), member("b")]).ready is False
    assert job_owner(made, KINDS, (), [member("a", **READY), member("b", **READY)]).ready is True


def test_a_group_is_ready_when_enough_of_its_pods_are() -> None:
    pods = [member("a", **READY), member("b", phase="Succeeded"), member("c", phase="Running")]
    assert group_owner(pods, least=2).ready is True
    assert group_owner(pods, least=3).ready is False
    asks = decode_as(builders.workload("w", cpu=1, count=3, namespace=NAMESPACE), Workload)
    assert crew_owner(asks, pods, (), made=False).ready is False
    assert crew_owner(asks, [*pods[:2], member("c", **READY)], (), made=False).ready is True
    assert crew_owner(asks, pods[:1], (), made=True).ready is False


# The controller


class World:
    """A queue for one job of two pods at a time, and nodes on which only some jobs get ready."""

    def __init__(self, *healthy: str) -> None:
        self.api = MemoryApi()
        self.healthy = healthy
        self.api.put("namespaces", {"metadata": {"name": NAMESPACE}})
        self.api.put("resourceflavors", builders.flavor())
        self.api.put("clusterqueues", builders.cluster_queue("cq", "2"))
        self.api.put("localqueues", builders.local_queue("main", "cq", namespace=NAMESPACE))

    def submit(self, name: str) -> None:
        self.api.put("jobs", builders.job(name, cpu=1, count=2, queue="main", namespace=NAMESPACE))

    async def nodes(self) -> None:
        while True:
            await asyncio.sleep(1)
            for job in list(self.api.all("jobs")):
                self._run(deepcopy(job))

    def _run(self, job: Document) -> None:
        before, name = deepcopy(job), job["metadata"]["name"]
        runs = not job["spec"].get("suspend")
        ready = 2 if runs and name in self.healthy else 0
        job["status"] = {**job.get("status", {}), "active": 2 if runs else 0, "ready": ready}
        if job != before:
            self.api.put("jobs", job)

    def workload(self, job: str) -> Document:
        [found] = [each for each in self.api.all("workloads") if f"job-{job}-" in each["metadata"]["name"]]
        return found

    def finish(self, name: str) -> None:
        job = deepcopy(self.api.get("jobs", NAMESPACE, name))
        assert job is not None
        job["status"]["conditions"] = [{"type": "Complete", "status": "True"}]
        self.api.put("jobs", job)


def test_a_job_that_cannot_start_makes_way_for_the_next_is_tried_again_and_ends() -> None:
    async def day() -> None:
        world = World("next")
        waits = {
            "timeout": "5m",
            "requeuingStrategy": {"backoffLimitCount": 1, "backoffBaseSeconds": 60},
        }
        config = Configuration.load({"quota": {"waitForPodsReady": waits}})
        async with AsyncExitStack() as stack:
            controller = QuotaController(Client(world.api.transport()), config, now=utc_now)
            await watching(controller, stack)
            tasks = [asyncio.create_task(each) for each in (controller.run(), world.nodes())]
            world.submit("stuck")
            await asyncio.sleep(10)
            world.submit("next")
            await asyncio.sleep(280)
            assert condition_of(world.workload("stuck"), "PodsReady")["reason"] == "WaitForStart"
            assert condition_of(world.workload("next"), "QuotaReserved")["status"] == "False"
            await asyncio.sleep(20)
            assert condition_of(world.workload("stuck"), "Evicted")["reason"] == "PodsReadyTimeout"
            assert condition_of(world.workload("next"), "PodsReady")["status"] == "True"
            world.finish("next")
            await asyncio.sleep(20)
            assert condition_of(world.workload("stuck"), "Admitted")["status"] == "False", "it pauses"
            await asyncio.sleep(60)
            assert condition_of(world.workload("stuck"), "Admitted")["status"] == "True"
            await asyncio.sleep(310)
            ended = world.workload("stuck")
            assert ended["spec"]["active"] is False
            assert condition_of(ended, "Evicted")["reason"] == "DeactivatedDueToRequeuingLimitExceeded"
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    run_virtually(day())
