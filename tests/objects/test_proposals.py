"""Every spelling that a proposal or an early version used is understood, or refused with a sentence."""

from typing import Any

import pytest

from reprieve.objects import kueue, scheduling
from reprieve.objects.decode import decode, json_decoder
from reprieve.objects.meta import Document
from tests.builders import cluster_queue, pod, pod_group, priority_class, view, workload
from tests.objects.door import context, lines, stored
from tests.objects.samples import edited, sample

PLACES = [
    "disruptionMode",
    "preemptionMode",
    "schedulingPolicy.disruptionMode",
    "schedulingPolicy.preemptionMode",
    "schedulingPolicy.gang.disruptionMode",
    "schedulingPolicy.gang.preemptionMode",
]
MODES = [("PodGroup", True), ("All", True), ("Pod", False), ("Single", False), ({"all": {}}, True)]
WORKLOAD = sample("Workload", "scheduling.k8s.io")
BARE_TEMPLATE = {"name": "t", "schedulingPolicy": {"gang": {"minCount": 2}}}


def workload_of(*templates: Document, **spec: Any) -> Document:
    return {**WORKLOAD, "spec": {**spec, "podGroupTemplates": list(templates)}}


@pytest.mark.parametrize(("value", "whole"), MODES)
@pytest.mark.parametrize("place", PLACES)
def test_the_disruption_mode_means_the_same_wherever_the_proposal_put_it(
    place: str, value: Any, whole: bool
) -> None:
    document = edited(pod_group("g", 2), f"spec.{place}", value)
    assert view(document).disrupted_as_a_whole is whole
    assert stored(document)["spec"]["disruptionMode"] == ({"all": {}} if whole else {"single": {}})
    assert stored(document)["spec"]["schedulingPolicy"] == {"gang": {"minCount": 2}}
    template = edited(workload_of(BARE_TEMPLATE), f"spec.podGroupTemplates.0.{place}", value)
    kept = stored(template)["spec"]["podGroupTemplates"][0]
    assert kept["disruptionMode"] == ({"all": {}} if whole else {"single": {}})


@pytest.mark.parametrize("place", PLACES[1:])
def test_two_places_that_contradict_each_other_are_refused(place: str) -> None:
    document = edited(pod_group("g", 2, mode="single"), f"spec.{place}", "PodGroup")
    (line,) = lines(document)
    assert line.startswith(f"spec.{place}: says something else than spec.disruptionMode")


def test_a_watch_reads_the_proposals_spelling_too() -> None:
    read = json_decoder(scheduling.PodGroup, "scheduling.k8s.io/v1beta1", "PodGroup")
    group = b'{"metadata":{"name":"g"},"spec":{"schedulingPolicy":{"gang":{"minCount":2,"%s"}}}}'
    assert read(group % b'disruptionMode":"PodGroup').disrupted_as_a_whole
    assert read(group % b'preemptionMode":"PodGroup').disrupted_as_a_whole


def test_the_template_of_kubernetes_1_36_is_the_workload_of_today() -> None:
    reference = {"workload": {"workloadName": "w", "podGroupTemplateName": "t"}}
    document = pod_group("g", 2, podGroupTemplateRef=reference)
    assert stored(document)["spec"]["workloadRef"] == {"workloadName": "w", "templateName": "t"}
    assert view(document).spec.workload_ref == scheduling.WorkloadReference(
        workload_name="w", template_name="t"
    )


def test_the_workload_of_kubernetes_1_35_is_refused_with_what_to_write_instead() -> None:
    old = {**WORKLOAD, "apiVersion": "scheduling.k8s.io/v1alpha1", "spec": {"podGroups": []}}
    assert any("write each of spec.podGroups as a PodGroup" in line for line in lines(old))
    (line,) = lines(pod("p", workloadRef={"name": "w", "podGroup": "g"}))
    assert "name a PodGroup in spec.schedulingGroup.podGroupName" in line


def test_templates_of_one_workload_may_have_different_priorities() -> None:
    known = context(priority_class("low", 1), priority_class("high", 9))
    one, two = {**BARE_TEMPLATE, "priorityClassName": "low"}, {**BARE_TEMPLATE, "name": "u"}
    kept = stored(workload_of(one, two, priorityClassName="high"), at=known)["spec"]["podGroupTemplates"]
    assert [(each["priorityClassName"], each["priority"]) for each in kept] == [("low", 1), ("high", 9)]


