"""What a CompositePodGroup and a tree of templates must be, in the sentences of the API server."""

from typing import Any

import pytest

from reprieve.objects import Context, admit
from reprieve.objects.validation.composites import NO_CHILD, PRIORITIES_DIFFER, TOO_DEEP
from tests.builders import priority_class
from tests.objects.door import CONTEXT, context, paths, stored
from tests.objects.samples import edited, sample

TREE, GROUP = sample("CompositePodGroup"), sample("PodGroup")
WORKLOAD = sample("Workload", "scheduling.k8s.io")


def said(document: dict[str, Any], *, at: Context = CONTEXT, old: dict[str, Any] | None = None) -> list[str]:
    """Each problem without the value that it quotes."""
    return [f"{each.path}: {each.message}" for each in admit(document, at, old)[1]]


def composite_template(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "schedulingPolicy": {"gang": {"minGroupCount": 1}}, **more}


def group_template(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "schedulingPolicy": {"gang": {"minCount": 2}}, **more}


def workload(*templates: dict[str, Any]) -> dict[str, Any]:
    spec = {"compositePodGroupTemplates": list(templates)}
    return {**WORKLOAD, "spec": spec}


SOUND = workload(
    composite_template(
        "all",
        compositePodGroupTemplates=[composite_template("block", podGroupTemplates=[group_template("rack")])],
        podGroupTemplates=[group_template("driver")],
    )
)


def test_a_sound_tree_is_accepted_and_its_mode_is_filled_in() -> None:
    plain = edited(TREE, "spec.disruptionMode", ...)
    assert stored(plain)["spec"]["disruptionMode"] == {"single": {}}
    assert said(SOUND) == []


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        ("spec.workloadRef", ..., "spec.workloadRef"),
        ("spec.workloadRef.templateName", "a.b", "spec.workloadRef.templateName"),
        ("spec.parentCompositePodGroupName", "Not A Name", "spec.parentCompositePodGroupName"),
        ("spec.schedulingPolicy", {}, "spec.schedulingPolicy"),
        ("spec.schedulingPolicy.gang", {}, "spec.schedulingPolicy.gang.minGroupCount"),
        ("spec.schedulingPolicy.gang.minGroupCount", 0, "spec.schedulingPolicy.gang.minGroupCount"),
        ("spec.disruptionMode", {"all": {}, "single": {}}, "spec.disruptionMode"),
        ("spec.schedulingConstraints.topology", [{}], "spec.schedulingConstraints.topology[0].key"),
        ("spec.priority", 1_000_000_001, "spec.priority"),
        ("spec.preemptionPolicy", "Sometimes", "spec.preemptionPolicy"),
    ],
)
def test_a_broken_composite_group_is_refused_at_the_broken_place(path: str, value: Any, problem: str) -> None:
    assert paths(edited(TREE, path, value)) == [problem]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("spec.schedulingPolicy.gang.minGroupCount", 1),
        ("spec.parentCompositePodGroupName", "other"),
        ("spec.disruptionMode", {"single": {}}),
    ],
)
def test_nothing_of_a_composite_group_changes_later(path: str, value: Any) -> None:
    assert len(said(edited(TREE, path, value), old=TREE)) == 1


def test_a_group_with_a_parent_names_its_workload() -> None:
    child = edited(edited(GROUP, "spec.workloadRef", ...), "spec.parentCompositePodGroupName", "train")
    assert said(child) == ["spec.workloadRef: must be set when parentCompositePodGroupName is set"]


def test_without_the_gate_there_are_no_trees() -> None:
    batch = priority_class("batch-high", 100)
    off = context(batch, config={"featureGates": {"CompositePodGroup": False}})
    assert said(TREE, at=off) == ["kind: needs the feature gate CompositePodGroup"]
    child = edited(GROUP, "spec.parentCompositePodGroupName", "train")
    assert said(child, at=off) == [
        "spec.parentCompositePodGroupName: needs the feature gate CompositePodGroup"
    ]
    assert said(SOUND, at=off) == [
        "spec.compositePodGroupTemplates: needs the feature gate CompositePodGroup"
    ]


def nested(levels: int) -> dict[str, Any]:
    template = composite_template(f"level-{levels}", podGroupTemplates=[group_template("leaf")])
    for level in range(levels - 1, 0, -1):
        template = composite_template(f"level-{level}", compositePodGroupTemplates=[template])
    return template


def test_composite_templates_go_down_three_levels() -> None:
    assert said(workload(nested(3))) == []
    assert said(workload(nested(4))) == [f"spec.compositePodGroupTemplates[0]: {TOO_DEEP}"]


def test_every_composite_template_has_a_child() -> None:
    assert said(workload(composite_template("all"))) == [f"spec.compositePodGroupTemplates[0]: {NO_CHILD}"]


def test_names_are_unique_over_the_whole_tree() -> None:
    twice = workload(
        composite_template("a", podGroupTemplates=[group_template("x")]),
        composite_template("b", podGroupTemplates=[group_template("x")]),
    )
    assert paths(twice) == ["spec.compositePodGroupTemplates[1].podGroupTemplates[0].name"]


def test_the_whole_tree_has_one_priority() -> None:
    tree = composite_template("a", priority=5, podGroupTemplates=[group_template("x")])
    assert said(workload(tree)) == [f"spec: {PRIORITIES_DIFFER}"]


def test_templates_are_groups_or_trees_and_not_both() -> None:
    both = {**WORKLOAD, "spec": {**WORKLOAD["spec"], **SOUND["spec"]}}
    assert "spec" in paths(both)


def test_only_min_count_changes_inside_a_tree_of_templates() -> None:
    place = "spec.compositePodGroupTemplates.0.podGroupTemplates.0"
    assert said(edited(SOUND, f"{place}.schedulingPolicy.gang.minCount", 1), old=SOUND) == []
    assert len(said(edited(SOUND, f"{place}.disruptionMode", {"all": {}}), old=SOUND)) == 1
    claims = [{"name": "link", "resourceClaimName": "shared"}]
    assert len(said(edited(SOUND, f"{place}.resourceClaims", claims), old=SOUND)) == 1
    assert said(edited(SOUND, f"{place}.name", "new"), old=SOUND) == [
        "spec.compositePodGroupTemplates[0].podGroupTemplates: the template 'driver' cannot be removed",
        "spec.compositePodGroupTemplates[0].podGroupTemplates[0].name: a template cannot be added",
    ]
