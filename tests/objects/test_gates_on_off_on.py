"""Turning a gate off is a rollback: stored objects keep their fields, new ones come without them, and on
again everything means what it meant before."""

from typing import Any

import pytest

from reprieve.config import Configuration
from reprieve.objects import Context, PriorityClasses, admit, priority_class_of
from tests.builders import pod, pod_group, priority_class
from tests.objects.samples import sample

CLASSES = [priority_class("high", 9)]
GROUP = pod_group(
    "g",
    2,
    "high",
    mode="all",
    preemptionPriorityClassName="high",
    preemptionPolicy="PreemptLowerPriority",
    schedulingConstraints={"topology": [{"key": "rack"}]},
)
WORKLOAD = {
    **sample("Workload", "scheduling.k8s.io"),
    "spec": {"podGroupTemplates": [{"name": "t", **GROUP["spec"]}]},
}
FIELDS = [
    ("WorkloadAwarePreemption", "disruptionMode"),
    ("WorkloadAwarePreemption", "preemptionPriorityClassName"),
    ("TopologyAwareWorkloadScheduling", "schedulingConstraints"),
    ("PodGroupPreemptionPolicy", "preemptionPolicy"),
]


def server(**gates: bool) -> Context:
    known = PriorityClasses(map(priority_class_of, CLASSES))
    return Configuration.load({"featureGates": gates}).admission_context(known)._replace(drops_disabled=True)


def stored(document: dict[str, Any], at: Context, old: dict[str, Any] | None = None) -> dict[str, Any]:
    admitted, problems = admit(document, at, old)
    assert problems == []
    return admitted


@pytest.mark.parametrize("kind", ["PodGroup", "Workload"])
@pytest.mark.parametrize(("gate", "field"), FIELDS)
def test_on_off_and_on_again(gate: str, field: str, kind: str) -> None:
    document = GROUP if kind == "PodGroup" else WORKLOAD

    def value(stored_object: dict[str, Any]) -> Any:
        spec = stored_object["spec"]
        return (spec if kind == "PodGroup" else spec["podGroupTemplates"][0]).get(field)

    on, off = server(), server(**{gate: False})
    before = stored(document, on)
    wanted = value(before)
    assert wanted
    assert value(stored(before, off, old=before)) == wanted, "what is stored stays"
    assert value(stored(document, off)) is None, "what is new comes without it"
    assert value(stored(before, on, old=before)) == wanted


def test_pods_keep_the_group_they_are_in() -> None:
    member = pod("p", group="g")
    on, off = server(), server(GenericWorkload=False)
    before = stored(member, on)
    assert stored(before, off, old=before)["spec"]["schedulingGroup"] == {"podGroupName": "g"}
    assert "schedulingGroup" not in stored(member, off)["spec"]
