"""python -m tools.mutants --room quota --number 60 --seed 1: do the tests notice small wrong changes?

Draws that many mutants of each room and runs the tests that reach the mutated line until one fails. Prints
each survivor: a rule that can change unnoticed has no test. Mutants that change nothing are listed in
`equivalent.toml`, each with the reason. Exits with 1 when fewer are killed in a room than `--least` asks for.
"""

import argparse
import hashlib
import json
import os
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from tools.mutants import judging, rooms
from tools.mutants.drawing import Mutant, mutants, untouched
from tools.mutants.judging import KILLED, SURVIVED, TIMED_OUT, Trial, Verdict
from tools.mutants.reach import Reach, learn

EQUIVALENT = Path(__file__).with_name("equivalent.toml")
REPORT = rooms.ROOT / "build/mutants.json"
_SHOWN = 90


def known_equivalent(listed: Path = EQUIVALENT) -> dict[tuple[str, str, str, str], str]:
    """{what names a mutant: why nothing can notice it}"""
    rows = tomllib.loads(listed.read_text(encoding="utf-8")).get("mutant", [])
    return {(each["file"], each["in"], each["before"], each["after"]): each["why"] for each in rows}


def draw(paths: Iterable[Path], number: int, seed: int) -> list[Mutant]:
    """Those whose names come first in an order by lot: the same ones when code around them has changed."""

    def lot(mutant: Mutant) -> tuple[bytes, int]:
        return hashlib.sha256(repr((seed, mutant.key)).encode()).digest(), mutant.line

    every = sorted((mutant for path in paths for mutant in mutants(path)), key=lot)
    return sorted(every[:number], key=lambda mutant: (mutant.file, mutant.line))


def trial_of(room: str, mutant: Mutant, reach: Reach) -> Trial:
    reaching = reach.of(mutant.path, None if mutant.imported else mutant.statement)
    if "sentences" in (mutant.path.stem, mutant.path.parent.name):
        # Their table is made when its file is imported, before any test reaches them.
        table = (test for test in reach.seconds if test.startswith(f"tests/{room}/test_sentences.py::"))
        reaching = sorted({*reaching, *table})
    tests = judging.chosen(reaching, reach.seconds, f"tests/{room}")
    return Trial(mutant, tests, len(reaching))


def described(mutant: Mutant) -> str:
    before, after = (_short(text) for text in (mutant.before, mutant.after))
    return f"{mutant.file}:{mutant.line} in {mutant.function or 'the module'}:  {before}  →  {after}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"


def try_room(room: str, options: argparse.Namespace, reach: Reach) -> list[dict[str, object]]:
    """Draw, try and print; returns a row for each mutant."""
    drawn = draw(rooms.sources(room), options.number, options.seed)
    drawn = [mutant for mutant in drawn if options.only in described(mutant)]
    equivalent = known_equivalent()
    rows: list[dict[str, object]] = []
    trials: list[Trial] = []
    for mutant in drawn:
        if why := equivalent.get(mutant.key):
            rows.append(_row(room, Verdict(Trial(mutant, {}), "equivalent", "", 0.0)) | {"why": why})
        else:
            trials.append(trial_of(room, mutant, reach))
    verdicts = []
    for verdict in judging.judge(trials, options.jobs):
        verdicts.append(verdict)
        rows.append(_row(room, verdict))
        if verdict.outcome == SURVIVED:
            _, tests, reached = verdict.trial
            print(
                f"  survived {len(tests)} of {reached} tests: {described(verdict.trial.mutant)}", flush=True
            )
    _fail_only_on_mutants(verdicts, reach)
    return rows


def _fail_only_on_mutants(verdicts: Sequence[Verdict], reach: Reach) -> None:
    """The tests that noticed must pass on the same module untouched, or they have noticed nothing."""
    noticed = [verdict for verdict in verdicts if verdict.outcome == KILLED and verdict.by in reach.seconds]
    if not noticed:
        return
    tests = {verdict.by: reach.seconds[verdict.by] for verdict in noticed}
    [again] = judging.judge([Trial(untouched(noticed[0].trial.mutant.path), tests)])
    if again.outcome != SURVIVED:
        raise SystemExit(f"{again.by} fails without any mutation")


def _row(room: str, verdict: Verdict) -> dict[str, object]:
    mutant = verdict.trial.mutant
    return {
        "room": room, "file": mutant.file, "line": mutant.line, "in": mutant.function,
        "before": mutant.before, "after": mutant.after, "outcome": verdict.outcome, "by": verdict.by,
        "reached": verdict.trial.reached, "tried": len(verdict.trial.tests),
        "seconds": round(verdict.seconds, 1),
    }  # fmt: skip


def score(rows: Sequence[dict[str, object]]) -> tuple[float, str]:
    """(how many per cent were noticed, and that in words)"""
    count = Counter(row["outcome"] for row in rows)
    judged = len(rows) - count["equivalent"]
    noticed = judged - count[SURVIVED]
    share = 100 * noticed / judged if judged else 100.0
    text = f"{noticed} of {judged} killed ({share:.0f} %), {count[TIMED_OUT]} of them by time-out"
    return share, f"{text}; {count[SURVIVED]} survived, {count['equivalent']} equivalent"


def main(options: argparse.Namespace) -> int:
    # Every mutant is tried on the same generated input, and on little of it.
    os.environ.setdefault("REPRIEVE_TEST_SCALE", "0.1")
    os.environ.setdefault("REPRIEVE_TEST_SEED", "1")
    # Where somebody forbids Python to keep what it compiled, every mutant would have all of it compiled anew.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    chosen = options.room or list(rooms.ROOMS)
    reach = learn(rooms.tests(chosen))
    judging.warm_up()
    rows: list[dict[str, object]] = []
    weak = False
    for room in chosen:
        print(f"{room}: {options.number} mutants, seed {options.seed}", flush=True)
        of_room = try_room(room, options, reach)
        share, text = score(of_room)
        print(f"{room}: {text}", flush=True)
        weak = weak or share < options.least
        rows += of_room
        REPORT.parent.mkdir(exist_ok=True)
        REPORT.write_text(json.dumps({"seed": options.seed, "mutants": rows}, indent=1, ensure_ascii=False))
    print(f"all: {score(rows)[1]}; see {REPORT.relative_to(rooms.ROOT)}")
    return 1 if weak else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.mutants", description=__doc__)
    parser.add_argument("--room", action="append", choices=rooms.ROOMS, help="repeatable; default: all")
    parser.add_argument("--number", type=int, default=60, help="how many mutants of each room")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="of those drawn the ones with this text in their line")
    parser.add_argument("--jobs", type=int, default=1, help="how many mutants are tried at a time")
    parser.add_argument("--least", type=float, default=0, help="per cent of each room's that must be killed")
    sys.exit(main(parser.parse_args()))
