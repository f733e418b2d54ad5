"""A browser for the tests of the page."""

from collections.abc import AsyncIterator

import pytest_asyncio
from playwright.async_api import Browser, async_playwright, expect

from tests.programs import program
from tests.waiting import PATIENCE

expect.set_options(timeout=PATIENCE * 1000)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    """One for all tests of a module."""
    async with async_playwright() as playwright:
        started = await playwright.chromium.launch(
            executable_path=program("chromium", "chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        yield started
        await started.close()
