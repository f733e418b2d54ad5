"""Somebody's clock ends a search; the answer is then no worse than the plan it started from."""

from reprieve.cluster import Cluster
from reprieve.config import Configuration
from reprieve.objects.decode import decode_all
from reprieve.preemption import decide
from tests.preemption_minimal.manifests import gang, node, pod

CHEAPEST = Configuration.load({"preemption": {"algorithm": "minimal-cost"}})


def test_a_search_without_time_answers_with_the_plan_it_started_from():
    objects = [
        *(node(f"n{i}") for i in range(6)),
        *(pod(f"p{i}", f"n{i}", 4) for i in range(6)),
        *gang(3, 3, cpu=4),
    ]
    cluster = Cluster()
    for view in decode_all(objects):
        cluster.set(view)
    asked = []
    plan = decide(
        cluster, "PodGroup/default/gang", CHEAPEST, 0, expired=lambda: bool(asked.append(True)) or True
    )
    assert asked, "the clock was never looked at"
    assert plan.outcome == "preempts"
    assert len(plan.victims) == 3
