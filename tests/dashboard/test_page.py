"""The page in a real browser, against a live embedded cluster in the middle of a preemption storm."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial

import aiohttp
import pytest
from playwright.async_api import ConsoleMessage, Locator, Page, expect

from reprieve.config import Configuration
from reprieve.dashboard.planner import WhatIf
from reprieve.kube import CLAIMS, KUEUE_WORKLOADS, POD_GROUPS, PODS, PRIORITY_CLASSES, Client
from reprieve.local import local_cluster
from reprieve.local.cluster import controllers_of
from reprieve.local.fleet import local_fleet
from reprieve.objects import NodeTemplate
from reprieve.server.fake_nodes import Habits
from tests import builders
from tests.browser import chromium
from tests.builders import pod_group, priority_class, workload
from tests.dashboard.browsing import look
from tests.waiting import PATIENCE, eventually

expect.set_options(timeout=PATIENCE * 1000)
pytestmark = pytest.mark.slow

NODES = 6


@dataclass
class Live:
    client: Client
    url: str
    page: Page
    complaints: list[str]

    async def go(self, view: str) -> None:
        await look(self.page, self.url, view)
        await expect(self.page.locator("dl.facts").first).to_be_visible()
        wide = await self.page.evaluate(
            "document.documentElement.scrollWidth > document.documentElement.clientWidth"
        )
        assert not wide, f"{view} is wider than the window"


@pytest.fixture
async def live(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Live]:
    # What a viewer gets is thirty seconds; the machine that runs this may be busy.
    monkeypatch.setattr(WhatIf.__init__, "__kwdefaults__", {"seconds": 250})
    nodes = [NodeTemplate.parse(f"h100={NODES}:cpu=8,memory=32Gi;zones=a,b")]
    habits = Habits(run_for=None, terminate_after=300.0)  # until it was seen, see `end`
    async with (
        local_cluster(nodes=nodes, habits=habits) as server,
        controllers_of(server, ("scheduler", "quota"), Configuration.load({})) as controlled,
        chromium() as browser,
    ):
        page = await browser.new_page(viewport={"width": 1300, "height": 900})
        complaints: list[str] = []
        page.on("console", lambda m: _complain(m, complaints))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        await _answers(f"{controlled.page}/healthz")
        yield Live(controlled.client, controlled.page, page, complaints)


def _complain(message: ConsoleMessage, complaints: list[str]) -> None:
    if message.type in ("error", "warning"):
        complaints.append(message.text)


async def _answers(url: str) -> None:
    async with aiohttp.ClientSession() as session:

        async def answers() -> bool:
            try:
                async with session.get(url):
                    return True
            except aiohttp.ClientError:
                return False

        await eventually(answers, f"{url} answers")


def running(page: Page) -> Locator:
    """How many pods run, by the headline."""
    return page.locator("dl.headline > div", has_text="pods running").locator("dd").first


pod = partial(builders.pod, memory="6Gi", schedulerName="reprieve", terminationGracePeriodSeconds=300)


async def fill(client: Client) -> None:
    for name, value in (("spare", 0), ("batch", 10), ("training", 1000)):
        await client.create(PRIORITY_CLASSES, priority_class(name, value))
    for i in range(NODES * 2):
        await client.create(PODS, pod(f"low-{i}", "4", priority=("spare", "batch")[i % 2]))


async def end(client: Client) -> None:
    """What was preempted is gone."""
    for number in range(NODES * 2):
        await client.delete(PODS, f"low-{number}", "default", grace_seconds=0)


async def submit_gang(client: Client) -> None:
    """It needs a place on every node, so that someone must go everywhere."""
    await client.create(POD_GROUPS, pod_group("train", NODES, "training"))
    for i in range(NODES):
        await client.create(PODS, pod(f"train-{i}", "5", group="train", priority="training"))


async def test_every_view_follows_a_preemption_storm(live: Live):
    page = live.page
    await live.go("map")
    await expect(page.locator("a.card")).to_have_count(NODES)
    await live.go("groups")
    await expect(page.locator("p.empty")).to_contain_text("No pod groups")
    await fill(live.client)
    await live.go("map")
    await expect(running(page)).to_have_text(str(NODES * 2))
    await page.locator("a.card").first.click()
    await expect(page.get_by_role("region", name="Node h100-0")).to_contain_text("default/low-")

    await live.go("map")
    await submit_gang(live.client)
    await expect(page.locator("a.card").first).to_contain_text("1 nomination")
    await expect(page.locator("a.card").first).to_contain_text("2 leaving")
    await live.go("queue")
    await expect(page.locator("tbody tr").first).to_contain_text("PodGroup/default/train")

    await live.go("preemptions")
    row = page.locator("tbody tr", has_text="preempts").first
    await expect(row).to_contain_text("PodGroup/default/train")
    await row.get_by_role("link").first.click()
    detail = page.get_by_role("region", name="Decision")
    await expect(detail).to_contain_text("default/low-")
    await expect(detail).to_contain_text("default/train-0")
    for part in ("Cost", f"{NODES * 2} victims made way", "Where it goes"):
        await expect(detail).to_contain_text(part)
    await expect(page.locator("figcaption")).to_contain_text(f"{NODES * 2} pods were preempted")

    await live.go("groups")
    await expect(page.locator("tbody tr")).to_contain_text("6 at once")
    await end(live.client)
    await expect(page.locator("tbody tr td").nth(2)).to_have_text(str(NODES))
    await page.get_by_role("link", name="default/train").click()
    await expect(page.locator(".answer")).to_contain_text("PodGroup default/train")
    await expect(page.locator(".life li.preempts")).to_contain_text("preempted others")
    await page.get_by_role("link", name="Where it runs").click()
    await expect(page.get_by_text("stand out")).to_contain_text(f"({NODES} of {NODES})")
    await live.go("groups")
    assert live.complaints == []


async def test_the_what_if_form_names_the_victims_and_explains_bad_input(live: Live):
    page = live.page
    await fill(live.client)
    await live.go("map")
    await expect(running(page)).to_have_text(str(NODES * 2))
    await live.go("whatif")
    await page.get_by_role("button", name="Who would make way?").click()
    plan = page.get_by_role("region", name="Plan")
    await expect(plan).to_contain_text("preempts")
    await expect(plan).to_contain_text("default/low-")
    await page.locator("textarea").fill("kind: [")
    await page.get_by_role("button", name="Who would make way?").click()
    await expect(page.get_by_role("alert")).to_be_visible()
    await page.locator("textarea").fill("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
    await page.get_by_role("button", name="Who would make way?").click()
    await expect(page.get_by_role("alert")).to_contain_text("no Pod, PodGroup, Workload or job")
    unexpected = [text for text in live.complaints if "422" not in text]
    assert unexpected == []


async def test_it_works_on_a_phone_in_the_dark_and_with_the_keyboard(live: Live):
    page = live.page
    await page.set_viewport_size({"width": 390, "height": 800})
    await page.emulate_media(color_scheme="dark")
    for view in ("map", "queue", "groups", "preemptions", "quota", "fleet", "whatif"):
        await live.go(view)
        await expect(page.locator("nav a[aria-current=page]")).to_be_visible()
    await fill(live.client)
    await live.go("map")
    await expect(page.locator("a.card").first).to_contain_text("2 pods")
    await page.locator("a.card").first.focus()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("region", name="Node h100-0")).to_be_visible()
    await expect(page.get_by_role("heading", name="h100-0")).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("region", name="Node h100-0")).to_have_count(0)
    await expect(page.locator("a.card").first).to_be_focused()
    assert live.complaints == []


async def test_a_manager_shows_its_workers_and_its_quota():
    nodes = [NodeTemplate.parse("node=1:cpu=4,memory=16Gi")]
    async with local_fleet(2, nodes) as fleet, chromium() as browser:
        page = await browser.new_page(viewport={"width": 1300, "height": 900})
        await _answers(f"{fleet.page}/healthz")
        async with Client.from_kubeconfig(fleet.manager.kubeconfig) as client:
            live = Live(client, fleet.page, page, [])
            await live.go("fleet")
            await expect(page.get_by_text("connected", exact=True)).to_have_count(2)
            await client.create(KUEUE_WORKLOADS, workload("report", "3"))
        await expect(page.locator("tbody tr", has_text="default/report")).to_contain_text("worker")
        await live.go("quota")
        await expect(page.locator("section.queue h2")).to_have_text("main")
        await expect(page.locator("section.queue")).to_contain_text("3 of 8 used")
        await browser.close()


async def test_nothing_leaves_the_origin_and_the_policy_is_strict(live: Live):
    async with aiohttp.ClientSession() as session, session.get(f"{live.url}/") as response:
        policy = response.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    asked: list[str] = []
    live.page.on("request", lambda request: asked.append(request.url))
    await live.go("preemptions")
    assert asked
    assert all(url.startswith(live.url) for url in asked)


@pytest.mark.parametrize(
    ("path", "status"),
    [("/api/nodes/ghost", 404), ("/api/decisions/999", 404), ("/api/decisions?limit=x", 400)],
)
async def test_a_question_about_nothing_is_answered_with_a_sentence(live: Live, path: str, status: int):
    async with aiohttp.ClientSession() as session, session.get(f"{live.url}{path}") as response:
        assert response.status == status
        assert (await response.json())["message"]


async def test_the_what_if_form_answers_only_json(live: Live):
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{live.url}/api/plan", data="x=1") as response,
    ):
        assert response.status == 415
        assert "application/json" in (await response.json())["message"]


WANTS_VOLUMES = """apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: scratch, namespace: default}
spec: {accessModes: [ReadWriteOnce], storageClassName: fake-wait, resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: Pod
metadata: {name: urgent, namespace: default}
spec:
  priority: 1000000
  containers: [{name: main, image: busybox}]
  volumes:
  - {name: a, persistentVolumeClaim: {claimName: only-one}}
  - {name: b, persistentVolumeClaim: {claimName: scratch}}
"""


async def test_the_what_if_form_says_who_holds_a_claim_and_what_claims_get(live: Live):
    page, client = live.page, live.client
    await client.create(PRIORITY_CLASSES, priority_class("spare", 0))
    spec = {"accessModes": ["ReadWriteOncePod"], "resources": {"requests": {"storage": "1Gi"}}}
    await client.create(CLAIMS, {"metadata": {"name": "only-one", "namespace": "default"}, "spec": spec})
    holds = [{"name": "a", "persistentVolumeClaim": {"claimName": "only-one"}}]
    await client.create(PODS, pod("holder", "1", priority="spare", volumes=holds))
    await live.go("map")
    await expect(running(page)).to_have_text("1")
    await live.go("whatif")
    await page.locator("textarea").fill(WANTS_VOLUMES)
    await page.get_by_role("button", name="Who would make way?").click()
    plan = page.get_by_role("region", name="Plan")
    await expect(plan).to_contain_text("it uses the claim default/only-one, which only one pod may use")
    await page.locator("textarea").fill(WANTS_VOLUMES.replace("claimName: only-one", "claimName: scratch"))
    await page.get_by_role("button", name="Who would make way?").click()
    await expect(plan).to_contain_text("default/scratch")
    await expect(plan).to_contain_text("a new one, made for")
    assert live.complaints == []
