"""Pages that hang together: the reference is fresh, links lead somewhere, nothing is missing from the maps."""

import re
from pathlib import Path

import pytest
from tools import cli_reference

from tests.docs.pages import FENCE, PAGES, ROOT

LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")


def names(page: Path) -> str:
    return str(page.relative_to(ROOT))


def test_the_command_reference_is_what_the_commands_say() -> None:
    fresh = cli_reference.TARGET.read_text(encoding="utf-8") == cli_reference.render()
    assert fresh, f"docs/cli.md is stale; write it anew with: {cli_reference.REGENERATE}"


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_links_lead_somewhere(page: Path) -> None:
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    broken = []
    for match in LINK.finditer(text):
        target, _, anchor = (match[1] or match[2]).partition("#")
        if "://" in target:
            continue
        file = (page.parent / target).resolve() if target else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            broken.append(match[0])
    assert broken == []


def anchors(page: Path) -> set[str]:
    """As the usual renderers make them from headings."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def test_the_map_of_the_docs_names_every_page() -> None:
    text = (ROOT / "docs/README.md").read_text(encoding="utf-8")
    assert [
        p.name for p in ROOT.glob("docs/*.md") if p.name != "README.md" and f"({p.name})" not in text
    ] == []


def test_every_example_has_a_page_and_a_place_in_the_table() -> None:
    text = (ROOT / "examples/README.md").read_text(encoding="utf-8")
    folders = [folder for folder in (ROOT / "examples").iterdir() if folder.is_dir()]
    assert [f.name for f in folders if not (f / "README.md").exists()] == []
    assert [f.name for f in folders if f"({f.name}/)" not in text] == []
