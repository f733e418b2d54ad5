"""A quota plan tells what partial admission would give, also where that is the same as without it."""

import pytest

import reprieve
from tests.builders import Document, cluster_queue, document, flavor, local_queue, workload

AT = "2026-01-01T00:00:00Z"


def planned(size: int, minimum: int | None, *, done: int = 0, config: Document | None = None) -> Document:
    job = workload("w", 1, count=size)
    if minimum is not None:
        job["spec"]["podSets"][0]["minCount"] = minimum
    if done:
        job["status"] = {"reclaimablePods": [{"name": "main", "count": done}]}
    objects = [document("Namespace", "default"), flavor(), cluster_queue("cq", 2), local_queue(), job]
    return reprieve.plan(objects, "Workload/default/w", config, AT).to_dict()


def test_fewer_pods_may_fit_where_all_do_not() -> None:
    found = planned(4, 1)
    assert (found["mode"], found["withPartialAdmission"]["mode"]) == ("NoFit", "Fit")


@pytest.mark.parametrize(
    ("done", "config"),
    [(1, None), (0, {"featureGates": {"PartialAdmission": False}})],
    ids=["what is left is the minimum", "the gate is off"],
)
def test_where_nothing_can_be_shrunk_the_plan_is_repeated(done: int, config: Document | None) -> None:
    found = planned(5 if done else 4, 4 if done else 1, done=done, config=config)
    assert found["withPartialAdmission"]["mode"] == found["mode"] == "NoFit"


def test_a_workload_that_may_not_shrink_has_no_such_part() -> None:
    assert "withPartialAdmission" not in planned(4, None)
