"""What axe-core finds wrong with the page: nothing, on any view, in either theme, wide or narrow. And that it
can be used without a mouse, and without motion.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from reprieve.dashboard.guard import Access
from tests.dashboard import scenes
from tests.dashboard.browsing import VIEWS, look
from tests.dashboard.serving import serving
from tests.npm import package_file

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]
AXE = ("axe-core", "4.10.3", "axe.min.js")
RULES = {
    "runOnly": {
        "type": "tag",
        "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    }
}


LAY_OUT = "() => document.styleSheets[0].insertRule('* { content-visibility: visible !important }')"
"""Rows that nobody sees yet have a height by guess, and what is in them reaches into the next ones. They are
judged as people see them, not as they are until the first picture is drawn.
"""


async def complaints(page: Page) -> list[str]:
    """One line for each element that breaks a rule."""
    if not await page.evaluate("typeof axe !== 'undefined'"):
        await page.evaluate(
            package_file(*AXE)
        )  # past the policy, which forbids foreign scripts to the page itself
        await page.evaluate(LAY_OUT)
    found = await page.evaluate("rules => axe.run(document, rules)", RULES)
    return [
        f"{rule['id']}: {rule['help']}: {each['html'][:160]}"
        for rule in found["violations"]
        for each in rule["nodes"]
    ]


async def opened(browser: Browser, url: str, scheme: Any, width: int) -> Page:
    page = await browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    await look(page, url, "map")
    return page


@pytest.mark.parametrize(("scheme", "width"), [("light", 1440), ("dark", 1440), ("dark", 390)])
async def test_axe_finds_nothing_on_any_view(browser: Browser, scheme: str, width: int):
    places = (
        *VIEWS,
        "map/node/h100-1",
        "preemptions/id/1",
        "unit/of/PodGroup%2Fdev%2Fteam-2/show/yaml",
        "unit/of/x/show/events",
        "unit/of/Node%2Fh100-1",
        "flow/ns/nobody",
    )
    found: list[str] = []
    async with serving(scenes.crowd(5), scenes.decisions(9)) as url:
        page = await opened(browser, url, scheme, width)
        for view in places:
            await look(page, url, view)
            await expect(
                page.locator("main .toolbar, main .empty, main table, .panel table").first
            ).to_be_visible()
            found += [f"{view}: {each}" for each in await complaints(page)]
    assert found == []


SCENES: dict[str, Callable[[], Any]] = {
    "map": lambda: scenes.crowd(400, 2),
    "fleet": scenes.fleet,
    "quota": lambda: scenes.quotas(12, 3),
    "groups": scenes.racks,
    "queue/open/Job%2Fdev%2Fsweep": scenes.sweep,
    "unit/of/ClusterQueue%2Fqueue-0": lambda: scenes.quotas(12, 3),
    "fleet/cluster/worker1": scenes.fleet,
    "queue": scenes.long_names,
    "unit/of/Job%2Fdev%2Fsweep": scenes.sweep,
}


async def test_axe_finds_nothing_in_large_clusters_fleets_quota_trees_and_what_is_unfolded(browser: Browser):
    found: list[str] = []
    for view, scene in SCENES.items():
        async with serving(scene()) as url:
            page = await opened(browser, url, "dark", 1440)
            await look(page, url, view)
            if "open/" in view:
                await expect(page.locator(".unfolded tbody tr").first).to_be_visible()
            found += [f"{view}: {each}" for each in await complaints(page)]
            await page.close()
    assert found == []


async def test_axe_finds_nothing_in_dialogs_and_answers(browser: Browser):
    async def search(page: Page) -> None:
        await page.keyboard.press("/")
        await page.get_by_role("combobox", name="Search everything").fill("team")
        await expect(page.get_by_role("dialog").get_by_role("option").first).to_be_visible()

    async def keys(page: Page) -> None:
        await page.keyboard.press("?")
        await expect(page.get_by_role("dialog", name="Keys")).to_be_visible()

    async def plan(page: Page) -> None:
        await page.get_by_role("button", name="Who would make way?").click()
        await expect(page.get_by_role("region", name="Plan")).to_be_visible()

    async def answer(page: Page) -> None:
        await page.get_by_role("button", name="Compare algorithms").click()
        await expect(page.get_by_role("region", name="Comparison")).to_be_visible()

    steps: list[tuple[str, Callable[[Page], Awaitable[None]]]] = [
        ("map", search), ("map", keys), ("whatif", plan), ("whatif", answer)
    ]  # fmt: skip
    found: list[str] = []
    async with serving(scenes.crowd(5)) as url:
        for view, step in steps:
            page = await opened(browser, url, "light", 1024)
            await look(page, url, view)
            await step(page)
            found += [f"{view}: {each}" for each in await complaints(page)]
            await page.close()
    assert found == []


async def test_axe_finds_nothing_when_nobody_answers_and_before_the_login(browser: Browser):
    found: list[str] = []
    async with serving(scenes.crowd(5), access=Access("0.0.0.0", "correct-horse-battery")) as url:
        page = await browser.new_page()
        await page.goto(url)
        await expect(page.get_by_label("Token of this controller")).to_be_visible()
        found += [f"login: {each}" for each in await complaints(page)]
        await page.close()
    async with serving(scenes.crowd(5)) as url:
        page = await opened(browser, url, "dark", 1440)
    await expect(page.get_by_role("alert")).to_contain_text("No news")
    found += [f"alone: {each}" for each in await complaints(page)]
    await page.close()
    assert found == []


async def test_the_focus_goes_through_the_page_in_the_order_it_is_read(browser: Browser):
    async with serving(scenes.crowd(5)) as url:
        page = await opened(browser, url, "light", 1440)
        names = []
        for _ in range(16):
            await page.keyboard.press("Tab")
            names.append(await page.evaluate("document.activeElement.textContent.trim().slice(0, 24)"))
        wanted = ["Skip to the content", "Reprieve", "Cluster", "Queue", "Pod groups", "Who made way"]
        assert names[:6] == wanted
        order = "e => [...document.querySelectorAll('a, button, input, select, [tabindex=\"0\"]')].indexOf(e)"
        assert await page.evaluate(f"({order})(document.activeElement)") >= 15
        await page.keyboard.press("Shift+Tab")
        assert await page.evaluate("document.activeElement.textContent.trim().slice(0, 24)") == names[-2]


async def test_nothing_moves_for_those_who_asked_for_that(browser: Browser):
    async with serving(scenes.crowd(5)) as url:
        page = await browser.new_page(reduced_motion="reduce")
        await look(page, url, "map")
        moving = """[...document.querySelectorAll("*")].filter((e) => {
          const style = getComputedStyle(e);
          const lasts = style.transitionDuration.split(", ").some((d) => parseFloat(d) > 0);
          return lasts || style.animationName !== "none";
        }).length"""
        assert await page.evaluate(moving) == 0
