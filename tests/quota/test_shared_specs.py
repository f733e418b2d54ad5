"""What is read from the spec of a workload is taken from another one of the same spec, and only that."""

from typing import Any, cast

from msgspec.structs import replace

from reprieve.objects import LimitRange, Workload, decode, well_known
from reprieve.quota.rules import Rules
from reprieve.quota.workload_info import WorkloadInfo
from tests.strategies.quota import workload

RULES = Rules(priority_boost=True)
DEFAULTS = {
    "apiVersion": "v1",
    "kind": "LimitRange",
    "metadata": {"name": "defaults", "namespace": "default"},
    "spec": {"limits": [{"type": "Container", "defaultRequest": {"memory": "1Gi"}}]},
}


def made() -> Workload:
    return cast(Workload, decode(workload("w", 0, {"cpu": 2}, 3, 10, 5)))


def noted(view: Workload, name: str, **annotations: Any) -> Workload:
    return replace(view, metadata=replace(view.metadata, name=name, annotations=annotations))


def test_another_of_the_same_spec_has_the_same_demands_and_its_own_priority():
    first = WorkloadInfo(made(), "cq0", RULES)
    boost = {well_known.PRIORITY_BOOST_ANNOTATION: "5"}
    for annotations in ({}, boost):
        other = noted(first.workload, "other", **annotations)
        shared, alone = WorkloadInfo(other, "cq0", RULES, (), first), WorkloadInfo(other, "cq0", RULES)
        assert shared.demands is first.demands
        assert (shared.priority, shared.fingerprint) == (alone.priority, alone.fingerprint)
        assert (shared.fingerprint == first.fingerprint) == (not annotations)


def test_an_equal_spec_that_is_another_object_is_read_anew():
    first = WorkloadInfo(made(), "cq0", RULES)
    assert WorkloadInfo(made(), "cq0", RULES, (), first).demands is not first.demands


def test_defaults_of_a_limit_range_that_is_gone_do_not_stay():
    view = made()
    limit_range = cast(LimitRange, decode(DEFAULTS))
    before = WorkloadInfo(view, "cq0", RULES, (limit_range,))
    assert "memory" in before.demands[0].requests
    after = WorkloadInfo(replace(view, status=replace(view.status)), "cq0", RULES, (), before)
    assert dict(after.demands[0].requests) == dict(WorkloadInfo(view, "cq0", RULES).demands[0].requests)


def test_default_limits_of_a_namespace_are_requests_of_those_that_say_nothing():
    spec = {"limits": [{"type": "Container", "default": {"memory": "1Gi"}}]}
    limit_range = cast(LimitRange, decode({**DEFAULTS, "spec": spec}))
    demands = WorkloadInfo(made(), "cq0", RULES, (limit_range,)).demands
    assert (
        demands[0].requests["memory"]
        == WorkloadInfo(made(), "cq0", RULES, (cast(LimitRange, decode(DEFAULTS)),))
        .demands[0]
        .requests["memory"]
    )
