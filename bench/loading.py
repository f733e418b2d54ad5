"""How long does it take to read a large cluster: lists as an API server sends them, decoded and taken in?

    python bench/loading.py [--nodes 50000] [--pods-per-node 10] [--repeat 3]

Prints the CPU seconds of each phase, the best of several runs: JSON into typed views, nodes into the cluster,
pods into the cluster, and the latter one by one, which is what `Cluster.set_all` is compared with. The lists
come in pages of `PAGE` objects. Aim: 4 s for 50,000 nodes and 500,000 pods on a quiet machine.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.decisions import EPOCH, timedelta

from reprieve.cluster import Cluster
from reprieve.objects.collector import collector_off
from reprieve.objects.core import Node, Pod
from reprieve.objects.decode import decode_list
from reprieve.objects.meta import Object

PAGE = 10_000


def node(i: int, pods: int) -> dict[str, Any]:
    offered = {"cpu": str(pods), "memory": f"{4 * pods}Gi", "pods": "110"}
    return {"metadata": {"name": f"node-{i:05}", "labels": {"kubernetes.io/hostname": f"node-{i:05}"}},
            "status": {"allocatable": offered}}  # fmt: skip


def pod(i: int, j: int, pods: int) -> dict[str, Any]:
    start = (EPOCH + timedelta(seconds=((pods * i + j) * 7919) % 1000003)).isoformat()
    requests = {"cpu": "1", "memory": "4Gi"}
    return {
        "metadata": {"name": f"run-{i}-{j}", "namespace": "default", "uid": f"{i:08}-{j:04}",
                     "resourceVersion": str(i), "labels": {"app": f"app{j}"}},
        "spec": {"nodeName": f"node-{i:05}", "priority": ((i + j) % 5) * 10, "schedulerName": "reprieve",
                 "containers": [{"name": "c", "image": "i", "resources": {"requests": requests}}]},
        "status": {"phase": "Running", "startTime": start},
    }  # fmt: skip


def pages(documents: Iterable[dict[str, Any]]) -> list[bytes]:
    found: list[bytes] = []
    page: list[dict[str, Any]] = []
    for each in documents:
        page.append(each)
        if len(page) == PAGE:
            found.append(msgspec.json.encode({"items": page}))
            page = []
    return [*found, msgspec.json.encode({"items": page})] if page else found


def took(work: Callable[[], Any]) -> tuple[float, Any]:
    started = time.process_time()
    result = work()
    return time.process_time() - started, result


def decoded(lists: list[bytes], view: type[Any]) -> list[Object]:
    return [each for page in lists for each in decode_list(page, view)]


def one_by_one(cluster: Cluster, objects: list[Object]) -> None:
    for each in objects:
        cluster.set(each)


def run(nodes: list[bytes], pods: list[bytes]) -> list[float]:
    with collector_off():
        decoding, (machines, running) = took(lambda: (decoded(nodes, Node), decoded(pods, Pod)))
        cluster, other = Cluster(), Cluster()
        taking, _ = took(lambda: cluster.set_all(machines))
        other.set_all(machines)
        together, _ = took(lambda: cluster.set_all(running))
        singly, _ = took(lambda: one_by_one(other, running))
    assert len(cluster.pods) == len(other.pods) == len(running)
    return [decoding, taking, together, singly]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nodes", type=int, default=50_000)
    parser.add_argument("--pods-per-node", type=int, default=10)
    parser.add_argument("--repeat", type=int, default=3)
    size = parser.parse_args()
    each = size.pods_per_node
    nodes = pages(node(i, each) for i in range(size.nodes))
    pods = pages(pod(i, j, each) for i in range(size.nodes) for j in range(each))
    best = [min(times) for times in zip(*(run(nodes, pods) for _ in range(size.repeat)), strict=True)]
    decoding, taking, together, singly = best
    print(f"{size.nodes:,} nodes and {size.nodes * each:,} pods, seconds of CPU")
    print(f"  decoded                {decoding:6.2f}")
    print(f"  nodes into the cluster {taking:6.2f}")
    print(f"  pods into the cluster  {together:6.2f}   {together / singly:.2f} of one by one ({singly:.2f})")
    print(f"  in all                 {decoding + taking + together:6.2f}   (aim: 4)")


if __name__ == "__main__":
    main()
