"""The report in a real browser, opened from a file: a hundred jobs and a hundred thousand."""

import re
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, Request, expect

from reprieve.report import Study, page
from tests.browser import chromium
from tests.dashboard.browsing import listen
from tests.report.studies import EVIL, large, small
from tests.waiting import PATIENCE

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]  # one browser for all of them

STUDIES: dict[str, Callable[[], Study]] = {"a hundred jobs": small, "a hundred thousand jobs": large}
MOST = 15_000_000
"""Bytes of a report on a hundred thousand jobs."""
A_PART = re.compile(r" to .* of ")
"""Of the time, as the page says it ("All of it" has an " of " too)."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as started:
        yield started


@pytest.fixture(scope="module", params=list(STUDIES))
def report(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(page(STUDIES[request.param]()))
    assert path.stat().st_size < MOST
    return path


class Opened:
    """A report that is open, and what it said and asked for meanwhile."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.complaints: list[str] = []
        self.requests: list[str] = []
        listen(page, self.complaints)
        page.on("request", self._asked)

    def _asked(self, request: Request) -> None:
        self.requests.append(request.url)


async def opened(browser: Browser, path: Path, **more: object) -> Opened:
    context = await browser.new_context(**more)  # type: ignore[arg-type]
    found = Opened(await context.new_page())
    await found.page.goto(path.as_uri())
    await expect(found.page.locator("#gantts[data-ready]")).to_be_attached()
    return found


async def shown(page: Page) -> float:
    """How many seconds the charts and the nodes show."""
    return float(await page.evaluate("look.to - look.from"))


async def shows_less(page: Page, than: float) -> float:
    """How many they show as soon as it is less."""
    await page.wait_for_function("most => look.to - look.from < most", arg=than, timeout=PATIENCE * 1000)
    return await shown(page)


A_BAR = """() => {
  const run = drawn.runs[0], step = page.gantt.step;
  const canvas = document.querySelector(".gantt canvas").getBoundingClientRect();
  for (let node = 0; node < MAX_NODES; node += 1) {
    for (let bar = run.offset[node]; bar < run.offset[node + 1]; bar += 1) {
      const begin = run.begin[run.stretch[bar]] * step, end = begin + run.length[run.stretch[bar]] * step;
      const from = Math.max(look.from, begin), to = Math.min(look.to, end);
      if (from >= to) continue;
      const across = ((from + to) / 2 - look.from) / (look.to - look.from);
      const middle = node + (run.low[bar] + run.high[bar]) / 2 / page.gantt.height;
      const down = (middle - look.top) / (look.bottom - look.top);
      const x = canvas.left + GUTTER + across * (canvas.width - GUTTER);
      return [x, canvas.top + down * (canvas.height - FOOT)];
    }
  }
}"""
"""Where one is that is shown."""


async def test_it_opens_without_a_complaint_and_asks_for_nothing(browser: Browser, report: Path):
    for theme in ("light", "dark"):
        found = await opened(browser, report, color_scheme=theme, viewport={"width": 1440, "height": 900})
        assert found.requests == [report.as_uri()]
        assert found.complaints == []
        await expect(found.page.locator("html")).to_have_attribute("data-theme", theme)
        await expect(found.page.locator("#used canvas")).to_be_visible()
        assert await found.page.evaluate("document.title.length") > 0
        await found.page.context.close()


@pytest.mark.parametrize("width", [1440, 800, 390])
async def test_nothing_is_wider_than_the_window(browser: Browser, report: Path, width: int):
    found = await opened(browser, report, viewport={"width": width, "height": 900})
    assert await found.page.evaluate("document.documentElement.scrollWidth") <= width
    await found.page.context.close()


