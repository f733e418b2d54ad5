"""Every name leads to the page of what it names, also inside sentences, on a phone, and on pages of nodes and
queues; and what the page needs is fetched at once."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from playwright.async_api import Browser, expect

from reprieve.dashboard.inventory import Inventory
from reprieve.records import Decision, DecisionLog
from tests import builders
from tests.builders import reserved, workload
from tests.dashboard import scenes
from tests.dashboard.browsing import listen, look
from tests.dashboard.manifests import pod, pod_group, put, worker_cluster
from tests.dashboard.serving import serving

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]
FIRST = ("app.js", "icon.svg", "style.css", "vendor/uPlot.css")


def one_preemption() -> DecisionLog:
    records = DecisionLog()
    victims = [{"pod": "dev/p-1-0", "unit": "Pod/dev/p-1-0", "node": "h100-1", "reason": "h100-1 is short"}]
    moment = datetime.now(UTC)
    placed = {"dev/team-2-0": "h100-1"}
    for unit, outcome, went in (
        ("PodGroup/dev/team-2", "preempts", victims),
        ("Workload/dev/urgent", "preempts", [{"workload": "dev/calm", "reason": "InClusterQueue"}]),
    ):
        records.add(
            Decision(time=moment, controller="x", for_=unit, outcome=outcome, victims=went, placements=placed)
        )
    return records


async def test_names_in_sentences_lead_to_what_they_name(browser: Browser):
    complaints: list[str] = []
    async with serving(scenes.crowd(3), one_preemption()) as url:
        page = await browser.new_page(viewport={"width": 1440, "height": 900})
        listen(page, complaints)
        await look(page, url, "preemptions")
        sentences = page.locator("td", has_text="make").or_(page.locator("td", has_text="makes way"))
        quota, nodes = sentences.nth(0), sentences.nth(1)
        for row, name, place in (
            (nodes, "PodGroup/dev/team-2", "unit/of/PodGroup%2Fdev%2Fteam-2"),
            (nodes, "h100-1", "map/node/h100-1"),
            (nodes, "dev/p-1-0", "unit/of/Pod%2Fdev%2Fp-1-0"),
            (quota, "dev/calm", "unit/of/Workload%2Fdev%2Fcalm"),
        ):
            link = row.get_by_role("link", name=name, exact=True)
            await expect(link).to_have_attribute("href", f"#/{place}")
        await look(page, url, "unit/of/Job%2Fdev%2Fx")  # says "Job/dev/x waits for 4 cpu."
        await expect(page.locator(".answer")).to_contain_text("Job/dev/x waits")
        await expect(page.locator(".answer").get_by_role("link")).to_have_count(0)  # it is this page
        assert complaints == []
        await page.close()


async def test_of_many_queues_those_are_drawn_again_that_changed_and_all_when_a_name_can_lead_somewhere(
    browser: Browser,
):
    shown = scenes.crowd(3)
    for name in ("busy", "calm"):
        put(shown, builders.local_queue(name, name, namespace="dev"), builders.cluster_queue(name))
        put(shown, workload(f"{name}-0", 1, queue=name, namespace="dev"))
    async with serving(shown) as url:
        page = await browser.new_page()
        await look(page, url, "quota")
        busy = page.get_by_role("region", name="ClusterQueue busy")
        await expect(busy).to_contain_text("1 workload waiting")
        await page.evaluate("""() => { const encode = encodeURIComponent; window.drawn = new Set();
          window.encodeURIComponent = (text) => { window.drawn.add(text); return encode(text); }; }""")
        put(shown, workload("busy-1", 1, queue="busy", namespace="dev"))
        await expect(busy).to_contain_text("2 workloads waiting")
        drawn = set(await page.evaluate("() => [...window.drawn]"))
        assert "ClusterQueue/busy" in drawn
        assert "ClusterQueue/calm" not in drawn
        put(shown, pod("first", namespace="new"))
        await page.wait_for_function("() => window.drawn.has('ClusterQueue/calm')")
        await page.close()


async def test_a_queue_and_a_node_say_who_is_there_and_do_not_make_way_themselves(browser: Browser):
    shown = scenes.crowd(3)
    put(shown, builders.local_queue("jobs", "shared", namespace="dev"), builders.cluster_queue("shared"))
    put(shown, reserved(workload("holds", 1, queue="jobs", namespace="dev"), "shared"))
    put(shown, workload("waits", 1, queue="jobs", namespace="dev"))

    async def evicted_there(target: str, _decisions: object) -> dict[str, object]:
        preempted = [{"by": "PodGroup/dev/team-2"}]
        return {"for": target, "state": "ready", "sentence": "It is there.", "preemptedBy": preempted}

    async with serving(shown, explainer=evicted_there) as url:
        page = await browser.new_page()
        await look(page, url, "unit/of/ClusterQueue%2Fshared")
        rows = page.get_by_role("table", name="Its workloads").locator("tbody tr")
        await expect(rows).to_contain_text(["dev/waits", "dev/holds"])
        await expect(page.get_by_role("link", name="In the quota tree")).to_be_visible()
        await look(page, url, "unit/of/Node%2Fh100-1")
        await expect(page.locator(".takers")).to_have_text("Pods on it made way for PodGroup/dev/team-2.")
        await expect(page.get_by_text("Team", exact=True)).to_have_count(0)
        await page.close()


async def test_a_preemptor_says_how_many_made_way_for_it_not_how_many_are_listed(browser: Browser):
    """Fifty are sent to the page; of sixty it said "and 44 more" beside the six that it names."""
    async with serving(scenes.crowd(3), scenes.decisions(1, victims=60)) as url:
        page = await browser.new_page()
        await look(page, url, "unit/of/PodGroup%2Fml%2Ftrain-0")
        await expect(page.locator(".life li.preempts")).to_contain_text("dev/low-0-5 and 54 more")
        await page.close()


async def test_the_page_does_not_deny_what_it_does_not_read(browser: Browser):
    """Of a Job that had ended it said that there is no such object, below the answer that it has ended."""

    async def ended(target: str, _decisions: object) -> dict[str, object]:
        return {"for": target, "state": "finished", "sentence": f"{target} has ended."}

    async with serving(scenes.crowd(3), explainer=ended) as url:
        page = await browser.new_page()
        for unit in ("Job%2Fdev%2Fdone", "Pod%2Fdev%2Fdone"):
            await look(page, url, f"unit/of/{unit}")
            await expect(page.locator(".answer")).to_contain_text("has ended")
            life, pods = (page.get_by_role("region", name=name) for name in ("Its life", "Its pods"))
            await expect(life).to_contain_text("is kept, and nothing of it runs or waits.")
            await expect(pods).to_contain_text("None runs or waits now.")
        await page.close()


async def test_what_went_with_its_namespace_s_last_pod_still_has_its_name(browser: Browser):
    shown, log = scenes.crowd(3), DecisionLog()
    put(shown, pod_group("crunch", 2, namespace="data"))
    gone = [{"pod": "data/crunch-0", "unit": "PodGroup/data/crunch"}]
    moment = datetime.now(UTC)
    log.add(
        Decision(time=moment, controller="x", for_="PodGroup/dev/team-2", outcome="preempts", victims=gone)
    )
    async with serving(shown, log) as url:
        page = await browser.new_page()
        await look(page, url, "preemptions")
        link = page.locator("tbody").get_by_role("link", name="data/crunch-0", exact=True)
        await expect(link).to_have_attribute("href", "#/unit/of/Pod%2Fdata%2Fcrunch-0")
        await page.close()


async def test_nothing_is_said_of_the_time_before_the_first_decision_that_is_kept(browser: Browser):
    """After a restart it said "0 preemptions today" and "no preemption yet", whatever had been before."""
    since = re.compile(r"since (\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d")
    noon = datetime(2026, 11, 15, 12, tzinfo=UTC)
    async with serving(scenes.crowd(3), now=lambda: noon) as url:
        page = await browser.new_page(viewport={"width": 390, "height": 844})
        await look(page, url, "preemptions")
        await expect(page.locator("dl.headline dt", has_text="preemptions")).to_have_text(since)
        await expect(page.locator(".empty")).to_contain_text(since)
        await expect(page.locator("figcaption")).to_contain_text(re.compile("history fills|Since "))
        await look(page, url, "flow")
        await expect(page.locator(".empty")).to_contain_text(since)
        await page.close()
    kept = DecisionLog()
    kept.add(Decision(time=noon - timedelta(days=2), controller="x", for_="Pod/a/b", outcome="scheduled"))
    async with serving(scenes.crowd(3), kept, now=lambda: noon) as url:
        page = await browser.new_page()
        await look(page, url, "map")
        await expect(page.locator("dl.headline")).to_contain_text("preemptions today")
        await page.close()


async def test_what_made_way_and_is_gone_does_not_wait(browser: Browser):
    """The picture of its life had a pod wait for ever that nobody will make again."""
    shown = scenes.crowd(3)
    gone = [{"pod": "dev/p-9-9", "unit": "Pod/dev/p-9-9", "node": "h100-1"}]
    gang = [{"pod": "dev/gone-0", "unit": "PodGroup/dev/gone", "node": "h100-1"}]
    log = DecisionLog()
    put(shown, pod_group("gone", 1))
    for unit, outcome, went, minutes in (
        ("Pod/dev/p-9-9", "scheduled", [], 30),
        ("PodGroup/dev/gone", "scheduled", [], 30),
        ("PodGroup/dev/team-2", "preempts", [*gone, *gang], 10),
    ):
        time = datetime.now(UTC) - timedelta(minutes=minutes)
        log.add(Decision(time=time, controller="x", for_=unit, outcome=outcome, victims=went))
    async with serving(shown, log) as url:
        page = await browser.new_page()
        for unit in ("Pod%2Fdev%2Fp-9-9", "PodGroup%2Fdev%2Fgone"):
            await look(page, url, f"unit/of/{unit}")
            await expect(page.get_by_role("img", name="running for 20m, then gone for 10m")).to_be_visible()
        await page.close()


async def test_what_is_unfolded_can_be_read_on_a_phone(browser: Browser):
    """Its table had no width there."""
    async with serving(scenes.sweep()) as url:
        page = await browser.new_page(viewport={"width": 390, "height": 844})
        await look(page, url, "queue/open/Job%2Fdev%2Fsweep")
        pods = page.locator(".unfolded tbody tr")
        await expect(pods.first).to_be_visible()
        assert (await pods.first.bounding_box() or {"width": 0})["width"] > 300
        await page.close()


async def test_decisions_follow_namespace_and_team(browser: Browser):
    async with serving(scenes.crowd(3), one_preemption()) as url:
        page = await browser.new_page()
        await look(page, url, "preemptions/ns/dev")
        await expect(page.locator(".scroll tbody tr")).to_have_count(2)
        await look(page, url, "preemptions/ns/ops")
        await expect(page.locator(".empty")).to_contain_text("No such decision")
        await look(page, url, "flow/team/nobody")
        await expect(page.locator(".empty")).to_contain_text("Nobody of this namespace or team")
        await page.close()


async def test_a_first_visit_asks_for_little_and_for_charts_only_where_there_is_one(browser: Browser):
    """Two dozen modules, each asked for by itself, took a second on a busy machine."""
    complaints: list[str] = []
    async with serving(scenes.crowd(3)) as url:
        page = await browser.new_page()
        listen(page, complaints)
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url.removeprefix(f"{url}/")))
        await look(page, url, "map")
        assert sorted(set(asked)) == sorted(
            ["", "api/state", "api/stream", *(f"static/{each}" for each in FIRST)]
        )
        assert asked.count("api/state") == 1
        await look(page, url, "preemptions")
        await expect(page.locator(".u-over")).to_be_visible()
        assert complaints == []
        await page.close()


async def test_a_managers_first_view_can_be_narrowed_down_without_leaving_it(browser: Browser):
    """Its address names no view; the choice of a namespace led to the map, which it has not."""
    shown = Inventory()
    put(shown, worker_cluster("worker1", active=True), scenes.dispatched("open", ["worker1"], "worker1"))
    put(shown, pod("a", 1, namespace="dev"), pod("b", 1, namespace="ml"))
    async with serving(shown) as url:
        page = await browser.new_page()
        await look(page, url, "")
        await expect(page.locator("nav a[aria-current=page]")).to_have_text("Fleet")
        await page.get_by_label("Namespace").select_option("dev")
        await expect(page.get_by_text("No workload of this namespace")).to_be_visible()
        await expect(page.locator("nav a[aria-current=page]")).to_have_text("Fleet")
        await page.close()


async def test_no_column_of_a_node_s_drawer_is_cut_off(browser: Browser):
    """Names that stayed on one line pushed the age of each pod out of it."""
    shown = scenes.crowd(3)
    put(shown, pod_group("pretrain-70b-large", 1, namespace="language"))
    for name in ("pretrain-70b-large-0", "pretrain-70b-large-1"):
        document = pod(name, on="h100-1", priority=10000, group="pretrain-70b-large", namespace="language")
        requests = {"cpu": "8", "memory": "32Gi", "nvidia.com/gpu": "8"}
        document["spec"]["containers"][0]["resources"] = {"requests": requests}
        put(shown, document)
    async with serving(shown) as url:
        page = await browser.new_page(viewport={"width": 1440, "height": 900})
        await look(page, url, "map/node/h100-1")
        table = page.locator(".panel .scroll")
        await expect(table).to_contain_text("language/pretrain-70b-large-1")
        assert await table.evaluate("e => e.scrollWidth <= e.clientWidth")
        await page.close()


async def test_where_something_runs_is_offered_only_while_it_does(browser: Browser):
    """Of a gang that waits, or is gone, it led to a map without it."""
    async with serving(scenes.crowd(3)) as url:
        page = await browser.new_page()
        for name, times in (("team-0", 1), ("team-1", 0)):
            await look(page, url, f"unit/of/PodGroup%2Fdev%2F{name}")
            await expect(page.get_by_role("region", name="Its pods")).to_be_visible()
            await expect(page.get_by_role("link", name="Where it runs")).to_have_count(times)
        await page.close()
