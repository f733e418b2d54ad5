"""How many pods each algorithm evicts for trees of groups and for groups with a topology key.

    python bench/waste.py [FOLDER]

FOLDER has the recorded decisions of kube-scheduler (default: the share of them in tests/corpus/composite).
"""

import collections
import gzip
import json
import sys
from pathlib import Path
from typing import Any

import reprieve

HERE = Path(__file__).parent.parent / "tests" / "corpus" / "composite"
ALGORITHMS = ("kubernetes", "kep-5710", "minimal-cost")
GATES = ("PodGroupPreemptionPolicy", "TopologyAwareWorkloadScheduling", "CompositePodGroup")
Row = dict[str, Any]


def rows(path: Path) -> list[Row]:
    with gzip.open(path, "rt") as lines:
        return [json.loads(line) for line in lines]


def decided(row: Row, algorithm: str) -> Row:
    upstream = row["config"].get("featureGates", {})
    gates = {name: upstream.get(name, False) for name in GATES}
    config = {"preemption": {"algorithm": algorithm}, "featureGates": gates}
    return reprieve.plan(row["objects"], row["submit"], config=config).to_dict()


def families(row: Row) -> list[str]:
    """Which lines of the table a row counts for."""
    if row["submit"].startswith("Pod/"):
        return []
    if row["name"].startswith("topology-"):
        return ["groups with a key"]
    failed = "quirk-failed-group-still-nominated" in row["tags"]
    return ["trees", *(["trees in which a group failed"] if failed else [])]


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    counts: dict[str, collections.Counter[Any]] = collections.defaultdict(collections.Counter)
    for path in sorted(folder.glob("*-generated.jsonl.gz")):
        for row in rows(path):
            names = families(row)
            if not names or row["expect"].get("error"):
                continue
            plans = {algorithm: decided(row, algorithm) for algorithm in ALGORITHMS}
            for name in names:
                count(counts[name], plans)
    for name, counted in counts.items():
        print(f"{name}: {counted['rows']} rows, {counted['all preempt']} preempt under every algorithm")
        for algorithm in ALGORITHMS:
            print(
                f"  {algorithm}: {counted[algorithm]} victims in those; "
                f"{counted[algorithm, 'placed']} placed, with or without victims"
            )


def count(counted: collections.Counter[Any], plans: dict[str, Row]) -> None:
    counted["rows"] += 1
    for algorithm, plan in plans.items():
        counted[algorithm, "placed"] += plan["outcome"] != "unschedulable"
    if all(plan["outcome"] == "preempts" for plan in plans.values()):
        counted["all preempt"] += 1
        for algorithm, plan in plans.items():
            counted[algorithm] += len(plan["victims"])


if __name__ == "__main__":
    main()
