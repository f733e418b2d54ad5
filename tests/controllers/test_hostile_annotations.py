"""What controllers read from annotations, where tenants may write anything, 256 KiB of it.

A number that is none, and JSON that is nested too deeply to be read, count as not written.
"""

from typing import Any

import pytest

from reprieve.fleet.group import Ledger, read_ledger
from reprieve.jobs.editing import restored, was_changed
from reprieve.jobs.pod_groups import group_total
from reprieve.jobs.workloads import time_limit
from reprieve.objects import Pod, decode, topology_request, well_known
from reprieve.scheduler import marks

DEEP = ["[" * 120_000, '{"a":' * 40_000, '{"x":' + "[" * 100_000 + "]" * 100_000 + "}"]
NO_NUMBER = ["²", "9" * 5000, "1_0", "-1", " 1"]


def noted(annotation: str, text: str) -> dict[str, Any]:
    return {"metadata": {"name": "a", "namespace": "ml", "annotations": {annotation: text}}}


@pytest.mark.parametrize("text", DEEP)
def test_a_fleets_ledger_that_is_nested_too_deeply_counts_as_empty(text: str) -> None:
    assert read_ledger(noted(well_known.LEDGER_ANNOTATION, text)) == Ledger()


@pytest.mark.parametrize("text", DEEP)
def test_a_note_of_what_was_changed_that_is_nested_too_deeply_puts_nothing_back(text: str) -> None:
    job = {"apiVersion": "batch/v1", "kind": "Job", **noted(well_known.BEFORE_START_ANNOTATION, text)}
    assert was_changed(job)
    assert restored(job, ())["metadata"]["name"] == "a"


@pytest.mark.parametrize("text", DEEP)
def test_a_mark_that_is_nested_too_deeply_is_nobodys(text: str) -> None:
    assert marks.origin({well_known.EVICTED_FOR_ANNOTATION: text}, "") is None


@pytest.mark.parametrize("text", DEEP)
def test_layers_of_slices_that_are_nested_too_deeply_are_none(text: str) -> None:
    assert topology_request({well_known.TOPOLOGY_SLICES_ANNOTATION: text}) is None


@pytest.mark.parametrize("text", NO_NUMBER)
def test_a_size_of_slices_that_is_no_number_is_left_out(text: str) -> None:
    asked = topology_request(
        {
            well_known.TOPOLOGY_SLICE_ANNOTATION: "rack",
            well_known.TOPOLOGY_SLICE_SIZE_ANNOTATION: text,
        }
    )
    assert asked == {"podSetSliceRequiredTopology": "rack"}


@pytest.mark.parametrize("text", NO_NUMBER)
def test_a_number_of_pods_in_a_group_that_is_none_counts_as_one(text: str) -> None:
    document = {"apiVersion": "v1", "kind": "Pod", **noted(well_known.POD_GROUP_TOTAL, text)}
    document["metadata"]["labels"] = {well_known.POD_GROUP_NAME_LABEL: "g"}
    document["spec"] = {"containers": [{"name": "c", "image": "i"}]}
    pod = decode(document)
    assert isinstance(pod, Pod)
    assert group_total([pod]) == 1


@pytest.mark.parametrize("text", NO_NUMBER)
def test_a_time_limit_that_is_no_number_is_none(text: str) -> None:
    assert time_limit({well_known.MAX_EXEC_TIME_LABEL: text}) == {}
