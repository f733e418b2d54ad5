"""Random full clusters with a gang that must preempt, as cases for `bench/optimum.py`.

    python bench/unseen.py FILE.jsonl.gz [--seeds 0:330]
    python bench/optimum.py FILE.jsonl.gz

The recorded corpus is what `minimal-cost` was developed with; these cases nobody has looked at. Another range
of seeds gives other cases. Groups that go whole, budgets and two kinds of gang pods are among them.
"""

import argparse
import gzip
import json
import random
from pathlib import Path
from typing import Any

from reprieve.config import Configuration
from reprieve.objects import Reference
from reprieve.preemption import decide
from reprieve.whatif.pods import load

Document = dict[str, Any]
SUBMIT = "PodGroup/default/submit"


def pod(name: str, cpu: int, memory: int, priority: int, node: str = "", group: str = "") -> Document:
    requests = {"cpu": f"{cpu}m", "memory": f"{memory}Mi"}
    spec: Document = {
        "priority": priority,
        "containers": [{"name": "c", "image": "i", "resources": {"requests": requests}}],
    }
    if node:
        spec["nodeName"] = node
    if group:
        spec["schedulingGroup"] = {"podGroupName": group}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": spec,
        "status": {"phase": "Running" if node else "Pending"},
    }


def group(name: str, priority: int, **spec: Any) -> Document:
    return {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"priority": priority, **spec},
    }


def cluster(draw: random.Random) -> list[Document]:
    """Nodes without a free core, pods of four priorities, some of groups that go whole, and budgets."""
    groups = {f"g{number}": draw.choice((0, 10, 20)) for number in range(draw.choice((0, 0, 2, 4)))}
    whole: Document = {"disruptionMode": {"all": {}}, "schedulingPolicy": {"basic": {}}}
    found = [group(name, priority, **whole) for name, priority in groups.items()]
    for number in range(draw.randint(3, 14)):
        name, left = f"n{number:02}", draw.choice((4000, 8000, 8000, 16000))
        found.append(
            {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
                "status": {"allocatable": {"cpu": f"{left}m", "memory": f"{4 * left}Mi", "pods": "30"}},
            }
        )
        while left > 400:
            cpu = min(left, draw.choice((500, 1000, 1000, 2000, 3000)))
            left -= cpu
            own = draw.choice(list(groups)) if groups and draw.random() < 0.25 else ""
            priority = groups[own] if own else draw.choice((0, 10, 20, 30))
            running = pod(f"p{len(found)}", cpu, cpu * draw.choice((1, 2, 4)), priority, name, own)
            running["metadata"]["labels"] = {"app": f"a{draw.randrange(5)}"}
            running["status"]["startTime"] = (
                f"2026-03-{draw.randint(1, 28):02}T{draw.randint(0, 23):02}:00:00Z"
            )
            found.append(running)
    return found + [
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": f"b{number}", "namespace": "default"},
            "spec": {"selector": {"matchLabels": {"app": f"a{number}"}}},
            "status": {"disruptionsAllowed": draw.choice((0, 1, 3))},
        }
        for number in range(draw.choice((0, 1, 2)))
    ]


def case(seed: int) -> list[Document]:
    draw = random.Random(f"unseen-{seed}")
    documents, size = cluster(draw), draw.randint(2, 9)
    documents.append(group("submit", 100, schedulingPolicy={"gang": {"minCount": size}}))
    kinds = [
        (draw.choice((1000, 1500, 2000, 3000)), draw.choice((1024, 4096, 8192)))
        for _ in range(draw.choice((1, 1, 2)))
    ]
    return documents + [pod(f"s{i}", *kinds[i % len(kinds)], 100, group="submit") for i in range(size)]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--seeds", default="0:330", help="FIRST:END")
    options = parser.parse_args()
    first, end = map(int, options.seeds.split(":"))
    config = Configuration.load({"preemption": {"algorithm": "kep-5710"}})
    written = 0
    with gzip.open(options.file, "wt") as out:
        for seed in range(first, end):
            documents = case(seed)
            outcome = decide(load(documents), Reference.parse(SUBMIT), config, 0).outcome
            if outcome == "preempts":
                row = {"name": f"unseen-{seed}", "objects": documents, "submit": SUBMIT}
                out.write(json.dumps({**row, "expect": {"outcome": outcome}}) + "\n")
                written += 1
    print(f"{written} cases in which the gang preempts")


if __name__ == "__main__":
    main()
