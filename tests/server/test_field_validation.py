"""Fields that a kind does not have, and keys that a body has twice: refused, warned about or ignored."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.server.widgets import definition, widget
from tests.server.wire import Answer, Wire, connected

DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
WIDGETS = "/apis/example.com/v1/namespaces/default/widgets"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
DEPLOYMENT = b"""{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d","labels":{"a":"b"}},
"spec":{"unknownField":"x","replicas":1,"replicas":2,"selector":{"matchLabels":{"a":"b"}},
"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i","image":"j"}]}}}}"""


@pytest.fixture
async def wire() -> AsyncIterator[Wire]:
    async with connected() as wire:
        await wire.post(DEFINITIONS, definition())
        yield wire


async def test_strict_names_unknown_fields_and_keys_that_are_there_twice(wire: Wire) -> None:
    refused = await wire.post(f"{DEPLOYMENTS}?fieldValidation=Strict", DEPLOYMENT)
    assert refused.status == 400
    assert (
        'strict decoding error: unknown field "spec.unknownField", duplicate field "spec.replicas", '
        'duplicate field "spec.template.spec.containers[0].image"'
    ) in refused.message


async def test_warn_says_the_same_and_the_last_value_wins(wire: Wire) -> None:
    made = await wire.post(f"{DEPLOYMENTS}?fieldValidation=Warn", DEPLOYMENT)
    assert (made.status, made.body["spec"]["replicas"]) == (201, 2)
    assert [warning.partition(" - ")[2] for warning in made.headers.getall("Warning")] == [
        '"unknown field \\"spec.unknownField\\""',
        '"duplicate field \\"spec.replicas\\""',
        '"duplicate field \\"spec.template.spec.containers[0].image\\""',
    ]


async def test_ignore_says_nothing(wire: Wire) -> None:
    made = await wire.post(f"{DEPLOYMENTS}?fieldValidation=Ignore", DEPLOYMENT)
    assert (made.status, "Warning" in made.headers) == (201, False)


async def test_objects_of_a_definition_are_held_to_its_schema(wire: Wire) -> None:
    document = widget("w") | {"extra": 1}
    document["spec"]["sise"] = 4
    refused = await wire.post(f"{WIDGETS}?fieldValidation=Strict", document)
    assert refused.status == 400
    assert 'unknown field "extra"' in refused.message
    assert 'unknown field "spec.sise"' in refused.message
    made = await wire.post(WIDGETS, document)
    assert (made.status, "sise" in made.body["spec"], len(made.headers.getall("Warning"))) == (201, False, 2)


YAML = """apiVersion: example.com/v1
kind: Widget
metadata:
  name: w
spec:
  size: 3
  size: 4
