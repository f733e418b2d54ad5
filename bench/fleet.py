"""One manager, 20 workers, 2,000 workloads: reconciles a second, API calls a workload, and what one change
costs.

    .venv/bin/python bench/fleet.py [--workers 20] [--workloads 2000]

The real manager runs against API servers in memory, so that what is measured is the manager and not HTTP.
Three phases: dispatch (every workload gets a copy on every worker), winners (one worker admits each; the
others are withdrawn), and single changes while everything else stands still, at two sizes of the fleet: the
cost of a change must not grow.
"""

import argparse
import asyncio
import logging
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from reprieve.controllers.fleet import Manager
from reprieve.fleet.settings import FleetSettings
from reprieve.kube import Client
from reprieve.objects import set_condition, well_known
from tests.controllers.chaos_world import reserve
from tests.controllers.memory_api import MemoryApi
from tests.controllers.virtual_time import START

CHANGES = 200


class Fleet:
    def __init__(self, workers: int, workloads: int) -> None:
        self.home = MemoryApi()
        self.workers = {f"worker{number:02}": MemoryApi() for number in range(workers)}
        self.keys = [f"wl{number:05}" for number in range(workloads)]
        put = self.home.put
        put("multikueueconfigs", {"metadata": {"name": "all"}, "spec": {"clusters": list(self.workers)}})
        parameters = {"apiGroup": "kueue.x-k8s.io", "kind": "MultiKueueConfig", "name": "all"}
        spec = {"controllerName": well_known.MULTIKUEUE_CONTROLLER, "parameters": parameters}
        put("admissionchecks", {"metadata": {"name": "mk"}, "spec": spec})
        for name in self.workers:
            put("multikueueclusters", {"metadata": {"name": name}, "spec": {"clusterSource": {}}})

        async def connect(cluster: dict) -> Client:
            return Client(self.workers[cluster["metadata"]["name"]].transport())

        self.manager = Manager(Client(self.home.transport()), connect, FleetSettings())

    @property
    def calls(self) -> int:
        return self.home.requests + sum(api.requests for api in self.workers.values())

    def submit(self) -> None:
        for key in self.keys:
            workload = {
                "metadata": {"name": key, "namespace": "ml"},
                "spec": {"queueName": "main", "podSets": [{"name": "main", "count": 1}]},
            }
            reserve(workload, START)
            self.home.put("workloads", workload)

    def admit(self) -> None:
        """The winner of each workload, spread over the workers."""
        names = list(self.workers)
        for number, key in enumerate(self.keys):
            api = self.workers[names[number % len(names)]]
            copy = api.get("workloads", "ml", key)
            assert copy is not None
            set_condition(copy, "Admitted", True, "Admitted", "", START)
            api.put("workloads", copy)

    def copies(self) -> int:
        return sum(len(api.objects) for api in self.workers.values())

    def won(self) -> int:
        return sum(bool(item["status"].get("clusterName")) for item in self.home.all("workloads"))

    def touch(self, number: int) -> None:
        """A copy says something new about itself."""
        key = self.keys[number % len(self.keys)]
        api = self.workers[list(self.workers)[(number % len(self.keys)) % len(self.workers)]]
        copy = api.get("workloads", "ml", key)
        assert copy is not None
        set_condition(copy, "PodsReady", number % 2 == 0, "Started", f"{number}", START)
        api.put("workloads", copy)


async def until(question, seconds: float = 600, pause: float = 0.05) -> None:
    deadline = time.monotonic() + seconds
    while not question():
        if time.monotonic() > deadline:
            raise SystemExit("the fleet never got there")
        await asyncio.sleep(pause)


async def phase(name: str, fleet: Fleet, start, question) -> None:
    calls, handled, cpu, wall = (
        fleet.calls,
        fleet.manager.queue.handled,
        time.process_time(),
        time.monotonic(),
    )
    start()
    await until(question)
    cpu, wall = time.process_time() - cpu, time.monotonic() - wall
    calls, handled, workloads = fleet.calls - calls, fleet.manager.queue.handled - handled, len(fleet.keys)
    print(
        f"  {name:<9} {wall:7.1f} s  {workloads / wall:8.0f} workloads/s  "
        f"{handled / wall:8.0f} reconciles/s  "
        f"{calls / workloads:6.1f} API calls a workload  {calls / wall:8.0f} calls/s  cpu {cpu:.1f} s"
    )


async def single_changes(fleet: Fleet) -> float:
    """Milliseconds of CPU for one change of one copy, everything else standing still."""
    handled, calls, cpu = fleet.manager.queue.handled, fleet.calls, time.process_time()
    for number in range(CHANGES):
        before = fleet.manager.queue.handled
        fleet.touch(number)
        await until(lambda before=before: fleet.manager.queue.handled > before, pause=0.0)
    spent = (time.process_time() - cpu) * 1000 / CHANGES
    handled, calls = fleet.manager.queue.handled - handled, fleet.calls - calls
    print(
        f"  {'changes':<9} {spent:.2f} ms cpu, {handled / CHANGES:.2f} reconciles and {calls / CHANGES:.2f} "
        "API calls each"
    )
    return spent


async def measure(workers: int, workloads: int) -> float:
    print(f"{workers} workers, {workloads} workloads")
    fleet = Fleet(workers, workloads)
    running = asyncio.create_task(fleet.manager.run())
    await until(lambda: len(fleet.manager.workers) == workers)
    await until(lambda: all(worker.connected for worker in fleet.manager.workers.values()))
    await phase("dispatch", fleet, fleet.submit, lambda: fleet.copies() == workers * workloads)
    await phase(
        "winners", fleet, fleet.admit, lambda: fleet.won() == workloads and fleet.copies() == workloads
    )
    await asyncio.sleep(0.5)
    spent = await single_changes(fleet)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    return spent


async def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--workers", type=int, default=20)
    parser.add_argument("--workloads", type=int, default=2000)
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    small = await measure(max(1, options.workers // 10), max(1, options.workloads // 10))
    large = await measure(options.workers, options.workloads)
    print(f"one change costs {large / small:.2f} times as much in a fleet with 100 times as many copies")


if __name__ == "__main__":
    asyncio.run(main())
