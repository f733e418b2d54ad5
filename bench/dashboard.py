"""The page in a real Chromium: how long until a person sees the map, and how it bears ten minutes of a storm.

First paint: from navigation to the first tile or card, with few and with 5,000 nodes, and the size of the
state on the wire. Storm: 600 updates (ten minutes at one a second, here ten a second), each with 500 changed
pods on 5,000 nodes: tasks that block the page for longer than 200 ms, and the memory of the page after a
tenth of the updates and after all.
"""

import asyncio
import random
import shutil
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from aiohttp import ClientSession, web

from reprieve.config import Configuration
from reprieve.dashboard import app as page_app
from reprieve.dashboard.inventory import Inventory
from reprieve.dashboard.quota_views import fleet_view, quota_view
from reprieve.objects.decode import decode
from reprieve.quota.rules import Rules
from reprieve.records import DecisionLog
from reprieve.runtime.endpoints import add_decisions

SIZES = (100, 5000)
PODS_PER_NODE = 10
UPDATES, CHANGED, FASTER = 600, 500, 10
LONG_TASK_MS = 200
WATCH_LONG_TASKS = """
window.long = [];
const keep = (list) => list.getEntries().forEach((entry) => window.long.push(entry.duration));
new PerformanceObserver(keep).observe({ entryTypes: ["longtask"] });
"""


async def no_reason(_target: str, _decisions: object) -> dict[str, Any]:
    return {}


async def no_plan(_manifest: str, _for: str) -> dict[str, Any]:
    return {}


def pod(i: int, j: int, priority: int) -> Any:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "8"}}}
    spec = {"nodeName": f"h100-{i}", "priority": priority, "containers": [container]}
    metadata = {"name": f"p-{i}-{j}", "namespace": "d"}
    document = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
    return decode({**document, "status": {"phase": "Running"}})


def inventory(nodes: int) -> Inventory:
    shown, rng = Inventory(), random.Random(1)
    for i in range(nodes):
        metadata = {"name": f"h100-{i}", "labels": {"topology.kubernetes.io/zone": f"zone-{i % 8}"}}
        status = {"allocatable": {"cpu": "96", "memory": "1Ti", "pods": "110"}}
        shown.put(decode({"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": status}))
        for j in range(PODS_PER_NODE):
            shown.put(pod(i, j, rng.choice([0, 10, 100, 1000])))
    return shown


@asynccontextmanager
async def serving(shown: Inventory) -> AsyncIterator[str]:
    rules = Rules.of(Configuration.load({}))
    records = DecisionLog()
    app = web.Application()
    add_decisions(app, records)
    page_app.Dashboard(
        shown,
        records,
        no_plan,
        no_reason,
        quota=lambda each, now: quota_view(each, rules, now),
        fleet=lambda each, _: fleet_view(each, timedelta(minutes=5)),
    ).add_routes(app)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


async def first_paint(browser: Any, nodes: int) -> float:
    async with serving(inventory(nodes)) as url:
        async with (
            ClientSession(auto_decompress=False) as session,
            session.get(f"{url}/api/state") as response,
        ):
            size = len(await response.read())
        page = await browser.new_page(viewport={"width": 1300, "height": 900})
        begun = time.perf_counter()
        await page.goto(f"{url}/#/map")
        await page.wait_for_selector("a.tile, a.card")
        seconds = time.perf_counter() - begun
        await page.close()
    pods = nodes * PODS_PER_NODE
    print(f"{nodes:>6} nodes, {pods:>6} pods: first paint {seconds:.2f} s, state {size / 1024:.0f} KiB")
    return seconds


async def heap(page: Any) -> float:
    session = await page.context.new_cdp_session(page)
    await session.send("HeapProfiler.collectGarbage")
    used = await session.send("Runtime.getHeapUsage")
    await session.detach()
    return float(used["usedSize"]) / (1 << 20)


async def storm(browser: Any, view: str) -> None:
    shown, rng = inventory(SIZES[-1]), random.Random(2)
    page_app.TICK_SECONDS = 1.0 / FASTER
    async with serving(shown) as url:
        page = await browser.new_page(viewport={"width": 1300, "height": 900})
        await page.add_init_script(WATCH_LONG_TASKS)
        await page.goto(f"{url}/#/{view}")
        await page.wait_for_selector("dl.facts")
        await page.evaluate("window.long.length = 0")
        memory = []
        for update in range(UPDATES):
            begun = time.perf_counter()
            for _ in range(CHANGED):
                i, j = rng.randrange(SIZES[-1]), rng.randrange(PODS_PER_NODE)
                shown.put(pod(i, j, rng.choice([0, 10, 100, 1000])))
            await asyncio.sleep(max(0.0, 1.0 / FASTER - (time.perf_counter() - begun)))
            if update in (UPDATES // 10, UPDATES - 1):
                memory.append(await heap(page))
        tasks = await page.evaluate("window.long")
        await page.close()
    longest = max(tasks, default=0.0)
    print(
        f"storm on {view:<12} {UPDATES} updates of {CHANGED} pods: longest task {longest:.0f} ms, "
        f"{sum(t > LONG_TASK_MS for t in tasks)} above {LONG_TASK_MS} ms; memory {memory[0]:.1f} -> "
        f"{memory[1]:.1f} MiB"
    )


async def main() -> None:
    from playwright.async_api import async_playwright

    chromium = shutil.which("chromium")
    if chromium is None:
        raise SystemExit("chromium is needed: apt-get install chromium")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        await first_paint(browser, SIZES[0])  # the browser's own first page is not what is measured
        small, large = [await first_paint(browser, nodes) for nodes in SIZES]
        print(f"ratio {large / small:.1f} for {SIZES[1] / SIZES[0]:.0f} times the nodes")
        for view in ("map", "preemptions"):
            await storm(browser, view)
        await browser.close()


asyncio.run(main())
