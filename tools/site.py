"""The docs as a site: `build/site/VERSION/`, with search, without a request to anywhere else.

    python tools/site.py [--out build/site]

The pages are those of the repository, at the same relative places, so that every link that works there works
here; one that does not is an error. Versions built before stay, and every page offers them.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import yaml

ROOT = Path(__file__).parent.parent
VERSION = version("reprieve")
TOP = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "LICENSE")
FOLDERS = ("docs", "examples", "deploy", "bench")
"""What pages link to."""

WAY_IN = (
    '<!doctype html><meta charset="utf-8"><title>Reprieve</title>'
    '<meta http-equiv="refresh" content="0; url={0}/index.html"><a href="{0}/index.html">Reprieve</a>\n'
)
NAVIGATION = {
    "Begin": ["README.md", "docs/tutorial.md", "docs/concepts.md", "examples/README.md"],
    "Guides": ["docs/guides", "CONTRIBUTING.md"],
    "Coming from": ["docs/migrate"],
    "Run it": [
        "docs/install.md",
        "docs/operations.md",
        "docs/page.md",
        "docs/configuration.md",
        "docs/metrics.md",
        "docs/troubleshooting.md",
        "docs/upgrade.md",
        "docs/security.md",
        "docs/soak.md",
    ],
    "What it decides": [
        "docs/promises.md",
        "docs/jobs.md",
        "docs/quota.md",
        "docs/quota-controller.md",
        "docs/fleet.md",
        "docs/topology.md",
        "docs/trees.md",
        "docs/volumes.md",
        "docs/minimal-cost.md",
        "docs/explain.md",
        "docs/when.md",
    ],
    "Reference": [
        "docs/cli.md",
        "docs/formats.md",
        "docs/plan-format.md",
        "docs/validation.md",
        "docs/library.md",
        "docs/server.md",
    ],
    "Change it": [
        "docs/architecture.md",
        "docs/decisions.md",
        "docs/proposals.md",
        "CHANGELOG.md",
    ],
}
"""Parts of the menu: pages, and folders of them. Pages that stand nowhere here come last, under *More*."""


def build(out: Path) -> Path:
    """Build this version's pages; returns its folder."""
    target = out / VERSION
    with tempfile.TemporaryDirectory() as folder:
        pages = Path(folder) / "pages"
        _gather(pages)
        settings = Path(folder) / "mkdocs.yml"
        settings.write_text(yaml.safe_dump(_settings(pages), sort_keys=False), encoding="utf-8")
        program = Path(sys.executable).parent / "zensical"
        made = subprocess.run(
            [program, "build", "--strict", "--config-file", settings.name],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        if made.returncode:
            raise SystemExit(made.stdout + made.stderr)
        shutil.rmtree(target, ignore_errors=True)  # not before the new one is there
        shutil.copytree(Path(folder) / "site", target)
    _offer_versions(out)
    return target


def _gather(pages: Path) -> None:
    pages.mkdir()
    for name in TOP:
        shutil.copy(ROOT / name, pages / name)
    for name in FOLDERS:
        shutil.copytree(ROOT / name, pages / name, ignore=shutil.ignore_patterns("__pycache__", "templates"))
    for page in pages.rglob("*.md"):
        # What follows a language is for the tests that run the block; here it would be no block at all.
        text = page.read_text(encoding="utf-8")
        page.write_text(re.sub(r"^( *```\w+) .*$", r"\1", text, flags=re.M), encoding="utf-8")


def _settings(pages: Path) -> dict[str, object]:
    return {
        "site_name": "Reprieve",
        "site_description": "Who makes way for whom on Kubernetes, and why.",
        "docs_dir": pages.name,
        "site_dir": "site",
        "use_directory_urls": False,  # so that it can be read from a disk
        "theme": {
            "name": "material",
            "font": False,
            "features": ["navigation.sections", "navigation.top", "search.highlight", "content.code.copy"],
            "palette": [
                {"media": "(prefers-color-scheme: light)", "scheme": "default", "primary": "indigo"},
                {"media": "(prefers-color-scheme: dark)", "scheme": "slate", "primary": "indigo"},
            ],
        },
        "plugins": ["search"],
        "markdown_extensions": ["tables", "toc", "pymdownx.superfences", "pymdownx.highlight"],
        "extra": {"version": {"provider": "mike"}, "generator": False},
        "nav": list(_menu(pages)),
    }


def _menu(pages: Path) -> Iterator[dict[str, list[dict[str, str]]]]:
    """Every page once, by its first heading."""
    left = {path.relative_to(pages).as_posix() for path in pages.rglob("*.md")}
    for part, places in NAVIGATION.items():
        found = [page for place in places for page in sorted(_at(left, place))]
        left -= set(found)
        if found:
            yield {part: [{_title(pages / page): page} for page in found]}
    yield {"More": [{_title(pages / page): page} for page in sorted(left)]}


def _at(names: set[str], place: str) -> set[str]:
    return {name for name in names if name == place or name.startswith(f"{place}/")}


def _title(page: Path) -> str:
    heading = re.search(r"^# (.+)$", page.read_text(encoding="utf-8"), re.M)
    return heading[1].replace("`", "") if heading else page.stem


def _offer_versions(out: Path) -> None:
    """The list that the pages' menu of versions reads, and a way in for those who name none."""
    found = sorted((path.parent.name for path in out.glob("*/index.html")), reverse=True)
    listed = [
        {"version": name, "title": name, "aliases": ["latest"] if name == VERSION else []} for name in found
    ]
    (out / "versions.json").write_text(json.dumps(listed, indent=2) + "\n", encoding="utf-8")
    (out / "index.html").write_text(WAY_IN.format(VERSION), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=ROOT / "build/site")
    target = build(parser.parse_args().out)
    print(f"{sum(1 for _ in target.rglob('*.html'))} pages in {target}; open {target / 'index.html'}")


if __name__ == "__main__":
    main()
