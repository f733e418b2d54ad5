"""The page tells one story: a unit's own page, search, keys, addresses that can be shared, who took whose
place; in a real browser over clusters made by hand.
"""

import asyncio
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from reprieve.dashboard.inventory import Inventory
from reprieve.objects import ReprieveError
from reprieve.records import Decision, DecisionLog
from tests.builders import cluster_queue, flavor, local_queue, owned_by, workload
from tests.dashboard import scenes
from tests.dashboard.browsing import listen, look
from tests.dashboard.manifests import node, pod, pod_group, put, worker_cluster
from tests.dashboard.serving import no_forecast, no_plan, no_reason, serving
from tests.waiting import eventually

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]
CRUNCH, TRAIN = "PodGroup/data/crunch", "PodGroup/ml/train"
MARKUP = "<img src=x onerror=alert(1)>"


def decided(log: DecisionLog, unit: str, outcome: str, minutes_ago: int, **more: Any) -> None:
    time = datetime.now(UTC) - timedelta(minutes=minutes_ago)
    log.add(Decision(time=time, controller="scheduler", for_=unit, outcome=outcome, **more))


def told() -> tuple[Inventory, DecisionLog]:
    """A gang that ran, made way, and is back; it has a queue and a team."""
    shown, log = scenes.crowd(4), DecisionLog()
    hour_ago, now = (
        (datetime.now(UTC) - timedelta(minutes=m)).strftime("%Y-%m-%dT%H:%M:%SZ") for m in (60, 5)
    )
    created = {"creationTimestamp": hour_ago}
    labels = {"example.com/team": "numbers"}
    put(shown, pod_group("crunch", 3, 10, namespace="data", metadata=created, labels=labels))
    for i in range(3):
        where: dict[str, Any] = {"on": f"h100-{i}", "start": now, "namespace": "data", "group": "crunch"}
        put(shown, pod(f"crunch-{i}", labels=labels, **where))
    owner = {"ownerReferences": [owned_by("PodGroup", "crunch")]}
    put(shown, workload("crunch-w", 1, queue="jobs", namespace="data", metadata=owner))
    put(shown, local_queue("jobs", "numbers", namespace="data"))
    gone = [
        {"pod": f"data/crunch-{i}", "unit": CRUNCH, "node": f"h100-{i}", "reason": f"h100-{i} is needed"}
        for i in range(3)
    ]
    decided(log, CRUNCH, "scheduled", 50)
    decided(log, TRAIN, "preempts", 30, victims=gone)
    decided(log, CRUNCH, "unschedulable", 20)
    decided(log, CRUNCH, "scheduled", 5)
    return shown, log


async def opened(browser: Browser, url: str, view: str, complaints: list[str] | None = None) -> Page:
    page = await browser.new_page(viewport={"width": 1440, "height": 900})
    listen(page, complaints if complaints is not None else [])
    await look(page, url, view)
    return page


async def test_a_unit_has_one_page_with_its_life_its_pods_its_queue_and_how_it_is_written(browser: Browser):
    complaints: list[str] = []
    async with serving(*told()) as url:
        page = await opened(browser, url, "unit/of/PodGroup%2Fdata%2Fcrunch", complaints)
        await expect(page.locator(".answer")).to_contain_text("waits for 4 cpu")
        await expect(page.locator(".takers")).to_contain_text(f"It made way for {TRAIN}")
        life = page.locator(".life li")
        await expect(life).to_have_count(6)
        assert await life.locator("strong").all_inner_texts() == [
            "3 of 3 pods run",
            "is back: got its place",
            "found no place",
            "made way with 3 pods for",
            "got its place",
            "created",
        ]
        line = page.get_by_role("img", name="waiting for 10m, then running for 20m")
        await expect(line).to_be_visible()
        await expect(page.get_by_role("region", name="Its pods")).to_contain_text("3 pods running")
        about = page.locator("dl.about")
        for text in ("numbers", "data/jobs in numbers", "Workload/data/crunch-w"):
            await expect(about).to_contain_text(text)
        await page.get_by_role("button", name="YAML").click()
        await expect(page.get_by_role("region", name="YAML")).to_contain_text(f"kind: {CRUNCH}")
        await page.get_by_role("button", name="Events").click()
        await expect(page.get_by_role("region", name="As it is written")).to_contain_text("Waiting (2 times)")
        assert page.url.endswith("/show/events")
        again = await opened(browser, url, page.url.partition("#/")[2])
        await expect(again.get_by_role("region", name="As it is written")).to_contain_text("crunch waits")
        assert complaints == []


