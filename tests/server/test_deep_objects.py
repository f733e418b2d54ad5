"""No object has more than a hundred levels, by whatever door it came: readers go down level by level."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from reprieve.server.patch import JSON_PATCH
from tests.server import protobuf_writer as writer
from tests.server.test_stalls import definition
from tests.server.wire import Wire, connected

WIDGETS = "/apis/example.com/v1/namespaces/default/widgets"
REVISIONS = "/apis/apps/v1/namespaces/default/controllerrevisions"


@pytest.fixture
async def wire() -> AsyncIterator[Wire]:
    async with connected() as wire:
        yield wire


def nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"a": value}
    return value


def one_into_another(times: int) -> list[dict[str, Any]]:
    """Each step puts ninety levels below what the last one put there; none of them is deep itself."""
    steps, path = [], "/spec"
    for _ in range(times):
        steps.append({"op": "add", "path": f"{path}/a", "value": nested(89)})
        path += "/a" * 90
    return steps


async def make_widget(wire: Wire) -> None:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    assert (await wire.post(path, definition(schema))).status == 201
    widget = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {}}
    assert (await wire.post(WIDGETS, widget)).status == 201


@pytest.mark.parametrize("times", [2, 6, 40])
async def test_a_json_patch_makes_nothing_deeper_than_a_body_may_be(wire: Wire, times: int) -> None:
    """It was kept, and whoever listed the kind as YAML got a 500 from then on."""
    await make_widget(wire)
    for last in ([], [{"op": "copy", "from": "/spec/a", "path": "/spec/b"}]):
        refused = await wire.patch(f"{WIDGETS}/w", one_into_another(times) + last, JSON_PATCH)
        assert (refused.status, "nested deeper than 100 levels" in refused.message) == (400, True)
    assert (await wire.get(WIDGETS, Accept="application/yaml")).status == 200
    assert (await wire.patch(f"{WIDGETS}/w", one_into_another(1), JSON_PATCH)).status == 200


async def test_json_within_protobuf_is_no_deeper_than_other_json(wire: Wire) -> None:
    revision: dict[str, Any] = {"apiVersion": "apps/v1", "kind": "ControllerRevision", "revision": 1}
    for levels, status in ((300, 400), (90, 201)):
        body = writer.encode({**revision, "metadata": {"name": f"r{levels}"}, "data": nested(levels)})
        answer = await wire("POST", REVISIONS, body, {"Content-Type": writer.MEDIA_TYPE})
        assert answer.status == status
