"""Requests that no client would send: every one gets an answer, and never a 500 by accident.

Requests are made from valid ones by mutation (types, names, depth, numbers, text), over every resource, verb,
subresource, patch type and query parameter, while the built-in controllers work on whatever was let in. They
go to one server, several at a time; Hypothesis draws them, so that a request that breaks it shrinks.

    REPRIEVE_TEST_SCALE=20 pytest tests/server/test_fuzz.py       # 50,000 requests
"""

import asyncio
import copy
import json
import logging
import random
from collections import Counter
from typing import Any
from urllib.parse import quote

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprieve.server.registry import ResourceInfo
from reprieve.server.resources import builtin_resources
from tests.scale import examples, scaled
from tests.server.widgets import definition, widget
from tests.server.wire import PODS, Wire, connected, pod
from tests.strategies.dice import Dice, dice

MEANT = [
    (500, b"failed to create typed patch object"),  # what kube-apiserver says of unknown fields in apply
    (501, b'"reason":"NotImplemented"'),  # logs of pods on fake nodes, with a sentence
    (504, b""),
]
"""Answers from 500 on that are no accident."""
TOGETHER = 10
"""Requests that are under way at once: one example."""

ODD_VALUES: list[Any] = [
    None, True, False, 0, -1, 1, 2**31, 2**63, -(2**63) - 1, 1e400, 1.5, "", "x", "a" * 300, "\x00",
    "é\u202e💥", "100%", "-5", "1e9", [], {}, [None], [[]], [{}], {"": ""}, {"a": None}, {"name": 1},
    [{"name": "x"}, {"name": "x"}], "2026-13-45T99:99:99Z", "\ud800",
]  # fmt: skip
METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE"]
WEIGHTS = [20, 30, 20, 35, 5, 1, 1, 1]
NAMES = [
    "a",
    "b",
    "c",
    "default",
    "..",
    "%2e%2e",
    "A",
    "a" * 260,
    "",
    "x/y",
    "é",
    "\x00",
    "a b",
    "status",
    "*",
]
TYPES = [
    "application/json",
    "application/yaml",
    "application/merge-patch+json",
    "application/json-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
    "application/vnd.kubernetes.protobuf",
    "text/plain",
    "",
    "application/json; charset=utf-8",
]
ACCEPTS = [
    "",
    "*/*",
    "application/json",
    "application/yaml",
    "application/json;as=Table;v=v1;g=meta.k8s.io",
    "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
    "application/cbor",
    ";;;,,,=",
]
QUERIES: dict[str, list[str]] = {
    "labelSelector": ["a=b", "a in (b,c)", "!a", "((", "a=b=c", "a,,", "\x00", "a>1"],
    "fieldSelector": ["metadata.name=a", "spec.nodeName!=", "status.phase=Pending", "x=y", "=", "a\\,b=c"],
    "limit": ["0", "1", "-1", "9" * 30, "x", "٣"],
    "continue": ["", "abc", "eyJydiI6MSwibmFtZXNwYWNlIjoiIiwibmFtZSI6IiIsInNlZW4iOjB9", "eyJydiI6LTV9"],
    "resourceVersion": ["", "0", "1", "3", "-1", "abc", "9" * 25],
    "resourceVersionMatch": ["Exact", "NotOlderThan", "x"],
    "timeoutSeconds": ["0", "1", "x", "-1"],
    "dryRun": ["All", "None", ""],
    "fieldValidation": ["Strict", "Warn", "Ignore", "x"],
    "fieldManager": ["me", "x" * 200, "\x01", ""],
    "force": ["true", "false", "x"],
    "gracePeriodSeconds": ["0", "5", "-5", "x", "9" * 20],
    "propagationPolicy": ["Foreground", "Orphan", "Background", "x"],
    "pretty": ["true"],
    "includeObject": ["None", "Object", "x"],
}  # fmt: skip


