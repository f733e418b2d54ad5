"""What is mutated, and which tests may notice."""

from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROOMS = ("objects", "cluster", "placement", "preemption", "quota", "scheduler", "fleet")
_LADDER = (
    "objects", "jobs", "config", "cluster", "placement", "preemption", "preemption_minimal", "quota",
    "scheduler", "fleet", "whatif", "explain",
)  # fmt: skip
"""Folders of tests, from the lowest room up. A room's tests are its own and those further up."""


def sources(room: str) -> list[Path]:
    """The room's modules. Its fronts only hand on names."""
    found = (ROOT / "src/reprieve" / room).rglob("*.py")
    return sorted(path for path in found if path.name != "__init__.py")


def module_of(path: Path, root: Path = ROOT) -> str:
    return ".".join(path.relative_to(root / "src").with_suffix("").parts)


def tests(rooms: Iterable[str]) -> list[Path]:
    """Tests of these rooms and of those above them."""
    lowest = min(_LADDER.index(room) for room in rooms)
    found: list[Path] = []
    for folder in _LADDER[lowest:]:
        found += sorted((ROOT / "tests" / folder).glob("test_*.py"))
    return found
