"""JSON patch and merge patch, and which kinds take which."""

import copy
from typing import Any

import pytest

from reprieve.server.errors import ApiError
from reprieve.server.patch import (
    JSON_PATCH,
    MERGE_PATCH,
    STRATEGIC_MERGE_PATCH,
    apply_patch,
    merge_patch,
)
from tests.server.kinds import CLUSTER_QUEUES, POD_GROUPS, PODS

POD: dict[str, Any] = {
    "metadata": {"name": "a", "labels": {"app": "x", "tier": "y"}},
    "spec": {"containers": [{"name": "c", "image": "i"}], "priority": 5},
}


def refusal(content_type: str, patch: Any, resource: Any = PODS) -> ApiError:
    with pytest.raises(ApiError) as caught:
        apply_patch(content_type, POD, patch, resource)
    return caught.value


def test_a_json_patch_changes_one_place_and_leaves_the_original_alone() -> None:
    before = copy.deepcopy(POD)
    patch = [{"op": "replace", "path": "/spec/containers/0/image", "value": "new"}]
    assert apply_patch(JSON_PATCH, POD, patch, PODS)["spec"]["containers"][0]["image"] == "new"
    assert before == POD


def test_a_json_patch_whose_test_fails_is_unprocessable() -> None:
    problem = refusal(JSON_PATCH, [{"op": "test", "path": "/metadata/name", "value": "b"}])
    assert (problem.code, problem.reason) == (422, "Invalid")


@pytest.mark.parametrize(
    "patch",
    [
        {},
        "text",
        None,
        [1],
        [{"op": "add", "path": 5, "value": 1}],
    ],
    ids=str,
)
def test_a_malformed_json_patch_is_a_bad_request(patch: Any) -> None:
    assert refusal(JSON_PATCH, patch).code == 400


@pytest.mark.parametrize("patch", [[{"op": "jump", "path": "/a"}], [{"path": "/a"}]], ids=str)
def test_an_operation_that_there_is_not_is_unprocessable(patch: Any) -> None:
    assert refusal(JSON_PATCH, patch).code == 422


def test_a_member_that_is_not_there_can_be_replaced() -> None:
    """Not by the RFC, but by kube-apiserver; a place in a list must be there."""
    step = {"op": "replace", "path": "/metadata/labels", "value": {"a": "b"}}
    assert apply_patch(JSON_PATCH, {"metadata": {}}, [step], PODS)["metadata"] == {"labels": {"a": "b"}}
    assert (
        refusal(JSON_PATCH, [{"op": "replace", "path": "/metadata/finalizers/3", "value": "a"}]).code == 422
    )


@pytest.mark.parametrize(
    "patch",
    [
        [{"op": "remove", "path": "/spec/missing"}],
        [{"op": "add", "path": "/metadata/name/deeper", "value": 1}],
        [{"op": "replace", "path": "/spec/containers/7/image", "value": "x"}],
        [{"op": "add", "path": "/spec/containers/x", "value": {}}],
        [{"op": "move", "from": "/nowhere", "path": "/spec/x"}],
    ],
    ids=str,
)
def test_a_json_patch_that_leads_nowhere_is_unprocessable(patch: Any) -> None:
    assert refusal(JSON_PATCH, patch).code == 422


def test_a_json_patch_may_not_have_more_operations_than_kubernetes_allows() -> None:
    operation = {"op": "test", "path": "/metadata/name", "value": "a"}
    assert refusal(JSON_PATCH, [operation] * 10_001).code == 413


def test_a_json_patch_that_replaces_the_document_by_a_number_is_refused() -> None:
    assert refusal(JSON_PATCH, [{"op": "replace", "path": "", "value": 3}]).code == 400


def test_a_merge_patch_merges_objects_replaces_lists_and_removes_nulls() -> None:
    patch = {"metadata": {"labels": {"tier": None, "new": "1"}}, "spec": {"containers": [{"name": "d"}]}}
    patched = apply_patch(MERGE_PATCH, POD, patch, PODS)
    assert patched["metadata"]["labels"] == {"app": "x", "new": "1"}
    assert patched["spec"] == {"containers": [{"name": "d"}], "priority": 5}


@pytest.mark.parametrize(
    ("current", "patch", "expected"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_the_examples_of_the_merge_patch_standard(current: Any, patch: Any, expected: Any) -> None:
    assert merge_patch(current, patch) == expected


@pytest.mark.parametrize("patch", [[], "x", 3, None])
@pytest.mark.parametrize("content_type", [MERGE_PATCH, STRATEGIC_MERGE_PATCH])
def test_a_merge_patch_must_be_an_object(content_type: str, patch: Any) -> None:
    assert refusal(content_type, patch).code == 400


def test_kueue_kinds_refuse_strategic_patches_as_custom_resources_do() -> None:
    problem = refusal(STRATEGIC_MERGE_PATCH, {}, CLUSTER_QUEUES)
    assert problem.code == 415
    assert MERGE_PATCH in problem.message
    assert STRATEGIC_MERGE_PATCH not in problem.message


def test_pod_groups_take_strategic_patches_of_their_conditions() -> None:
    group = {"status": {"conditions": [{"type": "A", "status": "False"}]}}
    patch = {"status": {"conditions": [{"type": "B", "status": "True"}]}}
    patched = apply_patch(STRATEGIC_MERGE_PATCH, group, patch, POD_GROUPS)
    assert [c["type"] for c in patched["status"]["conditions"]] == ["B", "A"]


def test_an_unknown_content_type_is_answered_with_the_known_ones() -> None:
    problem = refusal("application/json", {})
    assert problem.code == 415
    assert JSON_PATCH in problem.message
