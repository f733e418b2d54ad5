"""Claims that controllers make, and the class of a claim that names none."""

import pytest

from reprieve.admission import DEFAULT_CLASS, default_class, needs_class, replica_claims, replica_volumes
from tests.builders import Document


def storage_class(name: str, created: str = "", default: str = "true") -> Document:
    meta = {"name": name, "annotations": {DEFAULT_CLASS: default}}
    return {"metadata": meta | ({"creationTimestamp": created} if created else {})}


EARLY, LATE = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"


@pytest.mark.parametrize(
    ("classes", "chosen"),
    [
        ([], ""),
        ([storage_class("no", default="false")], ""),
        ([storage_class("old", EARLY), storage_class("new", LATE)], "new"),
        ([storage_class("new", LATE), storage_class("old", EARLY)], "new"),
        ([storage_class("b", EARLY), storage_class("a", EARLY), storage_class("c", EARLY)], "a"),
        ([storage_class("b"), storage_class("a")], "a"),
    ],
)
def test_the_newest_default_class_counts_and_of_equally_new_ones_the_first_by_name(
    classes: list[Document], chosen: str
) -> None:
    assert default_class(classes) == chosen


@pytest.mark.parametrize(
    ("spec", "needs"),
    [
        ({}, True),
        ({"storageClassName": None}, True),
        ({"storageClassName": ""}, False),
        ({"storageClassName": "fast"}, False),
        ({"volumeName": "v1"}, False),
    ],
)
def test_a_claim_that_says_nothing_gets_the_default_class(spec: Document, needs: bool) -> None:
    assert needs_class({"spec": spec}) is needs


SET: Document = {
    "metadata": {"name": "db", "namespace": "prod"},
    "spec": {
        "selector": {"matchLabels": {"app": "db"}},
        "volumeClaimTemplates": [
            {"metadata": {"name": "data", "labels": {"tier": "gold"}}, "spec": {"storageClassName": "fast"}}
        ],
    },
}


def test_a_replica_has_a_claim_of_its_own_by_name() -> None:
    (claim,) = replica_claims(SET, 2)
    assert claim["metadata"]["name"] == "data-db-2"
    assert claim["metadata"]["namespace"] == "prod"
    assert claim["metadata"]["labels"] == {"tier": "gold", "app": "db"}
    assert claim["spec"] == {"storageClassName": "fast"}


def test_the_claim_of_a_replica_takes_the_place_of_a_volume_with_its_name() -> None:
    volumes = [{"name": "data", "emptyDir": {}}, {"name": "cache", "emptyDir": {}}]
    assert replica_volumes(SET, 0, volumes) == [
        {"name": "data", "persistentVolumeClaim": {"claimName": "data-db-0"}},
        {"name": "cache", "emptyDir": {}},
    ]
