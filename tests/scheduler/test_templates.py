"""Groups that an API server stored without what their Workload's template gives, and links of old pods."""

from typing import Any

import pytest

from reprieve.scheduler import sentences
from reprieve.scheduler.templates import Templates
from tests.builders import Document, document, node, pod_group, priority_class, view
from tests.scheduler.world import World, pod

SCHEDULED, UNLIKE = "PodScheduled", "reprieve.dev/NotMatchingTemplate"


def training(**template: Any) -> Document:
    """A Workload with one template."""
    workers = {"name": "workers", "schedulingPolicy": {"gang": {"minCount": 2}}, **template}
    made = document("Workload", "train", "ns", spec={"podGroupTemplates": [workers]})
    made["apiVersion"] = "scheduling.k8s.io/v1beta1"
    return made


def of_template(name: str = "g", template: str = "workers", **spec: Any) -> Document:
    """A group as a server stores it: it has a policy, and a priority of zero where no class is named."""
    reference = {"workloadName": "train", "templateName": template}
    return pod_group(name, 2, namespace="ns", **{"priority": 0, "workloadRef": reference, **spec})


def members(*names: str, **more: Any) -> list[Document]:
    return [pod(name, group="g", **more) for name in names]


@pytest.mark.parametrize("later", [False, True])
def test_a_group_has_the_priority_of_its_template_even_if_its_workload_comes_later(later: bool) -> None:
    world = World(node("n", 2), priority_class("high", 100), pod("old", 2, 50, on="n"))
    workload = training(priorityClassName="high", priority=100)
    gang = [of_template(), *members("a", "b")]
    world.add(*(gang if later else [workload, *gang]))
    world.run()
    if later:
        assert world.evictions == [], "with priority 0 it preempts nobody"
        world.add(workload)
        world.run()
    assert world.evictions == ["old"]
    assert world.running() == ["a", "b"]


def test_a_group_goes_whole_because_its_template_says_so() -> None:
    world = World(node("n", 2), training(disruptionMode={"all": {}}), of_template())
    world.add(*members("a", "b", on="n"), pod("urgent", 1, 50))
    world.run()
    assert sorted(world.evictions) == ["a", "b"]


def test_templates_inside_composite_templates_count() -> None:
    inner = {"name": "workers", "schedulingPolicy": {"gang": {"minCount": 2}}, "disruptionMode": {"all": {}}}
    tree = {"name": "tree", "schedulingPolicy": {"basic": {}}, "podGroupTemplates": [inner]}
    workload = training()
    workload["spec"] = {"compositePodGroupTemplates": [tree]}
    world = World(node("n", 2), workload, of_template())
    world.add(*members("a", "b", on="n"), pod("urgent", 1, 50))
    world.run()
    assert sorted(world.evictions) == ["a", "b"]


def test_a_contradiction_is_told_and_the_groups_own_values_count() -> None:
    world = World(node("n", 2), training(disruptionMode={"all": {}}))
    world.add(of_template(disruptionMode={"single": {}}), *members("a", "b", on="n"))
    world.perform(world.core.report(world.now))
    told = world.condition("PodGroup", "g", UNLIKE)
    assert told["status"] == "True"
    assert "spec.disruptionMode of its template 'workers' differ" in told["message"]
    world.add(pod("urgent", 1, 50))
    world.run()
    assert len(world.evictions) == 1, "the group says that single pods may go"
    world.add(training(disruptionMode={"single": {}}))
    world.perform(world.core.report(world.now))
    assert world.condition("PodGroup", "g", UNLIKE)["status"] == "False"


def test_a_template_that_the_workload_does_not_have_is_told() -> None:
    world = World(node("n", 2), training(), of_template(template="leader"), *members("a", "b"))
    world.run()
    assert world.running() == ["a", "b"], "it blocks nobody"
    world.perform(world.core.report(world.now))
    assert "has no template 'leader'; it has: workers" in world.condition("PodGroup", "g", UNLIKE)["message"]


def test_the_workload_is_told_about_pods_of_another_priority() -> None:
    """A Workload has no status for the draft's condition: an event says it there."""
    world = World(node("n", 2), training(), of_template(), *members("a", on="n"))
    world.add(pod("odd", 1, 9, group="g", on="n"))
    world.perform(world.core.report(world.now))
    [event] = [each for each in world.events if each.reason == "PodsNotMatchingPriority"]
    assert str(event.regarding) == "Workload/ns/train"
    assert "PodGroup ns/g" in event.note


OLD_LINK = {"name": "train", "podGroup": "workers", "podGroupReplicaKey": "0"}


def test_a_pod_that_names_its_group_as_kubernetes_1_35_did_is_held_and_told_why() -> None:
    world = World(node("n", 2), pod("a", workloadRef=OLD_LINK))
    world.run()
    world.wait(2)
    assert world.where("a") == [""]
    condition = world.condition("Pod", "a", SCHEDULED)
    assert condition["status"] == "False"
    assert condition["message"] == sentences.OLD_LINK
    [event] = [each for each in world.events if each.reason == "WorkloadRefNotRead"]
    assert str(event.regarding).startswith("Pod/ns/a")


def test_where_groups_are_off_an_old_link_means_nothing() -> None:
    gates = {"featureGates": {"GenericWorkload": False}}
    world = World(node("n", 2), pod("a", workloadRef=OLD_LINK), config=gates)
    world.run()
    assert world.running() == ["a"]


def test_a_group_that_contradicts_nothing_has_an_empty_contradiction() -> None:
    templates = Templates()
    assert templates.contradiction("ns/g") == ""
    templates.see_workload(view(training()), gone=False)
    templates.see_group(view(of_template()), gone=False)
    assert templates.contradiction("ns/g") == ""