class Fuzzer:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.resources = builtin_resources()
        self.custom = ResourceInfo(group="example.com", version="v1", kind="Widget", plural="widgets")

    def request(self) -> tuple[str, str, bytes, dict[str, str]]:
        rng = self.rng
        resource = rng.choice([*self.resources, self.custom])
        if rng.random() < 0.25:
            resource = next(r for r in self.resources if r.kind == "Pod")
        method = rng.choices(METHODS, WEIGHTS)[0]
        path = self.path(resource, method)
        headers = {"Content-Type": rng.choice(TYPES) if rng.random() < 0.3 else self.usual_type(method)}
        if rng.random() < 0.3:
            headers["Accept"] = rng.choice(ACCEPTS)
        body = self.body(resource, method, path)
        if body.startswith(b"k8s") and rng.random() < 0.8:
            headers["Content-Type"] = "application/vnd.kubernetes.protobuf"
        return method, path + self.query(method), body, headers

    def collection(self, resource: ResourceInfo) -> str:
        prefix = f"/apis/{resource.group}" if resource.group else "/api"
        namespace = "/namespaces/default" if resource.namespaced else ""
        return f"{prefix}/{resource.version}{namespace}/{resource.plural}"

    def path(self, resource: ResourceInfo, method: str) -> str:
        rng = self.rng
        if rng.random() < 0.03:
            return rng.choice(
                [
                    "/",
                    "//",
                    "/api",
                    "/apis/x",
                    "/openapi/v3/x",
                    "/api/v1/a/b/c/d/e/f",
                    "/%ff/%00",
                    "/apis/apps/v9/x",
                ]
            )
        path = f"/apis/{resource.group}/{resource.version}" if resource.group else f"/api/{resource.version}"
        if resource.namespaced and rng.random() < 0.95:
            path += f"/namespaces/{self.name() if rng.random() < 0.1 else 'default'}"
        path += f"/{resource.plural}"
        if method not in ("GET", "POST") or rng.random() < (0.4 if method == "GET" else 0.15):
            path += f"/{self.name() if rng.random() < 0.2 else rng.choice('abc')}"
            if rng.random() < 0.2:
                path += "/" + rng.choice(["status", "scale", "binding", "eviction", "finalize", "log", "x"])
        return path

    def name(self) -> str:
        return quote(self.rng.choice(NAMES), safe="%/")

    def usual_type(self, method: str) -> str:
        return self.rng.choice(TYPES[2:6]) if method == "PATCH" else TYPES[0]

    def query(self, method: str) -> str:
        rng = self.rng
        if rng.random() < 0.5:
            return ""
        chosen = rng.sample(sorted(QUERIES), rng.randint(1, 3))
        terms = [f"{name}={quote(rng.choice(QUERIES[name]))}" for name in chosen]
        if method == "GET" and rng.random() < 0.1:
            terms = ["watch=true", "timeoutSeconds=1", *terms]
        return "?" + "&".join(terms)

    def body(self, resource: ResourceInfo, method: str, path: str) -> bytes:
        rng = self.rng
        if method in ("GET", "HEAD"):
            return b""
        if rng.random() < 0.05:
            return self.garbage()
        document: Any = self.document(resource)
        addressed = path.partition(f"/{resource.plural}/")[2].partition("/")[0]
        if rng.random() < 0.9:
            document["metadata"]["name"] = addressed or rng.choice(["a", f"n{rng.randrange(10**6)}"])
        if path.endswith("binding"):
            document = {"target": {"kind": "Node", "name": "n1"}}
        elif path.endswith(("scale",)):
            document = {"spec": {"replicas": 3}}
        elif method == "PATCH" and rng.random() < 0.4:
            document = [
                {
                    "op": rng.choice(["add", "remove", "replace", "test", "move", "copy", "x"]),
                    "path": self.pointer(),
                    "from": self.pointer(),
                    "value": rng.choice(ODD_VALUES),
                }
                for _ in range(rng.randint(1, 3))
            ]
        for _ in range(rng.choice([0, 0, 1, 1, 2, 5])):
            document = self.mutate(document)
        return json.dumps(document).encode("utf-8", "surrogatepass")

    def garbage(self) -> bytes:
        rng = self.rng
        broken = [
            b"",
            b"{",
            b"\xff",
            b"[" * 5000,
            b'{"a":' * 3000,
            b"a: &a [*a]",
            b"null",
            b"- - -",
            rng.randbytes(50),
        ]
        envelope = b"k8s\x00\n\x09\n\x02v1\x12\x03Pod\x12\x28" + rng.randbytes(40)
        return rng.choice([*broken, envelope, envelope])

    def pointer(self) -> str:
        parts = [
            "metadata",
            "spec",
            "labels",
            "containers",
            "0",
            "-",
            "name",
            "status",
            "~1",
            "",
            "99999999999",
        ]
        return "".join("/" + self.rng.choice(parts) for _ in range(self.rng.randint(0, 4)))

    def document(self, resource: ResourceInfo) -> dict[str, Any]:
        if resource is self.custom:
            return widget(self.rng.choice("abc"))
        if resource.kind == "CustomResourceDefinition":
            return definition()
        document = pod(self.rng.choice("abc"))
        document |= {"apiVersion": resource.api_version, "kind": resource.kind}
        if resource.kind != "Pod":
            document["spec"] = {
                "template": {
                    "metadata": {"labels": {"a": "b"}},
                    "spec": {**document["spec"], "restartPolicy": "Never"},
                },
                "selector": {"matchLabels": {"a": "b"}},
                "replicas": 2,
            }
        document["metadata"] |= {"labels": {"a": "b"}, "annotations": {"x": "y"}}
        return document

    def mutate(self, document: Any) -> Any:
        """Change one place anywhere in the document."""
        document = copy.deepcopy(document)
        places: list[tuple[Any, Any]] = []
        waiting = [document]
        while waiting:
            value = waiting.pop()
            keys = (
                list(value)
                if isinstance(value, dict)
                else list(range(len(value)))
                if isinstance(value, list)
                else []
            )
            places += [(value, key) for key in keys]
            waiting += [value[key] for key in keys]
        if not places:
            return self.rng.choice(ODD_VALUES)
        holder, key = self.rng.choice(places)
        action = self.rng.random()
        if action < 0.6:
            holder[key] = copy.deepcopy(self.rng.choice(ODD_VALUES))
        elif action < 0.8:
            del holder[key]
        elif isinstance(holder, dict):
            holder[
                self.rng.choice(
                    [
                        "x",
                        "spec",
                        "status",
                        "metadata",
                        "deletionTimestamp",
                        "finalizers",
                        "",
                        "\r\nX: y",
                        "é",
                    ]
                )
            ] = self.rng.choice(ODD_VALUES)
        return document


