"""The record of a live preemption says what else was possible."""

from typing import Any

from reprieve.cluster import Cluster
from reprieve.config import Configuration
from reprieve.controllers.scheduler.service import in_time
from reprieve.objects import Reference
from reprieve.objects.decode import decode_all


def pod(name: str, priority: int, node: str = "") -> dict[str, Any]:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "2"}}}
    spec = {"priority": priority, "containers": [container], **({"nodeName": node} if node else {})}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "ml"}, "spec": spec}


def node(name: str) -> dict[str, Any]:
    status = {"allocatable": {"cpu": "2", "memory": "8Gi", "pods": "10"}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": status}


def test_a_pod_that_preempts_on_one_node_could_have_done_so_on_the_next_best():
    cluster = Cluster()
    objects = [node("a"), node("b"), pod("low", 0, "a"), pod("mid", 5, "b"), pod("high", 10)]
    for each in decode_all(objects):
        cluster.set(each)
    plan = in_time(cluster, Reference("Pod", "ml", "high"), Configuration.load({}), None)
    assert [victim.pod for victim in plan.victims] == ["ml/low"]
    assert [(each.title, each.victims) for each in plan.alternatives] == [("on node b", ("Pod/ml/mid",))]
