"""Workloads with quota that no node could ever hold: labels, taints and the size of each node count."""

from typing import Any

import pytest

from reprieve.objects import Workload
from reprieve.quota import no_place, sentences
from tests import builders
from tests.builders import Document, node, view, views

TAINT = {"key": "team", "value": "a", "effect": "NoSchedule"}
LABEL = {"key": "disk", "operator": "In", "values": ["ssd"]}
TERMS = {"nodeSelectorTerms": [{"matchExpressions": [LABEL]}]}
REQUIRED = {"requiredDuringSchedulingIgnoredDuringExecution": TERMS}


def admitted(**spec: Any) -> Workload:
    """A pod of 4 cpu and 8Gi, on the flavor `default`."""
    document = builders.reserved(builders.workload("w", 4))
    template = document["spec"]["podSets"][0]["template"]["spec"]
    template["containers"][0]["resources"]["requests"]["memory"] = "8Gi"
    template.update(spec)
    found: Workload = view(document)
    return found


@pytest.mark.parametrize(
    ("nodes", "spec", "flavor", "fits"),
    [
        ([], {}, {}, True),
        ([node("n", 4, memory="8Gi")], {}, {}, True),
        ([node("n", 3, memory="64Gi")], {}, {}, False),
        ([node("n", 64, memory="7Gi")], {}, {}, False),
        ([node("n", 3, memory="64Gi"), node("m", 64, memory="7Gi")], {}, {}, False),
        ([node("n", 3), node("m", 4)], {}, {}, True),
        ([node("n", 4)], {"nodeSelector": {"disk": "ssd"}}, {}, False),
        ([node("n", 4, labels={"disk": "ssd"})], {"nodeSelector": {"disk": "ssd"}}, {}, True),
        ([node("n", 4)], {}, {"nodeLabels": {"disk": "ssd"}}, False),
        ([node("n", 4, labels={"disk": "ssd"})], {}, {"nodeLabels": {"disk": "ssd"}}, True),
        ([node("n", 4)], {"affinity": {"nodeAffinity": REQUIRED}}, {}, False),
        ([node("n", 4, labels={"disk": "ssd"})], {"affinity": {"nodeAffinity": REQUIRED}}, {}, True),
        ([node("n", 4, taints=[TAINT])], {}, {}, False),
        ([node("n", 4, taints=[{**TAINT, "effect": "PreferNoSchedule"}])], {}, {}, True),
        ([node("n", 4, taints=[TAINT])], {"tolerations": [{"key": "team", "operator": "Exists"}]}, {}, True),
        ([node("n", 4, taints=[TAINT])], {}, {"tolerations": [{"key": "team", "operator": "Exists"}]}, True),
    ],
)
def test_a_node_could_hold_a_pod_if_nothing_that_stays_keeps_it_away(
    nodes: list[Document], spec: Document, flavor: Document, fits: bool
) -> None:
    flavors = {"default": view(builders.flavor("default", **flavor))}
    wanted = "" if fits else sentences.no_node_could_hold("main", len(nodes))
    assert no_place(admitted(**spec), views(*nodes), flavors) == wanted
