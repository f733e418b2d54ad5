"""Small requests that used to take a minute or all memory: bounded work for anything a client may send, and
nobody else waits for it.
"""

import asyncio
import json
from typing import Any, NamedTuple

import pytest

from reprieve.objects import builtin_problems
from reprieve.server.custom_resources import structural
from reprieve.server.errors import ApiError
from reprieve.server.patch import JSON_PATCH, MAX_COPIED, apply_patch
from reprieve.server.resources import builtin_resources
from tests.effort import within
from tests.server.wire import CONFIG_MAPS, Answer, Wire, config_map, connected
from tests.steps import LONGEST_SECONDS, counted_steps

PODS = next(each for each in builtin_resources() if each.storage_key == "pods")
AT_MOST_SECONDS = 10.0
"""What is refused here took a minute or more, and takes at most half a second."""


def small_pod() -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x", "labels": {"a": "b" * 40}}}


@pytest.mark.parametrize("doublings", [23, 40])
def test_copies_of_copies_are_refused_before_they_fill_the_memory(doublings: int) -> None:
    with pytest.raises(ApiError, match="accumulated size increase of copy") as refused:
        within(AT_MOST_SECONDS, lambda: apply_patch(JSON_PATCH, small_pod(), copies(doublings), PODS))
    assert refused.value.code == 413


def copies(doublings: int) -> list[dict[str, Any]]:
    patch: list[dict[str, Any]] = [{"op": "add", "path": "/metadata/annotations", "value": {"x": "y" * 100}}]
    return patch + [
        {"op": "copy", "from": "/metadata", "path": f"/metadata/annotations/c{number}"}
        for number in range(doublings)
    ]


