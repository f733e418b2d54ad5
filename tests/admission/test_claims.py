"""The class of a claim for a volume that names none."""

import pytest

from reprieve.admission import DEFAULT_CLASS, default_class, needs_class
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
