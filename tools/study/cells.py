"""The cells: what was simulated in each, and what came of it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
STEADY = "examples/40-simulate/steady.yaml"
FILES = {"openb": "openb.csv.gz", "philly": "philly.csv.gz", "chronus": "chronus-mix1.csv.gz"}
SCENARIOS = tuple(f"{trace}-{load}" for trace in FILES for load in (60, 90, 110))
SAVING = {
    "half-hour": ("kubernetes", "kep-5710", "minimal-cost", "minimal-cost, announced", "steady, announced"),
    "never": ("kubernetes", "kep-5710", "minimal-cost", "steady"),
}
"""How often jobs save their work, and the configurations that are compared."""


class Key(NamedTuple):
    scenario: str
    saving: str
    configuration: str

    def arguments(self, traces: Path) -> list[str]:
        """Of `reprieve simulate`."""
        name, _, announced = self.configuration.partition(", ")
        found = ["--trace", str(traces / FILES[self.scenario.split("-")[0]]), "--scenario", self.scenario]
        found += ["--checkpoint", "0s"] if self.saving == "never" else []
        found += ["--announce-checkpoints"] if announced else []
        return [*found, "--compare", STEADY if name == "steady" else name, "-o", "json"]


class Cell(NamedTuple):
    lost: float
    """GPU-hours."""
    preemptions: int
    goodput: float
    lowest: float
    """The goodput of the size class that has the lowest."""
    lowest_class: str
    p99_high: float
    """Seconds; of waiting."""
    waiting: float
    """Hours, mean."""
    completion: float | None
    commit: str
    """The code that was run; empty: an earlier version, of which nothing else is known."""


def read_answer(answer: dict[str, Any], commit: str) -> Cell:
    """What `reprieve simulate -o json` printed about one configuration."""
    (found,) = answer["configurations"]
    lowest = min(found["sizes"], key=lambda name: found["sizes"][name]["goodput"])
    return Cell(
        lost=found["lostHours"],
        preemptions=found["preemptions"],
        goodput=found["goodput"],
        lowest=found["sizes"][lowest]["goodput"],
        lowest_class=lowest,
        p99_high=found["classes"]["high"]["delay"]["p99"],
        waiting=found["delay"]["mean"] / 3600,
        completion=found["jct"]["mean"] / 3600,
        commit=commit,
    )


def keys() -> Iterator[Key]:
    """In the order in which the page shows them."""
    for saving, configurations in SAVING.items():
        for scenario in SCENARIOS:
            for each in configurations:
                yield Key(scenario, saving, each)


class Cells:
    def __init__(self, path: Path = HERE / "cells.json") -> None:
        self._path = path
        stored = json.loads(path.read_text()) if path.exists() else {}
        self._found = {Key(*name.split("/")): Cell(**cell) for name, cell in stored.items()}

    def get(self, key: Key) -> Cell | None:
        return self._found.get(key)

    def put(self, key: Key, cell: Cell) -> None:
        self._found[key] = cell
        ordered = {"/".join(each): self._found[each]._asdict() for each in keys() if each in self._found}
        lines = (f"  {json.dumps(name)}: {json.dumps(cell)}" for name, cell in ordered.items())
        self._path.write_text("{\n" + ",\n".join(lines) + "\n}\n")

    def missing(self) -> list[Key]:
        return [each for each in keys() if each not in self._found]
