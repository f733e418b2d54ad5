"""A person who is faster than the page: what is focused, typed or pressed in the moment in which a view opens
or closes, or in which news arrive, is not lost and goes where it was meant to go.
"""

from datetime import UTC, datetime

import pytest
from playwright.async_api import Browser, Page, expect

from reprieve.dashboard.guard import Access
from reprieve.records import Decision
from tests.dashboard import scenes
from tests.dashboard.browsing import look
from tests.dashboard.manifests import pod, put
from tests.dashboard.serving import serving

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]


async def opened(browser: Browser, url: str, view: str) -> Page:
    page = await browser.new_page(viewport={"width": 1440, "height": 900})
    await look(page, url, view)
    return page


async def test_a_row_stays_what_it_is_when_others_come_before_it(browser: Browser):
    """Every row was made anew: the focus was gone, and a click that had begun led nowhere."""
    shown, log = scenes.sweep(), scenes.decisions(3)
    async with serving(shown, log) as url:
        page = await opened(browser, url, "queue/open/Job%2Fdev%2Fsweep")
        await expect(page.locator(".unfolded tbody tr")).to_have_count(5)
        link = page.get_by_role("link", name="dev/sweep-3", exact=True)
        await link.focus()
        pods = await page.locator(".unfolded").element_handle()
        put(shown, pod("first", 64, priority=5000), pod("second", 64, priority=4000))
        await expect(page.locator("tbody tr").first).to_contain_text("Pod/dev/first")
        await expect(link).to_be_focused()
        assert pods is not None
        assert await pods.evaluate("e => e.isConnected")
        await look(page, url, "preemptions")
        row = page.locator(".scroll tbody tr").first.get_by_role("link").first
        await row.focus()
        focused = await row.get_attribute("href")
        log.add(Decision(time=datetime.now(UTC), controller="x", for_="Pod/dev/late", outcome="preempts",
                         victims=[{"pod": "dev/p-1-0", "unit": "Pod/dev/p-1-0"}]))  # fmt: skip
        await expect(page.locator(".scroll tbody tr").first).to_contain_text("Pod/dev/late")
        assert await page.evaluate("document.activeElement.getAttribute('href')") == focused
        await page.close()


async def test_a_moment_of_a_life_stays_what_it_is_when_the_next_one_comes(browser: Browser):
    """The focused link became that of another decision."""
    log = scenes.decisions(1)
    async with serving(scenes.crowd(5), log) as url:
        page = await browser.new_page(viewport={"width": 1440, "height": 900})
        await page.clock.install()
        await look(page, url, "unit/of/PodGroup%2Fml%2Ftrain-0")
        link = page.locator(".life").get_by_role("link", name="The decision: ").first
        await link.focus()
        first = await link.get_attribute("href")
        log.add(Decision(time=datetime.now(UTC), controller="scheduler", for_="PodGroup/ml/train-0",
                         outcome="unschedulable"))  # fmt: skip
        await page.clock.run_for(10_000)
        await expect(page.locator(".life li").first).to_contain_text("found no place")
        assert await page.evaluate("document.activeElement.getAttribute('href')") == first
        await page.close()


async def test_enter_right_after_the_last_letter_opens_what_is_found(browser: Browser):
    """It was thrown away while the search was still on its way."""
    async with serving(scenes.crowd(5)) as url:
        page = await opened(browser, url, "map")
        await page.keyboard.press("/")
        await page.keyboard.type("h100-3")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("region", name="Node h100-3")).to_be_visible()
        await expect(page.get_by_role("dialog")).to_have_count(0)
        await page.keyboard.press("/")
        await page.keyboard.type("no such thing")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("dialog").get_by_role("status")).to_contain_text("Nothing is called")
        dialog = page.get_by_role("dialog")
        await dialog.get_by_role("combobox").fill("team-1")  # which nobody asked to open
        await expect(dialog.get_by_role("option").first).to_contain_text("dev/team-1")
        await expect(dialog).to_be_visible()
        await page.close()


async def test_new_matches_are_chosen_from_the_first_on(browser: Browser):
    """For a moment it was the third of the new ones, because the third of the old ones had been chosen."""
    async with serving(scenes.crowd(5)) as url:
        page = await opened(browser, url, "map")
        await page.keyboard.press("/")
        dialog = page.get_by_role("dialog")
        box, options = dialog.get_by_role("combobox"), dialog.get_by_role("option")
        await box.fill("h100")
        await expect(options).to_have_count(5)
        for _ in range(2):
            await page.keyboard.press("ArrowDown")
        await expect(options.nth(2)).to_have_attribute("aria-selected", "true")
        await page.evaluate("""() => {
          new MutationObserver(() => {
            const rows = [...document.querySelectorAll("[role=option]")];
            if (!rows.length || !rows[0].textContent.includes("p-")) return;
            window.chosen ??= rows.findIndex((row) => row.getAttribute("aria-selected") === "true");
          }).observe(document.body, { childList: true, subtree: true, characterData: true });
        }""")
        await box.fill("p-")
        await expect(options.first).to_contain_text("p-")
        assert await page.evaluate("window.chosen") == 0
        await page.close()


