"""CustomResourceDefinitions: what is refused, what is served, and how documents are defaulted, pruned and
judged.
"""

import copy
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprieve.objects import builtin_problems, definitions, schemas
from reprieve.server.custom_resources import structural
from reprieve.server.custom_resources.definitions import resources_of
from reprieve.server.errors import ApiError
from tests.server.rig import condition, running
from tests.server.widgets import definition, widget
from tests.server.wire import connected
from tests.waiting import eventually

Doc = dict[str, Any]


def changed(path: str, value: Any) -> Doc:
    """The good definition with one place changed; `...` removes it."""
    doc = copy.deepcopy(definition())
    place: Any = doc
    *parents, last = path.split(".")
    for key in parents:
        place = place[int(key)] if isinstance(place, list) else place[key]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return doc


def test_a_good_definition_has_no_problems_and_gives_one_resource_for_each_served_version() -> None:
    assert builtin_problems(definition(), None) == []
    doc = definition()
    old = copy.deepcopy(doc["spec"]["versions"][0]) | {"name": "v1alpha1", "storage": False}
    hidden = copy.deepcopy(old) | {"name": "v1alpha2", "served": False}
    doc["spec"]["versions"] += [old, hidden]
    resources = resources_of(doc)
    assert [r.version for r in resources] == ["v1", "v1alpha1"]
    assert all(r.storage_version == "v1" and r.custom and r.has_status for r in resources)
    assert resources[0].short_names == ("wd",)


@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        ("metadata.name", "other.example.com", "metadata.name"),
        ("spec.scope", "Galaxy", "spec.scope"),
        ("spec.group", "example", "spec.group"),
        ("spec.names.plural", "Bad_Plural", "spec.names.plural"),
        ("spec.names.kind", "", "spec.names.kind"),
        ("spec.versions", [], "spec.versions"),
        ("spec.versions.0.storage", False, "spec.versions"),
        ("spec.versions.0.schema", ..., "spec.versions[0].schema.openAPIV3Schema"),
        ("spec.versions.0.name", "V_1", "spec.versions[0].name"),
        (
            "spec.versions.0.schema.openAPIV3Schema.type",
            "string",
            "spec.versions[0].schema.openAPIV3Schema.type",
        ),
        (
            "spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.size",
            {},
            "spec.versions[0].schema.openAPIV3Schema.properties[spec].properties[size].type",
        ),
        (
            "spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.size",
            {"type": "array"},
            "spec.versions[0].schema.openAPIV3Schema.properties[spec].properties[size].items",
        ),
        (
            "spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.size",
            {"type": "float"},
            "spec.versions[0].schema.openAPIV3Schema.properties[spec].properties[size].type",
        ),
        ("spec.names", "text", "spec"),
        ("spec", "text", "spec"),
    ],
)
def test_a_bad_definition_is_refused_with_the_field(path: str, value: Any, field: str) -> None:
    doc = changed(path, value)
    if path in ("spec.group", "spec.names.plural"):
        doc["metadata"]["name"] = f"{doc['spec']['names']['plural']}.{doc['spec']['group']}"
    assert field in [cause.path for cause in builtin_problems(doc, None)]
    with pytest.raises(ApiError) as caught:
        resources_of(doc)
    assert caught.value.code == 422


def test_printer_columns_and_scale_paths_are_checked() -> None:
    doc = definition()
    doc["spec"]["versions"][0] |= {
        "additionalPrinterColumns": [{"name": "A", "type": "colour", "jsonPath": "..["}],
        "subresources": {"scale": {"specReplicasPath": ".spec.replicas"}},
    }
    fields = [cause.path for cause in builtin_problems(doc, None)]
    assert fields == [
        "spec.versions[0].additionalPrinterColumns[0].type",
        "spec.versions[0].additionalPrinterColumns[0].jsonPath",
        "spec.versions[0].subresources.scale.statusReplicasPath",
    ]