def test_as_much_may_be_copied_as_a_body_may_have() -> None:
    large: dict[str, Any] = {"metadata": {"name": "x", "annotations": {"a": "x" * (MAX_COPIED // 3 - 2)}}}
    step = {"op": "copy", "from": "/metadata/annotations/a"}
    patch = [{**step, "path": f"/metadata/annotations/{number}"} for number in range(4)]
    assert len(apply_patch(JSON_PATCH, large, patch[:3], PODS)["metadata"]["annotations"]) == 4
    with pytest.raises(ApiError, match="accumulated size increase of copy"):
        apply_patch(JSON_PATCH, large, patch, PODS)


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
    (cause,) = builtin_problems(definition(schema), None)
    assert cause.path.endswith(".pattern")
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
    assert builtin_problems(definition(schema), None) == []
    assert structural.validate({"pattern": "x"}, schema, "spec") == []


def test_a_set_with_very_many_members_is_checked_in_linear_time() -> None:
    schema = {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}
    members = [*(f"m{i}" for i in range(150_000)), "m7"]
    (cause,) = within(AT_MOST_SECONDS, lambda: structural.validate(members, schema, "spec.x"))
    assert cause.field == "spec.x[150000]"


def test_alternatives_for_every_item_take_only_so_many_steps() -> None:
    alternatives = [{"pattern": f"^x{number}$"} for number in range(20_000)]
    schema = {"type": "array", "items": {"type": "string", "anyOf": alternatives}}
    with pytest.raises(ApiError, match="more than 200000 steps to check") as refused:
        within(AT_MOST_SECONDS, lambda: structural.validate(["y"] * 9_000, schema, "spec"))
    assert refused.value.code == 413
    few = {"type": "array", "items": {"type": "string", "anyOf": alternatives[:10]}}
    assert structural.validate(["x7"] * 900, few, "spec") == []


def test_defaults_within_defaults_take_only_so_many_steps() -> None:
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(6):
        default: list[Any] = [{} for _ in range(100)]
        many = {"type": "array", "items": schema, "default": default}
        schema = {"type": "object", "properties": {"many": many}}
    with pytest.raises(ApiError, match="more than 200000 steps to check") as refused:
        within(AT_MOST_SECONDS, lambda: structural.apply_defaults({}, schema))
    assert refused.value.code == 413


def test_very_many_tolerations_are_compared_in_linear_time() -> None:
    before: dict[str, Any] = {"metadata": {"name": "p", "namespace": "default"}, "spec": {"containers": []}}
    before["spec"]["tolerations"] = [{"key": f"k{n}", "operator": "Exists"} for n in range(50_000)]
    more = [{"operator": "Exists", "key": f"k{n}"} for n in range(50_001)]
    after = {**before, "spec": {**before["spec"], "tolerations": more[::-1]}}
    other = {**before, "spec": {**before["spec"], "tolerations": more[1:]}}
    kind = {"apiVersion": "v1", "kind": "Pod"}

    def refused(new: dict[str, Any]) -> bool:
        found = builtin_problems({**kind, **new}, {**kind, **before})
        return any("existing toleration" in each.message for each in found)

    assert not within(AT_MOST_SECONDS, lambda: refused(after))
    assert within(AT_MOST_SECONDS, lambda: refused(other))


YAML = {"Content-Type": "application/yaml"}
OPERATIONS = {"Content-Type": JSON_PATCH}
HEAD = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata:\n"
APPLIED = {"Content-Type": "application/apply-patch+yaml"}
POD_PATH = "/api/v1/namespaces/default/pods"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
WIDGETS = "/apis/example.com/v1/namespaces/default/widgets"


class Heavy(NamedTuple):
    status: int
    """What it gets."""
    method: str
    path: str
    body: str
    headers: dict[str, str]


def storm() -> list[Heavy]:
    """Some of these took a minute."""
    sixties = HEAD % "sixties" + "  a: " + ":".join(["59"] * 230_000) + "\n"
    many = [f"k{number}" for number in range(75_000)]
    values = dict.fromkeys(many, "v")
    twice = json.dumps({"metadata": {"name": "twice"}, "data": values})[:-2] + ', "k7": "w"}}'
    labels = {"metadata": {"name": "labels", "labels": values}}
    slow: dict[str, Any] = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}}
    slow["spec"] = "a" * 100_000 + "!"
    keys = [f'  "{key}": v\n' for key in many]
    tests = [{"op": "test", "path": "/data/a", "value": "b"}] * 10_000
    large = {
        "metadata": {"name": "large"},
        "data": {"text": "x" * 900_000} | dict.fromkeys(many[:2_000], "v"),
    }
    requests: list[tuple[int, str, str, str, dict[str, str]]] = [
        (201, "POST", CONFIG_MAPS, sixties, YAML),
        (413, "POST", CONFIG_MAPS, HEAD % "keys" + "".join(keys[:50_000]), YAML),
        (400, "POST", CONFIG_MAPS, HEAD % "same" + "".join(keys[:40_000] + keys[7:8]), YAML),
        (413, "POST", f"{CONFIG_MAPS}?fieldValidation=Strict", twice, {}),
        (413, "POST", CONFIG_MAPS, json.dumps(labels), {}),
        (201, "POST", CONFIG_MAPS, json.dumps(large), {}),
        (413, "PATCH", f"{CONFIG_MAPS}/small", json.dumps(copies(23)), OPERATIONS),
        (413, "PATCH", f"{CONFIG_MAPS}/small", json.dumps(copies(40)), OPERATIONS),
        (200, "PATCH", f"{CONFIG_MAPS}/small", json.dumps(tests), OPERATIONS),
        (422, "POST", WIDGETS, json.dumps(slow), {}),
        (200, "GET", CONFIG_MAPS, "", {"Accept": "application/yaml"}),
        (200, "GET", CONFIG_MAPS, "", {"Accept": "application/json;as=Table;g=meta.k8s.io;v=v1"}),
    ]  # fmt: skip
    return [Heavy(*each) for each in requests]


async def answered(wire: Wire, heavy: Heavy) -> int:
    """The status. What the client reads is not decoded: it shares the loop that is watched."""
    sent = {"Content-Type": "application/json"} | heavy.headers if heavy.body else heavy.headers
    url, body = wire.server.url + heavy.path, heavy.body.encode() or None
    async with wire.session.request(heavy.method, url, data=body, headers=sent) as reply:
        await reply.read()
        return reply.status


async def test_a_storm_of_heavy_requests_holds_up_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    async with connected() as wire:
        pattern = {"type": "string", "pattern": "^(([a-z])+.)+[A-Z]([a-z])+$"}
        assert (await wire.post(CRDS, definition(pattern))).status == 201
        assert (await wire.post(CONFIG_MAPS, config_map("small", a="b"))).status == 201
        requests = storm()
        with counted_steps(monkeypatch) as steps:
            found = await asyncio.gather(*(answered(wire, each) for each in requests))
        assert found == [each.status for each in requests]
        assert steps.longest < LONGEST_SECONDS, steps.what


async def test_an_object_of_very_many_fields_is_refused_unless_it_defines_a_kind() -> None:
    many = [f"k{number}" for number in range(10_001)]
    fields = {"type": "object", "properties": {name: {"type": "string"} for name in many}}
    async with connected() as wire:
        refused = await wire.post(CONFIG_MAPS, {"metadata": {"name": "a"}, "data": dict.fromkeys(many, "v")})
        assert (refused.status, "more than 10000 fields and items" in refused.message) == (413, True)
        assert (await wire.post(CRDS, definition(fields))).status == 201


async def test_pods_and_what_is_applied_may_have_fewer_fields() -> None:
    env = [{"name": f"E{number}"} for number in range(4_001)]
    spec = {"containers": [{"name": "c", "image": "i", "env": env}]}
    applied: dict[str, Any] = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
    applied["data"] = {f"k{number}": "v" for number in range(4_001)}
    async with connected() as wire:
        pod = await wire.post(POD_PATH, {"metadata": {"name": "p"}, "spec": spec})
        assert (pod.status, "more than 4000 fields and items" in pod.message) == (413, True)
        refused = await wire("PATCH", f"{CONFIG_MAPS}/a?fieldManager=me", applied, APPLIED)
        assert (refused.status, "more than 4000 fields and items" in refused.message) == (413, True)


@pytest.mark.parametrize("media", ["application/merge-patch+json", "application/strategic-merge-patch+json"])
async def test_patches_cannot_make_an_object_grow_without_end(media: str) -> None:
    async with connected() as wire:
        first = {f"a{n}": "v" for n in range(9_900)}
        await wire.post(CONFIG_MAPS, {"metadata": {"name": "grows"}, "data": first})
        patches = [{"data": {f"{letter}{n}": "v" for n in range(9_990)}} for letter in "bcde"]
        answers = [
            await wire("PATCH", f"{CONFIG_MAPS}/grows", each, {"Content-Type": media}) for each in patches
        ]
        assert [each.status for each in answers] == [200, 200, 200, 413]
        assert "more than 40000 fields and items" in answers[-1].message


async def test_a_pod_that_could_be_sent_can_be_patched_whatever_defaults_added() -> None:
    containers = [{"name": f"c{n}", "image": "i"} for n in range(1_300)]
    async with connected() as wire:
        made = await wire.post(POD_PATH, {"metadata": {"name": "p"}, "spec": {"containers": containers}})
        assert made.status == 201
        patch = {"metadata": {"labels": {"x": "y"}}}
        media = {"Content-Type": "application/merge-patch+json"}
        assert (await wire("PATCH", f"{POD_PATH}/p", patch, media)).status == 200


async def test_a_patch_beside_which_others_write_loses_nothing() -> None:
    """It is carried out beside the loop: what others write meanwhile it builds upon."""
    async with connected() as wire:
        path = f"{CONFIG_MAPS}/shared"
        await wire.post(CONFIG_MAPS, config_map("shared", first="x"))
        many: list[dict[str, Any]] = [{"op": "test", "path": "/data/first", "value": "x"}] * 1_000

        async def patched(number: int) -> Answer:
            own = [*many, {"op": "add", "path": f"/data/k{number}", "value": "v"}]
            return await wire("PATCH", path, own, OPERATIONS)

        answers = await asyncio.gather(*(patched(number) for number in range(4)))
        assert [each.status for each in answers] == [200] * 4
        assert (await wire.get(path)).body["data"] == {"first": "x", **{f"k{n}": "v" for n in range(4)}}


STRATEGIC = {"Content-Type": "application/strategic-merge-patch+json"}
ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"


def long_lists() -> list[Heavy]:
    """Each compared every item with every other one."""
    names = [f"x{number}" for number in range(4_900)]
    account = {"metadata": {"name": "a"}, "secrets": [{"name": name} for name in names]}
    finalizers = [f"example.com/c{number}" for number in range(9_000)]
    others = [f"example.com/d{number}" for number in range(9_000)]
    protected = {"metadata": {"name": "f", "finalizers": finalizers}}
    merged = [{"name": name, "namespace": "n"} for name in names[:3_000]]
    deleted = [{"name": name, "$patch": "delete"} for name in names[:3_300]]
    removed = {"$deleteFromPrimitiveList/finalizers": others}
    kept = {"$retainKeys": [f"k{n}" for n in range(9_000)], "a": "b"}

    def patch(path: str, body: Any) -> tuple[int, str, str, str, dict[str, str]]:
        return 200, "PATCH", path, json.dumps(body), STRATEGIC

    requests = [
        (201, "POST", ACCOUNTS, json.dumps(account), {}),
        patch(f"{ACCOUNTS}/a", {"secrets": merged}),
        patch(f"{ACCOUNTS}/a", {"secrets": deleted}),
        (201, "POST", CONFIG_MAPS, json.dumps(protected), {}),
        patch(f"{CONFIG_MAPS}/f", {"metadata": {"finalizers": others}}),
        patch(f"{CONFIG_MAPS}/f", {"metadata": removed}),
        patch(f"{CONFIG_MAPS}/f", {"data": {f"k{n}": "v" for n in range(9_000)}}),
        patch(f"{CONFIG_MAPS}/f", {"data": kept}),
    ]
    return [Heavy(*each) for each in requests]


async def test_patches_of_long_lists_hold_up_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    async with connected() as wire:
        with counted_steps(monkeypatch) as steps:
            for each in long_lists():
                assert await answered(wire, each) == each.status, each.body[:80]
        assert steps.longest < LONGEST_SECONDS, steps.what
        left = (await wire.get(f"{ACCOUNTS}/a")).body["secrets"]
        assert [each["name"] for each in left] == [f"x{number}" for number in range(3_300, 4_900)]
        found = (await wire.get(f"{CONFIG_MAPS}/f")).body
        assert found["metadata"]["finalizers"] == [f"example.com/c{number}" for number in range(9_000)]


def applied(name: str, keys: int, value: str = "v") -> str:
    metadata = {"name": name}
    data = {f"k{number}": value for number in range(keys)}
    return json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})


