"""Topologies and topology requests at the door, and how assignments and annotations are read."""

from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from reprieve.objects import Domain, Placement, Workload, compressed, decode, expanded, topology_request
from tests import builders
from tests.objects.door import paths
from tests.objects.samples import edited, sample
from tests.scale import examples

HOST, RACK = "kubernetes.io/hostname", "example.com/rack"


def topology(*labels: str) -> dict[str, Any]:
    return edited(sample("Topology"), "spec.levels", [{"nodeLabel": label} for label in labels])


@pytest.mark.parametrize(
    ("labels", "path"),
    [
        ((), "spec.levels"),
        (("not a label!",), "spec.levels[0].nodeLabel"),
        ((RACK, RACK), "spec.levels[1].nodeLabel"),
        ((HOST, RACK), "spec.levels[0].nodeLabel"),
    ],
)
def test_levels_that_make_no_sense_are_refused(labels: tuple[str, ...], path: str) -> None:
    assert paths(topology(*labels)) == [path]


def test_levels_may_change_only_while_both_end_in_hosts() -> None:
    assert paths(topology(RACK, HOST), old=topology(HOST)) == []
    assert paths(topology(RACK), old=topology(HOST)) == ["spec.levels"]


def asking(request: dict[str, Any], count: int = 4) -> dict[str, Any]:
    document = builders.workload("w", cpu=1, count=count)
    document["spec"]["podSets"][0]["topologyRequest"] = request
    return document


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        ({"required": "not a label!"}, "required"),
        ({"podSetSliceRequiredTopology": RACK}, "podSetSliceSize"),
        ({"podSetSliceSize": 2}, "podSetSliceRequiredTopology"),
        ({"podSetSliceRequiredTopology": RACK, "podSetSliceSize": 0}, "podSetSliceSize"),
        ({"podSetSliceRequiredTopology": RACK, "podSetSliceSize": 5}, "podSetSliceSize"),
    ],
)
def test_requests_that_make_no_sense_are_refused(request_: dict[str, Any], field: str) -> None:
    assert paths(asking(request_)) == [f"spec.podSets[0].topologyRequest.{field}"]


def test_annotations_of_pods_become_a_request() -> None:
    prefix = "kueue.x-k8s.io/podset-"
    assert topology_request({}) is None
    both = {f"{prefix}required-topology": RACK, f"{prefix}preferred-topology": HOST}
    assert topology_request(both, "i") == {"required": RACK, "podIndexLabel": "i"}
    sliced = {f"{prefix}slice-required-topology": RACK, f"{prefix}slice-size": "2"}
    assert topology_request(sliced) == {"podSetSliceRequiredTopology": RACK, "podSetSliceSize": 2}
    layers = {f"{prefix}slice-required-topology-constraints": f'[{{"topology": "{RACK}", "size": 4}}]'}
    found = topology_request(layers)
    assert found == {"podsetSliceRequiredTopologyConstraints": [{"topology": RACK, "size": 4}]}
    assert topology_request({f"{prefix}slice-required-topology-constraints": "{broken"}) is None
    group = {f"{prefix}unconstrained-topology": "true", f"{prefix}group-name": "g"}
    assert topology_request(group) == {"unconstrained": True, "podSetGroupName": "g"}


NAMES = st.text("ab-", max_size=5)


@examples(200, least=40)
@given(st.lists(st.tuples(NAMES, NAMES, st.integers(1, 5)), max_size=6))
def test_what_is_compressed_expands_to_the_same(domains: list[tuple[str, str, int]]) -> None:
    placement = Placement((RACK, HOST), tuple(Domain((rack, host), pods) for rack, host, pods in domains))
    assert expanded(compressed(placement)) == placement


def test_the_list_of_domains_of_v1beta1_is_read() -> None:
    document = builders.reserved(asking({"required": RACK}))
    document["apiVersion"] = "kueue.x-k8s.io/v1beta1"
    listed = {"levels": [HOST], "domains": [{"values": ["a"], "count": 3}, {"values": ["b"], "count": 1}]}
    document["status"]["admission"]["podSetAssignments"][0]["topologyAssignment"] = listed
    view = decode(document)
    assert isinstance(view, Workload)
    assert view.status.admission is not None
    assigned = view.status.admission.pod_set_assignments[0].topology_assignment
    assert assigned is not None
    assert expanded(assigned).domains == (Domain(("a",), 3), Domain(("b",), 1))
