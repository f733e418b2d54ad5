"""The page in a real Chromium: how long until a person sees the map, and how it bears a storm of preemptions.

First paint: from navigation to the first tile or card, with few and with 5,000 nodes, and the size of the
state on the wire; the best and the median of some visits, each with nothing in the browser's cache. Storm:
200 preemptions a second on 5,000 nodes with 50,000 pods, and 2,000 that wait; each takes pods away, which
come again and wait, and gives their place to one that waited. What counts is the longest task of the page's
main thread. CPU time is given too, which a busy machine does not stretch.

    python bench/dashboard.py [--seconds 20] [--views map,flow,preemptions,queue]

The page's memory is measured after each tenth of a storm, garbage aside: it is bounded if a longer storm does
not need more.
"""

import argparse
import asyncio
import json
import math
import random
import shutil
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import Any, NamedTuple

from aiohttp import ClientSession, web

from reprieve.config import Configuration
from reprieve.dashboard import app as page_app
from reprieve.dashboard.fleet_views import fleet_view
from reprieve.dashboard.inventory import Inventory
from reprieve.dashboard.quota_views import quota_view
from reprieve.objects.decode import decode
from reprieve.quota.rules import Rules
from reprieve.records import Decision, DecisionLog
from reprieve.runtime.endpoints import add_decisions

SIZES = (100, 5000)
PODS_PER_NODE = 10
VISITS = 7
WAITING, PODS_PER_JOB = 2000, 5
SECONDS, PREEMPTIONS = 20, 200
"""How long a storm lasts, and how many preemptions there are in each second of it."""
VIEWS = "map,flow,preemptions,queue"
VICTIMS = 3
PARTS = 10
FIRST_PAINT_SECONDS, TASK_MS = 1.0, 100.0
WAITS = {
    "phase": "Pending",
    "conditions": [
        {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "message": "0/5000 nodes are available: 5000 Insufficient cpu. preemption: 0/5000 nodes are "
            "available: 5000 No preemption victims found for incoming pod.",
        }
    ],
}
TRACED = ["toplevel", "devtools.timeline", "disabled-by-default-devtools.timeline"]
MAIN_THREAD = "CrRendererMain"


async def no_reason(_target: str, _decisions: object) -> dict[str, Any]:
    return {}


async def no_plan(_manifest: str, _for: str) -> dict[str, Any]:
    return {}


async def no_forecast(_name: str) -> dict[str, Any]:
    return {}


async def no_document(_name: str) -> dict[str, Any]:
    return {}


def pod(name: str, node: str, priority: int, **metadata: Any) -> Any:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "8"}}}
    spec = {"nodeName": node, "priority": priority, "containers": [container]}
    document = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "d", **metadata}}
    return decode({**document, "spec": spec, "status": {"phase": "Running"} if node else WAITS})