async def test_search_finds_everything_and_is_used_by_keys_alone(browser: Browser):
    async with serving(*told()) as url:
        page = await opened(browser, url, "map")
        await page.keyboard.press("/")
        box = page.get_by_role("combobox", name="Search everything")
        await expect(box).to_be_focused()
        await box.fill("crunch")
        options = page.get_by_role("dialog").get_by_role("option")
        await expect(options.first).to_have_attribute("aria-selected", "true")
        found = " ".join(await options.all_inner_texts())
        assert all(kind in found for kind in ("PodGroup", "Pod", "Workload")), found
        await page.keyboard.press("ArrowDown")
        await expect(options.nth(1)).to_have_attribute("aria-selected", "true")
        await page.keyboard.press("ArrowUp")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("dialog")).to_have_count(0)
        await expect(page.get_by_role("heading", name=CRUNCH)).to_be_visible()
        await page.keyboard.press("/")
        await box.fill("h100-2")
        await expect(options.first).to_contain_text("Node")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("region", name="Node h100-2")).to_be_visible()
        await page.keyboard.press("/")
        await box.fill("no such thing")
        await expect(page.get_by_role("dialog").get_by_role("status")).to_contain_text("Nothing is called")
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("dialog")).to_have_count(0)


async def test_keys_are_listed_lead_to_views_and_can_be_switched_off(browser: Browser):
    async with serving(scenes.crowd(3)) as url:
        page = await opened(browser, url, "map")
        await page.keyboard.press("?")
        keys = page.get_by_role("dialog", name="Keys")
        await expect(keys).to_contain_text("search everything")
        await page.keyboard.press("Escape")
        await expect(keys).to_have_count(0)
        await page.keyboard.press("2")
        await expect(page.locator("nav a[aria-current=page]")).to_have_text("Queue")
        await page.get_by_role("searchbox").fill("2?/")
        await expect(page.get_by_role("dialog")).to_have_count(0)
        await page.get_by_role("button", name="Keys").click()
        await page.get_by_role("checkbox").uncheck()
        await page.get_by_role("button", name="Close").click()
        await page.locator("main").focus()
        await page.keyboard.press("1")
        await page.keyboard.press("/")
        await expect(page.get_by_role("dialog")).to_have_count(0)
        await expect(page.locator("nav a[aria-current=page]")).to_have_text("Queue")


async def test_every_filter_is_in_the_address_and_the_way_back_skips_typing(browser: Browser):
    shown, log = told()
    put(shown, pod("lonely", namespace="ops", labels={"team": "ops"}))
    async with serving(shown, log) as url:
        page = await opened(browser, url, "groups")
        await page.get_by_role("searchbox").fill("team-1")
        await expect(page.locator("tbody tr")).to_have_count(1)
        again = await opened(browser, url, page.url.partition("#/")[2])
        await expect(again.locator("tbody tr")).to_have_count(1)
        await look(page, url, "queue")
        await expect(page.locator("tbody tr")).to_have_count(4)
        await page.get_by_label("Team").select_option("ops")
        await expect(page.locator("tbody tr")).to_have_count(1)
        await page.get_by_role("link", name="Cluster").click()
        await expect(page.get_by_text("stand out (0 of 4)")).to_be_visible()
        await page.get_by_label("Team").select_option("")
        await page.get_by_label("Namespace").select_option("data")
        await expect(page.get_by_text("stand out (3 of 4)")).to_be_visible()
        assert page.url.endswith("#/map/ns/data")
        await page.go_back()
        await expect(page.locator("nav a[aria-current=page]")).to_have_text("Queue")