SCHEMA: Doc = {
    "type": "object",
    "required": ["spec"],
    "properties": {
        "spec": {
            "type": "object",
            "required": ["size"],
            "properties": {
                "size": {"type": "integer", "minimum": 1, "maximum": 9},
                "colour": {"type": "string", "enum": ["red", "green"], "default": "green"},
                "name": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 5},
                "port": {"x-kubernetes-int-or-string": True},
                "limits": {"type": "object", "additionalProperties": {"type": "number", "multipleOf": 0.5}},
                "items": {
                    "type": "array",
                    "maxItems": 3,
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["key"],
                    "items": {
                        "type": "object",
                        "properties": {"key": {"type": "string"}, "on": {"type": "boolean", "default": True}},
                    },
                },
                "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                "when": {"type": "string", "format": "date-time", "nullable": True},
                "either": {
                    "type": "object",
                    "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
                    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
                },
            },
        }
    },
}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"size": 3}, []),
        ({}, [("spec.size", "Required value")]),
        ({"size": 0}, [("spec.size", "greater than or equal to 1")]),
        ({"size": 10}, [("spec.size", "less than or equal to 9")]),
        ({"size": "3"}, [("spec.size", "must be of type integer")]),
        ({"size": True}, [("spec.size", "must be of type integer")]),
        ({"size": 3, "colour": "blue"}, [("spec.colour", "Unsupported value")]),
        ({"size": 3, "name": "ABC"}, [("spec.name", "should match")]),
        ({"size": 3, "name": "abcdef"}, [("spec.name", "Too long")]),
        ({"size": 3, "port": 80}, []),
        ({"size": 3, "port": "http"}, []),
        ({"size": 3, "port": 1.5}, [("spec.port", "integer or string")]),
        ({"size": 3, "limits": {"a": 1.5}}, []),
        ({"size": 3, "limits": {"a": 1.2}}, [("spec.limits.a", "multiple of")]),
        ({"size": 3, "items": [{"key": "a"}, {"key": "a"}]}, [("spec.items[1]", "Duplicate value")]),
        ({"size": 3, "items": [{"key": 1}]}, [("spec.items[0].key", "must be of type string")]),
        ({"size": 3, "items": [{"key": str(i)} for i in range(4)]}, [("spec.items", "Too long")]),
        ({"size": 3, "when": None}, []),
        ({"size": 3, "when": "2026-01-01T00:00:00Z"}, []),
        ({"size": 3, "when": "yesterday"}, [("spec.when", "date-time")]),
        ({"size": 3, "free": {"a": {"b": [1]}}}, []),
        ({"size": 3, "either": {"a": 1}}, []),
        ({"size": 3, "either": {"a": 1, "b": 1}}, [("spec.either", "one and only one")]),
        ({"size": None, "colour": 5}, [("spec.size", "integer"), ("spec.colour", "string")]),
        ("text", [("spec", "must be of type object")]),
    ],
    ids=str,
)
def test_validation_names_every_problem_with_its_path(spec: Any, expected: list[tuple[str, str]]) -> None:
    causes = structural.validate({"spec": spec}, SCHEMA)
    assert [cause.field for cause in causes] == [field for field, _ in expected]
    for cause, (_, said) in zip(causes, expected, strict=True):
        assert said in cause.message


def test_defaults_fill_what_is_missing_also_inside_lists() -> None:
    doc: dict[str, Any] = {
        "spec": {"size": 1, "colour": None, "items": [{"key": "a"}, {"key": "b", "on": False}]}
    }
    structural.apply_defaults(doc, SCHEMA)
    assert doc["spec"]["colour"] == "green"
    assert [item["on"] for item in doc["spec"]["items"]] == [True, False]


FIELDS = structural.fields_of(SCHEMA)


