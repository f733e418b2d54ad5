"""Every promise, and every door that is held, names the test that holds it."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ("docs/promises.md", "docs/security.md", "docs/proposals.md")
PROPOSED = re.compile(r"\| (5710-[A-F]|4832|582|8303)\.\d+ \|")
NAMED = [
    found for page in PAGES for found in re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", (ROOT / page).read_text())
]


def test_there_are_promises():
    assert len(NAMED) > 15


@pytest.mark.parametrize(("file", "name"), NAMED)
def test_the_test_that_holds_a_promise_exists(file: str, name: str):
    assert re.search(rf"^ *(async )?def {name}\(", (ROOT / file).read_text(), re.MULTILINE)


def test_every_row_of_a_proposal_says_how_it_is_met():
    rows = [line for line in (ROOT / "docs/proposals.md").read_text().splitlines() if PROPOSED.match(line)]
    assert len(rows) >= 130
    for row in rows:
        number, says, here, held = (cell.strip() for cell in row.strip("|").split(" | "))
        assert says, number
        assert here, number
        assert held == "—" or "::test_" in held, number
