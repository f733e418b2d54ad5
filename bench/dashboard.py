"""How long until a person sees the page: first paint of the map with few and with 5,000 nodes, in a real Chromium.

Prints the time from navigation to the first tile or card, the size of the state on the wire, and the ratio between the two sizes.
"""

import asyncio
import random
import shutil
import time
from typing import Any

from aiohttp import ClientSession, web

from reprieve.config import Configuration
from reprieve.dashboard.app import Dashboard
from reprieve.dashboard.inventory import Inventory
from reprieve.dashboard.quota_view import quota_view
from reprieve.objects.decode import decode
from reprieve.quota.rules import Rules

SIZES = (100, 5000)
PODS_PER_NODE = 10


class NoDecisions:
    preemptions = 0
    victims = 0


async def no_plan(_manifest: str, _for: str) -> dict[str, Any]:
    return {}


def inventory(nodes: int) -> Inventory:
    shown = Inventory()
    rng = random.Random(1)
    for i in range(nodes):
        labels = {"topology.kubernetes.io/zone": f"zone-{i % 8}"}
        status = {"allocatable": {"cpu": "96", "memory": "1Ti", "pods": "110"}}
        metadata = {"name": f"h100-{i}", "labels": labels}
        shown.put(decode({"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": status}))
        for j in range(PODS_PER_NODE):
            container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "8"}}}
            spec = {
                "nodeName": f"h100-{i}",
                "priority": rng.choice([0, 10, 100, 1000]),
                "containers": [container],
            }
            pod = {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": f"p-{i}-{j}", "namespace": "d"},
                "spec": spec,
            }
            shown.put(decode({**pod, "status": {"phase": "Running"}}))
    return shown


async def measure(browser: Any, nodes: int) -> float:
    rules = Rules.of(Configuration.load({}))
    app = web.Application()
    quota = lambda shown, now: quota_view(shown, rules, now)  # noqa: E731
    Dashboard(inventory(nodes), NoDecisions(), no_plan, quota).add_routes(app)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    async with ClientSession(auto_decompress=False) as session, session.get(f"{url}/api/state") as response:
        size = len(await response.read())
    page = await browser.new_page(viewport={"width": 1300, "height": 900})
    begun = time.perf_counter()
    await page.goto(f"{url}/#/map")
    await page.wait_for_selector("button.tile, button.card")
    seconds = time.perf_counter() - begun
    print(
        f"{nodes:>6} nodes, {nodes * PODS_PER_NODE:>6} pods: first paint {seconds:.2f} s, state {size / 1024:.0f} KiB"
    )
    await page.close()
    await runner.cleanup()
    return seconds


async def main() -> None:
    from playwright.async_api import async_playwright

    chromium = shutil.which("chromium")
    if chromium is None:
        raise SystemExit("chromium is needed: apt-get install chromium")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        await measure(browser, SIZES[0])  # the browser's own first page is not what is measured
        small, large = [await measure(browser, nodes) for nodes in SIZES]
        print(f"ratio {large / small:.1f} for {SIZES[1] / SIZES[0]:.0f} times the nodes")
        await browser.close()


asyncio.run(main())
