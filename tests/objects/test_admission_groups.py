"""PodGroups, Workloads and PriorityClasses at the door."""

from typing import Any

import pytest

from tests.builders import priority_class
from tests.objects.door import context, lines, paths, stored
from tests.objects.samples import SAMPLES, edited, sample

GROUP = sample("PodGroup")
BASIC = edited(edited(GROUP, "spec.schedulingPolicy", {"basic": {}}), "spec.disruptionMode", {"single": {}})
WORKLOAD = sample("Workload", "scheduling.k8s.io")


@pytest.mark.parametrize("document", SAMPLES, ids=lambda each: each["kind"])
def test_sound_objects_of_every_kind_come_in_and_may_be_written_back(document: dict[str, Any]) -> None:
    assert stored(stored(document), old=stored(document)) == stored(document)


def test_a_group_gets_its_defaults() -> None:
    bare = {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "metadata": {"name": "g"}}
    spec = stored({**bare, "spec": {"schedulingPolicy": {"basic": {}}}})["spec"]
    assert spec == {
        "schedulingPolicy": {"basic": {}},
        "disruptionMode": {"single": {}},
        "preemptionPolicy": "PreemptLowerPriority",
    }


def test_a_created_group_is_protected_by_a_finalizer() -> None:
    assert stored(GROUP)["metadata"]["finalizers"] == ["scheduling.k8s.io/podgroup-protection"]


def test_unknown_fields_survive_the_door() -> None:
    assert stored(edited(GROUP, "spec.fromTheFuture", {"a": [1]}))["spec"]["fromTheFuture"] == {"a": [1]}


def test_the_proposals_spellings_are_stored_in_todays() -> None:
    draft = edited(edited(GROUP, "spec.disruptionMode", ...), "spec.preemptionMode", "PodGroup")
    spec = stored(draft)["spec"]
    assert spec["disruptionMode"] == {"all": {}}
    assert "preemptionMode" not in spec


def test_nothing_is_defaulted_in_templates() -> None:
    template = stored(edited(WORKLOAD, "spec.podGroupTemplates.0.disruptionMode", ...))["spec"][
        "podGroupTemplates"
    ][0]
    assert set(template) == {"name", "schedulingPolicy", "priorityClassName"}


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        ("metadata.name", "Not_A_Name", "metadata.name"),
        ("metadata.name", ..., "metadata.name"),
        ("metadata.name", "x" * 254, "metadata.name"),
        ("metadata.namespace", "a.b", "metadata.namespace"),
        ("metadata.labels", {"bad key!": "x"}, "metadata.labels[bad key!]"),
        ("metadata.labels", {"key": "bad value!"}, "metadata.labels[key]"),
        ("spec.schedulingPolicy", ..., "spec.schedulingPolicy"),
        ("spec.schedulingPolicy", {}, "spec.schedulingPolicy"),
        ("spec.schedulingPolicy", {"gang": {"minCount": 1}, "basic": {}}, "spec.schedulingPolicy"),
        ("spec.schedulingPolicy.gang", {}, "spec.schedulingPolicy.gang.minCount"),
        ("spec.schedulingPolicy.gang.minCount", 0, "spec.schedulingPolicy.gang.minCount"),
        ("spec.schedulingPolicy.gang.minCount", 2**31, "spec.schedulingPolicy.gang.minCount"),
        ("spec.schedulingPolicy.gang.minCount", "4", "spec.schedulingPolicy.gang.minCount"),
        ("spec.disruptionMode", {}, "spec.disruptionMode"),
        ("spec.disruptionMode", {"all": {}, "single": {}}, "spec.disruptionMode"),
        ("spec.disruptionMode", "Group", "spec.disruptionMode"),
        ("spec.priority", 1_000_000_001, "spec.priority"),
        ("spec.priorityClassName", "Not A Class", "spec.priorityClassName"),
        ("spec.preemptionPolicy", "Sometimes", "spec.preemptionPolicy"),
        (
            "spec.schedulingConstraints.topology",
            [{"key": "a"}, {"key": "b"}],
            "spec.schedulingConstraints.topology",
        ),
        (
            "spec.schedulingConstraints.topology",
            [{"key": "not a key"}],
            "spec.schedulingConstraints.topology[0].key",
        ),
        ("spec.schedulingConstraints.topology", [{}], "spec.schedulingConstraints.topology[0].key"),
        ("spec.workloadRef", {"workloadName": "w"}, "spec.workloadRef.templateName"),
        ("spec.workloadRef.templateName", "a.b", "spec.workloadRef.templateName"),
        ("spec.parentCompositePodGroupName", "Not A Name", "spec.parentCompositePodGroupName"),
        ("status.conditions.0.status", "Maybe", "status.conditions[0].status"),
    ],
)
def test_a_broken_group_is_refused_at_the_broken_place(path: str, value: Any, problem: str) -> None:
    assert paths(edited(GROUP, path, value)) == [problem]


