"""The docs as a site: every page, links that lead somewhere, search, and no request to anybody else."""

import functools
import http.server
import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, sync_playwright
from tools import site

from tests.docs.pages import PAGES, ROOT
from tests.programs import program
from tests.waiting import PATIENCE, eventually_so

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A link or an anchor that leads nowhere fails here already."""
    return site.build(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def address(built: Path) -> Iterator[str]:
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(built.parent))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def test_every_page_has_its_place(built: Path) -> None:
    for page in PAGES:
        name = page.relative_to(ROOT)
        made = name.with_name("index.html") if name.name == "README.md" else name.with_suffix(".html")
        assert (built / made).exists(), name


def test_what_is_marked_up_is_shown_as_it_is_meant(built: Path) -> None:
    """The first block of the guide for people who train models stood there as text, and all that followed it
    as a block: a fence with two words is none to the builder of the site. Nor is a list one without an empty
    line before it, or a table within a paragraph."""
    raw = re.compile(r"```|<p>[^<]*\n(?:[-*] |\d+\. |\|)|<p>\|")
    for page in built.rglob("*.html"):
        shown = re.sub(r"<(script|style)\b.*?</\1>", "", page.read_text(encoding="utf-8"), flags=re.S)
        assert (page.name, raw.findall(shown)) == (page.name, [])


def test_nothing_is_asked_of_others(built: Path) -> None:
    for page in built.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        for tag in re.findall(r"<(?:script|link|img|iframe)\b[^>]*>", text):
            assert not re.search(r"(?:src|href)=[\"']?(?:https?:)?//", tag), f"{page.name}: {tag}"


def test_versions_built_before_stay(built: Path) -> None:
    older = built.parent / "0.0.9"
    older.mkdir(exist_ok=True)
    (older / "index.html").write_text("old", encoding="utf-8")
    site.build(built.parent)
    listed = json.loads((built.parent / "versions.json").read_text(encoding="utf-8"))
    assert [each["version"] for each in listed] == [site.VERSION, "0.0.9"]
    assert site.VERSION in (built.parent / "index.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(address: str) -> Iterator[Page]:
    with sync_playwright() as play:
        browser = play.chromium.launch(
            executable_path=program("chromium", "chromium"),
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        page = browser.new_page()
        page.set_default_timeout(PATIENCE * 1000)
        yield page
        browser.close()


def ask(page: Page, address: str, words: str) -> None:
    """As a person does: open the search, see its field, type. The site listens to keys some time after it is
    loaded; typed before that, an n of the question leads to the next page."""
    page.goto(f"{address}/{site.VERSION}/index.html")
    field = page.get_by_role("combobox", name="Search")

    def is_open() -> bool:
        if not field.is_visible():
            page.keyboard.press("/")
        return field.is_visible()

    eventually_so(is_open, "the search opened")
    field.fill(words)


def test_search_finds_a_word_and_leads_to_its_page(page: Page, address: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    ask(page, address, "ReadWriteOncePod")
    page.get_by_role("link", name=re.compile("volume", re.I)).first.wait_for()
    assert all(url.startswith((address, "data:", "blob:")) for url in asked)


def test_the_question_that_people_have_leads_to_their_guide(page: Page, address: str) -> None:
    """All words must stand in one section, in the form in which they are typed."""
    ask(page, address, "why is my job waiting")
    found = page.locator("a[href*='ml-user.html?h=']").first
    found.wait_for()
    assert "ml-user.html" in str(found.get_attribute("href"))
