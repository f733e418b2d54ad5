"""How often `kep-5710` decides better than `kubernetes`, over the recorded cases. Prints counts; exits 1 if it is ever worse.

python bench/cutoffs.py [FILE.jsonl.gz ...]
"""

import gzip
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import reprieve

CORPUS = Path(__file__).parent.parent / "tests" / "corpus" / "kubernetes"
NOBODY = -(2**62)


def rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt") as lines:
        yield from map(json.loads, lines)


def score(row: dict[str, Any], algorithm: str) -> tuple[int, int, int, int] | None:
    """(budget violations, highest victim priority, units, pods), None when it cannot be helped."""
    upstream = row["config"].get("featureGates", {})
    on = upstream.get("GenericWorkload", True)
    gates = {"GenericWorkload": on, "GangScheduling": on, "WorkloadAwarePreemption": on}
    config = {"preemption": {"algorithm": algorithm}, "featureGates": gates}
    plan = reprieve.plan(row["objects"], row["submit"], config=config).to_dict()
    if plan["outcome"] not in ("preempts", "scheduled"):
        return None
    victims = plan["victims"]
    highest = max((victim["priority"] for victim in victims), default=NOBODY)
    return plan["pdbViolations"], highest, len({victim["unit"] for victim in victims}), len(victims)


def compare(path: Path) -> int:
    verdicts: Counter[str] = Counter()
    worse: list[str] = []
    for row in rows(path):
        ours, theirs = score(row, "kep-5710"), score(row, "kubernetes")
        if ours is None or theirs is None:
            verdicts["same answer: no" if ours == theirs else "differ in whether it can be helped"] += 1
            if theirs is not None:
                worse.append(row["name"])
            continue
        verdicts["fewer budgets broken"] += ours[0] < theirs[0]
        verdicts["lower highest priority"] += ours[1] < theirs[1]
        verdicts["fewer units"] += ours[2] < theirs[2]
        verdicts["fewer pods"] += ours[3] < theirs[3]
        verdicts["more units"] += ours[2] > theirs[2]
        verdicts["same cost"] += ours == theirs
        if ours[1] > theirs[1]:
            worse.append(row["name"])
    print(path.name, dict(verdicts))
    print(f"  highest victim priority worse: {len(worse)}", *worse[:10])
    return len(worse)


if __name__ == "__main__":
    paths = [Path(each) for each in sys.argv[1:]] or sorted(CORPUS.glob("*-generated.jsonl.gz"))
    sys.exit(1 if sum([compare(path) for path in paths]) else 0)
