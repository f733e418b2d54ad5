"""How honest the interval of `reprieve when` is, and how long an answer takes.

    python bench/when.py                     # both
    python bench/when.py --days 0            # only how long it takes
    python bench/when.py --days 400          # more drawn days for the calibration

Calibration: days are simulated to a moment after the last arrival and cut. Then `when` is asked for a job
that waits, with thirty earlier runs of the same distribution and what controllers noted of the day, and the
day goes on. The interval is to hold the truth on 80 % of the days, and to be missed as often on both sides.
Before that, without a cluster: the end of one run, or of four one after another, with few earlier runs.

Speed: the last of many waiting jobs on a full cluster. Next to it a future as it was made before: everything
built anew, and every refusal explained.
"""

import argparse
import sys
import time
from itertools import product
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

sys.path.insert(0, str(Path(__file__).parents[1]))

from reprieve.config import Configuration
from reprieve.forecast import HORIZON, when
from reprieve.forecast.asking import Question
from reprieve.forecast.gathering import gather
from reprieve.forecast.run_times import History
from reprieve.objects import Reference, objects_in, parse_time
from reprieve.preemption import decide
from reprieve.simulate import Job
from tests.builders import node, owned_by, pod
from tests.forecast.drawn import LENGTHS, ask, length, missed_by

NOW = "2026-01-01T01:00:00Z"
GPU = "nvidia.com/gpu"
FUTURES = 19
"""Of which the second and the second to last hold 80 %."""


def calibration(days: int) -> None:
    for name in LENGTHS:
        asked = (ask(seed, lengths=name, futures=FUTURES) for seed in range(days))
        found = [each for each in asked if each is not None and each.said.start is not None]
        late, early = (sum(each.side == side for each in found) / len(found) for side in (1, -1))
        print(
            f"calibration, {name}: {len(found)} drawn days, the 80 % interval holds {1 - late - early:.1%} "
            f"({early:.1%} earlier, {late:.1%} later)",
            flush=True,
        )


def few(draws: int) -> None:
    for earlier, name in product((4, 5, 10, 30), LENGTHS):
        for waiting in (0, 3):
            found = (missed_by(seed, name, earlier, waiting) for seed in range(draws))
            told = [each for each in found if each is not None]
            print(
                f"{earlier} earlier runs, {name}, the end of {1 + waiting}: {len(told)} draws, "
                f"the 80 % interval holds {told.count(0) / len(told):.1%}",
                flush=True,
            )


def cluster(nodes: int, waiting: int) -> list[dict[str, Any]]:
    """All GPUs are in use, one pod for each job, and others wait."""
    random = Random(1)
    found: list[dict[str, Any]] = [node(f"n{n}", 1000, allocatable={GPU: "8"}) for n in range(nodes)]
    for number in range(nodes):
        free = 8
        while free:
            size = min(free, random.choice((1, 2, 4, 8)))
            free -= size
            found.append(_pod(f"run-{len(found)}", size, f"n{number}"))
    return found + [_pod(f"wait-{number}", random.choice((1, 2, 4, 8)), "") for number in range(waiting)]


def _pod(name: str, gpus: int, on: str) -> dict[str, Any]:
    owner = {"ownerReferences": [owned_by("Job", name, name)], "uid": name}
    made = pod(name, 1, on=on, metadata=owner, start="2026-01-01T00:30:00Z", restartPolicy="Never")
    made["spec"]["containers"][0]["resources"]["requests"][GPU] = str(gpus)
    return made


def speed(nodes: int, waiting: int) -> None:
    random = Random(2)
    history = [Job(name=f"h{number}", submit=0, duration=length(random)) for number in range(100)]
    documents, target = cluster(nodes, waiting), Reference("Job", "default", f"wait-{waiting - 1}")
    begun = time.process_time()
    said = when(documents, str(target), now=NOW, history=history)
    spent = time.process_time() - begun
    anew = _anew(documents, target, history)
    print(
        f"{nodes:,} nodes, {len(documents) - nodes:,} pods, {waiting} waiting: {spent:.1f} s of processor "
        f"time, {said.futures} futures. A future built anew with all refusals explained: {anew:.2f} s, "
        f"{said.futures} of them {anew * said.futures:.1f} s "
        f"({anew * said.futures / spent:.1f} times as long). "
        f"{said.sentence}",
        flush=True,
    )


def _anew(documents: list[dict[str, Any]], target: Reference, history: list[Job]) -> float:
    known = History()
    for job in history:
        known.add_row(job.queue, job.duration)
    settings = Configuration.load(None)
    situation = gather(objects_in(documents), frozenset([target]), settings, parse_time(NOW), known)
    question = Question(situation, [target], HORIZON, 0)
    lengths = question._chances.drawn(0)

    def explained(*about: Any, **_: Any) -> Any:
        return decide(*about)

    begun = time.process_time()
    with mock.patch("reprieve.forecast.claims.decide", explained):
        question._replay(lengths).run(lengths)
    return time.process_time() - begun


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--days", type=int, default=100)
    days: int = parser.parse_args().days
    for nodes, waiting in ((10, 20), (100, 50), (1000, 500)):
        speed(nodes, waiting)
    if days:
        few(10 * days)
        calibration(days)


if __name__ == "__main__":
    main()
