"""python -m tools.mutants --room quota --number 60 --seed 1: do the tests notice small wrong changes?

Draws that many mutants of each room and runs the tests that reach the mutated line until one fails. Prints
each survivor: a rule that can change unnoticed has no test. Mutants that change nothing are listed in
`equivalent.toml`, each with the reason. Exits with 1 when fewer are killed than `--least` asks for.
"""

import argparse
import json
import os
import random
import sys
import tomllib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

# Before anything reads how much the tests generate.
os.environ.setdefault("REPRIEVE_TEST_SCALE", "0.1")

from tools.mutants import judging, rooms
from tools.mutants.drawing import Mutant, mutants
from tools.mutants.judging import SURVIVED, Verdict
from tools.mutants.reach import Reach, learn

EQUIVALENT = Path(__file__).with_name("equivalent.toml")
REPORT = rooms.ROOT / "build/mutants.json"
_SHOWN = 90


def known_equivalent() -> dict[tuple[str, str, str, str], str]:
    """{what names a mutant: why nothing can notice it}"""
    listed = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8")).get("mutant", [])
    return {(each["file"], each["in"], each["before"], each["after"]): each["why"] for each in listed}


def draw(room: str, number: int, seed: int) -> list[Mutant]:
    every = [mutant for path in rooms.sources(room) for mutant in mutants(path)]
    chosen = random.Random(f"{room} {seed}").sample(every, min(number, len(every)))
    return sorted(chosen, key=lambda mutant: (mutant.file, mutant.line))


def tried(room: str, mutant: Mutant, reach: Reach) -> Verdict:
    reaching = reach.of(mutant.path, None if mutant.imported else mutant.statement)
    tests = judging.chosen(reaching, reach.seconds, f"tests/{room}")
    expected = sum(reach.seconds[test] for test in tests)
    return judging.judge(mutant, rooms.module_of(mutant.path), len(reaching), tests, expected)


def described(mutant: Mutant) -> str:
    before, after = (_short(text) for text in (mutant.before, mutant.after))
    return f"{mutant.file}:{mutant.line} in {mutant.function or 'the module'}:  {before}  →  {after}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"


def try_room(room: str, options: argparse.Namespace, reach: Reach) -> list[dict[str, object]]:
    """Draw, try and print; returns a row for each mutant."""
    equivalent = known_equivalent()
    rows: list[dict[str, object]] = []
    for mutant in draw(room, options.number, options.seed):
        if options.only and options.only not in described(mutant):
            continue
        why = equivalent.get(mutant.key)
        verdict = Verdict(mutant, "equivalent", 0, 0, 0.0) if why else tried(room, mutant, reach)
        rows.append(_row(room, verdict, why))
        if verdict.outcome == SURVIVED:
            print(f"  survived ({verdict.reached} tests run it)  {described(mutant)}", flush=True)
        elif why:
            print(f"  equivalent  {described(mutant)}: {why}", flush=True)
    return rows


def _row(room: str, verdict: Verdict, why: str | None) -> dict[str, object]:
    mutant = verdict.mutant
    return {
        "room": room, "file": mutant.file, "line": mutant.line, "in": mutant.function,
        "before": mutant.before, "after": mutant.after, "outcome": verdict.outcome, "why": why,
        "reached": verdict.reached, "tried": verdict.tried, "seconds": round(verdict.seconds, 1),
    }  # fmt: skip


def score(rows: Sequence[dict[str, object]]) -> tuple[int, int, str]:
    """(how many were noticed, of how many, and that in words)"""
    count = Counter(row["outcome"] for row in rows)
    judged = len(rows) - count["equivalent"]
    noticed = judged - count[SURVIVED]
    share = 100 * noticed / judged if judged else 100.0
    text = f"{noticed} of {judged} killed ({share:.0f} %), {count[judging.TIMED_OUT]} of them by time-out"
    return noticed, judged, f"{text}; {count[SURVIVED]} survived, {count['equivalent']} equivalent"


def main(options: argparse.Namespace) -> int:
    chosen = options.room or list(rooms.ROOMS)
    reach = learn(rooms.tests(chosen))
    judging.warm_up()
    rows: list[dict[str, object]] = []
    for room in chosen:
        print(f"{room}: {options.number} mutants, seed {options.seed}", flush=True)
        of_room = try_room(room, options, reach)
        print(f"{room}: {score(of_room)[2]}", flush=True)
        rows += of_room
        REPORT.parent.mkdir(exist_ok=True)
        REPORT.write_text(json.dumps({"seed": options.seed, "mutants": rows}, indent=1, ensure_ascii=False))
    noticed, judged, text = score(rows)
    print(f"all: {text}; see {REPORT.relative_to(rooms.ROOT)}")
    return 0 if 100 * noticed >= options.least * judged else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.mutants", description=__doc__)
    parser.add_argument("--room", action="append", choices=rooms.ROOMS, help="repeatable; default: all")
    parser.add_argument("--number", type=int, default=60, help="how many mutants of each room")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="of those drawn the ones with this text in their line")
    parser.add_argument("--least", type=float, default=0, help="per cent that must be killed")
    sys.exit(main(parser.parse_args()))
