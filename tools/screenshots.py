"""The pictures of the page in docs/images: `python tools/screenshots.py [FOLDER]`.

Two lively scenes on this machine (a cluster of 256 GPUs with teams, queues and gangs in the middle of
preemptions, and a manager with three workers), photographed by a headless Chromium. It ends by itself.
"""

import asyncio
import shutil
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from reprieve.config import Configuration
from reprieve.dashboard import app, planner
from reprieve.kube import (
    BUDGETS,
    CLUSTER_QUEUES,
    JOBS,
    KUEUE_WORKLOADS,
    LOCAL_QUEUES,
    NAMESPACES,
    POD_GROUPS,
    PODS,
    PRIORITY_CLASSES,
    RESOURCE_FLAVORS,
    WORKLOAD_PRIORITY_CLASSES,
    Client,
)
from reprieve.local import controllers_of, local_cluster, local_fleet, nodes_ready
from reprieve.objects import NodeTemplate, well_known
from reprieve.server import Habits

FOLDER = Path(__file__).parents[1] / "docs" / "images"
LONGEST_SECONDS = 900.0
"""Of one scene: a busy machine takes its time."""
ANSWER_SECONDS = 250
"""Of an explanation or a plan; a viewer gets fewer."""
LARGEST_BYTES = 250_000
GPU = "nvidia.com/gpu"
NODES = [
    NodeTemplate.parse(f"h100=16:cpu=96,memory=1Ti,{GPU}=8;zones=a,b;racks=4;labels=example.com/pool=h100"),
    NodeTemplate.parse(f"a100=16:cpu=64,memory=1Ti,{GPU}=8;zones=a,b;racks=4;labels=example.com/pool=a100"),
    NodeTemplate.parse("cpu=8:cpu=32,memory=128Gi;zones=a,b;labels=example.com/pool=cpu"),
]
CLASSES = {"spare": 0, "batch": 100, "training": 1000, "production": 10000}
TEAMS = ("vision", "language", "research", "web")
WHATIF = """apiVersion: batch/v1
kind: Job
metadata: {name: evaluate, namespace: language}
spec:
  parallelism: 4
  completions: 4
  template:
    spec:
      schedulerName: reprieve
      priorityClassName: production
      restartPolicy: Never
      containers:
      - name: main
        image: evaluate
        resources: {requests: {cpu: "8", nvidia.com/gpu: "8"}, limits: {nvidia.com/gpu: "8"}}
"""
Document = dict[str, Any]


# -- the scene -----------------------------------------------------------------------------------------------


def template(cpu: int, gpus: int, klass: str, **more: Any) -> Document:
    requests = {"cpu": str(cpu), "memory": f"{4 * cpu}Gi", **({GPU: str(gpus)} if gpus else {})}
    limits = {"limits": {GPU: str(gpus)}} if gpus else {}
    container = {"name": "main", "image": "trainer", "resources": {"requests": requests, **limits}}
    spec = {"schedulerName": "reprieve", "priorityClassName": klass, "terminationGracePeriodSeconds": 600}
    return {**spec, "containers": [container], **more}


def gang(team: str, name: str, size: int, klass: str, gpus: int = 8) -> Iterator[tuple[Any, Document]]:
    labels = {"team": team}
    metadata = {"name": name, "namespace": team, "labels": labels}
    policy = {"schedulingPolicy": {"gang": {"minCount": size}}, "disruptionMode": {"all": {}}}
    yield POD_GROUPS, {"metadata": metadata, "spec": {**policy, "priorityClassName": klass}}
    for i in range(size):
        spec = template(8, gpus, klass, schedulingGroup={"podGroupName": name})
        yield PODS, {"metadata": {"name": f"{name}-{i}", "namespace": team, "labels": labels}, "spec": spec}


