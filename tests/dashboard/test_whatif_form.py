"""The what-if form while its answer is on its way: whoever types goes on, one question at a time is asked. A
link brings all that its sender asked.
"""

import asyncio
from typing import Any

import pytest
from playwright.async_api import Browser, expect

from tests.dashboard import scenes
from tests.dashboard.browsing import look
from tests.dashboard.serving import no_comparison, no_plan, serving

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]


class Slow:
    """Answers when the test says so."""

    def __init__(self) -> None:
        self.ready = {"plan": asyncio.Event(), "compare": asyncio.Event()}
        self.asked: list[str] = []

    async def plan(self, manifest: str, for_: str) -> dict[str, Any]:
        self.asked.append(manifest)
        await self.ready["plan"].wait()
        return await no_plan(manifest, for_)

    async def compare(self, manifest: str, for_: str) -> dict[str, Any]:
        self.asked.append(manifest)
        await self.ready["compare"].wait()
        return await no_comparison(manifest, for_)


async def test_an_answer_does_not_take_the_focus_from_whoever_types(browser: Browser):
    """The rest of what was typed was lost, and a digit of it led to another view."""
    slow = Slow()
    async with serving(scenes.crowd(2), planner=slow.plan) as url:
        page = await browser.new_page()
        await look(page, url, "whatif")
        await page.locator("textarea").fill("kind: Pod\n")
        await page.locator("textarea").press("Control+Enter")
        await expect(page.get_by_role("button", name="Planning…")).to_be_visible()
        await page.keyboard.type("# a")
        slow.ready["plan"].set()
        await expect(page.get_by_role("region", name="Plan")).to_be_visible()
        await page.keyboard.type("2")
        await expect(page.locator("textarea")).to_have_value("kind: Pod\n# a2")
        await expect(page.get_by_text("The manifests were changed since this was asked.")).to_be_visible()
        await page.get_by_role("button", name="Who would make way?").click()
        await expect(page.get_by_text("The manifests were changed since this was asked.")).to_have_count(0)
        await expect(page.get_by_role("region", name="Plan").get_by_role("heading").first).to_be_focused()
        await page.close()


async def test_one_question_at_a_time_and_its_answer_waits_for_whoever_looks_elsewhere(browser: Browser):
    """Ctrl+Enter asked a second time, and whichever answer came last was shown."""
    slow = Slow()
    async with serving(scenes.crowd(2), planner=slow.plan, comparer=slow.compare) as url:
        page = await browser.new_page()
        await look(page, url, "whatif")
        await page.get_by_role("button", name="Compare algorithms").click()
        await expect(page.get_by_role("button", name="Comparing…")).to_be_visible()
        await page.locator("textarea").press("Control+Enter")
        await look(page, url, "queue")
        await expect(page.locator("textarea")).to_have_count(0)
        await look(page, url, "whatif")
        await expect(page.get_by_role("button", name="Comparing…")).to_be_visible()
        for each in slow.ready.values():
            each.set()
        await expect(page.get_by_role("region", name="Comparison")).to_be_visible()
        assert len(slow.asked) == 1
        await page.close()


async def test_a_shared_what_if_is_about_what_its_sender_asked_for(browser: Browser):
    """The next link that was opened changed the manifests, but not for whom the plan is."""
    async with serving(scenes.crowd(2)) as url:
        page = await browser.new_page()
        await look(page, url, "whatif")
        links = []
        for manifest, target in (("kind: Pod # a", "Pod/a/a"), ("kind: Pod # b", "")):
            await page.locator("textarea").fill(manifest)
            await page.get_by_label("Plan for").fill(target)
            await page.get_by_role("button", name="Share as a link").click()
            await expect(page.get_by_text("The link is")).to_be_visible()
            links.append(page.url)
            await page.locator("textarea").fill("")
            await expect(page.get_by_text("The link is")).to_have_count(0)  # that is not what it holds
        other = await browser.new_page()
        await look(other, url, "whatif/manifest/AAAA")
        await expect(other.get_by_role("alert")).to_contain_text("damaged")
        for link, text, target in ((links[0], "kind: Pod # a", "Pod/a/a"), (links[1], "kind: Pod # b", "")):
            await other.goto(link)
            await expect(other.locator("textarea")).to_have_value(text)
            await expect(other.get_by_label("Plan for")).to_have_value(target)
            await expect(other.get_by_role("alert")).to_have_count(0)
        await page.close()
        await other.close()
