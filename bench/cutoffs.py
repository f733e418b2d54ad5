"""How often `kep-5710` decides better than `kubernetes`, over the recorded cases. Prints counts; exits 1 if
it is ever worse.

python bench/cutoffs.py [FILE.jsonl.gz ...]
"""

import gzip
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reprieve.config import Configuration
from reprieve.objects import Reference
from reprieve.preemption import Plan, decide
from reprieve.whatif.pods import load

CORPUS = Path(__file__).parent.parent / "tests" / "corpus" / "kubernetes"
NOBODY = -(2**62)
QUIRK = "quirk-anti-affinity-check-skipped"
"""Cases in which kube-scheduler overlooks the anti-affinity of a pod it puts back, so that its gang cannot
run after all.
"""


def rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt") as lines:
        yield from map(json.loads, lines)


def planned(row: dict[str, Any], algorithm: str) -> Plan:
    upstream = row["config"].get("featureGates", {})
    on = upstream.get("GenericWorkload", True)
    gates = {"GenericWorkload": on, "GangScheduling": on, "WorkloadAwarePreemption": on}
    config = {"preemption": {"algorithm": algorithm}, "featureGates": gates}
    return decide(load(row["objects"]), Reference.parse(row["submit"]), Configuration.load(config), 0)


def score(plan: Plan) -> tuple[int, int, int, int] | None:
    """(budget violations, highest victim priority, units, pods), None when it cannot be helped."""
    if plan.outcome not in ("preempts", "scheduled"):
        return None
    highest = max((victim.priority for victim in plan.victims), default=NOBODY)
    return plan.pdb_violations, highest, len({victim.unit for victim in plan.victims}), len(plan.victims)


def compare(path: Path) -> int:
    verdicts: Counter[str] = Counter()
    worse: list[str] = []
    for row in rows(path):
        if QUIRK in row["tags"]:
            verdicts["left out: kubernetes' plan would not stand"] += 1
            continue
        ours_plan, theirs_plan = planned(row, "kep-5710"), planned(row, "kubernetes")
        if theirs_plan.ongoing and not ours_plan.ongoing:
            verdicts["kubernetes waits in vain, kep-5710 starts from scratch"] += 1
            continue
        ours, theirs = score(ours_plan), score(theirs_plan)
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