async def test_a_key_in_the_moment_in_which_a_dialog_closes_is_not_lost(browser: Browser):
    """The browser leaves the focus in a closed dialog until it paints again; keys were taken for its text."""
    async with serving(scenes.crowd(3)) as url:
        for key, words in (("?", "Keys"), ("/", "Search")):
            page = await opened(browser, url, "map")
            await page.keyboard.press(key)
            await expect(page.get_by_role("dialog", name=words)).to_be_visible()
            focused = await page.evaluate(
                """() => {
                    document.querySelector("dialog").close();
                    const focused = document.activeElement.tagName;
                    dispatchEvent(new KeyboardEvent("keydown", { key: "2" }));
                    return focused;
                }"""
            )
            assert focused == "INPUT"
            await expect(page.locator("nav a[aria-current=page]")).to_have_text("Queue")


CLOSINGS = {"/": ("Escape", "outside"), "?": ("Escape", "Close", "outside")}


@pytest.mark.parametrize("key", CLOSINGS)
async def test_a_dialog_gives_the_focus_back_however_it_is_closed(browser: Browser, key: str):
    async with serving(scenes.crowd(5)) as url:
        page = await opened(browser, url, "map")
        card = page.get_by_role("link", name="h100-2")
        for way in CLOSINGS[key]:
            await card.focus()
            await page.keyboard.press(key)
            dialog = page.get_by_role("dialog")
            await expect(dialog).to_be_visible()
            if way == "Escape":
                await page.keyboard.press("Escape")
            elif way == "Close":
                await page.get_by_role("button", name="Close").click()
            else:
                await page.mouse.click(5, 890)
            await expect(dialog).to_have_count(0)
            await expect(card).to_be_focused()
        await page.close()


@pytest.mark.parametrize("key", ["/", "?"])
async def test_a_dialog_that_is_asked_for_while_another_closes_opens_and_stays(browser: Browser, key: str):
    """The browser tells of a closed dialog some time later; that closed the next one."""
    async with serving(scenes.crowd(3)) as url:
        page = await opened(browser, url, "map")
        await page.keyboard.press("?")
        await expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
        await page.evaluate(
            """(key) => new Promise((told) => {
                const dialog = document.querySelector("dialog");
                dialog.addEventListener("close", () => setTimeout(told, 0));
                dialog.close();
                dispatchEvent(new KeyboardEvent("keydown", { key }));
            })""",
            key,
        )
        await expect(page.get_by_role("dialog", name="Keys" if key == "?" else "Search")).to_be_visible()
        await page.close()


async def test_a_panel_that_opens_with_its_view_has_the_focus_and_closes_with_escape(browser: Browser):
    """The view took the focus after the panel had it, so that Escape closed nothing."""
    async with serving(scenes.crowd(5), scenes.decisions(3)) as url:
        page = await opened(browser, url, "queue")
        await page.locator("tbody").get_by_role("link", name="h100-1", exact=True).click()
        panel = page.get_by_role("region", name="Node h100-1")
        await expect(panel).to_be_visible()
        await expect(panel.get_by_role("heading", name="h100-1")).to_be_focused()
        await page.keyboard.press("Escape")
        await expect(panel).to_have_count(0)
        await page.close()


async def test_the_next_row_of_an_open_panel_closes_with_escape_and_has_the_focus_again(browser: Browser):
    async with serving(scenes.crowd(5), scenes.decisions(9)) as url:
        for view, rows, name in (
            ("preemptions", ".scroll tbody td:first-child a", "Decision"),
            ("map", "a.card", "Node h100"),
        ):
            page = await opened(browser, url, view)
            links = page.locator(rows)
            await links.nth(0).click()
            panel = page.get_by_role("region", name=name)
            await expect(panel.get_by_role("heading").first).to_be_focused()
            await links.nth(1).click()
            await expect(links.nth(1)).to_have_attribute("aria-current", "true")
            await page.keyboard.press("Escape")
            await expect(panel).to_have_count(0)
            await expect(links.nth(1)).to_be_focused()
            await page.close()


async def test_the_first_key_and_the_first_address_count(browser: Browser):
    """The page listened only after its first picture was painted."""
    async with serving(scenes.crowd(2)) as url:
        for act in ('dispatchEvent(new KeyboardEvent("keydown", { key: "2" }))', 'location.hash = "#/queue"'):
            page = await browser.new_page()
            await page.add_init_script(f"""
              new MutationObserver((_, watch) => {{
                if (!document.querySelector("nav")) return;
                watch.disconnect();
                {act};
              }}).observe(document, {{ childList: true, subtree: true }});""")
            await page.goto(f"{url}/#/map")
            await expect(page.locator("nav a[aria-current=page]")).to_have_text("Queue")
            await page.close()


async def test_a_token_that_is_there_at_once_leads_to_the_shared_view(browser: Browser):
    """The login's script came after its form: whoever had a password manager lost the view of the address."""
    async with serving(scenes.crowd(2), access=Access("0.0.0.0", "correct-horse-battery")) as url:
        page = await browser.new_page()
        await page.add_init_script("""
          new MutationObserver((_, watch) => {
            const button = document.querySelector("form button");
            if (!button || !document.getElementById("token")) return;
            watch.disconnect();
            document.getElementById("token").value = "correct-horse-battery";
            button.form.requestSubmit();
          }).observe(document, { childList: true, subtree: true });""")
        await page.goto(f"{url}/#/queue")
        await expect(page.locator("nav a[aria-current=page]")).to_have_text("Queue")
        await page.close()
