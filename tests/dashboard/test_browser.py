"""The page in a real browser over clusters made by hand: any size, any name, any width, and when nobody
answers.
"""

import re
import socket
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.async_api import Browser, expect

from reprieve.dashboard.feed import Contact
from reprieve.dashboard.guard import Access
from reprieve.dashboard.inventory import Inventory
from reprieve.records import Decision, DecisionLog
from tests.dashboard import scenes
from tests.dashboard.browsing import VIEWS, listen, look
from tests.dashboard.manifests import node, pod, put
from tests.dashboard.serving import serving

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]  # one browser for all of them

GANG = "PodGroup%2Fml%2Ftrain"
SCENES = {
    "nothing": (Inventory, DecisionLog),
    "few nodes": (lambda: scenes.crowd(5), lambda: scenes.decisions(200)),
    "names of 253 characters": (scenes.long_names, lambda: scenes.decisions(6, name=scenes.LONG[:240])),
    "200 queues in a deep tree": (scenes.quotas, DecisionLog),
    "ten clusters": (scenes.fleet, DecisionLog),
    "racks and trees": (scenes.racks, DecisionLog),
}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def test_a_tree_is_one_row_that_unfolds_and_nodes_stand_rack_by_rack(browser: Browser):
    async with serving(scenes.racks()) as url:
        page = await browser.new_page()
        await look(page, url, "groups")
        rows = page.locator("tbody tr")
        await expect(rows).to_have_count(4)
        await expect(rows.first).to_contain_text("dev/train-1")
        await expect(rows.first).to_contain_text("2 of 2 groups in one rack")
        button = page.get_by_role("button", name="Groups of dev/train-1")
        await expect(button).to_have_attribute("aria-expanded", "false")
        await button.click()
        await expect(rows).to_have_count(6)
        await expect(rows.nth(1)).to_contain_text("dev/train-1-decode")
        await button.click()
        await expect(rows).to_have_count(4)
        await look(page, url, "map")
        headings = page.get_by_role("heading", name="rack ")
        assert [text.split()[1] for text in await headings.all_inner_texts()] == ["r0", "r1", "r2", "r3"]
        shelf = page.get_by_role("region", name="rack r0")
        await expect(shelf.locator("a.card")).to_have_count(4)
        await page.close()


@pytest.mark.parametrize("scene", SCENES)
async def test_nothing_is_wider_than_the_window_and_nothing_complains(browser: Browser, scene: str):
    inventory, records = SCENES[scene]
    async with serving(inventory(), records()) as url:
        for width in (1440, 1024, 768, 390):
            page = await browser.new_page(viewport={"width": width, "height": 900})
            complaints: list[str] = []
            listen(page, complaints)
            for view in VIEWS:
                await look(page, url, view)
                await expect(page.locator("main .toolbar, main .empty, main table").first).to_be_visible()
                assert await page.evaluate(
                    "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
                ), f"{view} at {width}"
            assert complaints == []
            await page.close()


async def test_no_column_is_cut_off_by_long_names(browser: Browser):
    """The name of a node, in one piece, pushed out why somebody waits."""
    async with serving(scenes.long_names(), scenes.decisions(6, name=scenes.LONG[:240])) as url:
        for width in (1440, 1024, 390):
            page = await browser.new_page(viewport={"width": width, "height": 900})
            for view in ("queue", "map/node/" + scenes.LONG):
                await look(page, url, view)
                table = page.locator(".scroll").first
                await expect(table).to_be_visible()
                assert await table.evaluate("e => e.scrollWidth <= e.clientWidth"), f"{view} at {width}"
            await page.close()


async def test_no_view_is_cut_off_at_any_width(browser: Browser):
    """Between a phone and a wide window their names took two lines of a head that was one line high."""
    async with serving(scenes.crowd(2)) as url:
        page = await browser.new_page()
        await look(page, url, "map")
        for width in (1440, 1280, 1200, 1199, 1100, 1024, 900, 899, 768, 641, 390, 320):
            await page.set_viewport_size({"width": width, "height": 800})
            await page.wait_for_function("width => innerWidth === width", arg=width)
            assert (
                await page.evaluate("""() => {
              const head = document.querySelector("header").getBoundingClientRect();
              const within = (box) => box.top >= head.top && box.bottom <= head.bottom
                && box.left >= 0 && box.right <= innerWidth;
              return [...document.querySelectorAll("header a, header button")]
                .filter((each) => !within(each.getBoundingClientRect())).map((each) => each.textContent);
            }""")
                == []
            ), f"at {width}"
        await page.close()


