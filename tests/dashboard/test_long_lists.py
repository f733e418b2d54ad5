"""Lists that are longer than a window: only the rows near what can be seen are laid out while rows come and
go, which takes nobody's focus; and what has left a list is forgotten.
"""

from datetime import UTC, datetime

import pytest
from playwright.async_api import Browser, Page, expect

from reprieve.dashboard.inventory import Inventory
from reprieve.records import Decision
from tests.builders import views
from tests.dashboard import scenes
from tests.dashboard.browsing import look
from tests.dashboard.manifests import pod, put
from tests.dashboard.serving import serving
from tests.waiting import eventually

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]

HOLD = """const later = setTimeout, held = [];
setTimeout = (what, after, ...more) => (after === 1500 ? -held.push(what) : later(what, after, ...more));
window.stand = () => held.splice(0).forEach((what) => what());"""
"""The other rows are filled in once none has come or gone for 1500 ms: here, once the test says so."""


async def opened(browser: Browser, url: str, view: str) -> Page:
    page = await browser.new_page(viewport={"width": 1440, "height": 900})
    await page.add_init_script(HOLD)
    await look(page, url, view)
    return page


async def test_only_rows_near_what_can_be_seen_are_laid_out_while_rows_come_and_go(browser: Browser):
    """Laying out a hundred new rows each second took longer than a picture may."""
    log = scenes.decisions(80)
    async with serving(scenes.crowd(3), log) as url:
        page = await opened(browser, url, "preemptions/outcome/all")
        rows, far = page.locator(".scroll tbody tr:not(.far)"), page.locator(".scroll tbody tr.far")
        table = page.get_by_role("table", name="Decisions, newest first")
        await expect(far).to_have_count(1)
        assert await rows.count() < 40
        await expect(table).to_have_attribute("aria-rowcount", "81")
        link = rows.nth(3).get_by_role("link").first
        await link.focus()
        focused = await link.get_attribute("href")
        for number in range(60):
            log.add(Decision(time=datetime.now(UTC), controller="x", for_=f"Pod/dev/late-{number}",
                             outcome="preempts", victims=[{"pod": "dev/p-1-0"}]))  # fmt: skip
        await expect(table).to_have_attribute("aria-rowcount", "101")
        assert await page.evaluate("document.activeElement.getAttribute('href')") == focused
        await expect(page.locator("tr", has=page.locator(":focus"))).to_have_attribute("aria-rowindex", "65")
        await page.evaluate("stand()")
        await expect(far).to_have_count(0)
        await expect(rows).to_have_count(100)
        assert await page.evaluate("document.activeElement.getAttribute('href')") == focused
        await page.close()


async def test_who_scrolls_to_the_end_sees_it(browser: Browser):
    async with serving(scenes.crowd(3), scenes.decisions(100)) as url:
        page = await opened(browser, url, "preemptions/outcome/all")
        await expect(page.locator(".scroll tbody tr.far")).to_have_count(1)
        await page.evaluate("scrollTo(0, document.body.scrollHeight)")
        await expect(page.locator("tr[aria-rowindex='101']")).to_be_in_viewport()
        await page.close()


async def test_a_row_that_is_gone_is_forgotten(browser: Browser):
    """Each held all that was shown when it went: a page in a storm grew by a whole state a second."""
    shown, waiting = Inventory(), [pod(f"w-{number}") for number in range(5)]
    for each in waiting:
        each["status"] = {
            "phase": "Pending",
            "conditions": [{"type": "PodScheduled", "status": "False", "message": "5 Insufficient cpu."}],
        }
    put(shown, *waiting[1:])
    async with serving(shown) as url:
        page = await opened(browser, url, "queue")
        await expect(page.locator(".scroll tbody tr")).to_have_count(4)
        put(shown, waiting[0])  # what was first shown was kept
        await expect(page.locator(".scroll tbody tr")).to_have_count(5)
        await page.evaluate(
            "was = [...document.querySelectorAll('.scroll tbody tr')].map((row) => new WeakRef(row))"
        )
        for each in views(*waiting):
            shown.remove(each)
        await expect(page.locator(".empty")).to_contain_text("Nobody waits")
        chrome = await page.context.new_cdp_session(page)

        async def forgotten() -> bool:
            await chrome.send("HeapProfiler.collectGarbage")
            return bool(await page.evaluate("was.every((row) => !row.deref())"))

        await eventually(forgotten, "a row that nobody sees is kept")
        await page.close()
