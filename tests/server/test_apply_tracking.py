"""Ordinary writes on objects that have owners, and the wire form of field sets."""

import copy
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprieve.server.apply import managed_fields, server_side_apply, track_update
from reprieve.server.apply.document import differences, field_set, merge, remove
from reprieve.server.field_validation import schema_of
from tests.server.kinds import PODS

NOW = datetime(2026, 11, 15, 12, 0, 0, tzinfo=UTC)
SCHEMA = schema_of(PODS)


def applied(**spec: Any) -> dict[str, Any]:
    doc = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}
    return server_side_apply(None, doc, "alice", False, PODS, NOW)


def updated(old: dict[str, Any], manager: str = "bob", subresource: str = "", **spec: Any) -> dict[str, Any]:
    new = copy.deepcopy(old)
    new["spec"].update(spec)
    return track_update(old, new, manager, subresource, NOW)


def owners(doc: dict[str, Any]) -> dict[str, Any]:
    return {e["manager"]: e["fieldsV1"] for e in doc["metadata"]["managedFields"]}


def test_a_changed_field_changes_hands() -> None:
    after = updated(applied(nodeName="a", priority=1), priority=2)
    assert owners(after) == {
        "alice": {"f:spec": {"f:nodeName": {}}},
        "bob": {"f:spec": {"f:priority": {}}},
    }


def test_a_field_that_is_gone_has_no_owner() -> None:
    old = applied(nodeName="a", priority=1)
    new = copy.deepcopy(old)
    del new["spec"]["priority"]
    assert owners(track_update(old, new, "bob", "", NOW)) == {"alice": {"f:spec": {"f:nodeName": {}}}}


def test_a_write_that_changes_nothing_leaves_the_owners_alone() -> None:
    old = applied(nodeName="a")
    assert updated(old) == old


def test_writes_to_the_status_are_kept_apart() -> None:
    old = applied(nodeName="a")
    new = copy.deepcopy(old)
    new["status"] = {"phase": "Running"}
    entry = track_update(old, new, "kubelet", "status", NOW)["metadata"]["managedFields"][-1]
    assert (entry["manager"], entry["operation"], entry["subresource"]) == ("kubelet", "Update", "status")


def test_many_updaters_are_folded_so_that_the_list_stays_short() -> None:
    doc = applied(nodeName="a")
    for number in range(30):
        fields: dict[str, Any] = {f"x{number}": 1}
        doc = updated(doc, f"writer-{number:02}", nodeSelector={"n": str(number)}, **fields)
    entries = doc["metadata"]["managedFields"]
    assert len(entries) <= 12
    assert any(e["manager"] == "ancient-changes" for e in entries)


elements = st.sampled_from(["f:a", "f:b", 'k:{"name":"x"}', 'v:"y"'])
paths = st.frozensets(st.lists(elements, min_size=1, max_size=4).map(tuple), max_size=12)


@given(paths)
def test_field_sets_survive_the_wire(fields: managed_fields.FieldSet) -> None:
    assert managed_fields.parse_fields(managed_fields.encode_fields(fields)) == fields


@pytest.mark.parametrize("junk", [None, [], "x", 3, {"f:a": None}, {"f:a": 3}])
def test_junk_on_the_wire_is_no_crash(junk: Any) -> None:
    assert managed_fields.parse_fields(junk) in (frozenset(), frozenset({("f:a",)}))


def test_paths_are_shown_as_people_write_them() -> None:
    path = ("f:spec", "f:ports", 'k:{"containerPort":80,"protocol":"TCP"}', "f:name")
    assert managed_fields.display(path) == '.spec.ports[containerPort=80,protocol="TCP"].name'
    assert managed_fields.display(("f:metadata", "f:finalizers", 'v:"x"')) == '.metadata.finalizers[="x"]'


names = st.sampled_from("abcd")
container = st.fixed_dictionaries(
    {"name": names},
    optional={"image": names, "env": st.lists(names, unique=True).map(lambda n: [{"name": x} for x in n])},
)
containers = st.lists(container, unique_by=lambda c: c["name"], max_size=4)
documents = st.fixed_dictionaries(
    {},
    optional={
        "spec": st.fixed_dictionaries(
            {}, optional={"containers": containers, "nodeSelector": st.dictionaries(names, names)}
        ),
        "metadata": st.fixed_dictionaries(
            {}, optional={"labels": st.dictionaries(names, names), "finalizers": st.lists(names, unique=True)}
        ),
    },
)


@given(documents, documents)
def test_a_merge_contains_all_that_was_applied_and_adds_nothing(old: Any, new: Any) -> None:
    merged = merge(old, new, SCHEMA)
    assert merge(merged, new, SCHEMA) == merged
    stated = field_set(new, SCHEMA)
    changed, _ = differences(old, merged, SCHEMA)
    assert changed <= stated | field_set(old, SCHEMA)


@given(documents, documents)
def test_differences_are_empty_exactly_for_equal_documents(old: Any, new: Any) -> None:
    changed, removed = differences(old, new, SCHEMA)
    assert (not changed and not removed) == (old == new) or sorted(map(str, old)) == sorted(map(str, new))
    assert changed <= field_set(new, SCHEMA)


@given(documents)
def test_removing_every_field_leaves_nothing_but_shells(doc: Any) -> None:
    for path in sorted(field_set(doc, SCHEMA), key=len, reverse=True):
        doc = remove(doc, [path], SCHEMA)
    left = field_set(doc, SCHEMA)
    assert all(doc_is_empty(path, doc) for path in left)


def doc_is_empty(path: managed_fields.Path, doc: Any) -> bool:
    for element in path:
        doc = doc.get(element[2:]) if isinstance(doc, dict) else doc
    return not doc
