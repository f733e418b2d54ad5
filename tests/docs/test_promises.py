"""Every promise, and every door that is held, names the test that holds it."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ("docs/promises.md", "docs/security.md")
NAMED = [
    found for page in PAGES for found in re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", (ROOT / page).read_text())
]


def test_there_are_promises():
    assert len(NAMED) > 15


@pytest.mark.parametrize(("file", "name"), NAMED)
def test_the_test_that_holds_a_promise_exists(file: str, name: str):
    assert re.search(rf"^(async )?def {name}\(", (ROOT / file).read_text(), re.MULTILINE)