async def test_reasons_are_said_once_and_a_gang_is_one_row(browser: Browser):
    shown, log = told()
    async with serving(shown, log) as url:
        page = await opened(browser, url, "preemptions/id/2")
        panel = page.get_by_role("region", name="Decision")
        await expect(panel.get_by_role("table", name="3 victims made way").locator("tbody tr")).to_have_count(
            1
        )
        await expect(panel.locator(".why-once li")).to_have_text("3 victims: its node is needed")
        wide = "e => e.scrollWidth <= e.clientWidth"
        assert await panel.evaluate(wide)
        for table in await panel.locator(".scroll").all():
            assert await table.evaluate(wide), "a column is cut off"
        headline, drawer = await page.locator("dl.headline").bounding_box(), await panel.bounding_box()
        assert headline is not None
        assert drawer is not None
        assert headline["x"] + headline["width"] <= drawer["x"]
        await look(page, url, "flow")
        await expect(page.locator(".flow-victims li")).to_have_count(1)
        await expect(page.locator(".flow-victims li")).to_contain_text("3 pods")


async def test_a_job_that_waits_is_one_row_that_unfolds_into_its_pods(browser: Browser):
    async with serving(scenes.sweep()) as url:
        page = await opened(browser, url, "queue")
        row = page.get_by_role("row").filter(has=page.get_by_role("link", name="Job/dev/sweep"))
        await expect(row).to_contain_text("2 Insufficient cpu. and 1 other reason")
        await expect(page.get_by_role("link", name="sweep-0")).to_have_count(0)
        fold = page.get_by_role("button", name="Pods of Job/dev/sweep")
        await fold.focus()
        await page.keyboard.press("Enter")
        pods = page.get_by_role("table", name="Waiting pods of Job/dev/sweep").locator("tbody tr")
        await expect(pods).to_contain_text(["2 Insufficient cpu.", *3 * ["the same"], "must be left"])
        await expect(fold).to_have_attribute("aria-expanded", "true")
        await page.reload()
        await expect(pods).to_have_count(5)  # what is unfolded is in the address
        await pods.last.get_by_role("link", name="dev/sweep-0").click()
        await expect(page).to_have_url(f"{url}/#/unit/of/Pod%2Fdev%2Fsweep-0")


async def test_an_answer_that_takes_long_is_waited_for_and_asked_for_once_at_a_time(browser: Browser):
    """It was thrown away when it was time to ask again, so that it never came."""
    asked, ready = 0, asyncio.Event()

    async def slow(target: str, decisions: Iterable[Decision]) -> dict[str, Any]:
        nonlocal asked
        asked += 1
        await ready.wait()
        return await no_reason(target, decisions)

    shown, log = told()
    async with serving(shown, log, explainer=slow) as url:
        page = await browser.new_page()
        await page.clock.install()
        await page.goto(f"{url}/#/unit/of/{CRUNCH.replace('/', '%2F')}")
        await expect(page.get_by_text("Asking why…")).to_be_visible()
        for _ in range(5):
            await page.clock.run_for(30_000)
        assert asked == 1
        ready.set()
        await expect(page.locator(".answer")).to_contain_text("waits for 4 cpu")
        await page.clock.run_for(300_000)
        await eventually(lambda: asked > 1, "it is asked again, now and then")
        await expect(page.locator(".answer")).to_contain_text("waits for 4 cpu")


async def test_times_are_exact_for_whoever_asks(browser: Browser):
    async with serving(*told()) as url:
        page = await browser.new_page(timezone_id="UTC")  # else the day may be another one
        await look(page, url, "queue")
        when = page.locator("tbody time").first
        iso = await when.get_attribute("datetime")
        assert iso is not None
        exact = await when.get_attribute("title")
        assert exact is not None
        assert exact.startswith(iso[:10])
        await when.focus()
        shown = await when.evaluate("e => getComputedStyle(e, '::after').content")
        assert exact in shown