async def test_every_name_leads_to_the_story_of_its_unit(browser: Browser):
    """From the picture of who made way to the one that went, and back to whom it made way for."""
    records = DecisionLog()
    now = datetime.now(UTC)
    crunch = "PodGroup/data/crunch"
    gang = [{"pod": f"data/crunch-{i}", "unit": crunch, "reason": "node-1 is needed"} for i in range(3)]
    lone = {"pod": "dev/notebook-0", "unit": "Pod/dev/notebook-0", "violatesBudget": True}
    happened: list[tuple[str, str, list[dict[str, Any]]]] = [
        (crunch, "scheduled", []),
        ("PodGroup/ml/train", "preempts", [*gang, lone]),
        ("PodGroup/ml/train", "waits", [*gang, lone]),
        (crunch, "unschedulable", []),
    ]
    for unit, outcome, victims in happened:
        records.add(Decision(time=now, controller="scheduler", for_=unit, outcome=outcome, victims=victims))
    async with serving(scenes.crowd(5), records) as url:
        page = await browser.new_page(viewport={"width": 1440, "height": 900})
        complaints: list[str] = []
        listen(page, complaints)
        await look(page, url, "flow")
        await expect(page.locator("path.flow")).to_have_count(2)
        await expect(page.locator("path.flow.broken")).to_have_count(1)
        await page.locator(".flow-victims").get_by_role("link", name=crunch).click()
        await expect(page.locator(".answer")).to_contain_text(f"{crunch} waits for 4 cpu.")
        await expect(page.locator(".life li")).to_have_count(3)
        await expect(page.locator(".life li.went")).to_contain_text("made way with 3 pods for")
        await page.locator(".life").get_by_role("link", name="PodGroup/ml/train").click()
        await expect(page.locator(".life li.preempts")).to_contain_text(crunch)
        assert complaints == []
        await page.close()


async def test_everything_that_can_be_used_has_a_name_and_can_be_reached_by_key(browser: Browser):
    async with serving(scenes.crowd(5), scenes.decisions(9)) as url:
        page = await browser.new_page(viewport={"width": 1440, "height": 900})
        for view in (*VIEWS, "map/node/h100-1", "preemptions/id/1", f"unit/of/{GANG}"):
            await look(page, url, view)
            for role in ("link", "button", "textbox", "searchbox", "combobox"):
                for each in await page.get_by_role(role).all():  # type: ignore[arg-type]
                    told = await each.aria_snapshot()
                    assert '"' in told or ": " in told, (
                        f"{view}: a {role} without a name: {await each.inner_html()}"
                    )
                    assert await each.evaluate("e => e.tabIndex >= 0"), (
                        f"{view}: {told} cannot be reached by key"
                    )


async def test_the_skip_link_goes_to_the_content_of_the_same_view(browser: Browser):
    async with serving(scenes.crowd(5)) as url:
        page = await browser.new_page()
        await look(page, url, "queue")
        await page.keyboard.press("Tab")
        await expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
        await page.keyboard.press("Enter")
        await expect(page.locator("main")).to_be_focused()
        assert page.url.endswith("#/queue")


async def test_a_live_update_takes_neither_the_focus_nor_what_was_typed(browser: Browser):
    inventory = scenes.crowd(5)
    async with serving(inventory) as url:
        page = await browser.new_page()
        await look(page, url, "map")
        await page.get_by_role("searchbox").fill("h100-1")
        put(inventory, pod("new", on="h100-1"))
        await expect(page.locator("a.card")).to_contain_text("5 pods")
        await expect(page.get_by_role("searchbox")).to_be_focused()
        await expect(page.get_by_role("searchbox")).to_have_value("h100-1")


async def test_a_dead_controller_and_its_return_are_shown(browser: Browser):
    inventory, port = scenes.crowd(5), free_port()
    page = await browser.new_page()
    async with serving(inventory, port=port) as url:
        await look(page, url, "map")
        await expect(page.get_by_role("status")).to_have_text("live")
    await expect(page.get_by_role("alert")).to_contain_text("No news: the controller does not answer.")
    await expect(page.get_by_role("alert")).to_contain_text("Shown is the state of")
    await expect(page.get_by_role("status")).to_have_text("reconnecting…")
    await expect(page.locator("a.card")).to_have_count(5)  # the last state stays
    put(inventory, node("h100-9"))
    async with serving(inventory, port=port):
        await expect(page.locator("a.card")).to_have_count(6)
        await expect(page.get_by_role("alert")).to_have_count(0)
        await expect(page.get_by_role("status")).to_have_text("live")


