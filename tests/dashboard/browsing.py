"""What every test of the page does with a browser."""

from playwright.async_api import ConsoleMessage, Page, expect

TITLES = {
    "map": "Cluster",
    "queue": "Queue",
    "groups": "Pod groups",
    "flow": "Who made way",
    "preemptions": "Preemptions",
    "quota": "Quota",
    "fleet": "Fleet",
    "whatif": "What if",
    "unit": "Unit",
}
VIEWS = tuple(TITLES)[:-1]


async def look(page: Page, url: str, view: str) -> None:
    """Go there, and see it: a page that is open already shows the view before for a moment."""
    await page.goto(f"{url}/#/{view}")
    await expect(page.locator("footer")).to_be_visible()  # there as soon as there is a state
    if title := TITLES.get(view.partition("/")[0]):
        await expect(page.locator("main")).to_have_attribute("aria-label", title)


def listen(page: Page, complaints: list[str]) -> None:
    def said(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            complaints.append(message.text)

    page.on("console", said)
    page.on("pageerror", lambda error: complaints.append(str(error)))