def test_pruning_removes_what_nobody_knows_and_spares_what_is_free() -> None:
    doc = {
        "apiVersion": "x/v1",
        "kind": "X",
        "metadata": {"name": "x", "odd": 1},
        "stray": 1,
        "spec": {"size": 1, "stray": {"deep": 1}, "free": {"kept": 1}, "items": [{"key": "a", "stray": 1}]},
    }
    assert schemas.unknown_fields(doc, FIELDS) == ["stray", "spec.stray", "spec.items[0].stray"]
    schemas.drop_unknown(doc, FIELDS)
    assert set(doc) == {"apiVersion", "kind", "metadata", "spec"}
    assert doc["spec"] == {"size": 1, "free": {"kept": 1}, "items": [{"key": "a"}]}


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda children: (
        st.lists(children, max_size=3)
        | st.dictionaries(
            st.sampled_from([*SCHEMA["properties"]["spec"]["properties"], "stray", "a"]), children
        )
    ),
    max_leaves=12,
)


@given(values)
def test_no_document_makes_it_stumble_and_pruning_twice_changes_nothing(value: Any) -> None:
    doc = {"spec": value}
    schemas.drop_unknown(doc, FIELDS)
    once = copy.deepcopy(doc)
    schemas.drop_unknown(doc, FIELDS)
    assert doc == once
    structural.apply_defaults(doc, SCHEMA)
    structural.validate(doc, SCHEMA)
    assert schemas.unknown_fields(doc, FIELDS) == []


@given(values)
def test_no_schema_makes_the_check_stumble(value: Any) -> None:
    builtin_problems(changed("spec.versions.0.schema", {"openAPIV3Schema": value}), None)
    builtin_problems(changed("spec.names", value), None)


async def test_a_definition_is_established_served_and_withdrawn() -> None:
    async with running() as rig:
        resource = "customresourcedefinitions.apiextensions.k8s.io"
        await rig.create(resource, definition())
        stored = rig.get(resource, "widgets.example.com", "")
        assert condition(stored, "Established") == "True/InitialNamesAccepted"
        assert condition(stored, "NamesAccepted") == "True/NoConflicts"
        assert stored["status"]["storedVersions"] == ["v1"]
        await rig.create("widgets.example.com", widget("w"))
        assert rig.get("widgets.example.com", "w")["spec"] == {"size": 3, "colour": "green"}
        with pytest.raises(ApiError) as caught:
            await rig.api.create("widgets.example.com", widget("bad", 0))
        assert caught.value.code == 422
        await rig.api.delete(resource, "widgets.example.com")
        await rig.settle()
        with pytest.raises(ApiError):
            rig.api.peek("widgets.example.com", "w", "default")


async def test_a_large_schema_is_judged_once_and_beside_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight times in the loop before: by the write, by what serves it and by its controller, and with each
    change of a label again."""
    judged: list[str] = []
    judge = definitions._patterns

    def noting(schema: Doc, path: str) -> list[Any]:
        judged.append(threading.current_thread().name)
        return list(judge(schema, path))

    monkeypatch.setattr(definitions, "_patterns", noting)
    large = definition()
    schema = large["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    schema["properties"] |= {f"f{number}": {"type": "string"} for number in range(2_000)}
    place = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    async with connected(controllers=True) as wire:
        assert (await wire.post(place, large)).status == 201
        name = f"{place}/{large['metadata']['name']}"

        async def established() -> bool:
            found = (await wire.get(name)).body
            return any(each["type"] == "Established" for each in found["status"].get("conditions", ()))

        await eventually(established, "it is served")
        patch = {"metadata": {"labels": {"a": "b"}}}
        assert (await wire.patch(name, patch)).status == 200
        assert [each.partition("_")[0] for each in judged] == ["reprieve-bodies"]
        schema["properties"]["f1"]["pattern"] = "("
        refused = await wire.patch(name, {"spec": large["spec"]})
        assert (refused.status, "regular expression" in refused.message) == (422, True)
        again = await wire.patch(name, {"spec": large["spec"]})
        assert again.status == 422, "what is wrong is not remembered as right"
