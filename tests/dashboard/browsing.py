"""What every test of the page does with a browser."""

from playwright.async_api import ConsoleMessage, Page, expect

VIEWS = ("map", "queue", "groups", "flow", "preemptions", "quota", "fleet", "whatif")


async def look(page: Page, url: str, view: str) -> None:
    await page.goto(f"{url}/#/{view}")
    await expect(page.locator("footer")).to_be_visible()  # there as soon as there is a state


def listen(page: Page, complaints: list[str]) -> None:
    def said(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            complaints.append(message.text)

    page.on("console", said)
    page.on("pageerror", lambda error: complaints.append(str(error)))
