"""Pages that hang together: the reference is fresh, links lead somewhere, nothing is missing from the
maps.
"""

import re
from pathlib import Path

import pytest
from tools import cli_reference

from tests.docs.pages import FENCE, PAGES, ROOT, blocks

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


PATH = re.compile(
    r"`((?:(?:\.venv/bin/)?python )?(?:bench|deploy|docs|examples|src|tests|tools)/[\w./-]+)(?:::\w+)?`"
)
MAKE = re.compile(r"^(?:\$ )?make ([a-z]+)", re.M)


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_files_and_targets_that_a_page_names_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    shown = [block.text for block in blocks(page) if block.language in ("sh", "console")]
    asked = MAKE.findall("\n".join([*shown, *re.findall(r"`(make [a-z]+)`", text)]))
    paths = [path.split()[-1] for path in PATH.findall(text)]
    assert [path for path in paths if not (ROOT / path).exists()] == []
    assert [target for target in asked if target not in targets] == []


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
