"""Small requests that used to take a minute or all memory: bounded work for anything a client may send."""

from typing import Any

import pytest

from reprieve.server.custom_resources import structural
from reprieve.server.custom_resources.definitions import problems
from reprieve.server.errors import ApiError
from reprieve.server.patch import JSON_PATCH, apply_patch
from reprieve.server.resources import builtin_resources
from tests.effort import within

PODS = next(each for each in builtin_resources() if each.storage_key == "pods")
AT_MOST_SECONDS = 10.0
"""What is refused here took a minute or more, and takes at most half a second."""


def small_pod() -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x", "labels": {"a": "b" * 40}}}


@pytest.mark.parametrize("doublings", [23, 40])
def test_copies_of_copies_are_refused_before_they_fill_the_memory(doublings: int) -> None:
    patch: list[dict[str, Any]] = [{"op": "add", "path": "/metadata/annotations", "value": {"x": "y" * 100}}]
    patch += [
        {"op": "copy", "from": "/metadata", "path": f"/metadata/annotations/c{number}"}
        for number in range(doublings)
    ]
    with pytest.raises(ApiError, match="accumulated size increase of copy") as refused:
        within(AT_MOST_SECONDS, lambda: apply_patch(JSON_PATCH, small_pod(), patch, PODS))
    assert refused.value.code == 413


def test_an_ordinary_copy_is_carried_out_and_the_document_before_stays() -> None:
    before = small_pod()
    patch = [
        {"op": "add", "path": "/metadata/annotations", "value": {}},
        {"op": "copy", "from": "/metadata/labels/a", "path": "/metadata/annotations/a"},
    ]
    after = apply_patch(JSON_PATCH, before, patch, PODS)
    assert after["metadata"]["annotations"] == {"a": "b" * 40}
    assert before == small_pod()


def test_a_copy_from_nowhere_is_refused() -> None:
    with pytest.raises(ApiError) as refused:
        apply_patch(JSON_PATCH, small_pod(), [{"op": "copy", "from": "/spec/x", "path": "/metadata/y"}], PODS)
    assert refused.value.code == 422


@pytest.mark.parametrize("pattern", ["^(a+)+$", "(a|aa)+$", "^(([a-z])+.)+[A-Z]([a-z])+$"])
def test_a_pattern_takes_time_in_proportion_to_the_text(pattern: str) -> None:
    schema = {"type": "string", "pattern": pattern}
    assert within(AT_MOST_SECONDS, lambda: structural.validate("a" * 100_000 + "!", schema, "spec.x"))


def definition(schema: dict[str, Any]) -> dict[str, Any]:
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": schema}}},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
            "scope": "Namespaced",
            "versions": [version],
        },
    }


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "pattern": "(?<=a)b"},
        {"type": "object", "properties": {"x": {"type": "string", "pattern": "(a"}}},
        {"type": "string", "anyOf": [{"pattern": "a{1001}"}]},
        {"type": "string", "not": {"allOf": [{"pattern": "["}]}},
    ],
)
def test_a_pattern_that_go_cannot_read_is_refused_with_the_definition(schema: dict[str, Any]) -> None:
    (cause,) = problems(definition(schema))
    assert cause.field.endswith(".pattern")
    assert "must be a valid regular expression" in cause.message


def test_patterns_of_go_and_values_that_look_like_patterns_are_fine() -> None:
    schema = {
        "type": "object",
        "properties": {
            "pattern": {"type": "string", "pattern": r"^[[:alpha:]]\p{Greek}?\z"},
            "other": {
                "type": "object",
                "x-kubernetes-preserve-unknown-fields": True,
                "default": {"pattern": "("},
            },
        },
    }
    assert problems(definition(schema)) == []
    assert structural.validate({"pattern": "x"}, schema, "spec") == []


def test_a_set_with_very_many_members_is_checked_in_linear_time() -> None:
    schema = {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}
    members = [*(f"m{i}" for i in range(150_000)), "m7"]
    (cause,) = within(AT_MOST_SECONDS, lambda: structural.validate(members, schema, "spec.x"))
    assert cause.field == "spec.x[150000]"
