"""How fast is a job of any kind expanded and planned?

A JobSet as a manifest: its pod sets are read, it is expanded to pods, the pods are taken into a cluster, and
the gang is decided on, which is what the other steps are compared with.

    python bench/kinds.py [--pods 1000] [--nodes 500]
"""

import argparse
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.decode import fastest

from reprieve.config import Configuration
from reprieve.jobs import JobKinds, expand, pod_sets
from reprieve.objects import Reference
from reprieve.preemption import decide
from reprieve.whatif.pods import load


def jobset(pods: int) -> dict[str, Any]:
    container = {"name": "c", "image": "i", "resources": {"limits": {"nvidia.com/gpu": "1"}}}
    job = {"parallelism": pods // 10, "template": {"spec": {"containers": [container]}}}
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "train", "namespace": "ml"},
        "spec": {"replicatedJobs": [{"name": "workers", "replicas": 10, "template": {"spec": job}}]},
    }


def node(number: int) -> dict[str, Any]:
    amounts = {"cpu": "64", "memory": "512Gi", "nvidia.com/gpu": "8", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": f"n{number}"},
        "status": {"allocatable": amounts},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--pods", type=int, default=1000)
    parser.add_argument("--nodes", type=int, default=500)
    size = parser.parse_args()
    kinds, document = JobKinds(), jobset(size.pods)
    nodes = [node(number) for number in range(size.nodes)]
    expansion = expand(document, kinds)
    group = Reference.read(expansion.groups[0])
    cluster, config = load([*nodes, *expansion.documents]), Configuration.load(None)

    reading = fastest(lambda: pod_sets(document, kinds), 10)
    expanding = fastest(lambda: expand(document, kinds), 10)
    deciding = fastest(lambda: decide(cluster, group, config, 0), 10)
    loading = fastest(lambda: load(expansion.documents), 10)
    print(f"a JobSet of {size.pods} pods on {size.nodes} nodes")
    print(f"  its pod sets             {reading * 1000:8.2f} ms")
    print(
        f"  expanded to pods         {expanding * 1000:8.2f} ms   {expanding / deciding:5.2f} of the decision"
    )
    print(f"  the pods into a cluster  {loading * 1000:8.2f} ms   {loading / deciding:5.2f}")
    print(f"  the decision             {deciding * 1000:8.2f} ms")
    print(f"  expanded and planned     {(expanding + loading + deciding) * 1000:8.2f} ms (aim: 50)")


if __name__ == "__main__":
    main()
