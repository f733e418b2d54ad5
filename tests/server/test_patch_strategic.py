"""Strategic merge patch: what kubectl apply, edit, set and taint send."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprieve.server.errors import ApiError
from reprieve.server.patch import STRATEGIC_MERGE_PATCH, apply_patch
from tests.server.kinds import DEPLOYMENTS, NODES, PODS

Spec = dict[str, Any]


def patched_spec(spec: Spec, patch: Spec) -> Spec:
    before = copy.deepcopy(spec)
    result = apply_patch(STRATEGIC_MERGE_PATCH, {"spec": spec}, {"spec": patch}, PODS)["spec"]
    assert spec == before, "the current document may not change"
    return result


CASES: dict[str, tuple[Spec, Spec, Spec]] = {
    "an item of a keyed list is merged by its key": (
        {"containers": [{"name": "a", "image": "1"}, {"name": "b", "image": "1"}]},
        {"containers": [{"name": "b", "image": "2"}]},
        {"containers": [{"name": "a", "image": "1"}, {"name": "b", "image": "2"}]},
    ),
    "a new item stands before those that the patch does not name, as kube-apiserver has it": (
        {"containers": [{"name": "a"}]},
        {"containers": [{"name": "b"}]},
        {"containers": [{"name": "b"}, {"name": "a"}]},
    ),
    "lists inside items merge by their own key": (
        {"containers": [{"name": "a", "env": [{"name": "X", "value": "1"}, {"name": "Y", "value": "1"}]}]},
        {"containers": [{"name": "a", "env": [{"name": "Y", "value": "2"}]}]},
        {"containers": [{"name": "a", "env": [{"name": "X", "value": "1"}, {"name": "Y", "value": "2"}]}]},
    ),
    "a delete directive removes the item": (
        {"containers": [{"name": "a"}, {"name": "b"}]},
        {"containers": [{"$patch": "delete", "name": "a"}]},
        {"containers": [{"name": "b"}]},
    ),
    "deleting an item that is not there changes nothing": (
        {"containers": [{"name": "b"}]},
        {"containers": [{"$patch": "delete", "name": "a"}]},
        {"containers": [{"name": "b"}]},
    ),
    "a replace directive replaces the whole list": (
        {"containers": [{"name": "a"}, {"name": "b"}]},
        {"containers": [{"name": "c"}, {"$patch": "replace"}]},
        {"containers": [{"name": "c"}]},
    ),
    "an atomic list is replaced": (
        {"tolerations": [{"key": "a"}]},
        {"tolerations": [{"key": "b"}]},
        {"tolerations": [{"key": "b"}]},
    ),
    "a plain map is merged": (
        {"nodeSelector": {"a": "1", "b": "1"}},
        {"nodeSelector": {"b": None, "c": "1"}},
        {"nodeSelector": {"a": "1", "c": "1"}},
    ),
    "a replace directive replaces the object": (
        {"securityContext": {"runAsUser": 1, "fsGroup": 2}},
        {"securityContext": {"$patch": "replace", "runAsUser": 3, "fsGroup": None}},
        {"securityContext": {"runAsUser": 3}},
    ),
    "a delete directive empties the object": (
        {"securityContext": {"runAsUser": 1}},
        {"securityContext": {"$patch": "delete"}},
        {"securityContext": {}},
    ),
    "retained keys are the only ones that stay": (
        {"volumes": [{"name": "v", "emptyDir": {}}]},
        {"volumes": [{"name": "v", "hostPath": {"path": "/x"}, "$retainKeys": ["name", "hostPath"]}]},
        {"volumes": [{"name": "v", "hostPath": {"path": "/x"}}]},
    ),
    "the client's order of elements wins, strangers keep their place": (
        {"containers": [{"name": "a"}, {"name": "server"}, {"name": "b"}]},
        {
            "$setElementOrder/containers": [{"name": "b"}, {"name": "a"}, {"name": "c"}],
            "containers": [{"name": "c"}],
        },
        {"containers": [{"name": "server"}, {"name": "b"}, {"name": "a"}, {"name": "c"}]},
    ),
    "an order alone reorders": (
        {"containers": [{"name": "a"}, {"name": "b"}]},
        {"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}]},
        {"containers": [{"name": "b"}, {"name": "a"}]},
    ),
    "null removes a list": ({"containers": [{"name": "a"}], "x": 1}, {"containers": None}, {"x": 1}),
    "a field that no schema knows merges like JSON": (
        {"made-up": {"a": [1], "b": 1}},
        {"made-up": {"a": [2]}},
        {"made-up": {"a": [2], "b": 1}},
    ),
}


@pytest.mark.parametrize(("spec", "patch", "expected"), CASES.values(), ids=CASES.keys())
def test_strategic_merge(spec: Spec, patch: Spec, expected: Spec) -> None:
    assert patched_spec(spec, patch) == expected


def test_finalizers_merge_as_a_set_and_can_be_taken_out_by_value() -> None:
    doc = {"metadata": {"finalizers": ["a", "b"]}}
    added = apply_patch(STRATEGIC_MERGE_PATCH, doc, {"metadata": {"finalizers": ["b", "c"]}}, PODS)
    assert added["metadata"]["finalizers"] == ["a", "b", "c"]
    removal = {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a"]}}
    assert apply_patch(STRATEGIC_MERGE_PATCH, added, removal, PODS)["metadata"]["finalizers"] == ["b", "c"]


def test_a_node_condition_is_merged_by_type_and_a_taint_list_is_replaced() -> None:
    node = {
        "spec": {"taints": [{"key": "a"}]},
        "status": {"conditions": [{"type": "Ready", "status": "True", "reason": "R"}]},
    }
    patch = {
        "spec": {"taints": [{"key": "b"}]},
        "status": {"conditions": [{"type": "Ready", "status": "False"}]},
    }
    patched = apply_patch(STRATEGIC_MERGE_PATCH, node, patch, NODES)
    assert patched["spec"]["taints"] == [{"key": "b"}]
    assert patched["status"]["conditions"] == [{"type": "Ready", "status": "False", "reason": "R"}]


def test_changing_the_rollout_strategy_drops_the_settings_of_the_old_one() -> None:
    current = {"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}}}
    patch = {"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}}
    patched = apply_patch(STRATEGIC_MERGE_PATCH, current, patch, DEPLOYMENTS)
    assert patched["spec"]["strategy"] == {"type": "Recreate"}


@pytest.mark.parametrize("item", [{"image": "x"}, "text", 3])
def test_an_item_without_its_merge_key_is_a_bad_request(item: Any) -> None:
    with pytest.raises(ApiError) as caught:
        patched_spec({"containers": [{"name": "a"}]}, {"containers": [item]})
    assert caught.value.code == 400
    assert "name" in caught.value.message


names = st.sampled_from("abcdef")
containers = st.lists(names, unique=True).map(lambda n: [{"name": x, "image": "old"} for x in n])


@given(current=containers, wanted=containers)
def test_merging_keeps_every_item_once_and_the_order_names_come_in_that_order(
    current: list[Spec], wanted: list[Spec]
) -> None:
    order = [{"name": c["name"]} for c in wanted]
    patch = {"containers": wanted, "$setElementOrder/containers": order}
    merged = [c["name"] for c in patched_spec({"containers": current}, patch)["containers"]]
    assert sorted(merged) == sorted({c["name"] for c in current} | {c["name"] for c in wanted})
    assert [n for n in merged if {"name": n} in order] == [o["name"] for o in order]


@given(current=containers, patch=containers)
def test_a_strategic_merge_applied_twice_changes_nothing_more(current: list[Spec], patch: list[Spec]) -> None:
    once = patched_spec({"containers": current}, {"containers": patch})
    assert patched_spec(once, {"containers": patch}) == once
