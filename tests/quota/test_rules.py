"""Switches of the configuration, one behaviour each, and the static checks of flavors."""

from typing import Any

import pytest

import reprieve
from reprieve.quota import sentences
from tests.builders import Document, cluster_queue, flavor, kueue, local_queue
from tests.strategies.quota import holding, workload

NOW = "2026-08-23T12:00:00Z"


def objects(*more: Document, **queue: Any) -> list[Document]:
    colours = ("red", "blue")
    queues = [cluster_queue("cq0", flavors=colours, **queue), local_queue("lq0", "cq0")]
    return [*map(flavor, colours), *queues, *more]


def admit(*more: Document, config: Document | None = None, **spec: Any) -> Document:
    answer: Document = reprieve.admit(objects(*more, **spec), config=config, now=NOW).to_dict()
    return answer


def gates(**on: bool) -> Document:
    return {"featureGates": on}


def test_partial_admission_can_be_switched_off() -> None:
    big = workload("big", 0, {"cpu": 1}, 6, 0, 10, minCount=2)
    assert admit(big)["admitted"]["default/big"]["counts"] == {"main": 4}
    assert admit(big, config=gates(PartialAdmission=False))["unadmitted"] == ["default/big"]


def test_pods_that_are_done_do_not_count_unless_the_gate_is_off() -> None:
    nearly = workload("nearly", 0, {"cpu": 1}, 6, 0, 10)
    nearly["status"] = {"reclaimablePods": [{"name": "main", "count": 3}]}
    assert admit(nearly)["admitted"]["default/nearly"]["counts"] == {"main": 3}
    assert admit(nearly, config=gates(ReclaimablePods=False))["unadmitted"] == ["default/nearly"]


def test_a_priority_boost_counts_only_with_its_gate() -> None:
    running = holding(workload("low", 0, {"cpu": 4}, 1, 0, 20), 0, "red", 5)
    other = holding(workload("also", 0, {"cpu": 4}, 1, 0, 20), 0, "blue", 5)
    boosted = workload("boosted", 0, {"cpu": 4}, 1, 0, 10)
    boosted["metadata"]["annotations"] = {"kueue.x-k8s.io/priority-boost": "7"}
    policy = {"withinClusterQueue": "LowerPriority"}
    assert admit(running, other, boosted, preemption=policy)["evicted"] == []
    assert (
        admit(running, other, boosted, preemption=policy, config=gates(PriorityBoost=True))["evicted"] != []
    )


def test_a_workload_gated_by_annotation_is_not_queued() -> None:
    held = workload("held", 0, {"cpu": 1}, 1, 0, 10)
    held["metadata"]["annotations"] = {"kueue.x-k8s.io/admission-gated-by": "example.com/wait"}
    assert admit(held)["admitted"] == {}
    assert "default/held" in admit(held, config=gates(AdmissionGatedBy=False))["admitted"]


def test_a_resource_the_queue_does_not_cover_blocks_unless_it_is_ignored_or_excluded() -> None:
    odd = workload("odd", 0, {"cpu": 1, "example.com/card": 1}, 1, 0, 10)
    blocked = admit(odd)["waiting"]["default/odd"]
    assert blocked["reason"] == "NoMatchingFlavor"
    assert sentences.resource_unavailable("example.com/card") in blocked["message"]
    for quota in ({"quotaCheckStrategy": "IgnoreUndeclared"}, {"excludeResourcePrefixes": ["example.com/"]}):
        assert "default/odd" in admit(odd, config={"quota": quota})["admitted"]


def test_without_the_gate_the_first_flavor_with_the_best_prospect_wins() -> None:
    running = holding(workload("low", 0, {"cpu": 4}, 1, 0, 20), 0, "red", 5)
    new = workload("new", 0, {"cpu": 4}, 1, 5, 10)
    spec = {
        "preemption": {"withinClusterQueue": "LowerPriority"},
        "flavorFungibility": {"whenCanPreempt": "MayStopSearch"},
    }
    assert admit(running, new, **spec)["evicted"] == ["default/low"]
    assert admit(running, new, config=gates(FlavorFungibility=False), **spec)["evicted"] == []


@pytest.mark.parametrize(
    ("flavor", "pods", "fits"),
    [
        ({}, {}, True),
        ({"nodeLabels": {"zone": "a"}}, {"nodeSelector": {"zone": "a"}}, True),
        ({"nodeLabels": {"zone": "a"}}, {"nodeSelector": {"zone": "b"}}, False),
        ({"nodeLabels": {"zone": "a"}}, {"nodeSelector": {"disk": "ssd"}}, True),
        ({"nodeTaints": [{"key": "spot", "value": "true", "effect": "NoSchedule"}]}, {}, False),
        ({"nodeTaints": [{"key": "spot", "value": "true", "effect": "PreferNoSchedule"}]}, {}, True),
        (
            {"nodeTaints": [{"key": "spot", "value": "true", "effect": "NoSchedule"}]},
            {"tolerations": [{"key": "spot", "operator": "Exists"}]},
            True,
        ),
        (
            {
                "nodeTaints": [{"key": "spot", "value": "true", "effect": "NoExecute"}],
                "tolerations": [{"key": "spot", "operator": "Exists"}],
            },
            {},
            True,
        ),
    ],
)
def test_a_flavor_must_suit_the_pods(flavor: Document, pods: Document, fits: bool) -> None:
    one = workload("one", 0, {"cpu": 1}, 1, 0, 10)
    one["spec"]["podSets"][0]["template"]["spec"].update(pods)
    world = [kueue("ResourceFlavor", "red", flavor), *objects(one)[1:]]
    world[2]["spec"]["resourceGroups"][0]["flavors"].pop()
    assert ("default/one" in reprieve.admit(world, now=NOW).to_dict()["admitted"]) == fits


def test_one_affinity_term_about_other_labels_suits_any_flavor() -> None:
    def term(key: str) -> Document:
        return {"matchExpressions": [{"key": key, "operator": "In", "values": ["elsewhere"]}]}

    def admitted(*terms: Document) -> bool:
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}
        one = workload("one", 0, {"cpu": 1}, 1, 0, 10)
        one["spec"]["podSets"][0]["template"]["spec"]["affinity"] = {"nodeAffinity": required}
        flavors = [kueue("ResourceFlavor", name, {"nodeLabels": {"zone": "a"}}) for name in ("red", "blue")]
        answer = reprieve.admit([*flavors, *objects(one)[2:]], now=NOW).to_dict()
        return "default/one" in answer["admitted"]

    assert not admitted(term("zone"))
    assert admitted(term("zone"), term("disk"))
