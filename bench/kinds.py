"""How fast is a job of any kind expanded and planned?

A JobSet as a manifest: its pod sets are read, it is expanded to pods, the pods are taken into a cluster, and
the gang is decided on, which is what the other steps are compared with.

    python bench/kinds.py [--pods 1000] [--nodes 500]
"""

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.decode import fastest

from reprieve.config import Configuration
from reprieve.controllers.quota.job_shape import as_it_runs
from reprieve.jobs import JobKinds, expand, job_workloads, pod_sets
from reprieve.objects import Reference, decode_all, read_documents
from reprieve.preemption import decide
from reprieve.quota import Rules, settle
from reprieve.quota import load as load_quota
from reprieve.whatif.pods import cluster_of, load


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


NOW = datetime(2026, 8, 23, 12, tzinfo=UTC)
_LOTS = {"name": "pods", "nominalQuota": "1000000"}
_GROUP = {"coveredResources": ["pods"], "flavors": [{"name": "gpu", "resources": [_LOTS]}]}
CLASS = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "training"}}
QUEUE = decode_all(
    {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": metadata, "spec": spec}
    for kind, metadata, spec in (
        ("ResourceFlavor", {"name": "gpu"}, {"nodeLabels": {"pool": "gpu"}}),
        ("ClusterQueue", {"name": "cq"}, {"namespaceSelector": {}, "resourceGroups": [_GROUP]}),
        ("LocalQueue", {"name": "main", "namespace": "ml"}, {"clusterQueue": "cq"}),
    )
)


def through_quota(jobs: int) -> tuple[float, float]:
    """Seconds for plain workloads and for jobs of mixed kinds: read, queued, given quota, started.

    Both are decided by the same cycles. A job is also turned into its workload and into the job as it runs.
    """
    kinds = JobKinds()
    folder = Path(__file__).parents[1] / "examples" / "20-any-job"
    examples = [[each.document for each in read_documents(path)] for path in sorted(folder.glob("*.yaml"))]
    mixed = [each for each in examples if (kind := kinds.find(each[-1])) is not None and kind.asks == "job"]
    chosen = [mixed[number % len(mixed)] for number in range(jobs)]
    named = [{**each[-1], "metadata": {"name": f"j{n}", "namespace": "ml"}} for n, each in enumerate(chosen)]
    for document in named:
        document["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "main"}
    plain = [job_workloads(job, kinds, others)[0].workload for job, others in zip(named, chosen, strict=True)]

    def admitted(of_jobs: bool) -> None:
        quota = load_quota(
            [*QUEUE, *decode_all([{**CLASS, "value": 1000}, *plain])], Rules(ignore_undeclared=True), NOW
        )
        if of_jobs:
            for job, others in zip(named, chosen, strict=True):
                job_workloads(job, kinds, others)
        settle(quota, NOW)
        if of_jobs:
            for job, others, made in zip(named, chosen, plain, strict=True):
                info = quota.cache.workloads[f"ml/{made['metadata']['name']}"]
                as_it_runs(job, kinds, others, info.workload, quota.cache.flavors)

    return fastest(lambda: admitted(False), 3), fastest(lambda: admitted(True), 3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--pods", type=int, default=1000)
    parser.add_argument("--nodes", type=int, default=500)
    parser.add_argument("--jobs", type=int, default=5000, help="through quota, next to plain workloads")
    size = parser.parse_args()
    kinds, document = JobKinds(), jobset(size.pods)
    nodes = [node(number) for number in range(size.nodes)]
    expansion = expand(document, kinds)
    group = Reference.read(expansion.groups[0])
    cluster, config = load([*nodes, *expansion.documents]), Configuration.load(None)

    reading = fastest(lambda: pod_sets(document, kinds), 10)
    expanding = fastest(lambda: expand(document, kinds), 10)
    deciding = fastest(lambda: decide(cluster, group, config, 0), 10)
    loading = fastest(lambda: cluster_of([*expansion.groups], pods=expansion.views()), 10)
    print(f"a JobSet of {size.pods} pods on {size.nodes} nodes")
    print(f"  its pod sets             {reading * 1000:8.2f} ms")
    print(
        f"  expanded to pods         {expanding * 1000:8.2f} ms   {expanding / deciding:5.2f} of the decision"
    )
    print(f"  the pods into a cluster  {loading * 1000:8.2f} ms   {loading / deciding:5.2f}")
    print(f"  the decision             {deciding * 1000:8.2f} ms")
    print(f"  expanded and planned     {(expanding + loading + deciding) * 1000:8.2f} ms (aim: 50)")
    plain, mixed = through_quota(size.jobs)
    print(f"{size.jobs} jobs of mixed kinds through quota")
    print(f"  plain workloads          {size.jobs / plain:8.0f} a second")
    print(
        f"  jobs, made and started   {size.jobs / mixed:8.0f} a second, {plain / mixed:.2f} of it (aim: 0.8)"
    )


if __name__ == "__main__":
    main()