def test_all_problems_are_named_and_not_only_the_first() -> None:
    broken = edited(GROUP, "spec.schedulingPolicy.gang.minCount", -1)
    broken = edited(broken, "spec.preemptionPolicy", "no")
    broken = edited(broken, "spec.priority", "high")
    broken = edited(broken, "metadata.name", "UPPER")
    assert sorted(paths(broken)) == [
        "metadata.name",
        "spec.preemptionPolicy",
        "spec.priority",
        "spec.schedulingPolicy.gang.minCount",
    ]


class TestWholeGroupModeWithTheBasicPolicy:
    """The proposal forbids it; Kubernetes 1.37 does not; one switch decides."""

    WHOLE = edited(BASIC, "spec.disruptionMode", {"all": {}})

    def test_is_refused(self) -> None:
        (line,) = lines(self.WHOLE)
        assert line.startswith("spec.disruptionMode: a group with the basic policy has no whole to disrupt")
        assert "admission.allowWholeGroupDisruptionForBasic" in line

    def test_is_refused_in_the_proposals_spelling_and_in_templates(self) -> None:
        assert paths(edited(BASIC, "spec.disruptionMode", "PodGroup")) == ["spec.disruptionMode"]
        template = edited(WORKLOAD, "spec.podGroupTemplates.0.schedulingPolicy", {"basic": {}})
        assert paths(template) == ["spec.podGroupTemplates[0].disruptionMode"]

    def test_is_accepted_with_the_switch(self) -> None:
        switch = {"admission": {"allowWholeGroupDisruptionForBasic": True}}
        high = priority_class("batch-high", 1000)
        stored(self.WHOLE, at=context(high, config=switch))


class TestGates:
    def test_a_topology_needs_its_gate(self) -> None:
        off = context(
            priority_class("batch-high", 1),
            config={"featureGates": {"TopologyAwareWorkloadScheduling": False}},
        )
        assert lines(GROUP, at=off) == [
            "spec.schedulingConstraints: needs the feature gate TopologyAwareWorkloadScheduling (got "
            f"{GROUP['spec']['schedulingConstraints']!r})"
        ]

    def test_a_preemption_policy_needs_its_gate_and_is_not_defaulted_without(self) -> None:
        off = context(
            priority_class("batch-high", 1), config={"featureGates": {"PodGroupPreemptionPolicy": False}}
        )
        assert "preemptionPolicy" not in stored(GROUP, at=off)["spec"]
        assert paths(edited(GROUP, "spec.preemptionPolicy", "Never"), at=off) == ["spec.preemptionPolicy"]


class TestUpdatesOfAGroup:
    @pytest.mark.parametrize(
        ("path", "value"),
        [
            ("spec.schedulingPolicy.gang.minCount", 2),
            ("spec.preemptionPriorityClassName", "higher"),
            ("metadata.labels", {"a": "b"}),
            ("status.conditions.0.status", "True"),
        ],
    )
    def test_these_may_change(self, path: str, value: Any) -> None:
        stored(edited(GROUP, path, value), old=GROUP)

    @pytest.mark.parametrize(
        ("path", "value", "problem"),
        [
            ("spec.schedulingPolicy", {"basic": {}}, "spec.schedulingPolicy"),
            ("spec.workloadRef", ..., "spec.workloadRef"),
            ("spec.schedulingConstraints", ..., "spec.schedulingConstraints"),
            ("spec.disruptionMode", {"single": {}}, "spec.disruptionMode"),
            ("spec.priorityClassName", "other", "spec.priorityClassName"),
            ("spec.priority", 5, "spec.priority"),
            ("spec.preemptionPolicy", "Never", "spec.preemptionPolicy"),
            ("metadata.name", "other", "metadata.name"),
            ("metadata.namespace", "other", "metadata.namespace"),
        ],
    )
    def test_these_may_not(self, path: str, value: Any, problem: str) -> None:
        assert problem in paths(edited(GROUP, path, value), old=GROUP)

    def test_the_message_says_from_what_to_what(self) -> None:
        (line,) = lines(edited(GROUP, "spec.priorityClassName", "other"), old=GROUP)
        assert line == "spec.priorityClassName: cannot be changed from 'batch-high' to 'other'"

    def test_a_spelling_is_no_change(self) -> None:
        stored(edited(GROUP, "spec.disruptionMode", "PodGroup"), old=GROUP)


