"""The quota controller killed, started again and given a bad link at random, in virtual time."""

import asyncio
from copy import deepcopy
from functools import partial
from itertools import count

from hypothesis import given
from hypothesis import strategies as st

from reprieve.config import Configuration
from reprieve.controllers import quota
from reprieve.kube import Client
from reprieve.objects import has_condition
from reprieve.runtime import keep_running
from tests.builders import cluster_queue, flavor, local_queue
from tests.controllers.chaos_world import Link
from tests.controllers.clusters import job
from tests.controllers.memory_api import MemoryApi
from tests.controllers.virtual_time import run_virtually
from tests.scale import examples
from tests.strategies.dice import Dice, dice

QUOTA = 8
PRIORITY = "kueue.x-k8s.io/priority-class"


class Storm:
    """One cluster with two queues of a cohort, jobs of all priorities, and pods that take their time."""

    def __init__(self, dice: Dice) -> None:
        self.rng = dice
        self.api = MemoryApi()
        self.link = Link(self.api, self.rng)
        self.problems: list[str] = []
        self.ends: dict[str, float] = {}
        self.leaving: dict[str, float] = {}
        self.names = [f"job{number}" for number in range(12)]
        self.preemptions = 0
        self.controller: asyncio.Task[None] | None = None

    def furnish(self) -> None:
        put = self.api.put
        put("namespaces", {"metadata": {"name": "ml"}})
        put("resourceflavors", flavor())
        for name in ("main", "other"):
            rules = {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any"}
            put("clusterqueues", cluster_queue(name, QUOTA // 2, cohort="all", preemption=rules))
            put("localqueues", local_queue(name, name, namespace="ml"))
        for name, value in (("low", 1), ("middle", 5), ("high", 10)):
            put("workloadpriorityclasses", {"metadata": {"name": name}, "value": value})

    def start(self) -> None:
        """As a process runs it: what ends because the link is cut while it starts is started again."""
        client = Client(self.link, jitter=self.rng.random)
        run = partial(quota.run, client, Configuration.load({}))
        self.controller = asyncio.create_task(keep_running("quota", run))

    async def stop(self) -> None:
        if self.controller is not None:
            self.controller.cancel()
            await asyncio.gather(self.controller, return_exceptions=True)

    async def submit(self) -> None:
        for name in self.names:
            labels = {PRIORITY: self.rng.choice(["low", "middle", "high"])}
            document = job(name, cpu="1", count=self.rng.randint(1, 4), labels=labels)
            document["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] = self.rng.choice(["main", "other"])
            self.api.put("jobs", document)
            await asyncio.sleep(self.rng.uniform(0, 20))

    async def kubelet(self) -> None:
        """Pods start at once, end after a while, and take a while to stop."""
        loop = asyncio.get_running_loop()
        for _ in count():
            await asyncio.sleep(0.5)
            for item in list(self.api.all("jobs")):
                name, now = item["metadata"]["name"], loop.time()
                status = item.get("status") or {}
                active, suspended = status.get("active", 0), item["spec"]["suspend"]
                if status.get("conditions"):
                    continue
                if not suspended and not active:
                    self.ends[name] = now + self.rng.uniform(10, 40)
                    self._say(item, {"active": item["spec"]["parallelism"]})
                elif not suspended and now >= self.ends[name]:
                    done = {"type": "Complete", "status": "True", "reason": "", "message": "done"}
                    self._say(item, {"active": 0, "conditions": [done]})
                elif suspended and active and now >= self._gone_at(name, now):
                    del self.leaving[name]
                    self._say(item, {"active": 0})

    def _gone_at(self, name: str, now: float) -> float:
        if name not in self.leaving:
            self.preemptions += 1
            self.leaving[name] = now + self.rng.uniform(0, 15)
        return self.leaving[name]

    def _say(self, item: dict, status: dict) -> None:
        self.api.put("jobs", {**deepcopy(item), "status": status})

    def check(self, *_: object) -> None:
        """After every change: the quota is never given twice."""
        held = 0
        for workload in self.api.all("workloads"):
            if has_condition(workload, "QuotaReserved") and not has_condition(workload, "Finished"):
                for each in workload["status"]["admission"]["podSetAssignments"]:
                    held += int(each["resourceUsage"]["cpu"])
        if held > QUOTA:
            self.problems.append(f"{asyncio.get_running_loop().time():.1f}: {held} cpu of {QUOTA}")

    def running_pods(self) -> int:
        return sum((item.get("status") or {}).get("active", 0) for item in self.api.all("jobs"))

    def finished(self) -> bool:
        listed = list(self.api.all("workloads"))
        return len(listed) == len(self.names) and all(has_condition(item, "Finished") for item in listed)


async def storm(dice: Dice, troubles: int) -> Storm:
    world = Storm(dice)
    world.furnish()
    world.api.listeners.append(world.check)
    tasks = [asyncio.create_task(world.kubelet()), asyncio.create_task(world.submit())]
    world.start()
    most = 0
    for _ in range(troubles):
        await asyncio.sleep(world.rng.uniform(0, 8))
        most = max(most, world.running_pods())
        assert world.controller is not None
        assert not world.controller.done(), "the controller gave up"
        trouble = world.rng.choice(["kill", "kill", "lossy", "cut"])
        if trouble == "kill":
            await world.stop()
            await asyncio.sleep(world.rng.uniform(0, 3))
            world.start()
        elif trouble == "lossy":
            world.link.lossy = 0.2
        else:
            world.link.break_off()
            await asyncio.sleep(world.rng.choice([2, 10, 120]))
            world.link.cut, world.link.lossy = False, 0.0
    world.link.cut, world.link.lossy = False, 0.0
    await world.stop()
    world.start()
    deadline = asyncio.get_running_loop().time() + 3600
    while not world.finished() and asyncio.get_running_loop().time() < deadline:
        await asyncio.sleep(5)
        most = max(most, world.running_pods())
    await world.stop()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert most <= QUOTA, f"{most} pods ran at once"
    return world


@examples(25, least=5)
@given(dice(), st.integers(0, 25))
def test_killed_at_any_point_quota_is_never_given_twice_and_every_job_ends(dice: Dice, calm: int) -> None:
    world = run_virtually(storm(dice, troubles=25 - calm))
    assert world.problems == []
    assert world.finished()
