"""The loop around the core: order of calls, failures, gates, records."""

import asyncio

import pytest

from reprieve.controllers.scheduler.keyed_tasks import KeyedTasks
from reprieve.controllers.scheduler.statuses import AT_ONCE
from reprieve.kube import Change
from reprieve.objects import Reference
from reprieve.objects.decode import decode
from reprieve.scheduler.actions import ActionError, Bind, BindGang, SetPodCondition
from tests.builders import node
from tests.controllers.virtual_time import run_virtually
from tests.scheduler.bench import Bench
from tests.scheduler.world import pod, pod_group


def preemption(**options):
    return Bench(
        node("n1", 2), node("n2", 2), pod_group("low", 2, mode="all"), pod("v1", 2, group="low", on="n1"),
        pod("v2", 2, group="low", on="n2"), pod("boss", 2, 100), **options,
    )  # fmt: skip


@pytest.mark.parametrize("asynchronous", [True, False])
async def test_nominations_come_before_marks_and_all_marks_before_any_deletion(asynchronous):
    async with preemption(asynchronous=asynchronous).running() as bench:
        await bench.until(lambda: len(bench.verbs("delete")) == 2)
        order = [verb for verb, _ in bench.verbs("nominate", "mark", "delete")]
        assert order == ["nominate", "mark", "mark", "delete", "delete"]
        await bench.until(lambda: len([c for c in bench.actions.calls if c[2] == "Preempted"]) == 2)


async def test_no_victim_is_deleted_when_one_cannot_be_marked():
    bench = preemption()
    bench.actions.refuse.add(("mark", "ns/v2"))
    async with bench.running():
        await bench.until(lambda: ("emit", "ns/boss", "PreemptionFailed") in bench.actions.calls)
        assert bench.verbs("delete") == []
        await bench.until(lambda: ("nominate", "ns/boss", "") in bench.actions.calls)


async def test_no_victim_is_marked_when_the_nomination_cannot_be_written():
    bench = preemption()
    bench.actions.refuse.add(("nominate", "ns/boss"))
    async with bench.running():
        await bench.until(lambda: ("emit", "ns/boss", "PreemptionFailed") in bench.actions.calls)
        assert bench.verbs("mark", "delete") == []


@pytest.mark.parametrize("change", [{"type": "DELETED"}, {"type": "MODIFIED", "phase": "Succeeded"}])
async def test_a_victim_that_ends_by_itself_between_mark_and_deletion_has_made_way(monkeypatch, change):
    bench, go_on = preemption(), asyncio.Event()
    mark = bench.actions.mark

    async def slow(victim, wanted):
        await mark(victim, wanted)
        await go_on.wait()
        return "1"

    monkeypatch.setattr(bench.actions, "mark", slow)
    async with bench.running():
        await bench.until(lambda: len(bench.verbs("mark")) == 2)
        victim = pod("v1", 2, group="low", on="n1")
        victim["metadata"]["uid"] = "uid-v1"
        ended = {**victim, "status": {"phase": change.get("phase", "Running")}}
        bench.shell.observe(Change(change["type"], decode(victim), decode(ended)))
        go_on.set()
        await bench.until(lambda: bench.verbs("delete"))
        await bench.shell.idle()
        assert bench.verbs("delete") == [("delete", "v2")]
        emitted = [(key, detail) for verb, key, detail in bench.actions.calls if verb == "emit"]
        assert ("ns/boss", "PreemptionFailed") not in emitted
        assert [key for key, detail in emitted if detail == "Preempted"] == ["ns/v2"]
        assert ("nominate", "ns/boss", "") not in bench.actions.calls, "its place is kept"


async def test_a_bug_in_one_decision_does_not_stop_the_others():
    def explode(cluster, unit, config, now):
        if unit == Reference("Pod", "ns", "a"):
            raise ZeroDivisionError("oops")
        from reprieve.preemption import decide

        return decide(cluster, unit, config, now)

    bench = Bench()
    bench.core._cycles._decide = explode
    for document in (node("n1"), pod("a"), pod("b")):
        document["metadata"].setdefault("uid", document["metadata"]["name"])
        bench.shell.observe(Change("ADDED", None, decode(document)))
    async with bench.running():
        await bench.until(lambda: ("bind", "b") in bench.verbs("bind"))
        assert ("pod-condition", "ns/a", "SchedulerError") in bench.actions.calls


async def test_a_call_that_fails_in_an_unexpected_way_does_not_keep_its_room_for_ever(monkeypatch):
    bench = Bench(node("n1"), pod("a"))

    async def broken(bind):
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(bench.actions, "bind", broken)
    async with bench.running():
        await bench.until(lambda: ("emit", "ns/a", "FailedScheduling") in bench.actions.calls)
        await bench.until(
            lambda: bench.core.queue.units[Reference("Pod", "ns", "a")].state.value == "backoff"
        )