def two_templates(**second: Any) -> dict[str, Any]:
    template = {**WORKLOAD["spec"]["podGroupTemplates"][0], "name": "other", **second}
    return edited(WORKLOAD, "spec.podGroupTemplates", [WORKLOAD["spec"]["podGroupTemplates"][0], template])


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        (edited(WORKLOAD, "spec.podGroupTemplates", []), "spec.podGroupTemplates"),
        (edited(WORKLOAD, "spec.podGroupTemplates.0.name", "A"), "spec.podGroupTemplates[0].name"),
        (edited(WORKLOAD, "spec.podGroupTemplates.0.name", ...), "spec.podGroupTemplates[0].name"),
        (edited(WORKLOAD, "spec.controllerRef", {"kind": "Job"}), "spec.controllerRef.name"),
        (two_templates(name="worker"), "spec.podGroupTemplates[1].name"),
    ],
)
def test_a_broken_workload_is_refused(document: dict[str, Any], problem: str) -> None:
    assert paths(document) == [problem]


def test_a_workload_has_at_most_eight_templates() -> None:
    template = WORKLOAD["spec"]["podGroupTemplates"][0]
    many = [{**template, "name": f"t{number}"} for number in range(9)]
    assert lines(edited(WORKLOAD, "spec.podGroupTemplates", many)) == [
        "spec.podGroupTemplates: must have at most 8 entries, has 9"
    ]


def test_templates_are_neither_added_nor_removed_nor_changed_but_for_min_count() -> None:
    minimum = "spec.podGroupTemplates.0.schedulingPolicy.gang.minCount"
    stored(edited(WORKLOAD, minimum, 2), old=WORKLOAD)
    assert paths(two_templates(), old=WORKLOAD) == ["spec.podGroupTemplates[1].name"]
    assert paths(WORKLOAD, old=two_templates()) == ["spec.podGroupTemplates"]
    changed = edited(WORKLOAD, "spec.podGroupTemplates.0.disruptionMode", {"single": {}})
    assert paths(changed, old=WORKLOAD) == ["spec.podGroupTemplates[0].disruptionMode"]
    assert paths(edited(WORKLOAD, "spec.controllerRef", ...), old=WORKLOAD) == ["spec.controllerRef"]


@pytest.mark.parametrize(
    ("document", "problems"),
    [
        (priority_class("high", 1_000_000_000), []),
        (priority_class("high", 1_000_000_001), ["value"]),
        (priority_class("low", -(2**31)), []),
        (priority_class("low", -(2**31) - 1), ["value"]),
        (priority_class("system-mine", 5), ["metadata.name"]),
        (priority_class("system-node-critical", 2_000_001_000), []),
        (priority_class("system-node-critical", 5), ["value"]),
        (priority_class("x", 5, preemptionPolicy="Perhaps"), ["preemptionPolicy"]),
        (edited(priority_class("x", 5), "value", ...), ["value"]),
        (edited(priority_class("x", 5), "metadata.namespace", "ml"), ["metadata.namespace"]),
    ],
)
def test_priority_classes(document: dict[str, Any], problems: list[str]) -> None:
    assert sorted(set(paths(document))) == problems


def test_a_priority_class_lets_its_pods_preempt_unless_it_says_otherwise() -> None:
    assert stored(priority_class("x", 5))["preemptionPolicy"] == "PreemptLowerPriority"
    assert stored(priority_class("x", 5, preemptionPolicy="Never"))["preemptionPolicy"] == "Never"


def test_a_priority_classs_value_and_policy_stay() -> None:
    assert paths(priority_class("x", 6), old=priority_class("x", 5)) == ["value"]
    assert paths(priority_class("x", 5, preemptionPolicy="Never"), old=priority_class("x", 5)) == [
        "preemptionPolicy"
    ]
    stored(priority_class("x", 5, description="new"), old=priority_class("x", 5))
