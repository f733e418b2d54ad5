"""The record of a live preemption says what else was possible."""

from reprieve.cluster import Cluster
from reprieve.config import Configuration
from reprieve.controllers.scheduler.service import in_time
from reprieve.objects import Reference
from reprieve.preemption import sentences
from tests.builders import node, pod, views


def test_a_pod_that_preempts_on_one_node_could_have_done_so_on_the_next_best():
    cluster = Cluster()
    low, mid = pod("low", 2, priority=0, on="a"), pod("mid", 2, priority=5, on="b")
    for each in views(node("a", 2), node("b", 2), low, mid, pod("high", 2, priority=10)):
        cluster.set(each)
    plan = in_time(cluster, Reference("Pod", "default", "high"), Configuration.load({}), None)
    assert [victim.pod for victim in plan.victims] == ["default/low"]
    others = [(each.title, each.victims) for each in plan.alternatives]
    assert others == [(sentences.on_node("b"), ("Pod/default/mid",))]