@pytest.mark.parametrize("group", [False, True])
async def test_a_pod_that_is_bound_is_not_told_afterwards_why_it_waited(group, monkeypatch):
    """The condition that still had to wait for its turn would overwrite what the binding said."""
    bench, wrote = Bench(pod("late", 1)), asyncio.Event()
    execution, slow = bench.shell._execution, [Reference("Pod", "ns", f"busy{n}") for n in range(AT_ONCE)]
    late = Reference("Pod", "ns", "late", "uid-late")

    async def written(_):
        await wrote.wait()

    monkeypatch.setattr(bench.actions, "set_pod_condition", written)
    bind = Bind(late, late, "n1")
    conditions = [SetPodCondition(each, "Unschedulable", "no room") for each in (*slow, late)]
    execution.perform([*conditions, BindGang((), (bind,)) if group else bind])
    await bench.until(lambda: bench.verbs("bind"))
    told = []

    async def tell(condition):
        told.append(condition.pod.name)

    monkeypatch.setattr(bench.actions, "set_pod_condition", tell)
    wrote.set()
    await bench.until(lambda: not execution._statuses and not execution._statuses._sending)
    assert told == []


async def test_every_decision_is_recorded_with_its_reason_and_the_revision_it_saw():
    async with preemption().running() as bench:
        await bench.until(lambda: bench.shell.records.preemptions == 1)
        [decision] = list(bench.shell.records.find(outcome="preempts"))
        assert decision.for_ == "Pod/ns/boss"
        assert sorted(decision.victim_names) == ["ns/v1", "ns/v2"]
        assert all(victim["reason"] for victim in decision.victims)
        assert decision.sentence.startswith("Pod/ns/boss gets 1 pod on n")


async def test_a_record_says_who_was_reprieved_and_what_the_budgets_said():
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "stay", "namespace": "ns"},
        "spec": {"selector": {"matchLabels": {"app": "batch"}}},
        "status": {"disruptionsAllowed": 1},
    }
    low, mid = pod("v1", 2, 1, on="n1"), pod("v2", 1, 2, on="n1")
    for each in (low, mid):
        each["metadata"]["labels"] = {"app": "batch"}
    bench = Bench(node("n1", 3), budget, low, mid, pod("boss", 2, 100))
    async with bench.running():
        await bench.until(lambda: bench.shell.records.preemptions == 1)
        [decision] = list(bench.shell.records.find(outcome="preempts"))
        assert decision.victim_names == ["ns/v1"]
        assert [each["unit"] for each in decision.reprieved] == ["Pod/ns/v2"]
        assert [(each["budget"], each["victims"]) for each in decision.budgets] == [("ns/stay", 1)]


class TestLanes:
    async def test_work_on_one_object_happens_in_order_and_on_others_at_once(self):
        tasks, log, gate = KeyedTasks(8), [], asyncio.Event()

        async def slow():
            await gate.wait()
            log.append("first")

        async def note(text):
            log.append(text)

        tasks.submit(["a"], slow)
        tasks.submit(["a"], lambda: note("second"))
        tasks.submit(["b"], lambda: note("other"))
        for _ in range(20):
            await asyncio.sleep(0)
        assert log == ["other"]
        gate.set()
        await tasks.idle()
        assert log == ["other", "first", "second"]

    async def test_a_failure_does_not_block_what_comes_after_it(self):
        tasks, log = KeyedTasks(8), []

        async def fail():
            raise ActionError("no")

        async def note():
            log.append("after")

        task = tasks.submit(["a"], fail)
        tasks.submit(["a"], note)
        await tasks.idle()
        assert log == ["after"]
        assert isinstance(task.exception(), ActionError)

    async def test_no_more_than_the_limit_run_at_once(self):
        tasks, running, most = KeyedTasks(3), 0, 0

        async def work():
            nonlocal running, most
            running += 1
            most = max(most, running)
            for _ in range(20):
                await asyncio.sleep(0)
            running -= 1

        for index in range(12):
            tasks.submit([str(index)], work)
        await tasks.idle()
        assert most == 3


class TestAClockThatIsSetBack:
    """By an hour, as when somebody corrects it: nothing waits for an hour longer than it would have."""

    async def set_back(self, bench):
        await asyncio.sleep(0.5)
        self.ahead = 0.0
        bench.actions.refuse.clear()
        await asyncio.sleep(30)

    def bench(self, *documents):
        self.ahead = 3600.0
        loop = asyncio.get_running_loop()
        return Bench(*documents, clock=lambda: 1_000_000 + self.ahead + loop.time())

    def test_a_unit_that_pauses_is_tried_again(self):
        async def main():
            bench = self.bench(node("n1", 1), pod("a", 1))
            bench.actions.refuse.add(("bind", "ns/a"))
            async with bench.running():
                await self.set_back(bench)
            assert bench.verbs("bind") == [("bind", "a"), ("bind", "a")]

        run_virtually(main())

    def test_a_pod_that_may_not_be_tried_yet_is_told_why(self):
        async def main():
            bench = self.bench(node("n1", 1), pod("a", 1, group="nowhere"))
            async with bench.running():
                await self.set_back(bench)
            assert [key for _, key in bench.verbs("pod-condition")] == ["a"]

        run_virtually(main())

    def test_what_was_left_unfinished_is_looked_for(self, monkeypatch):
        async def main():
            bench, looks = self.bench(node("n1", 1)), []

            def recover(now):
                looks.append(now)
                return []

            monkeypatch.setattr(bench.core, "recover", recover)
            async with bench.running():
                await self.set_back(bench)
            assert len(looks) == 3, "at first, and every ten seconds from when it was noticed"

        run_virtually(main())
