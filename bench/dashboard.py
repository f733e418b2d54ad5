"""The page in a real Chromium: how long until a person sees the map, and how it bears a storm of preemptions.

First paint: from navigation to the first tile or card, with few and with 5,000 nodes, and the size of the
state on the wire; the best and the median of some visits, each with nothing in the browser's cache. Storm:
200 preemptions a second on 5,000 nodes with 50,000 pods, 500 groups, 100 queues with 1,000 workloads, and
2,000 pods that wait; each takes pods away, which come again and wait, and gives their place to one that
waited. What counts is the longest task of the page's main thread. CPU time is given too, which a busy machine
does not stretch. Visitors: what such a storm costs the process that serves one page, and ten: what counts is
the longest turn of its loop, as CPU time, for the controller stands still meanwhile.

    python bench/dashboard.py [--seconds 20] [--views map,flow,preemptions,queue,...]

The page's memory is measured after each tenth of a storm, garbage aside: it is bounded if a longer storm does
not need more.
"""

import argparse
import asyncio
import gc
import json
import shutil
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple
from unittest.mock import patch

from aiohttp import ClientSession, web

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.storm import NODES, PODS_PER_NODE, PREEMPTIONS, Storm, inventory

from reprieve.config import Configuration
from reprieve.dashboard import app as page_app
from reprieve.dashboard.fleet_views import fleet_view
from reprieve.dashboard.inventory import Inventory
from reprieve.dashboard.quota_views import quota_view
from reprieve.quota.rules import Rules
from reprieve.records import DecisionLog
from reprieve.runtime.endpoints import add_decisions

SIZES = (100, NODES)
VISITS = 7
SECONDS = 20
VIEWS = "map,flow,preemptions,queue,groups,quota,fleet,whatif,node,decision,unfolded,unit,search,scrolled"
VISITORS = (1, 10)
PARTS = 10
FIRST_PAINT_SECONDS, TASK_MS, LONG_MS, TURN_MS = 1.0, 100.0, 50.0, 20.0
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


async def look(page: Any, url: str, view: str, storm: Storm) -> None:
    await page.goto(f"{url}/#/{storm.address(view)}")
    await page.wait_for_selector("footer")
    if view == "search":
        await page.keyboard.press("/")
        await page.keyboard.type("p-1")
        await page.wait_for_selector("#match-0")
    if view == "scrolled":
        await page.locator(".more").scroll_into_view_if_needed()


async def weather(browser: Any, url: str, view: str, storm: Storm, seconds: float) -> Task:
    """The page's longest task."""
    page = await browser.new_page(viewport={"width": 1300, "height": 900})
    await look(page, url, view, storm)
    tasks: list[Task] = []
    memory, lasted = [await heap(page)], 0.0
    for _ in range(PARTS):  # a trace of minutes would need more memory than the page
        await browser.start_tracing(page=page, categories=TRACED)
        lasted += await storm.last(seconds / PARTS)
        tasks += main_thread_tasks(await browser.stop_tracing())
        memory.append(await heap(page))
    await page.close()
    longest, most = max(tasks, default=Task(0.0, 0.0)), max((each.cpu for each in tasks), default=0.0)
    print(
        f"storm on {view:<12} {PREEMPTIONS * seconds / lasted:.0f} preemptions a second for {lasted:.0f} s: "
        f"longest task {longest.wall:.0f} ms ({most:.0f} CPU), "
        f"{sum(t.wall > LONG_MS for t in tasks)} above {LONG_MS:.0f} ms, "
        f"{sum(t.wall > TASK_MS for t in tasks)} above {TASK_MS:.0f} ms; "
        f"page {sum(t.cpu for t in tasks) / 10 / lasted:.0f} % of a core; "
        f"memory {' '.join(f'{each:.1f}' for each in memory)} MiB",
        flush=True,
    )
    return longest


async def visitor(session: ClientSession, url: str) -> None:
    """What a page asks for whenever it hears of a change, on the two views that ask for most."""
    version = ""
    async with session.get(f"{url}/api/stream") as stream:
        async for line in stream.content:
            if line.startswith(b"data:"):
                async with session.get(f"{url}/api/state", params={"since": version}) as response:
                    body = await response.read()
                    version = json.loads(body[: body.index(b",")] + b"}").get("version", "")
                for path in ("api/flows?ns=&team=", "api/preemptions?limit=100&outcome=preempts"):
                    async with session.get(f"{url}/{path}") as response:
                        await response.read()


@contextmanager
def turns() -> Iterator[list[float]]:
    """The CPU time of each turn of the loop, in milliseconds."""
    measured: list[float] = []
    run = asyncio.Handle._run

    def timed(handle: asyncio.Handle) -> None:
        begun = time.thread_time()
        run(handle)
        measured.append(1000 * (time.thread_time() - begun))

    with patch.object(asyncio.Handle, "_run", timed):
        yield measured


async def visitors(url: str, count: int, storm: Storm, seconds: float) -> float:
    """The longest turn of the loop that serves so many pages, and makes the storm."""
    async with ClientSession(headers={"Accept-Encoding": "identity"}) as session:
        tasks = [asyncio.create_task(visitor(session, url)) for _ in range(count)]
        await storm.last(2.0)  # the first visit is another matter
        used = time.process_time()
        with turns() as measured:
            lasted = await storm.last(seconds)
        used = time.process_time() - used
        for task in tasks:
            if not task.cancel():
                task.result()  # a visitor who gave up has measured nothing
        await asyncio.gather(*tasks, return_exceptions=True)
    measured.sort()
    print(
        f"{count:>2} pages: longest turn of the loop {measured[-1]:.0f} ms CPU, "
        f"{sum(each > TURN_MS for each in measured)} above {TURN_MS:.0f} ms; "
        f"process {100 * used / lasted:.0f} % of a core, with the storm itself",
        flush=True,
    )
    return measured[-1]


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
        storm = Storm()
        gc.freeze()  # as a controller does once it has read the cluster
        async with serving(storm.shown, storm.records) as url:
            longest = max([await weather(browser, url, view, storm, seconds) for view in views])
            await browser.close()
            turn = max([await visitors(url, count, storm, seconds) for count in VISITORS])
    print(
        f"first paint {verdict(large.wall, FIRST_PAINT_SECONDS)} s, "
        f"longest task {verdict(longest.wall, TASK_MS)} ms, longest turn {verdict(turn, TURN_MS)} ms"
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