def waiting(number: int) -> Any:
    """One of some pods of a job."""
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": f"job-{number // PODS_PER_JOB}", "uid": "u"}
    created = (datetime(2026, 11, 17, tzinfo=UTC) + timedelta(seconds=number)).isoformat()
    return pod(
        f"w-{number}",
        "",
        (0, 10, 100)[number // PODS_PER_JOB % 3],
        creationTimestamp=created,
        ownerReferences=[{**owner, "controller": True}],
    )


def inventory(nodes: int) -> Inventory:
    shown, rng = Inventory(), random.Random(1)
    for i in range(nodes):
        metadata = {"name": f"h100-{i}", "labels": {"topology.kubernetes.io/zone": f"zone-{i % 8}"}}
        status = {"allocatable": {"cpu": "96", "memory": "1Ti", "pods": "110"}}
        shown.put(decode({"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": status}))
        for j in range(PODS_PER_NODE):
            shown.put(pod(f"p-{i}-{j}", f"h100-{i}", rng.choice([0, 10, 100, 1000])))
    for number in range(WAITING if nodes == SIZES[-1] else 0):
        shown.put(waiting(number))
    return shown


@asynccontextmanager
async def serving(shown: Inventory, records: DecisionLog) -> AsyncIterator[str]:
    rules = Rules.of(Configuration.load({}))
    app = web.Application()
    add_decisions(app, records)
    page_app.Dashboard(
        shown,
        records,
        page_app.Asked(no_plan, no_reason, no_plan, no_document, no_forecast),
        quota=lambda each, now: quota_view(each, rules, now),
        fleet=lambda each, _: fleet_view(each, timedelta(minutes=5)),
    ).add_routes(app)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


class Task(NamedTuple):
    """Of the page's main thread, in milliseconds."""

    wall: float
    cpu: float


class Visit(NamedTuple):
    """Seconds until the first tile or card is there."""

    wall: float
    cpu: float
    longest: Task


async def first_paint(browser: Any, nodes: int, visits: int) -> Visit:
    """The best of some visits: what is above it is other work on this machine."""
    async with serving(inventory(nodes), DecisionLog()) as url:
        async with (
            ClientSession(auto_decompress=False) as session,
            session.get(f"{url}/api/state") as response,
        ):
            size = len(await response.read())
        found = [await visit(browser, url) for _ in range(visits)]
    pods, best = nodes * PODS_PER_NODE, min(found)
    print(
        f"{nodes:>6} nodes, {pods:>6} pods: first paint {best.wall:.2f} s at best, "
        f"{median(each.wall for each in found):.2f} s in the middle, {best.cpu:.2f} s CPU; "
        f"longest task {best.longest.wall:.0f} ms ({best.longest.cpu:.0f} CPU); state {size / 1024:.0f} KiB"
    )
    return best


async def visit(browser: Any, url: str) -> Visit:
    """In a context of its own: nothing is in its cache."""
    context = await browser.new_context(viewport={"width": 1300, "height": 900})
    page = await context.new_page()
    await browser.start_tracing(page=page, categories=TRACED)
    begun = time.perf_counter()
    await page.goto(f"{url}/#/map", wait_until="commit")
    await page.wait_for_selector("a.tile, a.card")
    seconds = time.perf_counter() - begun
    tasks = main_thread_tasks(await browser.stop_tracing())
    await context.close()
    return Visit(seconds, sum(each.cpu for each in tasks) / 1000, max(tasks))


def main_thread_tasks(trace: bytes) -> list[Task]:
    events = json.loads(trace)["traceEvents"]
    threads = {
        (each["pid"], each["tid"])
        for each in events
        if each["name"] == "thread_name" and each["args"]["name"] == MAIN_THREAD
    }
    whole = [e for e in events if e.get("ph") == "X" and (e["pid"], e["tid"]) in threads]
    tasks = [e for e in whole if e["name"] in ("RunTask", "ThreadControllerImpl::RunTask")]
    return [Task(e["dur"] / 1000, e["tdur"] / 1000) for e in tasks if "tdur" in e]


async def heap(page: Any) -> float:
    session = await page.context.new_cdp_session(page)
    await session.send("HeapProfiler.collectGarbage")
    used = await session.send("Runtime.getHeapUsage")
    await session.detach()
    return float(used["usedSize"]) / (1 << 20)


def preempt(shown: Inventory, records: DecisionLog, rng: random.Random, number: int) -> None:
    """Some pods of one node go, and one comes."""
    i = rng.randrange(SIZES[-1])
    rows = rng.sample(range(PODS_PER_NODE), VICTIMS)
    victims = [
        {"pod": f"d/p-{i}-{j}", "unit": f"Pod/d/p-{i}-{j}", "node": f"h100-{i}", "priority": 0,
         "reason": f"if it stayed, h100-{i} would be 8 cpu short"}
        for j in rows
    ]  # fmt: skip
    for j in rows:
        shown.remove(pod(f"p-{i}-{j}", f"h100-{i}", 0))
    shown.put(pod(f"p-{i}-{rows[0]}", f"h100-{i}", 1000))
    for j in rows[1:]:
        shown.put(pod(f"p-{i}-{j}", f"h100-{i}", rng.choice([0, 10, 100])))  # so that the cluster stays full
    shown.remove(waiting(number))
    shown.put(waiting(WAITING + number))
    records.add(
        Decision(
            time=datetime.now(UTC),
            controller="scheduler",
            for_=f"Pod/d/new-{number}",
            outcome="preempts",
            victims=victims,
            placements={f"d/new-{number}": f"h100-{i}"},
        )
    )


async def storm(browser: Any, view: str, seconds: float) -> Task:
    """The page's longest task."""
    shown, records, rng = inventory(SIZES[-1]), DecisionLog(), random.Random(2)
    async with serving(shown, records) as url:
        page = await browser.new_page(viewport={"width": 1300, "height": 900})
        await page.goto(f"{url}/#/{view}")
        await page.wait_for_selector("dl.facts")
        tasks: list[Task] = []
        memory, number, spent, lasted = [await heap(page)], 0, 0.0, 0.0
        for _ in range(PARTS):  # a trace of minutes would need more memory than the page
            await browser.start_tracing(page=page, categories=TRACED)
            begun, first, used = time.perf_counter(), number, time.process_time()
            while (made := number - first) < PREEMPTIONS * seconds / PARTS:
                passed = time.perf_counter() - begun
                for _ in range(math.ceil(passed * PREEMPTIONS) - made):
                    preempt(shown, records, rng, number)
                    number += 1
                await asyncio.sleep(0.02)
            lasted += time.perf_counter() - begun
            spent += time.process_time() - used
            tasks += main_thread_tasks(await browser.stop_tracing())
            memory.append(await heap(page))
        await page.close()
    longest = max(tasks, default=Task(0.0, 0.0))
    print(
        f"storm on {view:<12} {number / lasted:.0f} preemptions a second for {lasted:.0f} s: longest task "
        f"{longest.wall:.0f} ms ({longest.cpu:.0f} CPU), "
        f"{sum(t.wall > TASK_MS for t in tasks)} above {TASK_MS:.0f} ms; "
        f"page {sum(t.cpu for t in tasks) / 10 / lasted:.0f} % of a core, "
        f"process {100 * spent / lasted:.0f} %; "
        f"memory {' '.join(f'{each:.1f}' for each in memory)} MiB",
        flush=True,
    )
    return longest


async def main(views: list[str], seconds: float) -> None:
    from playwright.async_api import async_playwright

    chromium = shutil.which("chromium")
    if chromium is None:
        raise SystemExit("chromium is needed: apt-get install chromium")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        await first_paint(browser, SIZES[0], 1)  # the browser's own first page is not what is measured
        small, large = [await first_paint(browser, nodes, VISITS) for nodes in SIZES]
        print(f"ratio {large.cpu / small.cpu:.1f} for {SIZES[1] / SIZES[0]:.0f} times the nodes")
        longest = max([await storm(browser, view, seconds) for view in views])
        await browser.close()
    print(
        f"first paint {verdict(large.wall, FIRST_PAINT_SECONDS)} s, "
        f"longest task {verdict(longest.wall, TASK_MS)} ms"
    )


def verdict(measured: float, bound: float) -> str:
    return f"{measured:.3g} {'within' if measured <= bound else 'ABOVE'} {bound:g}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--views", default=VIEWS)
    options = parser.parse_args()
    asyncio.run(main(options.views.split(","), options.seconds))