"""


async def apply(wire: Wire, path: str, body: Any) -> Answer:
    return await wire("PATCH", path, body, {"Content-Type": "application/apply-patch+yaml"})


async def test_yaml_that_says_a_thing_twice_is_refused_with_its_line(wire: Wire) -> None:
    refused = await apply(wire, f"{WIDGETS}/w?fieldManager=me&fieldValidation=Strict", YAML)
    assert (refused.status, 'line 7: key "size" already set in map' in refused.message) == (400, True)


@pytest.mark.parametrize("mode", ["", "&fieldValidation=Ignore", "&fieldValidation=Strict"])
async def test_apply_owns_no_field_that_the_kind_does_not_have(wire: Wire, mode: str) -> None:
    document = widget("w")
    document["spec"]["sise"] = 4
    refused = await apply(wire, f"{WIDGETS}/w?fieldManager=me{mode}", document)
    assert refused.status == 500
    assert refused.message == (
        "failed to create typed patch object (default/w; example.com/v1, Kind=Widget): "
        ".spec.sise: field not declared in schema"
    )


async def test_a_definition_with_rules_that_nobody_evaluates_comes_with_a_warning(wire: Wire) -> None:
    document = definition()
    document["metadata"]["name"] = "gadgets.example.com"
    document["spec"]["names"] = {"plural": "gadgets", "kind": "Gadget"}
    schema = document["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    schema["properties"]["spec"]["x-kubernetes-validations"] = [{"rule": "self.size > 2"}]
    webhook = {"conversionReviewVersions": ["v1"], "clientConfig": {"url": "https://example.com"}}
    document["spec"]["conversion"] = {"strategy": "Webhook", "webhook": webhook}
    made = await wire.post(DEFINITIONS, document)
    assert made.status == 201
    assert [warning.partition(" - ")[2].strip('"') for warning in made.headers.getall("Warning")] == [
        "spec.versions[v1].spec.x-kubernetes-validations: stored, but this server does not evaluate CEL: "
        "objects that break a rule are accepted",
        "spec.conversion.webhook: stored, but this server calls none: nothing is converted",
    ]
    quiet = await wire.get(f"{DEFINITIONS}/widgets.example.com")
    assert "Warning" not in quiet.headers


async def test_the_schema_of_a_definition_is_published(wire: Wire) -> None:
    name = "com.example.v1.Widget"
    index = (await wire.get("/openapi/v3")).body["paths"]
    v3 = (await wire.get(index["apis/example.com/v1"]["serverRelativeURL"])).body
    spec = v3["components"]["schemas"][name]["properties"]["spec"]
    assert (spec["required"], spec["properties"]["colour"]["default"]) == (["size"], "green")
    await wire.delete(f"{DEFINITIONS}/widgets.example.com")
    assert "apis/example.com/v1" not in (await wire.get("/openapi/v3")).body["paths"]


async def test_an_object_older_than_a_default_is_shown_with_it(wire: Wire) -> None:
    await wire.post(WIDGETS, widget("w"))
    document = (await wire.get(f"{DEFINITIONS}/widgets.example.com")).body
    schema = document["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    schema["properties"]["spec"]["properties"]["shape"] = {"type": "string", "default": "round"}
    assert (await wire.put(f"{DEFINITIONS}/widgets.example.com", document)).status == 200
    assert (await wire.get(f"{WIDGETS}/w")).body["spec"]["shape"] == "round"
    assert (await wire.get(WIDGETS)).body["items"][0]["spec"]["shape"] == "round"
    patched = await wire.patch(f"{WIDGETS}/w", {"spec": {"size": 5}})
    assert patched.body["spec"] == {"size": 5, "colour": "green", "shape": "round"}


async def test_where_everything_is_allowed_clients_are_told_so(wire: Wire) -> None:
    document = definition()
    document["metadata"]["name"] = "gadgets.example.com"
    document["spec"]["names"] = {"plural": "gadgets", "kind": "Gadget"}
    open_ended = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    document["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = open_ended
    await wire.post(DEFINITIONS, document)
    document = (await wire.get("/openapi/v3/apis/example.com/v1")).body
    published = document["components"]["schemas"]["com.example.v1.Gadget"]
    assert set(published["properties"]) == {"apiVersion", "kind", "metadata"}
    assert published["x-kubernetes-preserve-unknown-fields"] is True
    assert published["properties"]["apiVersion"]["description"].startswith("APIVersion defines")


async def test_a_definition_says_by_which_fields_its_objects_are_selected(wire: Wire) -> None:
    document = (await wire.get(f"{DEFINITIONS}/widgets.example.com")).body
    document["spec"]["versions"][0]["selectableFields"] = [{"jsonPath": ".spec.colour"}]
    assert (await wire.put(f"{DEFINITIONS}/widgets.example.com", document)).status == 200
    for name, colour in (("a", "red"), ("b", "blue")):
        made = widget(name)
        made["spec"]["colour"] = colour
        await wire.post(WIDGETS, made)
    assert (await wire.get(f"{WIDGETS}?fieldSelector=spec.colour=red")).names == ["a"]
    assert (await wire.get(f"{WIDGETS}?fieldSelector=spec.size=3")).status == 400


async def test_events_are_selected_by_who_wrote_them_under_both_names(wire: Wire) -> None:
    old = {
        "metadata": {"name": "old"},
        "involvedObject": {"namespace": "default"},
        "source": {"component": "c"},
    }
    new = {"metadata": {"name": "new"}, "involvedObject": {"namespace": "default"}, "reportingComponent": "c"}
    events = "/api/v1/namespaces/default/events"
    for document in (old, new):
        assert (await wire.post(events, document)).status == 201
    assert (await wire.get(f"{events}?fieldSelector=source=c")).names == ["new", "old"]
    modern = "/apis/events.k8s.io/v1/namespaces/default/events"
    assert (await wire.get(f"{modern}?fieldSelector=reportingController=c")).names == ["new"]
