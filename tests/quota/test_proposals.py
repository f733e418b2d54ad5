"""KEP-582 and KEP-8303 as they were proposed: their examples, stories and settings."""

from typing import Any

import pytest

import reprieve
from tests.builders import flavor, local_queue, reserved, workload

NOW = "2026-01-02T00:00:00Z"
GATES = {"featureGates": {"MultiKueueOrchestratedPreemption": True}}
PREEMPT = {"flavorFungibility": {"whenCanBorrow": "Borrow", "whenCanPreempt": "Preempt"}}
LOWER = {"withinClusterQueue": "LowerPriority"}


def quotas(*flavors: str, **amounts: str) -> dict[str, Any]:
    each = [{"name": name, "nominalQuota": amount} for name, amount in amounts.items()]
    return {
        "coveredResources": list(amounts),
        "flavors": [{"name": name, "resources": each} for name in flavors],
    }


def queue(*groups: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ClusterQueue",
        "metadata": {"name": "cq"},
        "spec": {"namespaceSelector": {}, "resourceGroups": list(groups), **spec},
    }


def plan(*objects: dict[str, Any], **options: Any) -> dict[str, Any]:
    return reprieve.plan(objects, "Workload/default/new", now=NOW, **options).to_dict()


STANDARD_AND_SPOT = [flavor("standard"), flavor("spot"), local_queue("main", "cq")]


@pytest.mark.parametrize("place", ["preemption", "spec"])
def test_story_1_important_jobs_take_standard_nodes_before_they_try_spot(place: str) -> None:
    """In the place where the proposal has `flavorFungibility`, and where Kueue has it."""
    inside = {"preemption": {**LOWER, **PREEMPT}}
    beside = {"preemption": LOWER, **PREEMPT}
    cq = queue(quotas("standard", "spot", cpu="4"), **(inside if place == "preemption" else beside))
    low = reserved(workload("low", 4, 1), "cq", "standard")
    answer = plan(*STANDARD_AND_SPOT, cq, low, workload("new", 4, 9))
    assert answer["flavors"] == {"main": {"cpu": "standard"}}
    assert [each["workload"] for each in answer["victims"]] == ["default/low"]


def test_without_it_they_take_what_is_free() -> None:
    cq = queue(quotas("standard", "spot", cpu="4"), preemption=LOWER)
    low = reserved(workload("low", 4, 1), "cq", "standard")
    assert plan(*STANDARD_AND_SPOT, cq, low, workload("new", 4, 9))["flavors"] == {"main": {"cpu": "spot"}}


@pytest.mark.parametrize(
    ("setting", "flavor_of", "mode"),
    [("TryNextFlavor", "spot", "Fit"), ("StopSearch", "standard", "Preempt")],
)
def test_a_flavor_without_candidates_is_passed_over_or_waited_for(
    setting: str, flavor_of: str, mode: str
) -> None:
    """Upstream's later rule, and the proposal's own: back to the queue, from the first flavor again."""
    cq = queue(quotas("standard", "spot", cpu="4"), preemption={**LOWER, **PREEMPT})
    same = reserved(workload("same", 4, 9), "cq", "standard")
    config = {"quota": {"whenNoCandidates": setting}}
    objects = [*STANDARD_AND_SPOT, cq, same, workload("new", 4, 9)]
    answer = plan(*objects, config=config)
    assert (answer["mode"], answer["flavors"]) == (mode, {"main": {"cpu": flavor_of}})
    run = reprieve.admit(
        objects, config=config, now=NOW, delete_after_cycle={"1": ["default/same"]}
    ).to_dict()
    assert run["admitted"]["default/new"]["flavors"] == {"main": {"cpu": flavor_of}}


