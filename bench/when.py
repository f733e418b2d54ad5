"""How honest the interval of `reprieve when` is, and how long an answer takes.

    python bench/when.py                     # both
    python bench/when.py --days 200          # more drawn days for the calibration

Calibration: days with run times of heavy tails are simulated to a moment after the last arrival and cut. Then
`when` is asked for a job that waits, with thirty earlier runs of the same distribution, and the day goes on.
The interval is to hold the truth in 80 % of the cases.
"""

import argparse
import sys
import time
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from reprieve.forecast import when
from reprieve.simulate import Job
from tests.builders import node, owned_by, pod
from tests.forecast.drawn import ask, length

NOW = "2026-01-01T01:00:00Z"
GPU = "nvidia.com/gpu"


def calibration(days: int) -> None:
    found = [each for each in (ask(seed, nodes=1, number=10, futures=50) for seed in range(days)) if each]
    inside = sum(each.holds for each in found)
    early = sum(each.said.start is not None and each.truth < (each.said.start.low or 0) for each in found)
    print(
        f"calibration: {len(found)} drawn days, the 80 % interval holds {inside / len(found):.0%} "
        f"({early / len(found):.0%} earlier, {(len(found) - inside - early) / len(found):.0%} later)"
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
    documents = cluster(nodes, waiting)
    begun = time.process_time()
    said = when(documents, f"Job/default/wait-{waiting - 1}", now=NOW, history=history)
    spent = time.process_time() - begun
    print(
        f"{nodes:,} nodes, {len(documents) - nodes:,} pods, {waiting} waiting: {spent:.1f} s of processor "
        f"time, {said.futures} futures ({1000 * spent / said.futures:.0f} ms each). {said.sentence}"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--days", type=int, default=100)
    days: int = parser.parse_args().days
    for nodes, waiting in ((10, 20), (100, 50), (1000, 500)):
        speed(nodes, waiting)
    calibration(days)


if __name__ == "__main__":
    main()