def job(
    team: str, name: str, pods: int, klass: str, gpus: int = 1, cpu: int = 2
) -> Iterator[tuple[Any, Document]]:
    labels = {"team": team, "app": name}
    body = {"metadata": {"labels": labels}, "spec": template(cpu, gpus, klass, restartPolicy="Never")}
    spec = {"parallelism": pods, "completions": pods, "template": body}
    yield JOBS, {"metadata": {"name": name, "namespace": team, "labels": labels}, "spec": spec}


def queue(name: str, gpus: int) -> Iterator[tuple[Any, Document]]:
    quota = {"name": "reserved", "resources": [{"name": GPU, "nominalQuota": str(gpus)}]}
    spec = {
        "cohortName": "company",
        "namespaceSelector": {},
        "preemption": {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any"},
        "resourceGroups": [{"coveredResources": [GPU], "flavors": [quota]}],
    }
    yield CLUSTER_QUEUES, {"metadata": {"name": name}, "spec": spec}
    yield LOCAL_QUEUES, {"metadata": {"name": "jobs", "namespace": name}, "spec": {"clusterQueue": name}}


def quota_workload(
    team: str, name: str, gpus: int, priority: int, queue: str = "jobs"
) -> tuple[Any, Document]:
    container = {"name": "c", "image": "i", "resources": {"requests": {GPU: "8"}}}
    pods = {"name": "main", "count": gpus // 8, "template": {"spec": {"containers": [container]}}}
    spec = {"queueName": queue, "priority": priority, "podSets": [pods]}
    return KUEUE_WORKLOADS, {"metadata": {"name": name, "namespace": team}, "spec": spec}


def furniture() -> Iterator[tuple[Any, Document]]:
    for team in TEAMS:
        yield NAMESPACES, {"metadata": {"name": team}}
    for name, value in CLASSES.items():
        yield PRIORITY_CLASSES, {"metadata": {"name": name}, "value": value}
    yield RESOURCE_FLAVORS, {"metadata": {"name": "reserved"}}
    for team, gpus in (("vision", 64), ("language", 128), ("research", 64)):
        yield from queue(team, gpus)


def first_wave() -> Iterator[tuple[Any, Document]]:
    """Everybody finds a place: 256 GPUs are full in the end."""
    yield from gang("language", "pretrain-7b", 8, "training")
    yield from gang("vision", "segment", 4, "batch")
    yield from gang("research", "protein", 4, "batch")
    yield from gang("vision", "detect", 3, "batch")
    for number in range(4):
        yield from job("research", f"sweep-{number}", 22, "spare")
    yield from job("web", "shop", 60, "production", gpus=0, cpu=1)
    yield from job("web", "search", 24, "batch", gpus=0, cpu=2)
    selector = {"matchLabels": {"app": "sweep-1"}}
    metadata = {"name": "sweep-1", "namespace": "research"}
    yield BUDGETS, {"metadata": metadata, "spec": {"minAvailable": 18, "selector": selector}}
    for number in range(5):
        yield quota_workload("research", f"night-{number}", 24, 10)
    yield quota_workload("vision", "label", 40, 100)


def second_wave() -> Iterator[tuple[Any, Document]]:
    """More important ones come, and others must make way."""
    yield from gang("language", "pretrain-70b", 6, "training")
    yield from gang("vision", "release", 4, "production")
    yield from gang("web", "assistant", 2, "production", gpus=4)
    yield from job("research", "nightly", 12, "spare")
    yield quota_workload("language", "tune", 96, 500)
    yield quota_workload("vision", "caption", 48, 500)


def third_wave() -> Iterator[tuple[Any, Document]]:
    """Nobody makes way for these: they wait."""
    yield from job("research", "late", 60, "spare")
    yield from gang("research", "folding", 6, "spare")
    yield from gang("language", "pretrain-405b", 40, "batch")


async def create(client: Client, wave: Iterator[tuple[Any, Document]]) -> None:
    for resource, document in wave:
        await client.create(resource, document)


async def eventually(question: Callable[[], Awaitable[bool]]) -> None:
    """Each scene has a deadline; asked seldom, since the answer shares the machine with its question."""
    while not await question():
        await asyncio.sleep(0.5)


async def settle(client: Client, least: int) -> None:
    """At least so many pods run."""

    async def enough() -> bool:
        pods = (await client.listing(PODS.raw())).items
        return sum(pod.get("status", {}).get("phase") == "Running" for pod in pods) >= least

    await eventually(enough)


async def make_room(client: Client, name: str) -> None:
    """End what was preempted, until every pod of this gang has its place."""

    async def placed() -> bool:
        pods = (await client.listing(PODS.raw())).items
        for pod in pods:
            if pod["metadata"].get("deletionTimestamp"):
                await client.delete(
                    PODS, pod["metadata"]["name"], pod["metadata"]["namespace"], grace_seconds=0
                )
        gang = [pod for pod in pods if pod["metadata"]["name"].startswith(f"{name}-")]
        return all(pod["spec"].get("nodeName") for pod in gang)

    await eventually(placed)


async def backdate(client: Client) -> None:
    """As if they had run for hours: what was lost is part of the picture."""
    now = datetime.now(UTC)
    for number, pod in enumerate((await client.listing(PODS.raw())).items):
        if pod.get("status", {}).get("phase") == "Running":
            start = now - timedelta(minutes=40 + 17 * (number % 23))
            status = {"status": {"startTime": start.strftime("%Y-%m-%dT%H:%M:%SZ")}}
            name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
            await client.patch(PODS, name, status, namespace, subresource="status")


# -- the pictures --------------------------------------------------------------------------------------------


class Camera:
    def __init__(self, browser: Any, url: str, folder: Path) -> None:
        self._browser, self._url, self._folder = browser, url, folder

    @asynccontextmanager
    async def at(
        self, view: str, *, width: int = 1440, height: int = 900, scheme: str = "light"
    ) -> AsyncIterator[Any]:
        page = await self._browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
        page.set_default_timeout(1000 * LONGEST_SECONDS)  # the scene's own deadline is shorter
        await page.goto(f"{self._url}/#/{view}")
        await page.wait_for_selector("footer")  # there as soon as there is a state
        yield page
        await page.close()

    async def keep(self, page: Any, name: str) -> None:
        path = self._folder / f"{name}.png"
        await page.screenshot(path=path)
        size = path.stat().st_size
        print(f"{path} {size // 1000} kB{'' if size < LARGEST_BYTES else '  TOO LARGE'}")

    async def take(self, name: str, view: str, wait_for: str, **how: Any) -> None:
        async with self.at(view, **how) as page:
            await page.wait_for_selector(wait_for)
            await page.wait_for_timeout(300)  # charts and canvases are drawn after the first frame
            await self.keep(page, name)


async def one_cluster(browser: Any, folder: Path) -> None:
    app.QUEUES_EVERY_SECONDS = 2  # what an hour shows elsewhere, within this minute
    planner.SECONDS = ANSWER_SECONDS
    habits = Habits(run_for=None, terminate_after=600.0)  # until its picture is taken, see `make_room`
    server = local_cluster(nodes=NODES, habits=habits, quota=True)
    async with server, controllers_of(server, ("scheduler", "quota"), Configuration.load({})) as controlled:
        await nodes_ready(server, NODES)
        client = controlled.client
        await create(client, furniture())
        await create(client, first_wave())
        await settle(client, 180)
        await backdate(client)
        await create(client, second_wave())
        camera = Camera(browser, controlled.page, folder)
        await camera.take("map", "map", "a.card .tag.nominated")
        await make_room(client, "release")
        again = (each for each in gang("vision", "segment", 4, "batch") if each[0] is PODS)
        await create(client, again)  # what went comes again, and waits
        await create(client, third_wave())
        await make_room(client, "segment")
        await camera.take("queue", "queue", "tbody tr")
        await camera.take("flow", "flow", ".flow-row")
        await camera.take("groups", "groups", "tbody tr")
        await preemption(camera)
        await camera.take("unit", "unit/of/PodGroup%2Fvision%2Fsegment", ".answer", height=1000)
        await camera.take("unit-dark", "unit/of/PodGroup%2Flanguage%2Fpretrain-70b", ".answer", scheme="dark")
        await camera.take("quota", "quota", "section.queue")
        await camera.take("phone", "map", "a.card", width=390, height=800, scheme="dark")
        await searching(camera)
        await what_if(camera)


async def preemption(camera: Camera) -> None:
    async with camera.at("preemptions") as page:
        await page.locator("tbody tr", has_text="pretrain-70b").first.get_by_role("link").first.click()
        await page.wait_for_selector(".panel table")
        await page.wait_for_timeout(300)
        await camera.keep(page, "preemptions")


async def searching(camera: Camera) -> None:
    async with camera.at("map") as page:
        await page.get_by_role("button", name="Search").click()
        await page.get_by_role("combobox", name="Search everything").fill("train")
        await page.wait_for_selector("[role=option]")
        await camera.keep(page, "search")


async def what_if(camera: Camera) -> None:
    async with camera.at("whatif", height=1000) as page:
        await page.locator("textarea").fill(WHATIF)
        await page.get_by_role("button", name="Who would make way?").click()
        await page.wait_for_selector("section[aria-label=Plan]")
        await camera.keep(page, "whatif")


async def a_fleet(browser: Any, folder: Path) -> None:
    """All workers are busy; an urgent job had one of them preempt, and runs there."""
    nodes = [NodeTemplate.parse(f"h100=4:cpu=96,memory=1Ti,{GPU}=8")]
    async with local_fleet(3, nodes, Habits(run_for=None, terminate_after=600.0)) as fleet:
        for path in fleet.kubeconfigs().values():
            async with Client.from_kubeconfig(path) as each:
                await create(each, workload_classes())
        async with Client.from_kubeconfig(fleet.manager.kubeconfig) as client:
            # Equal ones, and fewer than fit: whichever cluster is the first to take one, all find a place.
            for number in range(10):
                await create(client, fleet_job(f"train-{number}", 1, "calm"))
            await eventually(lambda: all_decided(client, 10))
            await create(client, fleet_job("urgent", 4, "pressing"))
            await Camera(browser, fleet.page, folder).take("fleet", "fleet", "text=was the turn of")


def workload_classes() -> Iterator[tuple[Any, Document]]:
    for name, value in (("calm", 10), ("pressing", 1000)):
        yield WORKLOAD_PRIORITY_CLASSES, {"metadata": {"name": name}, "value": value}


def fleet_job(name: str, pods: int, klass: str) -> Iterator[tuple[Any, Document]]:
    """For the manager's queue; each pod takes a node."""
    labels = {well_known.QUEUE_LABEL: "main", "kueue.x-k8s.io/priority-class": klass}
    spec = template(8, 8, "", restartPolicy="Never")
    del spec["priorityClassName"]
    body = {"parallelism": pods, "completions": pods, "suspend": True, "template": {"spec": spec}}
    yield JOBS, {"metadata": {"name": name, "namespace": "default", "labels": labels}, "spec": body}


async def all_decided(client: Client, count: int) -> bool:
    workloads = (await client.listing(KUEUE_WORKLOADS.raw())).items
    return sum(bool(each.get("status", {}).get("clusterName")) for each in workloads) >= count


async def main(folder: Path) -> None:
    from playwright.async_api import async_playwright

    chromium = shutil.which("chromium")
    if chromium is None:
        raise SystemExit("chromium is needed: apt-get install chromium")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        for scene in (one_cluster, a_fleet):
            try:
                async with asyncio.timeout(LONGEST_SECONDS):
                    await scene(browser, folder)
            except TimeoutError:
                raise SystemExit(f"{scene.__name__}: not there after {LONGEST_SECONDS:g} s") from None
        await browser.close()


if __name__ == "__main__":
    chosen = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    chosen.mkdir(parents=True, exist_ok=True)
    asyncio.run(main(chosen))