async def test_the_nodes_are_zoomed_by_wheel_drag_and_keys(browser: Browser, report: Path):
    found = await opened(browser, report, viewport={"width": 1440, "height": 900})
    page_ = found.page
    canvas = page_.locator(".gantt canvas").first
    await canvas.scroll_into_view_if_needed()
    everything = await shown(page_)
    await canvas.focus()
    await page_.keyboard.press("+")
    await shows_less(page_, everything)
    await expect(page_.locator("#shown")).to_contain_text(A_PART)
    await page_.keyboard.press("0")
    await expect(page_.locator("#shown")).to_contain_text("All of it")
    box = await canvas.bounding_box()
    assert box
    await page_.mouse.move(box["x"] + 300, box["y"] + 40)
    await page_.mouse.wheel(0, -300)
    wheeled = await shows_less(page_, everything)
    await expect(page_.locator("#shown")).to_contain_text(A_PART)
    await page_.mouse.down()
    await page_.mouse.move(box["x"] + 500, box["y"] + 60, steps=4)
    await page_.mouse.up()
    await shows_less(page_, wheeled)
    await page_.get_by_role("button", name="All of it").first.click()
    await expect(page_.locator("#shown")).to_contain_text("All of it")
    assert found.complaints == []
    await page_.context.close()


async def test_a_job_is_found_by_its_name_and_its_bar_says_what_it_is(browser: Browser, report: Path):
    found = await opened(browser, report, viewport={"width": 1440, "height": 900})
    page_ = found.page
    await page_.get_by_role("searchbox").fill("job-50")
    await page_.keyboard.press("Enter")
    status = page_.locator("#found")
    await expect(status.get_by_role("heading")).to_have_text("job-50")
    await expect(status).to_contain_text("submitted at")
    await expect(status).to_contain_text("minimal-cost:")
    await page_.get_by_role("searchbox").fill("nobody")
    await page_.keyboard.press("Enter")
    await expect(status).to_have_text('No job is called, or begins with, "nobody".')
    canvas = page_.locator(".gantt canvas").first
    await canvas.scroll_into_view_if_needed()
    x, y = await page_.evaluate(A_BAR)
    await page_.mouse.move(x, y)
    await expect(page_.locator(".tip:visible")).to_contain_text("class ")
    assert found.complaints == []
    await page_.context.close()


async def test_a_job_that_is_searched_for_while_the_nodes_are_read_is_found(browser: Browser, report: Path):
    """Whoever was quicker than a hundred thousand jobs was not heard."""
    context = await browser.new_context(viewport={"width": 1440, "height": 900})
    page_ = await context.new_page()
    await page_.add_init_script("""document.addEventListener("DOMContentLoaded", () => {
      document.getElementById("job").value = "job-50";
      document.getElementById("search").requestSubmit();
      window.early = !document.querySelector("#gantts[data-ready]");
    })""")
    await page_.goto(report.as_uri())
    await expect(page_.locator("#found").get_by_role("heading")).to_have_text("job-50")
    assert await page_.evaluate("window.early")
    await context.close()


async def test_names_are_text_and_cases_unfold_for_each_configuration(browser: Browser, tmp_path: Path):
    path = tmp_path / "report.html"
    path.write_text(page(small()))
    found = await opened(browser, path)
    page_ = found.page
    await page_.get_by_role("searchbox").fill(EVIL)
    await page_.keyboard.press("Enter")
    await expect(page_.locator("#found").get_by_role("heading")).to_have_text(EVIL)
    await expect(page_.locator("#cases-1")).to_be_hidden()
    await page_.locator("#case-tabs").get_by_role("button", name="minimal-cost").click()
    await expect(page_.locator("#cases-0")).to_be_hidden()
    first = page_.locator("#cases-1 details").first
    await first.locator("summary").click()
    await expect(first.locator(".life")).to_contain_text("Submitted.")
    await first.get_by_role("button", name="Show it on its nodes").click()
    name = await first.locator("summary b").inner_text()
    await expect(page_.locator("#found").get_by_role("heading")).to_have_text(name)
    assert found.complaints == []
    await page_.context.close()


async def test_without_scripts_the_numbers_are_there(browser: Browser, tmp_path: Path):
    path = tmp_path / "report.html"
    path.write_text(page(small()))
    context = await browser.new_context(java_script_enabled=False)
    page_ = await context.new_page()
    await page_.goto(path.as_uri())
    await expect(page_.locator("#verdict table")).to_be_visible()
    await expect(page_.get_by_text("Scripts are off")).to_be_visible()
    await expect(page_.locator("#cases-1")).to_be_visible()
    await context.close()
