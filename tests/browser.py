"""The browser that tests of pages open them in."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from playwright.async_api import Browser, async_playwright, expect

from tests.programs import program
from tests.waiting import PATIENCE

expect.set_options(timeout=PATIENCE * 1000)


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        started = await playwright.chromium.launch(
            executable_path=program("chromium", "chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        yield started
        await started.close()
