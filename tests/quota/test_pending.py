"""The queue of waiting workloads: its order, what wakes which, and the fast queue against a plain one."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from reprieve.objects import well_known
from reprieve.objects.decode import decode_all
from reprieve.objects.kueue import Workload
from reprieve.quota.pending import (
    FAILED_AFTER_NOMINATION,
    GENERIC,
    NAMESPACE_MISMATCH,
    NO_FIT,
    PENDING_PREEMPTION,
    PREEMPTION_NO_CANDIDATES,
    PendingQueue,
)
from reprieve.quota.rules import Rules
from reprieve.quota.transitions import wait
from reprieve.quota.workload_info import WorkloadInfo
from tests.scale import examples
from tests.strategies.quota import workload

REASONS = (
    FAILED_AFTER_NOMINATION,
    GENERIC,
    NAMESPACE_MISMATCH,
    NO_FIT,
    PENDING_PREEMPTION,
    well_known.PREEMPTION_GATED,
    PREEMPTION_NO_CANDIDATES,
)


def info(
    name: str, priority: int = 0, cpu: int = 1, age: int = 10, namespace: str = "default"
) -> WorkloadInfo:
    document: dict[str, Any] = workload(name, 0, {"cpu": cpu}, 1, priority, age)
    document["metadata"]["namespace"] = namespace
    (view,) = decode_all([document])
    assert isinstance(view, Workload)
    return WorkloadInfo(view, "cq0", Rules())


def queue_of(*workloads: WorkloadInfo, strict: bool = False) -> PendingQueue:
    queue = PendingQueue(strict)
    for each in workloads:
        queue.put(each, ready=True, unchanged=lambda _: False)
    return queue


def drain(queue: PendingQueue) -> list[str]:
    keys = []
    while (head := queue.pop()) is not None:
        keys.append(head.key.removeprefix("default/"))
        queue.remove(head.key)
    return keys


def test_higher_priority_goes_first_then_age_then_uid() -> None:
    queue = queue_of(info("c", age=5), info("b", age=5), info("a", age=9), info("d", priority=1, age=1))
    assert drain(queue) == ["d", "a", "b", "c"]


def test_a_preemptor_whose_victims_leave_goes_first_unless_the_queue_is_strict() -> None:
    for strict, first in ((False, "low"), (True, "high")):
        queue = queue_of(info("low"), strict=strict)
        head = queue.pop()
        assert head is not None
        queue.requeue(head, PENDING_PREEMPTION, ready=True)
        queue.put(info("high", priority=5, cpu=2), ready=True, unchanged=lambda _: False)
        assert drain(queue)[0] == first


def test_a_hopeless_workload_takes_its_equals_along() -> None:
    queue = queue_of(info("a", age=9), info("b"), info("other", cpu=2, age=10))
    head = queue.pop()
    assert head is not None
    queue.requeue(head, NO_FIT, ready=True)
    assert set(queue.active) == {"default/other"}
    queue.put(info("late"), ready=True, unchanged=lambda _: False)
    assert "default/late" in queue.inadmissible
    queue.flush(lambda _: True)
    assert drain(queue) == ["b", "late", "other", "a"]


def told(each: WorkloadInfo, message: str) -> WorkloadInfo:
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    waiting = wait(each.workload, "WaitingForQuota", message, moment)
    return WorkloadInfo(waiting, each.queue, Rules())


def park(queue: PendingQueue, message: str) -> None:
    head = queue.pop()
    assert head is not None
    queue.requeue(told(head, message), NO_FIT, ready=True)


def reasons_of(queue: PendingQueue) -> dict[str, str]:
    found = {each.workload.name: queue.parked_for(each) for each in queue.take_untold()}
    return {name: each.message for name, each in found.items() if each is not None}


def test_whoever_comes_after_the_last_of_a_hopeless_kind_has_left_is_tried() -> None:
    queue = queue_of(info("first"))
    head = queue.pop()
    assert head is not None
    queue.requeue(head, NO_FIT, ready=True)
    assert drain(queue) == []
    queue.remove(head.key)
    queue.flush(lambda _: True)
    queue.put(info("second"), ready=True, unchanged=lambda _: False)
    assert drain(queue) == ["second"]


def test_whoever_is_parked_with_an_equal_can_be_told_what_that_one_waits_for() -> None:
    queue = queue_of(info("a", age=11), info("b"), info("other", cpu=2, age=5))
    park(queue, "2 more cpu")
    assert reasons_of(queue) == {"b": "2 more cpu"}
    assert reasons_of(queue) == {}, "once is enough"
    queue.put(info("late"), ready=True, unchanged=lambda _: False)
    assert reasons_of(queue) == {"late": "2 more cpu"}
    queue.put(told(info("c"), "another story"), ready=True, unchanged=lambda _: False)
    assert reasons_of(queue) == {}, "it says something already"


def test_whoever_was_woken_before_it_could_be_told_is_told_the_next_reason() -> None:
    queue = queue_of(info("a", age=11), info("b"))
    park(queue, "2 more cpu")
    queue.flush(lambda _: True)
    assert reasons_of(queue) == {}
    park(queue, "1 more cpu")
    assert reasons_of(queue) == {"b": "1 more cpu"}


def test_a_gated_workload_is_parked_alone_and_a_strict_queue_keeps_it_in_front() -> None:
    for strict, active in ((False, {"default/b"}), (True, {"default/a", "default/b"})):
        queue = queue_of(info("a", age=20), info("b"), strict=strict)
        head = queue.pop()
        assert head is not None
        queue.requeue(head, well_known.PREEMPTION_GATED, ready=True)
        assert set(queue.active) == active


def test_a_flush_wakes_only_namespaces_that_still_match() -> None:
    queue = queue_of(info("a"), info("b", namespace="foreign"))
    head = queue.pop()
    assert head is not None
    queue.requeue(head, NO_FIT, ready=True)
    assert not queue.ready
    queue.flush(lambda each: each.workload.namespace == "default")
    assert set(queue.active) == {"default/a"}
    assert set(queue.inadmissible) == {"foreign/b"}


def test_a_change_that_does_not_matter_leaves_a_parked_workload_parked() -> None:
    queue = queue_of(info("a"))
    head = queue.pop()
    assert head is not None
    queue.requeue(head, GENERIC, ready=True)
    queue.put(info("a"), ready=True, unchanged=lambda _: True)
    assert set(queue.inadmissible) == {"default/a"}
    queue.put(info("a"), ready=True, unchanged=lambda _: False)
    assert set(queue.active) == {"default/a"}


@dataclass
class PlainQueue:
    """The same rules with plain dictionaries and a sort."""

    strict: bool
    active: dict[str, WorkloadInfo] = field(default_factory=dict)
    inadmissible: dict[str, WorkloadInfo] = field(default_factory=dict)
    hopeless: set[object] = field(default_factory=set)
    preemptor: str = ""
    in_flight: WorkloadInfo | None = None

    def put(self, info: WorkloadInfo, ready: bool) -> None:
        if info.key in self.active:
            self.active[info.key] = info
            return
        self.inadmissible.pop(info.key, None)
        parked = not ready or (not self.strict and info.fingerprint in self.hopeless)
        (self.inadmissible if parked else self.active)[info.key] = info

    def pop(self) -> WorkloadInfo | None:
        if not self.active:
            return None
        head = min(
            self.active.values(),
            key=lambda c: (self.strict or c.key != self.preemptor, -c.priority, c.queued_at, c.uid, c.key),
        )
        self.in_flight = self.active.pop(head.key)
        return head

    def requeue(self, info: WorkloadInfo, reason: str) -> None:
        self.in_flight = None
        at_once = (
            reason != NAMESPACE_MISMATCH
            if self.strict
            else reason in (FAILED_AFTER_NOMINATION, PENDING_PREEMPTION)
        )
        if reason == PENDING_PREEMPTION:
            self.preemptor = info.key
        if at_once:
            self.active[info.key] = info
            return
        self.inadmissible[info.key] = info
        if reason in (NO_FIT, PREEMPTION_NO_CANDIDATES) and not self.strict:
            self.hopeless.add(info.fingerprint)
            for key in [k for k, c in self.active.items() if c.fingerprint == info.fingerprint]:
                self.inadmissible[key] = self.active.pop(key)

    def remove(self, key: str) -> None:
        self.active.pop(key, None)
        self.inadmissible.pop(key, None)
        if self.preemptor == key:
            self.preemptor = ""

    def flush(self) -> None:
        self.hopeless.clear()
        self.active |= self.inadmissible
        self.inadmissible.clear()


STEPS = st.one_of(
    st.tuples(st.just("put"), st.integers(0, 7), st.booleans(), st.integers(0, 1)),
    st.tuples(st.just("try"), st.sampled_from(REASONS)),
    st.tuples(st.just("remove"), st.integers(0, 7)),
    st.tuples(st.just("flush")),
)


@examples(150)
@given(strict=st.booleans(), steps=st.lists(STEPS, max_size=30))
def test_kinds_behave_like_a_plain_queue(strict: bool, steps: list[tuple[Any, ...]]) -> None:
    fast, plain = PendingQueue(strict), PlainQueue(strict)
    for step in steps:
        if step[0] == "put":
            _, number, ready, namespace = step
            one = info(f"w{number}", number % 3, 1 + number % 2, number, f"ns{namespace}")
            fast.put(one, ready, unchanged=lambda _: False)
            plain.put(one, ready)
        elif step[0] == "try":
            head, other = fast.pop(), plain.pop()
            assert (head and head.key) == (other and other.key)
            if head is not None and other is not None:
                fast.requeue(head, step[1], ready=True)
                plain.requeue(other, step[1])
        elif step[0] == "remove":
            for namespace in range(2):
                fast.remove(f"ns{namespace}/w{step[1]}")
                plain.remove(f"ns{namespace}/w{step[1]}")
        else:
            fast.flush(lambda _: True)
            plain.flush()
        assert (set(fast.active), set(fast.inadmissible)) == (set(plain.active), set(plain.inadmissible))
        assert fast.ready == len(plain.active)
