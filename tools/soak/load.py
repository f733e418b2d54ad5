"""Work that comes every second: pods of three priorities, gangs, and Jobs in a queue with little quota.

It comes in waves (`rate_at`): between them everything fits, at their crests the nodes and the quota are too
small and the important preempt the others.
"""

import asyncio
import itertools
import random
from collections.abc import AsyncIterator, Callable
from typing import Any

from reprieve.kube import (
    CLUSTER_QUEUES,
    EVENTS,
    JOBS,
    LOCAL_QUEUES,
    NAMESPACES,
    POD_GROUPS,
    PODS,
    PRIORITY_CLASSES,
    RESOURCE_FLAVORS,
    ApiError,
    Client,
    Resource,
)

NAMESPACE = "soak"
GANG = 10
JOB = 5
MOST_WAITING_SECONDS = 12
CLASSES = {"low": 0, "middle": 100, "high": 1000}
SHARES = ("low", "low", "low", "middle", "high")


async def furnish(client: Client) -> None:
    """A namespace, and a queue that holds the Jobs that come between the crests and not those at one."""
    quotas = [{"name": "cpu", "nominalQuota": "320"}, {"name": "memory", "nominalQuota": "1Ti"}]
    flavor = {"name": "default", "resources": quotas}
    queue = {
        "namespaceSelector": {},
        "preemption": {"withinClusterQueue": "LowerPriority"},
        "resourceGroups": [{"coveredResources": ["cpu", "memory"], "flavors": [flavor]}],
    }
    for name, value in CLASSES.items():
        await client.create(PRIORITY_CLASSES, {"metadata": {"name": name}, "value": value})
    await client.create(NAMESPACES, {"metadata": {"name": NAMESPACE}})
    await client.create(RESOURCE_FLAVORS, {"metadata": {"name": "default"}, "spec": {}})
    await client.create(CLUSTER_QUEUES, {"metadata": {"name": "team"}, "spec": queue})
    local = {"metadata": {"name": "main", "namespace": NAMESPACE}, "spec": {"clusterQueue": "team"}}
    await client.create(LOCAL_QUEUES, local, NAMESPACE)


def rate_at(number: int, rate: int) -> int:
    """Of each minute a quarter with twice as many pods a second as in the rest; `rate` in the mean."""
    return round(rate * (1.6 if number % 60 >= 45 else 0.8))


def pod_spec(dice: random.Random, priority: str) -> dict[str, Any]:
    resources = {"requests": {"cpu": f"{dice.choice((500, 1000, 2000, 4000))}m", "memory": "1Gi"}}
    return {
        "schedulerName": "reprieve",
        "priorityClassName": priority,
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 2,
        "containers": [{"name": "main", "image": "busybox", "resources": resources}],
    }


def second(number: int, rate: int, dice: random.Random) -> list[tuple[Resource, dict[str, Any]]]:
    """What is created in one second: `rate` pods, a fifth of them in a gang, a fifth by Jobs."""
    made: list[tuple[Resource, dict[str, Any]]] = []
    gangs, jobs = max(1, rate // 5 // GANG), max(1, rate // 5 // JOB)
    for i in range(gangs):
        priority, name = dice.choice(SHARES), f"gang-{number}-{i}"
        policy = {"gang": {"minCount": GANG}}
        made.append((POD_GROUPS, _named(name, {"schedulingPolicy": policy, "priorityClassName": priority})))
        spec = pod_spec(dice, priority) | {"schedulingGroup": {"podGroupName": name}}
        made += [(PODS, _named(f"{name}-{k}", spec)) for k in range(GANG)]
    for i in range(jobs):
        template = {"spec": pod_spec(dice, dice.choice(SHARES))}
        size = {"parallelism": JOB, "completions": JOB, "ttlSecondsAfterFinished": 10}
        spec = {"suspend": True, **size, "template": template}
        made.append((JOBS, _named(f"job-{number}-{i}", spec, {"kueue.x-k8s.io/queue-name": "main"})))
    for i in range(rate - gangs * GANG - jobs * JOB):
        made.append((PODS, _named(f"pod-{number}-{i}", pod_spec(dice, dice.choice(SHARES)))))
    return made


def _named(name: str, spec: dict[str, Any], labels: dict[str, str] | None = None) -> dict[str, Any]:
    metadata = {"name": name, "namespace": NAMESPACE, **({"labels": labels} if labels else {})}
    return {"metadata": metadata, "spec": spec}


class Load:
    def __init__(self, client: Client, rate: int, seed: int, waiting: Callable[[], int]) -> None:
        self._client = client
        self._rate = rate
        self._dice = random.Random(seed)
        self._waiting = waiting
        self._sent = 0
        self.stopping = False
        """No new work, but what was begun is finished, and what ended is removed: no gang lacks members."""
        self.created = self.refused = self.skipped = 0

    async def run(self) -> None:
        """Every second a little work, and nobody waits for the answer to the second before.

        A machine that others use cannot always keep up. Work that piles up would measure the pile: while more
        of it waits than a crest brings, a second brings nothing, and counts as skipped.
        """
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._clean())
            async for number in _seconds():
                if self.stopping:
                    continue
                if self._waiting() + self._sent > MOST_WAITING_SECONDS * self._rate:
                    self.skipped += 1
                    continue
                tasks.create_task(self._create(second(number, rate_at(number, self._rate), self._dice)))

    async def _create(self, work: list[tuple[Resource, dict[str, Any]]]) -> None:
        self._sent += len(work)
        try:
            await self._create_each(work)
        finally:
            self._sent -= len(work)

    async def _create_each(self, work: list[tuple[Resource, dict[str, Any]]]) -> None:
        served = await self._client.served(POD_GROUPS) or POD_GROUPS
        for resource, document in work:
            try:
                await self._client.create(served if resource is POD_GROUPS else resource, document, NAMESPACE)
                self.created += 1
            except ApiError:
                self.refused += 1

    async def _clean(self) -> None:
        """Bare pods that ended and groups without pods: nobody else removes them. And events, which a server
        keeps for an hour: without them what grows is a leak.
        """
        groups = await self._client.served(POD_GROUPS) or POD_GROUPS
        for round_ in itertools.count(1):
            await asyncio.sleep(10)
            if round_ % 30 == 0:
                await self._client.request("DELETE", EVENTS.path(NAMESPACE))
            for phase in ("Succeeded", "Failed"):
                query = {"fieldSelector": f"status.phase={phase}", "labelSelector": "!job-name"}
                await self._client.request("DELETE", PODS.path(NAMESPACE), query=query)
            listed = (await self._client.listing(PODS.raw(), NAMESPACE)).items
            alive = {(pod["spec"].get("schedulingGroup") or {}).get("podGroupName") for pod in listed}
            for group in (await self._client.listing(groups.raw(), NAMESPACE)).items[:-50]:
                if group["metadata"]["name"] not in alive:
                    await self._client.delete(groups, group["metadata"]["name"], NAMESPACE)


async def _seconds() -> AsyncIterator[int]:
    loop = asyncio.get_running_loop()
    start = loop.time()
    for number in itertools.count():
        await asyncio.sleep(max(0.0, start + number - loop.time()))
        yield number