async def ask(
    wire: Wire, method: str, path: str, body: bytes, headers: dict[str, str], counts: Counter[int]
) -> None:
    try:
        async with wire.session.request(
            method, wire.server.url + path, data=body or None, headers=headers, allow_redirects=False
        ) as answer:
            raw = await answer.read()
    except (aiohttp.InvalidURL, ValueError):
        return
    counts[answer.status] += 1
    meant = any(answer.status == status and text in raw for status, text in MEANT)
    if answer.status >= 500 and not meant:
        raise AssertionError(f"{answer.status} for {method} {path} {headers} {body[:2000]!r}: {raw[:500]!r}")
    assert b"Traceback" not in raw


async def furnish(wire: Wire) -> None:
    """Three objects of every kind."""
    await wire.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition())
    fuzzer = Fuzzer(Dice(bytes(2)))
    for resource in [*fuzzer.resources, fuzzer.custom]:
        for name in "abc":
            document = fuzzer.document(resource)
            document["metadata"]["name"] = name
            await wire.post(fuzzer.collection(resource), document)


@pytest.mark.slow
@pytest.mark.timeout(300 + scaled(60))
def test_no_request_breaks_the_server(caplog: pytest.LogCaptureFixture) -> None:
    counts: Counter[int] = Counter()
    with asyncio.Runner() as runner, caplog.at_level(logging.ERROR):
        server = connected(history=500, controllers=True)
        wire = runner.run(server.__aenter__())
        runner.run(furnish(wire))

        @examples(2500 // TOGETHER)
        @given(dice(), st.integers(1, 2 * TOGETHER))
        def answered(dice: Dice, together: int) -> None:
            requests = [Fuzzer(dice).request() for _ in range(together)]

            async def attack() -> None:
                await asyncio.gather(*(ask(wire, *request, counts) for request in requests))

            runner.run(attack())
            assert not caplog.records, caplog.records[0].getMessage()

        answered()
        assert runner.run(wire.post(PODS, pod("still-here"))).status == 201
        runner.run(server.__aexit__(None, None, None))
    print(f"{counts.total()} requests: {dict(sorted(counts.items()))}")
    assert counts[200] > counts.total() // 50
    assert counts[201] > counts.total() // 100
