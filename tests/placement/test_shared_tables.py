"""What placement keeps of pods: tables over all nodes, shared by pods that differ in labels only."""

from reprieve.cluster import Cluster
from reprieve.config import Configuration
from reprieve.objects import Reference
from reprieve.objects.core import Pod
from reprieve.preemption import decide
from tests.builders import node, pod, view


def test_jobs_that_differ_in_labels_only_take_no_tables_of_their_own() -> None:
    """Each Job has labels of its own; its tables would be kept long after it is gone."""
    cluster, config, kept = Cluster(), Configuration.load(None), set[int]()
    for number in range(4):
        cluster.set(view(node(f"n{number}", 8)))
    for number in range(30):
        name = f"p{number}"
        cluster.set(view(pod(name, 1, labels={"job-name": name})))
        assert decide(cluster, Reference("Pod", "default", name), config, 0).outcome == "scheduled"
        cluster.remove(Pod, f"default/{name}")
        kept.add(len(cluster.caches) + len(cluster.lasting))
    assert len(kept) == 1


def test_pods_that_differ_in_more_than_labels_keep_their_own_verdicts() -> None:
    cluster, config = Cluster(), Configuration.load(None)
    cluster.set(view(node("small", 2)))
    cluster.set(view(node("large", 8)))
    for name, cpu in (("a", 1), ("b", 6), ("c", 1), ("d", 6)):
        cluster.set(view(pod(name, cpu, labels={"job-name": name})))
    found = {
        name: decide(cluster, Reference("Pod", "default", name), config, 0).placements for name in "abcd"
    }
    assert found["b"] == {"default/b": "large"}
    assert found["d"] == {"default/d": "large"}
    assert found["a"]["default/a"] == found["c"]["default/c"]
