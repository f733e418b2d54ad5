"""Bodies that are no objects: options of a deletion, patches of a part. They hold up nobody else, either."""

import asyncio
import json
from typing import Any

import pytest

from reprieve.server.patch import JSON_PATCH
from tests.server.test_stalls import OPERATIONS, YAML, Heavy, answered
from tests.server.wire import CONFIG_MAPS, PODS, config_map, connected, pod
from tests.steps import LONGEST_SECONDS, counted_steps

GROUPS = "/apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups"
TABLE = {"Accept": "application/json;as=Table;g=meta.k8s.io;v=v1"}
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"


def deployment() -> dict[str, Any]:
    labels = {"a": "b"}
    pods = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": pods}
    return {"metadata": {"name": "d"}, "spec": spec}


async def test_options_of_a_deletion_are_read_beside_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """768 KiB of YAML took the better part of a second."""
    options = "unknown:\n" + "".join(f"- {{k{number}: v}}\n" for number in range(40_000))
    precondition = json.dumps({"preconditions": {f"k{number}": "v" for number in range(90_000)}})
    async with connected() as wire:
        await wire.post(CONFIG_MAPS, config_map("c", a="b"))
        requests = [
            Heavy(200, "DELETE", f"{CONFIG_MAPS}/c", options, YAML),
            Heavy(404, "DELETE", f"{CONFIG_MAPS}/c", precondition, {}),
            Heavy(200, "DELETE", CONFIG_MAPS, options, YAML),
        ]
        with counted_steps(monkeypatch) as steps:
            assert [await answered(wire, each) for each in requests] == [200, 404, 200]
        assert steps.longest < LONGEST_SECONDS, steps.what


async def test_patches_of_a_part_are_carried_out_beside_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    scale = [{"op": "test", "path": "/spec/replicas", "value": 1}] * 10_000
    first = {"op": "add", "path": "/spec/x", "value": list(range(3_000))}
    copies = [first, *[{"op": "copy", "from": "/spec/x", "path": "/spec/y"}] * 190]
    resize = [{"op": "test", "path": "/spec/containers/0/name", "value": "c0"}] * 10_000
    containers = [{"name": f"c{number}", "image": "i"} for number in range(100)]
    async with connected() as wire:
        assert (await wire.post(DEPLOYMENTS, deployment())).status == 201
        await wire.post(PODS, {"metadata": {"name": "p"}, "spec": {"containers": containers}})
        paths = [(f"{DEPLOYMENTS}/d/scale", scale), (f"{DEPLOYMENTS}/d/scale", copies)]
        requests = [
            Heavy(200, "PATCH", path, json.dumps(patch), OPERATIONS)
            for path, patch in [*paths, (f"{PODS}/p/resize", resize)]
        ]
        with counted_steps(monkeypatch) as steps:
            assert [await answered(wire, each) for each in requests] == [200, 200, 200]
        assert steps.longest < LONGEST_SECONDS, steps.what


async def test_a_scale_patched_while_others_write_builds_on_what_they_wrote() -> None:
    """Every one of these tests the number that the one before has left behind, or is refused."""
    async with connected() as wire:
        await wire.post(DEPLOYMENTS, deployment())
        path = f"{DEPLOYMENTS}/d/scale"
        tests = [{"op": "test", "path": "/kind", "value": "Scale"}] * 300

        async def scaled(old: int) -> int:
            step = [
                {"op": "test", "path": "/spec/replicas", "value": old},
                {"op": "replace", "path": "/spec/replicas", "value": old + 1},
            ]
            return (await wire.patch(path, [*tests, *step], JSON_PATCH)).status

        answers = await asyncio.gather(*(scaled(1) for _ in range(6)))
        assert sorted(answers) == [200, 422, 422, 422, 422, 422]
        assert (await wire.get(path)).body["spec"]["replicas"] == 2


async def test_tables_of_a_watch_are_drawn_beside_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """`kubectl get podgroups -w`: every group counted all pods anew, in one step of the loop."""
    gang = {"schedulingPolicy": {"gang": {"minCount": 1}}}
    groups = [{"metadata": {"name": f"g{number}"}, "spec": gang} for number in range(100)]
    async with connected() as wire:
        for group in groups:
            assert (await wire.post(GROUPS, group)).status == 201
        placed: dict[str, Any] = {"nodeName": "n", "schedulingGroup": {"podGroupName": "g7"}}
        await asyncio.gather(*(wire.post(PODS, pod(f"p{n}", **placed)) for n in range(2_000)))
        with counted_steps(monkeypatch) as steps:
            url = f"{wire.server.url}{GROUPS}?watch=1&timeoutSeconds=1"
            async with wire.session.get(url, headers=TABLE) as stream:
                lines = (await stream.read()).splitlines()
        assert steps.longest < LONGEST_SECONDS, steps.what
        rows = [json.loads(line)["object"]["rows"][0]["cells"][:5] for line in lines]
        listed = (await wire.get(GROUPS, **TABLE)).body["rows"]
        assert rows == [row["cells"][:5] for row in listed]