async def test_a_state_that_did_not_arrive_is_asked_for_again(browser: Browser):
    """The page says so, but it waited for the next change, which in a quiet cluster does not come."""
    shown, refused = scenes.crowd(2), 0
    async with serving(shown) as url:
        page = await browser.new_page()
        await look(page, url, "map")

        async def refuse(route: Any) -> None:
            nonlocal refused
            refused += 1
            await route.fulfill(status=502, body="{}")

        await page.route("**/api/state*", refuse)
        put(shown, pod("new", 1))
        await expect(page.get_by_role("alert")).to_contain_text("502")
        await page.unroute("**/api/state*")  # not before it was seen: what is asked for again takes it away
        await expect(page.get_by_role("alert")).to_have_count(0)
        await expect(page.locator("dl.headline > div", has_text="pods waiting")).to_contain_text("4")
        assert refused
        await page.close()


async def test_a_silent_api_server_and_forbidden_kinds_are_shown(browser: Browser):
    contact = Contact(lambda: datetime.now(UTC))
    async with serving(scenes.crowd(2), contact=contact) as url:
        page = await browser.new_page()
        await look(page, url, "map")
        contact.lost("connection refused")
        await expect(page.get_by_role("alert")).to_contain_text("The API server has not answered since")
        contact.found()
        await expect(page.get_by_role("alert")).to_have_count(0)
        contact.unseen("podgroups", "403 Forbidden")
        await expect(page.get_by_role("alert")).to_contain_text(
            "1 kind cannot be shown: podgroups: 403 Forbidden"
        )


async def test_a_decision_is_shown_in_full_and_the_way_back_works(browser: Browser):
    async with serving(scenes.crowd(5), scenes.decisions(3)) as url:
        page = await browser.new_page(viewport={"width": 1440, "height": 900})
        await look(page, url, "preemptions")
        await page.locator(".scroll tbody").get_by_role("link").first.click()
        told = page.get_by_role("region", name="Decision")
        for text in (
            "6 victims made way",
            "6 victims: if it stayed, its node would be 1 cpu short for PodGroup/ml/train-",
            "broken",
            "budgets broken",
            "1 unit reprieved",
            "fits on h100-1 next to the preemptor's pods",
            "web/shop allows 0 of its pods",
            "as kube-scheduler 1.37 decides: PodGroup/data/crunch would make way (9 units, 12 pods)",
            "Where it goes",
        ):
            await expect(told).to_contain_text(text)
        await page.go_back()
        await expect(told).to_have_count(0)
        await page.go_forward()
        await expect(told).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(told).to_have_count(0)


async def test_a_panel_has_the_focus_from_its_first_moment(browser: Browser):
    """Else a key that is pressed at once (Escape) goes to what was there before."""
    async with serving(scenes.crowd(5), scenes.decisions(3)) as url:
        page = await browser.new_page(viewport={"width": 1440, "height": 900})
        await look(page, url, "preemptions")
        await page.evaluate("""() => {
          new MutationObserver(() => {
            const panel = document.querySelector(".panel");
            if (panel) window.focused ??= panel.contains(document.activeElement);
          }).observe(document.body, { childList: true, subtree: true });
        }""")
        await page.locator(".scroll tbody").get_by_role("link").first.click()
        await expect(page.get_by_role("region", name="Decision")).to_be_visible()
        assert await page.evaluate("window.focused")


async def test_the_list_of_decisions_follows_filter_and_zoom(browser: Browser):
    async with serving(scenes.crowd(5), scenes.decisions(200)) as url:
        page = await browser.new_page(viewport={"width": 1440, "height": 900})
        await look(page, url, "preemptions")
        await expect(page.locator(".scroll tbody tr")).to_have_count(67)
        await page.get_by_label("Outcome").select_option("scheduled")
        await expect(page.locator(".scroll tbody tr").first).to_contain_text("fits")
        await page.get_by_label("Outcome").select_option("preempts")
        await expect(page.locator(".scroll tbody tr")).to_have_count(67)
        await expect(page.get_by_text(re.compile("In this time [1-9]"))).to_be_visible()
        chart = page.locator(".u-over")
        box = await chart.bounding_box()
        assert box is not None
        await page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 20)
        await page.mouse.down()
        await page.mouse.move(box["x"] + box["width"] * 0.75, box["y"] + 30, steps=5)
        await page.mouse.up()
        await expect(page.get_by_role("button", name="Reset the zoom")).to_be_visible()
        await expect(page.locator(".scroll tbody tr")).not_to_have_count(67)
        assert 0 < await page.locator(".scroll tbody tr").count() < 40
        await page.get_by_role("button", name="Reset the zoom").click()
        await expect(page.locator(".scroll tbody tr")).to_have_count(67)


