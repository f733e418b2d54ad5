"""The work queue: one handler for each key at a time, nothing missed, failures ever later."""

import asyncio
from itertools import pairwise

from reprieve.controllers.workqueue import WorkQueue
from reprieve.kube import ApiError
from tests.controllers.virtual_time import run_virtually


def play(handle, script, seconds: float = 100.0) -> None:
    async def main() -> None:
        queue = WorkQueue(handle)
        task = asyncio.create_task(queue.run())
        script(queue)
        await asyncio.sleep(seconds)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    run_virtually(main())


def test_a_key_added_while_it_is_handled_is_handled_once_more() -> None:
    seen: list[str] = []
    busy = 0

    async def handle(key: str) -> float:
        nonlocal busy
        busy += 1
        assert busy == 1, "two handlers hold the same key"
        seen.append(key)
        if len(seen) == 1:
            for _ in range(3):
                queues[0].add(key)
        await asyncio.sleep(1)
        busy -= 1
        return 0.0

    queues: list[WorkQueue] = []

    def script(queue: WorkQueue) -> None:
        queues.append(queue)
        queue.add("a")
        queue.add("a")

    play(handle, script)
    assert seen == ["a", "a"]


def test_a_failing_key_is_tried_ever_later_and_does_not_stop_the_others() -> None:
    times: list[float] = []
    fine: list[str] = []

    async def handle(key: str) -> float:
        if key == "good":
            fine.append(key)
            return 0.0
        times.append(asyncio.get_running_loop().time())
        raise ValueError("no")

    def script(queue: WorkQueue) -> None:
        queue.add("bad")
        queue.add("good")

    play(handle, script)
    pauses = [round(b - a, 1) for a, b in pairwise(times)]
    assert pauses[:5] == [0.1, 0.2, 0.4, 0.8, 1.6]
    assert max(pauses) <= 30.0
    assert fine == ["good"]


def test_the_earliest_of_several_times_wins_and_a_forgotten_key_stays_away() -> None:
    times: list[tuple[str, float]] = []

    async def handle(key: str) -> float:
        times.append((key, asyncio.get_running_loop().time()))
        return 0.0

    def script(queue: WorkQueue) -> None:
        queue.add_after("a", 50)
        queue.add_after("a", 20)
        queue.add_after("a", 30)
        queue.add_after("gone", 10)
        queue.forget("gone")

    play(handle, script)
    assert times == [("a", 20.0)]


def test_a_handler_may_ask_to_be_called_again() -> None:
    times: list[float] = []

    async def handle(key: str) -> float:
        times.append(asyncio.get_running_loop().time())
        return 25.0 if len(times) < 3 else 0.0

    play(handle, lambda queue: queue.add("a"))
    assert times == [0.0, 25.0, 50.0]


def test_a_conflict_is_a_warning_only_when_it_does_not_pass(caplog) -> None:
    caplog.set_level("INFO")

    async def handle(key: str) -> float:
        raise ApiError(409, "Conflict", "the object has been modified")

    play(handle, lambda queue: queue.add("a"), seconds=5.0)
    assert [record.levelname for record in caplog.records] == ["INFO"] * 4 + ["WARNING"] * 2