async def test_the_headline_says_what_is_used_promised_waiting_and_lost(browser: Browser):
    shown, log = Inventory(), DecisionLog()
    for i in range(2):
        put(shown, node(f"g-{i}", allocatable={"nvidia.com/gpu": "8"}))
    noon = datetime(2026, 11, 15, 12, tzinfo=UTC)
    for name, on, more in (
        ("old", "g-0", {"status": {"phase": "Running", "startTime": "2026-11-15T10:00:00Z"}}),
        ("next", "", {"priorityClassName": "training", "status": {"nominatedNodeName": "g-1"}}),
    ):
        document = pod(name, on=on, **more)
        document["spec"]["containers"][0]["resources"] = {"requests": {"nvidia.com/gpu": "8"}}
        put(shown, document)
    log.add(Decision(time=noon, controller="scheduler", for_="Pod/dev/next", outcome="preempts",
                     victims=[{"pod": "dev/old", "unit": "Pod/dev/old"}]))  # fmt: skip
    async with serving(shown, log, now=lambda: noon) as url:
        page = await opened(browser, url, "map")
        facts = page.locator("dl.headline > div")
        for fact, text in enumerate(("8 of 16", "1", "1", "1", "16")):
            await expect(facts.nth(fact).locator("dd").first).to_contain_text(text)
        await expect(facts.nth(0)).to_contain_text("50 %, 8 promised")
        await expect(facts.nth(2)).to_contain_text("training 1")


async def test_at_midnight_the_headline_begins_a_new_day_though_nothing_happens(browser: Browser):
    """It showed what was counted yesterday until something changed, and the browser's clock said of what."""
    moment = datetime(2026, 11, 15, 23, 59, 59, tzinfo=UTC)
    log = DecisionLog()
    for age in (timedelta(days=2), timedelta(hours=1)):
        log.add(Decision(time=moment - age, controller="scheduler", for_="Pod/dev/next", outcome="preempts",
                         victims=[{"pod": "dev/old", "unit": "Pod/dev/old"}]))  # fmt: skip
    async with serving(Inventory(), log, now=lambda: moment) as url:
        page = await opened(browser, url, "map")
        fact = page.locator("dl.headline > div", has_text="preemptions today")
        await expect(fact.locator("dd").first).to_have_text("1")
        moment += timedelta(seconds=2)
        await expect(fact.locator("dd").first).to_have_text("0")
        await page.close()


async def test_a_managers_page_leads_to_its_workers_and_a_won_workload_has_no_turn(browser: Browser):
    shown = Inventory()
    for name, address in (("worker1", "http://127.0.0.1:1234/"), ("worker2", "javascript:alert(1)")):
        cluster = worker_cluster(name, active=True)
        cluster["metadata"]["annotations"] = {"reprieve.dev/page": address}
        put(shown, cluster)
    put(shown, scenes.dispatched("won", ["worker1", "worker2"], "worker1", "worker1"))
    put(shown, scenes.dispatched("open", ["worker1", "worker2"], "worker1"))
    put(shown, flavor(), cluster_queue("main", 1), local_queue("jobs", "main", namespace="ml"))
    put(shown, workload("late", 3, queue="jobs", namespace="ml"))
    async with serving(shown) as url:
        page = await opened(browser, url, "")
        waiting = page.locator("dl.headline > div", has_text="workloads waiting")
        await expect(waiting).to_have_text("workloads waiting1main 1")
        await expect(page.locator("nav a[aria-current=page]")).to_have_text("Fleet")
        link = page.get_by_role("link", name="The page of worker1")
        await expect(link).to_have_attribute("href", "http://127.0.0.1:1234/")
        await expect(page.get_by_role("link", name="The page of worker2")).to_have_count(0)
        won = page.locator("tbody tr", has_text="ml/won")
        await expect(won).to_contain_text("was the turn of")
        await expect(won).not_to_contain_text("next cluster's turn")
        await expect(page.locator("tbody tr", has_text="ml/open")).to_contain_text("next cluster's turn in")
        await look(page, url, "map")
        await expect(page.get_by_text("This is a manager")).to_be_visible()
        await expect(page.get_by_text("No nodes yet")).to_have_count(0)