@pytest.mark.parametrize("setting", ["TryNextFlavor", "StopSearch"])
def test_the_example_of_kep_582_with_two_resource_groups(setting: str) -> None:
    """Three pods of cpu, memory and a GPU; what runs in default-flavor1 makes way before default-flavor2."""
    names = ("default-flavor1", "default-flavor2", "vendor1", "vendor2")
    cq = queue(
        quotas(*names[:2], cpu="3", memory="600Mi"),
        quotas(*names[2:], gpu="9"),
        preemption={**LOWER, **PREEMPT},
    )
    requests = {"cpu": "1", "memory": "200Mi", "gpu": "1"}
    new, low = workload("new", 1, 9, count=3), workload("low", 1, 1, count=3)
    for each in (new, low):
        container = each["spec"]["podSets"][0]["template"]["spec"]["containers"][0]
        container["resources"] = {"requests": requests}
    usage = {"cpu": "3", "memory": "600Mi", "gpu": "3"}
    flavors = {"cpu": names[0], "memory": names[0], "gpu": names[2]}
    assigned = {"name": "main", "count": 3, "flavors": flavors, "resourceUsage": usage}
    holds = {"type": "QuotaReserved", "status": "True", "reason": "QuotaReserved", "message": ""}
    low["status"] = {
        "conditions": [holds], "admission": {"clusterQueue": "cq", "podSetAssignments": [assigned]}
    }  # fmt: skip
    objects = [*map(flavor, names), local_queue("main", "cq"), cq, low, new]
    answer = plan(*objects, config={"quota": {"whenNoCandidates": setting}})
    assert answer["flavors"]["main"] == flavors
    assert [each["workload"] for each in answer["victims"]] == ["default/low"]


class TestAnnotationsOfTheAlpha:
    """The table of KEP-8303: flavor A is full, flavor B is free, and preemption would stop the search."""

    CQ = queue(quotas("standard", "spot", cpu="4"), preemption={**LOWER, **PREEMPT})
    LOW = reserved(workload("low", 4, 1), "cq", "standard")

    def answer(self, annotation: str, value: str = "true") -> dict[str, Any]:
        new = workload("new", 4, 9, metadata={"annotations": {f"kueue.x-k8s.io/{annotation}": value}})
        return plan(*STANDARD_AND_SPOT, self.CQ, self.LOW, new)

    def test_gated_assigns_the_full_flavor_and_signals(self) -> None:
        answer = self.answer("preemption-gated")
        assert (answer["outcome"], answer["gated"]) == ("gated", True)
        assert answer["flavors"] == {"main": {"cpu": "standard"}}

    def test_cannot_preempt_takes_the_free_one(self) -> None:
        answer = self.answer("cannot-preempt")
        assert (answer["outcome"], answer["victims"]) == ("scheduled", [])
        assert answer["flavors"] == {"main": {"cpu": "spot"}}

    @pytest.mark.parametrize("annotation", ["preemption-gated", "cannot-preempt"])
    def test_an_annotation_that_says_no_changes_nothing(self, annotation: str) -> None:
        assert self.answer(annotation, "false")["outcome"] == "preempts"


def test_concurrent_admission_one_flavor_preempts_at_a_time() -> None:
    """One workload for each flavor, each with a gate: only the one whose gate is open preempts."""
    objects = [flavor("a"), flavor("b")]
    waiting = []
    for name in ("a", "b"):
        cq = queue(quotas(name, cpu="4"), preemption=LOWER)
        cq["metadata"] = {"name": name}
        objects += [
            cq,
            local_queue(name, name),
            reserved(workload(f"low-{name}", 4, 1, queue=name), name, name),
        ]
        waiting.append(workload(f"new-{name}", 4, 9, queue=name, preemptionGates=[{"name": "one-at-a-time"}]))
    config = {"featureGates": {"ConcurrentAdmission": True}}
    first = reprieve.admit([*objects, *waiting], config=config, now=NOW).to_dict()
    assert first["evicted"] == []
    reasons = {name: each["reason"] for name, each in first["cycles"][0]["waiting"].items()}
    assert reasons == {"default/new-a": "PreemptionGated", "default/new-b": "PreemptionGated"}
    waiting[1]["status"] = {
        "preemptionGates": [{"name": "one-at-a-time", "state": "Open", "lastTransitionTime": NOW}]
    }
    second = reprieve.admit([*objects, *waiting], config=config, now=NOW, max_cycles=1).to_dict()
    assert second["evicted"] == ["default/low-b"]


def test_without_fungibility_a_flavor_that_fits_is_better_than_one_that_must_preempt() -> None:
    cq = queue(quotas("standard", "spot", cpu="4"), preemption=LOWER)
    low = reserved(workload("low", 4, 1), "cq", "standard")
    config = {"featureGates": {"FlavorFungibility": False}}
    answer = plan(*STANDARD_AND_SPOT, cq, low, workload("new", 4, 9), config=config)
    assert answer["flavors"] == {"main": {"cpu": "spot"}}
    assert answer["victims"] == []
    also = reserved(workload("also", 4, 1), "cq", "spot")
    full = plan(*STANDARD_AND_SPOT, cq, low, also, workload("new", 4, 9), config=config)
    assert full["flavors"] == {"main": {"cpu": "standard"}}
    assert [each["workload"] for each in full["victims"]] == ["default/low"], "the first of equally good ones"