async def test_many_nodes_are_pools_first_and_cards_after_a_click(browser: Browser):
    async with serving(scenes.crowd(800, 2)) as url:
        page = await browser.new_page(viewport={"width": 1440, "height": 900})
        await look(page, url, "map")
        await expect(page.locator("a.tile")).to_have_count(8)
        await page.locator("a.tile").first.click()
        await expect(page.locator("a.card")).to_have_count(100)
        await page.get_by_label("Colour by").select_option("group")
        await expect(page.get_by_role("list", name="Groups")).to_contain_text("dev/team-0")
        await page.get_by_role("link", name="← all pools").click()
        await expect(page.locator("a.tile")).to_have_count(8)


def pools() -> Iterable[dict[str, Any]]:
    for i in range(640):
        labels = {"example.com/rack": f"r{i // 8}", "example.com/pool": "h100" if i < 320 else "a100"}
        yield node(f"n-{i}", "8", zone=f"zone-{i % 4}", labels=labels)


async def test_thousands_of_nodes_are_drawn_by_pool_zone_or_rack_and_a_block_leads_to_its_node(
    browser: Browser,
):
    shown = Inventory()
    put(shown, *pools())
    async with serving(shown) as url:
        page = await browser.new_page(viewport={"width": 1440, "height": 900})
        await look(page, url, "map")
        tiles = page.locator("a.tile")
        await expect(tiles).to_have_count(2)
        await expect(tiles.first).to_contain_text("320 nodes, 0 % used, 0 pods; 4 zones, 40 racks")
        await page.get_by_label("Together by").select_option("zone")
        await expect(tiles).to_have_count(4)
        await page.get_by_label("Together by").select_option("rack")
        await expect(tiles).to_have_count(80)
        assert page.url.endswith("/by/rack")
        await look(page, url, "map/by/pool")
        await expect(tiles).to_have_count(2)
        await expect(page.locator("canvas").first).to_have_attribute("style", re.compile("height"))  # drawn
        await page.locator("canvas").first.click(position={"x": 3, "y": 3})
        await expect(page.get_by_role("region", name="Node n-320")).to_be_visible()


async def test_a_gates_clock_runs_down_and_queues_show_borrowed_and_lent(browser: Browser):
    begun = datetime.now(UTC)
    async with serving(scenes.fleet(now=begun)) as url:
        page = await browser.new_page()
        await page.clock.set_fixed_time(begun + timedelta(seconds=1))  # the gate opened 40 seconds ago
        await look(page, url, "fleet")
        gate = page.locator("li.open").first
        await expect(gate).to_contain_text(
            re.compile("may preempt, for 4[0-9]s now; the next cluster's turn in 4m")
        )
        await page.clock.set_fixed_time(begun + timedelta(minutes=2))
        await expect(gate).to_contain_text("for 2m now; the next cluster's turn in 2m")
        await expect(page.get_by_text("ClientConnectionFailed")).to_be_visible()
    async with serving(scenes.quotas(30, 4)) as url:
        await look(page, url, "quota")
        await expect(page.get_by_text("borrowed", exact=False).nth(1)).to_be_visible()
        assert await page.locator(".bar-row", has_text="lent").count() > 0
        await page.get_by_role("searchbox").fill("queue-29")
        await expect(page.locator("section.queue")).to_have_count(1)


async def test_the_login_form_accepts_the_token(browser: Browser, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("reprieve.dashboard.guard.WRONG_TOKEN_SECONDS", 0.0)
    async with serving(scenes.crowd(3), access=Access("0.0.0.0", "correct-horse-battery")) as url:
        page = await browser.new_page(viewport={"width": 390, "height": 800})
        await page.goto(f"{url}/#/map/colour/group")
        await page.get_by_label("Token of this controller").fill("wrong")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("alert")).to_contain_text("not the token")
        await page.get_by_label("Token of this controller").fill("correct-horse-battery")
        await page.get_by_role("button", name="Log in").click()
        await expect(page.locator("a.card")).to_have_count(3)
        await expect(page.get_by_label("Colour by")).to_have_value("group")  # the shared address is kept
        await page.get_by_role("button", name="Log out").click()
        await expect(page.get_by_label("Token of this controller")).to_be_visible()


async def test_the_way_back_after_a_logout_shows_nothing(browser: Browser):
    """A browser keeps a page that was left as it was; it was there to be read for seconds."""
    async with serving(scenes.crowd(3), access=Access("0.0.0.0", "correct-horse-battery")) as url:
        page = await browser.new_page()
        await page.goto(url)
        await page.get_by_label("Token of this controller").fill("correct-horse-battery")
        await page.keyboard.press("Enter")
        await expect(page.locator("a.card")).to_have_count(3)
        await page.context.clear_cookies()
        await page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
        await expect(page.get_by_label("Token of this controller")).to_be_visible()
        await page.close()