async def test_a_what_if_is_shared_as_an_address_and_sent_nowhere_until_asked(browser: Browser):
    asked: list[str] = []

    async def planner(manifest: str, for_: str) -> dict[str, Any]:
        asked.append(manifest)
        return await no_plan(manifest, for_)

    async with serving(scenes.crowd(2), planner=planner) as url:
        page = await opened(browser, url, "whatif")
        await page.locator("textarea").fill("kind: Pod # größer\n")
        await page.get_by_role("button", name="Share as a link").click()
        await expect(page.get_by_text("The link is")).to_be_visible()
        complaints: list[str] = []
        other = await opened(browser, url, page.url.partition("#/")[2], complaints)
        sent: list[str] = []
        other.on("request", lambda request: sent.append(request.url + (request.post_data or "")))
        await expect(other.locator("textarea")).to_have_value("kind: Pod # größer\n")
        assert not asked
        assert not any("größer" in each or "manifest" in each for each in sent)
        await other.get_by_role("button", name="Who would make way?").click()
        await expect(other.get_by_role("region", name="Plan")).to_be_visible()
        assert asked == ["kind: Pod # größer\n"]
        await other.get_by_role("button", name="Compare algorithms").click()
        await expect(other.get_by_role("region", name="Comparison")).to_contain_text("kubernetes costs least")
        await look(other, url, "whatif/manifest/AAAA")
        await expect(other.get_by_role("alert")).to_contain_text("damaged")
        noise = Random(1).randbytes(30_000).hex()  # half of it cannot be squeezed out
        await page.locator("textarea").fill(noise)
        await page.get_by_role("button", name="Share as a link").click()
        await expect(page.get_by_text("too long for a link")).to_be_visible()
        assert complaints == []


async def test_names_that_look_like_markup_are_text_everywhere(browser: Browser):
    shown, log = scenes.crowd(2), DecisionLog()
    victims = [{"pod": f"dev/{MARKUP}", "unit": f"Pod/dev/{MARKUP}", "reason": MARKUP, "node": "h100-0"}]
    decided(log, f"Pod/ml/{MARKUP}", "preempts", 1, victims=victims, reasons=[MARKUP])
    put(shown, pod(MARKUP, on="h100-0"), pod_group(MARKUP, 2))
    unit = "unit/of/Pod%2Fml%2F%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E"
    async with serving(shown, log) as url:
        page = await opened(browser, url, "flow")
        for view in ("flow", "preemptions/id/1", unit, "map/node/h100-0", "groups"):
            await look(page, url, view)
            await expect(page.get_by_text(MARKUP).first).to_be_visible()
            assert await page.locator("img[src=x]").count() == 0, view
        await page.keyboard.press("/")
        await page.get_by_role("combobox", name="Search everything").fill("onerror")
        await expect(page.get_by_role("dialog").get_by_role("option").first).to_contain_text(MARKUP)
        assert await page.locator("img[src=x]").count() == 0


async def test_what_waits_says_when_it_starts_and_what_that_takes_for_granted(browser: Browser):
    complaints: list[str] = []
    ready = asyncio.Event()

    async def slowly(target: str) -> dict[str, Any]:
        await ready.wait()
        if target != CRUNCH:
            raise ReprieveError("the answer was given up")
        return await no_forecast(target)

    async with serving(*told(), forecaster=slowly) as url:
        page = await opened(browser, url, "unit/of/PodGroup%2Fdata%2Fcrunch", complaints)
        starts = page.locator(".starts")
        await expect(starts).to_have_text("Looking ahead for when it starts…")
        ready.set()
        await expect(starts).to_contain_text(f"{CRUNCH} starts in about 25 min; 80 %: 3 min to 78 min.")
        taken = starts.locator(".assumed")
        await expect(taken).to_have_css("position", "absolute")  # read aloud, but not in the way
        await starts.focus()
        await expect(taken).to_have_css("position", "static")
        await expect(taken).to_have_text("Nothing new comes.")
        assert complaints == []
        await look(page, url, "unit/of/PodGroup%2Fml%2Ftrain")
        await expect(starts).to_have_text("When it starts is not known: the answer was given up")
        await page.close()
