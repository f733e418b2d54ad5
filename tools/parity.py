"""python -m tools.parity --worlds 1000 --live 50: do all commands give one answer, and does it come true?

Draws small clusters with one manifest (`tests/one_answer/worlds.py`). Each is put to plan, when, admit,
explain and the library; some also to a cluster that runs, where the manifest is applied. `--folder` asks
about the manifests of a folder in place of drawn ones. Prints every difference; exit code 1 if there is any.
"""

import argparse
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from reprieve.objects import Document, document_of, read_documents
from reprieve.whatif import targets
from tests.one_answer.doors import differences
from tests.one_answer.live import LIVE_KINDS, difference
from tests.one_answer.worlds import World, draw_world
from tests.strategies.choices import Choices

T = TypeVar("T")


class Lots(Choices):
    """Choices by lot, from a seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def number(self, low: int, high: int) -> int:
        return self._random.randint(low, high)

    def one_of(self, values: Sequence[T]) -> T:
        return self._random.choice(values)

    def chance(self, percent: int) -> bool:
        return self._random.randrange(100) < percent


class Tally(NamedTuple):
    asked: int
    differing: int


def compare_commands(questions: Iterator[tuple[str, list[Document], str]]) -> Tally:
    """`questions`: a name, the documents, and the target."""
    asked = differing = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, documents, target in questions:
            found = differences(documents, target, Path(folder))
            asked, differing = asked + 1, differing + bool(found)
            for each in found:
                print(f"{name}  {target}\n    {each}", flush=True)
    return Tally(asked, differing)


def drawn(first: int, number: int, kinds: Counter[str]) -> Iterator[tuple[str, list[Document], str]]:
    for seed in range(first, first + number):
        world = draw_world(Lots(seed))
        kinds[world.target.partition("/")[0]] += 1
        yield f"world {seed}", world.documents, world.target


def given_in(folder: Path) -> Iterator[tuple[str, list[Document], str]]:
    for path in sorted(folder.rglob("*.yaml")):
        sources = list(read_documents(path))
        for target in targets(sources):
            yield str(path), [*map(document_of, sources)], str(target)


def compare_live(first: int, number: int) -> Tally:
    differing = 0
    for seed in range(first, first + number):
        world: World = draw_world(Lots(seed), LIVE_KINDS)
        if said := difference(world):
            differing += 1
            print(f"world {seed}, live  {world.target} ({', '.join(world.parts)})\n    {said}", flush=True)
    return Tally(number, differing)


def main(options: argparse.Namespace) -> int:
    kinds: Counter[str] = Counter()
    questions = given_in(options.folder) if options.folder else drawn(options.seed, options.worlds, kinds)
    commands = compare_commands(questions)
    live = compare_live(options.seed, options.live)
    doors = "plan, when, admit, explain and the library"
    print(f"{commands.asked} questions to {doors}: {commands.differing} differ")
    if kinds:
        print("kinds: " + ", ".join(f"{kind} {number}" for kind, number in kinds.most_common()))
    print(f"{live.asked} worlds on a cluster that runs: {live.differing} differ from their plan")
    return 1 if commands.differing or live.differing else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.parity", description=__doc__)
    parser.add_argument("--worlds", type=int, default=1000)
    parser.add_argument("--live", type=int, default=50, help="so many also on a cluster that runs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="ask about these manifests in place of drawn ones")
    sys.exit(main(parser.parse_args()))