def test_a_template_is_protected_by_no_less_than_its_own_priority() -> None:
    known = context(priority_class("low", 1), priority_class("high", 9))
    template = {**BARE_TEMPLATE, "priorityClassName": "high", "preemptionPriorityClassName": "low"}
    (line,) = lines(workload_of(template), at=known)
    assert line.startswith(
        "spec.podGroupTemplates[0].preemptionPriorityClassName: low has value 1, lower than"
    )


@pytest.mark.parametrize("name", ["system-cluster-critical", "system-node-critical"])
def test_a_group_may_have_a_system_class(name: str) -> None:
    spec = stored(pod_group("g", 2, name), at=context())["spec"]
    assert spec["priority"] >= 2_000_000_000
    assert stored({**WORKLOAD, "spec": workload_of({**BARE_TEMPLATE, "priorityClassName": name})["spec"]})
    (line,) = lines(pod_group("g", 2, 2_000_000_000))
    assert "at most 1000000000" in line


@pytest.mark.parametrize("default", [True, False])
def test_a_class_that_never_preempts_gives_a_group_that_policy(default: bool) -> None:
    known = context(priority_class("calm", 5, preemptionPolicy="Never", globalDefault=default))
    group = pod_group("g", 2) if default else pod_group("g", 2, "calm")
    made = stored(group, at=known)
    assert made["spec"]["preemptionPolicy"] == "Never"
    assert stored(edited(made, "spec.preemptionPolicy", ...), at=known, old=made) == made


def test_a_misspelt_class_is_refused() -> None:
    known = context(priority_class("high", 9))
    assert "no PriorityClass with name hihg was found" in lines(pod_group("g", 2, "hihg"), at=known)[0]
    template = {**BARE_TEMPLATE, "priorityClassName": "hihg"}
    assert "no PriorityClass with name hihg was found" in lines(workload_of(template), at=known)[0]


def test_fungibility_is_read_where_kep_582_put_it() -> None:
    fungibility = {"whenCanBorrow": "TryNextFlavor", "whenCanPreempt": "Preempt"}
    document = cluster_queue("cq", preemption={"flavorFungibility": fungibility})
    found = decode(document)
    assert isinstance(found, kueue.ClusterQueue)
    assert found.spec.flavor_fungibility.when_can_preempt == "MayStopSearch"
    assert found.spec.flavor_fungibility.when_can_borrow == "TryNextFlavor"
    spec = stored(document)["spec"]
    assert spec["flavorFungibility"] == {**fungibility, "whenCanPreempt": "MayStopSearch"}
    assert "flavorFungibility" not in spec["preemption"]


def test_two_fungibilities_that_differ_are_refused() -> None:
    own = {"whenCanPreempt": "TryNextFlavor", "whenCanBorrow": "Borrow"}
    document = cluster_queue(
        "cq", flavorFungibility=own, preemption={"flavorFungibility": {"whenCanPreempt": "Preempt"}}
    )
    (line,) = lines(document)
    assert line.startswith("spec.preemption.flavorFungibility: says something else")


@pytest.mark.parametrize("field", ["state", "position"])
def test_a_gate_has_a_state_or_a_position(field: str) -> None:
    gate = {"name": "g", field: "Open", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    document = workload("w", preemptionGates=[{"name": "g"}], status={"preemptionGates": [gate]})
    found = decode(document)
    assert isinstance(found, kueue.Workload)
    assert found.status.preemption_gates[0].position == "Open"
    read = json_decoder(kueue.Workload, "kueue.x-k8s.io/v1beta2", "Workload")
    text = b'{"metadata":{"name":"w"},"status":{"preemptionGates":[{"name":"g","%s":"Open"}]}}'
    assert read(text % field.encode()).status.preemption_gates[0].position == "Open"


def test_a_gate_whose_state_and_position_differ_is_refused() -> None:
    gate = {
        "name": "g", "state": "Open", "position": "Closed", "lastTransitionTime": "2026-01-01T00:00:00Z"
    }  # fmt: skip
    (line,) = lines(workload("w", preemptionGates=[{"name": "g"}], status={"preemptionGates": [gate]}))
    assert line.startswith("status.preemptionGates[0].state: says something else than position")
