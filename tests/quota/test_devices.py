"""Quota counts the devices of claim templates by DeviceClass, as Kueue does, and says what it cannot."""

from typing import Any

import pytest

import reprieve
from reprieve.quota import sentences
from tests import builders
from tests.builders import Document, cluster_queue, flavor, local_queue

CONFIG = {
    "resources": {"deviceClassMappings": [{"name": "whole-gpus", "deviceClassNames": ["gpu", "gpu-old"]}]}
}
NOW = "2026-01-01T12:00:00Z"


def template(*requests: Document, name: str = "t") -> Document:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"spec": {"devices": {"requests": list(requests)}}},
    }


def exactly(count: int = 1, cls: str = "gpu", name: str = "r", **more: Any) -> Document:
    return {"name": name, "exactly": {"deviceClassName": cls, "count": count, **more}}


def queue(gpus: int) -> Document:
    resources = [{"name": "cpu", "nominalQuota": "100"}, {"name": "whole-gpus", "nominalQuota": str(gpus)}]
    covered = {
        "coveredResources": ["cpu", "whole-gpus"],
        "flavors": [{"name": "default", "resources": resources}],
    }
    return cluster_queue(resourceGroups=[covered])


def claiming(name: str, count: int = 1, **named: str) -> Document:
    claims = [{"name": "c", **(named or {"resourceClaimTemplateName": "t"})}]
    return builders.job(name, 1, count=count, queue="main", pod={"resourceClaims": claims})


def admitted(*documents: Document, config: Document | None = None) -> Document:
    objects = [flavor(), queue(8), local_queue(), *documents]
    answer: Document = reprieve.admit(objects, config=CONFIG if config is None else config, now=NOW).to_dict()
    return answer


def names(answer: Document) -> list[str]:
    return sorted(answer["admitted"])


def why(answer: Document) -> str:
    return " ".join(each["message"] for each in answer["waiting"].values())


def test_devices_count_against_the_mapped_resource_for_each_pod() -> None:
    answer = admitted(template(exactly(2)), claiming("a", 3), claiming("b", 2))
    assert len(names(answer)) == 1
    assert "whole-gpus" in why(answer)


def test_classes_of_one_mapping_and_all_requests_of_a_template_add_up() -> None:
    both = template(exactly(1), exactly(2, "gpu-old", "s"))
    assert len(names(admitted(both, claiming("a", 2), claiming("b", 1)))) == 1
    assert len(names(admitted(both, claiming("a", 1), claiming("b", 1)))) == 2


def test_admin_access_counts_for_nothing() -> None:
    assert len(names(admitted(template(exactly(99, adminAccess=True)), claiming("a")))) == 1


def test_without_a_mapping_devices_are_not_counted() -> None:
    assert len(names(admitted(template(exactly(99)), claiming("a"), config={}))) == 1


CLAIM = "spec.podSets[0].template.spec.resourceClaims[0]"


@pytest.mark.parametrize(
    ("documents", "said"),
    [
        (
            [template(exactly(cls="other"))],
            sentences.device_class_is_not_mapped(CLAIM, "other", "t"),
        ),
        (
            [template(exactly(allocationMode="All"))],
            sentences.request_has_no_count(CLAIM, "r", "t", "All"),
        ),
        (
            [template({"name": "r", "firstAvailable": [{"name": "s", "deviceClassName": "gpu"}]})],
            sentences.request_has_alternatives(CLAIM, "r", "t"),
        ),
        ([], sentences.no_such_template(CLAIM, "t")),
    ],
)
def test_what_cannot_be_counted_is_not_admitted_and_says_why(documents: list[Document], said: str) -> None:
    answer = admitted(*documents, claiming("a"))
    assert names(answer) == []
    assert why(answer) == sentences.devices_uncountable(said)


def test_named_claims_are_not_counted_and_not_admitted() -> None:
    answer = admitted(claiming("a", resourceClaimName="mine"))
    said = sentences.claim_without_template(CLAIM, "mine")
    assert why(answer) == sentences.devices_uncountable(said)