async def test_what_is_applied_no_more_is_removed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async with connected() as wire:
        path = f"{CONFIG_MAPS}/shrinks?fieldManager=me"
        requests = [Heavy(201, "PATCH", path, applied("shrinks", 3_900), APPLIED)]
        requests.append(Heavy(200, "PATCH", path, applied("shrinks", 1), APPLIED))
        with counted_steps(monkeypatch) as steps:
            for each in requests:
                assert await answered(wire, each) == each.status
        assert steps.longest < LONGEST_SECONDS, steps.what
        assert (await wire.get(f"{CONFIG_MAPS}/shrinks")).body["data"] == {"k0": "v"}


async def test_of_very_many_conflicts_some_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    async with connected() as wire:
        path = f"{CONFIG_MAPS}/shared?fieldManager="
        for number in range(50):
            made = Heavy(200, "PATCH", f"{path}m{number}", applied("shared", 300), APPLIED)
            assert await answered(wire, made) in (200, 201)
        with counted_steps(monkeypatch) as steps:
            refused = await wire("PATCH", f"{path}other", applied("shared", 300, "w"), APPLIED)
        assert refused.status == 409
        assert refused.message.startswith(
            'Apply failed with 15000 conflicts: conflicts with "m0":\n- .data.k0'
        )
        assert refused.message.endswith("\nand 14000 more")
        assert steps.longest < LONGEST_SECONDS, steps.what
