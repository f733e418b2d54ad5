"""Several configurations on all cores, one process each; the results in the order of the questions."""

import gc
import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from queue import Empty, Queue
from typing import Any

import msgspec

from reprieve.objects import Object
from reprieve.simulate.engine import Simulation
from reprieve.simulate.failures import NodeEvent
from reprieve.simulate.fleet import FleetSimulation
from reprieve.simulate.jobs import Job
from reprieve.simulate.recorder import Recorder
from reprieve.simulate.result import Result
from reprieve.simulate.scene import Scene
from reprieve.simulate.timeline import Settings, Timeline

Heard = Callable[[str, int, int], None]
"""Called with a configuration, how many of its jobs have ended, and how many there are."""
YOUNG = 50_000
"""How many new objects start a garbage collection: a run makes many and hardly any cycle of references."""
_heard: "Queue[tuple[str, int, int]] | None" = None


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """One configuration to simulate; everything that a process needs to do it."""

    objects: tuple[Object, ...]
    jobs: tuple[Job, ...]
    settings: Settings
    node_events: tuple[NodeEvent, ...] = ()
    clusters: tuple[tuple[str, tuple[Object, ...]], ...] = ()
    """The workers of a fleet: what each of them has beside `objects`, which all have."""
    record: bool = False
    """Whether to keep why jobs waited and made way."""


def simulate(task: Task, progress: Callable[[int, int], None] | None = None) -> Result:
    """In this process."""
    before = gc.get_threshold()
    gc.set_threshold(YOUNG)
    try:
        recorder = Recorder(task.jobs) if task.record else None
        result = _run(task, recorder).run(progress)
        return result if recorder is None else msgspec.structs.replace(result, record=recorder.record)
    finally:
        gc.set_threshold(*before)


def _run(task: Task, recorder: Recorder | None) -> Timeline:
    if not task.clusters:
        scene = Scene(task.objects, task.jobs)
        return Simulation(scene, task.jobs, task.settings, task.node_events, recorder)
    scenes = {name: Scene((*task.objects, *objects), task.jobs) for name, objects in task.clusters}
    return FleetSimulation(scenes, task.jobs, task.settings, task.node_events, recorder)


def compare(tasks: Sequence[Task], heard: Heard | None = None, processes: int | None = None) -> list[Result]:
    """One after the other here, or on several cores at once; the results are the same."""
    workers = min(len(tasks), processes or os.cpu_count() or 1)
    if workers <= 1:
        return [simulate(task, _heard_by(heard, task)) for task in tasks]
    context = multiprocessing.get_context("spawn")
    with context.Manager() as manager:
        messages: Queue[tuple[str, int, int]] = manager.Queue()
        with ProcessPoolExecutor(workers, context, _listen, (messages,)) as pool:
            running: list[Future[Result]] = [pool.submit(_work, task) for task in tasks]
            while not all(each.done() for each in running):
                try:
                    message = messages.get(timeout=0.2)
                except Empty:
                    continue
                if heard is not None:
                    heard(*message)
            return [each.result() for each in running]


def _heard_by(heard: Heard | None, task: Task) -> Callable[[int, int], None] | None:
    if heard is None:
        return None
    name = task.settings.policy.name
    return lambda done, total: heard(name, done, total)


def _listen(messages: Any) -> None:
    global _heard  # noqa: PLW0603 - one queue for each process of the pool
    _heard = messages


def _work(task: Task) -> Result:
    name = task.settings.policy.name
    return simulate(task, lambda done, total: _heard.put((name, done, total)) if _heard is not None else None)
