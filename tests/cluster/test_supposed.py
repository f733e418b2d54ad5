"""What a what-if supposes: pods gone or elsewhere, and where they were before."""

import numpy as np
import pytest

from reprieve.cluster import NOWHERE, Cluster, Rows
from tests.builders import container, node, pod, views

HERE, THERE = 0, 1


def cluster_of_two() -> Cluster:
    """Pod 0 runs on the first node, pod 1 waits, pod 2 runs on a node that nobody knows."""
    cluster = Cluster()
    documents = (node("here"), node("there"), pod("runs", on="here"), pod("waits"), pod("lost", on="unknown"))
    cluster.set_all(views(*documents))
    return cluster


def rows(*numbers: int) -> Rows:
    return np.array(numbers, dtype=np.int32)


def cpu(cluster: Cluster) -> list[int]:
    return [int(each) for each in cluster.nodes.used[0, : cluster.nodes.slots]]


def test_to_suppose_a_waiting_pod_gone_changes_no_node() -> None:
    """Sixteen nodes fill the columns: what has no slot must not count in the last one."""
    cluster = Cluster()
    cluster.set_all(views(*(node(f"n{each}") for each in range(16)), pod("runs", on="n15"), pod("waits")))
    assert cluster.nodes.used.shape[1] == 16
    touched = list(cluster.touched)
    cluster.detach(1)
    assert cpu(cluster) == [0] * 15 + [1000]
    assert cluster.touched == touched


@pytest.mark.parametrize("many", [False, True])
def test_a_pod_that_is_supposed_gone_is_on_no_node(many: bool) -> None:
    cluster = cluster_of_two()
    if many:
        cluster.detach_all(rows(0, 1, 2))
    else:
        for each in (0, 1, 2):
            cluster.detach(each)
    assert cluster.pods.node[:3].tolist() == [NOWHERE] * 3
    assert cpu(cluster) == [0, 0]
    cluster.rollback(0)
    assert cpu(cluster) == [1000, 0]


def test_where_pods_were_at_a_checkpoint_is_known_whatever_is_supposed_since() -> None:
    cluster = cluster_of_two()
    begin, before = cluster.checkpoint(), cluster.pods.node[:3].tolist()
    cluster.detach(0)
    cluster.attach_all(rows(0, 1), rows(THERE, THERE))
    later, between = cluster.checkpoint(), cluster.pods.node[:3].tolist()
    cluster.detach_all(rows(0))
    cluster.attach(0, HERE)
    assert cluster.nodes_at(cluster.checkpoint()).tolist() == cluster.pods.node[:3].tolist()
    assert cluster.nodes_at(later).tolist() == between
    assert cluster.nodes_at(begin).tolist() == before


def test_a_host_port_is_taken_until_the_last_pod_that_has_it_is_gone() -> None:
    ports = [{"containerPort": 80, "hostPort": 80}]
    asking = [{**container(), "ports": ports}]
    pods = [pod(name, on="here", containers=asking) for name in ("a", "b")]
    cluster = Cluster()
    cluster.set_all(views(node("there"), node("here"), *pods))
    cls = cluster.class_of(0)
    assert cluster.ports.taken(cls) == {1}
    cluster.detach(0)
    assert cluster.ports.taken(cls) == {1}
    cluster.detach(1)
    assert cluster.ports.taken(cls) == set()
    cluster.rollback(0)
    assert cluster.ports.taken(cls) == {1}
    cluster.detach_all(rows(0, 1))
    assert cluster.ports.taken(cls) == set()
