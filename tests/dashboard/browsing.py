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


GO = """hash => location.hash === hash ? null : new Promise((heard) => {
  addEventListener("hashchange", () => setTimeout(heard), { once: true });
  location.hash = hash;
})"""


async def look(page: Page, url: str, view: str) -> None:
    """Go there, and see it: a page that is open already shows what was before until it has heard of the new
    address, and a view of the same name does not differ by its title.
    """
    if page.url.partition("#")[0] == f"{url}/":
        await page.evaluate(GO, f"#/{view}")
    else:
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
