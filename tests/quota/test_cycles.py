"""Invariants of admission cycles, on generated worlds."""

from collections.abc import Hashable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprieve.objects.decode import decode_all
from reprieve.quota import Quota, Rules, cycle, release
from reprieve.quota.offline import QUEUES_EMPTY, STEADY, load, settle
from reprieve.quota.workload_info import is_true
from tests import builders
from tests.quota.naive import naive_trees, naive_world
from tests.scale import examples
from tests.strategies.quota import NOW, worlds

Objects = list[dict[str, Any]]


def rules(fair: bool, **more: bool) -> Rules:
    return Rules(fair_sharing=fair, **more)  # type: ignore[arg-type]


def react(quota: Quota) -> None:
    """What controllers do between two cycles."""
    for info in sorted(quota.cache.workloads.values(), key=lambda info: info.key):
        if info.evicted:
            quota.put_workload(release(info.workload, NOW), NOW)


def state_of(quota: Quota) -> Hashable:
    """Everything that decides what the next cycle does."""
    preemption_limit = quota.preemption_limit
    return (
        frozenset((key, tuple(sorted(info.usage.items()))) for key, info in quota.cache.workloads.items()),
        tuple(
            (name, frozenset(queue.active), frozenset(queue.inadmissible), queue.preemptor)
            for name, queue in sorted(quota.pending.items())
        ),
        frozenset((key, str(scan.tried)) for key, scan in quota.scans.items()),
        repr(sorted((p, sorted(v.items())) for p, v in preemption_limit._times.items())),
        repr(sorted(preemption_limit._yielding.items())),
    )


@examples(120)
@given(objects=worlds(waiting=8), fair=st.booleans())
def test_no_sequence_of_cycles_repeats_a_state(objects: Objects, fair: bool) -> None:
    """Preemptions so far and reservations grow with every cycle that changes anything: there is no way
    back.
    """
    quota = load(decode_all(objects), rules(fair), NOW)
    seen: set[Hashable] = set()
    measure, preemptions = (-1, -1), 0
    for _ in range(400):
        outcome = cycle(quota, NOW)
        react(quota)
        if not outcome.made_progress:
            if not quota.has_heads():
                return
            continue
        preemptions += len(outcome.evicted)
        grown = (preemptions, len(quota.cache.workloads))
        assert grown > measure
        measure = grown
        state = state_of(quota)
        assert state not in seen
        seen.add(state)
    assert preemptions <= 3 * len(objects) ** 2


@examples(60)
@given(objects=worlds(waiting=8), fair=st.booleans())
def test_offline_runs_settle(objects: Objects, fair: bool) -> None:
    run = settle(load(decode_all(objects), rules(fair), NOW), NOW)
    assert run.converged in (QUEUES_EMPTY, STEADY)
    chances: dict[tuple[str, str], int] = {}
    for step in run.steps:
        for eviction in step.outcome.evicted:
            pair = eviction.preemptor.key, eviction.victim.info.key
            chances[pair] = chances.get(pair, 0) + 1
    assert all(number <= 3 for number in chances.values())


@examples(60)
@given(objects=worlds(held=False, waiting=8), fair=st.booleans())
def test_usage_never_exceeds_what_the_tree_allows(objects: Objects, fair: bool) -> None:
    quota = load(decode_all(objects), rules(fair), NOW)
    for _ in range(12):
        cycle(quota, NOW)
        for node in [*quota.cache.queues.values(), *quota.cache.forest.cohorts.values()]:
            for key, cell in node.cells.items():
                assert cell.free() >= 0, (node.name, key)
        react(quota)


@examples(60)
@given(objects=worlds(waiting=8), fair=st.booleans())
def test_after_every_cycle_usage_equals_a_recomputation(objects: Objects, fair: bool) -> None:
    quota = load(decode_all(objects), rules(fair), NOW)
    twins = naive_trees(quota)
    for _ in range(6):
        cycle(quota, NOW)
        naive_world(quota, twins).count()
        for node in [*quota.cache.queues.values(), *quota.cache.forest.cohorts.values()]:
            for key, cell in node.cells.items():
                assert cell.usage == twins[id(node)].usage(key), (node.name, key)
        react(quota)


@examples(80)
@given(objects=worlds(waiting=8, gates=True), fair=st.booleans())
def test_gates_never_leak_a_preemption(objects: Objects, fair: bool) -> None:
    quota = load(decode_all(objects), rules(fair, preemption_gates=True), NOW)
    run = settle(quota, NOW)
    for step in run.steps:
        assert not any(eviction.preemptor.gate_closed for eviction in step.outcome.evicted)
        for waiting in step.outcome.waiting:
            if waiting.gated:
                assert waiting.info.gate_closed
                assert waiting.reason == "PreemptionGated"
                assert waiting.workload is None or is_true(waiting.workload, "BlockedOnPreemptionGates")
                pending = quota.pending[waiting.info.queue]
                assert waiting.info.key in pending or waiting.info.key in quota.cache.workloads


@examples(40)
@given(objects=worlds(waiting=8), fair=st.booleans())
def test_equal_inputs_give_equal_answers_in_any_order(objects: Objects, fair: bool) -> None:
    def decisions(these: Objects) -> list[object]:
        run = settle(load(decode_all(these), rules(fair), NOW), NOW)
        return [
            (
                sorted(r.info.key for r in step.outcome.reserved),
                sorted((e.victim.info.key, e.victim.reason, e.preemptor.key) for e in step.outcome.evicted),
                step.pending,
                step.inadmissible,
            )
            for step in run.steps
        ]

    assert decisions(objects) == decisions(list(reversed(objects)))


@pytest.mark.parametrize(("gone_after", "cycles"), [(None, 7), (3, 10)])
def test_a_run_is_steady_once_all_waiting_lists_have_been_for_a_while(
    gone_after: int | None, cycles: int
) -> None:
    """Also the list of those that nothing tries again: a workload that is deleted from it is a change."""
    objects = [
        builders.flavor(),
        builders.cluster_queue("strict", 1, queueingStrategy="StrictFIFO"),
        builders.local_queue("main", "strict"),
        builders.workload("stuck", 2),
        builders.cluster_queue("loose", 1),
        builders.local_queue("other", "loose"),
        builders.workload("set-aside", 2, queue="other"),
    ]
    gone = {} if gone_after is None else {gone_after: ["default/set-aside"]}
    run = settle(load(decode_all(objects), rules(False), NOW), NOW, delete_after=gone)
    assert (run.converged, len(run.steps)) == (STEADY, cycles)
    assert run.steps[0].inadmissible == {"loose": ["default/set-aside"]}
