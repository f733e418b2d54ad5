"""Create, get, update, patch, delete: what changes, what stays, what is refused and in which words."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.server.wire import CONFIG_MAPS, PODS, Wire, config_map, connected, pod


@pytest.fixture
async def wire() -> AsyncIterator[Wire]:
    async with connected() as wire:
        yield wire


async def test_a_created_object_gets_what_only_the_server_can_say(wire: Wire) -> None:
    created = await wire.post(CONFIG_MAPS, config_map("a", colour="red"))
    metadata = created.body["metadata"]
    assert created.status == 201
    assert metadata["namespace"] == "default"
    assert len(metadata["uid"]) == 36
    assert metadata["creationTimestamp"].endswith("Z")
    assert (await wire.get(f"{CONFIG_MAPS}/a")).body == created.body


async def test_server_owned_metadata_of_the_client_is_ignored(wire: Wire) -> None:
    document = config_map("a")
    document["metadata"] |= {"uid": "mine", "creationTimestamp": None, "selfLink": "/x", "generation": 9}
    metadata = (await wire.post(CONFIG_MAPS, document)).body["metadata"]
    assert metadata["uid"] != "mine"
    assert metadata["creationTimestamp"]
    assert "selfLink" not in metadata
    assert "generation" not in metadata


async def test_the_same_name_twice_is_a_conflict(wire: Wire) -> None:
    await wire.post(CONFIG_MAPS, config_map("a"))
    again = await wire.post(CONFIG_MAPS, config_map("a"))
    assert again.status == 409
    assert again.body == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": 'configmaps "a" already exists',
        "reason": "AlreadyExists",
        "details": {"name": "a", "kind": "configmaps"},
        "code": 409,
    }


async def test_what_is_not_there_is_not_found_in_the_exact_words(wire: Wire) -> None:
    missing = await wire.get("/apis/batch/v1/namespaces/default/jobs/x")
    assert missing.status == 404
    assert missing.message == 'jobs.batch "x" not found'
    assert missing.body["details"] == {"name": "x", "group": "batch", "kind": "jobs"}
    for path in ("/api/v1/namespaces/default/wombats", "/apis/none.example/v1/things", f"{PODS}/x/y"):
        unknown = await wire.get(path)
        assert (unknown.status, unknown.message) == (404, "the server could not find the requested resource")


async def test_generate_name_gives_every_object_a_name_of_its_own(wire: Wire) -> None:
    document = config_map("")
    document["metadata"] = {"generateName": "run-"}
    names = {(await wire.post(CONFIG_MAPS, document)).body["metadata"]["name"] for _ in range(20)}
    assert len(names) == 20
    assert all(name.startswith("run-") and len(name) == 9 for name in names)


async def test_an_update_with_a_stale_version_is_refused(wire: Wire) -> None:
    first = (await wire.post(CONFIG_MAPS, config_map("a", n="1"))).body
    second = {**first, "data": {"n": "2"}}
    assert (await wire.put(f"{CONFIG_MAPS}/a", second)).status == 200
    late = await wire.put(f"{CONFIG_MAPS}/a", {**first, "data": {"n": "3"}})
    assert (late.status, late.reason) == (409, "Conflict")
    assert late.message == (
        'Operation cannot be fulfilled on configmaps "a": the object has been modified; '
        "please apply your changes to the latest version and try again"
    )


async def test_an_update_without_a_version_overwrites(wire: Wire) -> None:
    await wire.post(CONFIG_MAPS, config_map("a", n="1"))
    assert (await wire.put(f"{CONFIG_MAPS}/a", config_map("a", n="2"))).body["data"] == {"n": "2"}


async def test_of_many_writers_that_read_the_same_version_exactly_one_wins(wire: Wire) -> None:
    first = (await wire.post(CONFIG_MAPS, config_map("a"))).body
    answers = await asyncio.gather(
        *(wire.put(f"{CONFIG_MAPS}/a", {**first, "data": {"winner": str(i)}}) for i in range(10))
    )
    assert sorted(a.status for a in answers) == [200] + [409] * 9


async def test_a_write_that_changes_nothing_takes_no_revision(wire: Wire) -> None:
    first = await wire.post(CONFIG_MAPS, config_map("a", n="1"))
    same = await wire.put(f"{CONFIG_MAPS}/a", first.body)
    patched = await wire.patch(f"{CONFIG_MAPS}/a", {"data": {"n": "1"}})
    assert first.version == same.version == patched.version


async def test_name_and_namespace_must_agree_with_the_path(wire: Wire) -> None:
    await wire.post(CONFIG_MAPS, config_map("a"))
    renamed = await wire.put(f"{CONFIG_MAPS}/a", config_map("b"))
    assert renamed.status == 400
    assert renamed.message == "the name of the object (b) does not match the name on the URL (a)"
    moved = config_map("c")
    moved["metadata"]["namespace"] = "kube-system"
    assert (await wire.post(CONFIG_MAPS, moved)).status == 400
    assert (await wire.patch(f"{CONFIG_MAPS}/a", {"metadata": {"name": "b"}})).status == 400


async def test_a_body_of_another_kind_is_refused(wire: Wire) -> None:
    wrong = await wire.post(CONFIG_MAPS, pod("a"))
    assert wrong.status == 400
    assert "does not match the expected API version (v1) and kind (ConfigMap)" in wrong.message


async def test_a_dry_run_answers_as_if_and_changes_nothing(wire: Wire) -> None:
    revision = wire.server.backend.store.revision
    tried = await wire.post(f"{CONFIG_MAPS}?dryRun=All", config_map("a"))
    assert tried.status == 201
    assert tried.body["metadata"]["uid"]
    assert (await wire.get(f"{CONFIG_MAPS}/a")).status == 404
    await wire.post(CONFIG_MAPS, config_map("b", n="1"))
    await wire.patch(f"{CONFIG_MAPS}/b?dryRun=All", {"data": {"n": "2"}})
    await wire.delete(f"{CONFIG_MAPS}/b?dryRun=All")
    assert (await wire.get(f"{CONFIG_MAPS}/b")).body["data"] == {"n": "1"}
    assert wire.server.backend.store.revision == revision + 1
    assert (await wire.post(f"{CONFIG_MAPS}?dryRun=Some", config_map("c"))).status == 422


async def test_unknown_fields_are_warned_about_refused_or_ignored_as_asked(wire: Wire) -> None:
    wrong = pod("a", colour="red")
    warned = await wire.post(f"{PODS}?dryRun=All", wrong)
    assert warned.status == 201
    assert warned.headers["Warning"] == '299 - "unknown field \\"spec.colour\\""'
    strict = await wire.post(f"{PODS}?fieldValidation=Strict", wrong)
    assert strict.status == 400
    assert 'strict decoding error: unknown field "spec.colour"' in strict.message
    ignored = await wire.post(f"{PODS}?fieldValidation=Ignore&dryRun=All", wrong)
    assert "Warning" not in ignored.headers
    assert (await wire.post(f"{PODS}?fieldValidation=Maybe", pod("a"))).status == 422


async def test_a_warning_cannot_smuggle_a_header_in(wire: Wire) -> None:
    smuggled: dict[str, Any] = {"x\r\nSet-Cookie: a=b": 1, "é\u202e": 2, "y" * 5000: 3, 'q"': 4}
    wrong = pod("a", **smuggled)
    warned = await wire.post(f"{PODS}?dryRun=All", wrong)
    assert warned.status == 201
    assert "Set-Cookie" not in warned.headers
    warnings = warned.headers.getall("Warning")
    assert len(warnings) == 4
    assert max(map(len, warnings)) < 400
    assert any("x\\\\r\\\\nSet-Cookie" in w for w in warnings)


async def test_objects_live_only_in_namespaces_that_exist(wire: Wire) -> None:
    missing = await wire.post("/api/v1/namespaces/nowhere/configmaps", config_map("a"))
    assert (missing.status, missing.message) == (404, 'namespaces "nowhere" not found')


async def test_nothing_new_comes_into_a_namespace_that_ends(wire: Wire) -> None:
    await wire.post("/api/v1/namespaces", {"metadata": {"name": "tmp"}})
    ending = await wire.delete("/api/v1/namespaces/tmp")
    assert ending.body["status"]["phase"] == "Terminating"
    refused = await wire.post("/api/v1/namespaces/tmp/configmaps", config_map("a"))
    assert (refused.status, refused.reason) == (403, "Forbidden")
    assert refused.body["details"]["causes"][0]["reason"] == "NamespaceTerminating"
    finalized = ending.body | {"spec": {"finalizers": []}}
    assert (await wire.put("/api/v1/namespaces/tmp/finalize", finalized)).status == 200
    assert (await wire.get("/api/v1/namespaces/tmp")).status == 404


@pytest.mark.parametrize(
    ("metadata", "field"),
    [
        ({"name": "Upper"}, "metadata.name"),
        ({"name": "a" * 254}, "metadata.name"),
        ({"name": "a", "labels": {"bad key": "x"}}, "metadata.labels"),
        ({"name": "a", "labels": {"k": "v" * 64}}, "metadata.labels"),
        ({"name": "a", "annotations": {"k": "v" * 300_000}}, "metadata.annotations"),
        ({"name": "a", "finalizers": ["no slash?"]}, "metadata.finalizers[0]"),
        (
            {"name": "a", "ownerReferences": [{"kind": "X", "name": "x", "uid": "1"}]},
            "ownerReferences[0].apiVersion",
        ),
        ({}, "metadata.name"),
    ],
)
async def test_bad_metadata_is_named_by_its_field(
    wire: Wire, metadata: dict[str, object], field: str
) -> None:
    refused = await wire.post(CONFIG_MAPS, {"metadata": metadata})
    assert (refused.status, refused.reason) == (422, "Invalid")
    assert any(field in cause["field"] for cause in refused.body["details"]["causes"])


async def test_wrong_types_are_a_bad_request_that_names_the_field(wire: Wire) -> None:
    for document, field in (
        ({"metadata": {"name": 5}}, "metadata.name"),
        ({"metadata": {"name": "a", "labels": ["x"]}}, "metadata.labels"),
        ({"metadata": "a"}, "metadata"),
        ({"metadata": {"name": "a"}, "spec": []}, "spec"),
        ({"metadata": {"name": "a"}, "spec": {"containers": {}}}, "spec.containers"),
        ({"metadata": {"name": "a"}, "spec": {"containers": [{"name": 1}]}}, "spec.containers[0].name"),
    ):
        refused = await wire.post(PODS, document)
        assert refused.status == 400, document
        assert field in refused.message


async def test_status_is_changed_through_its_own_door_only(wire: Wire) -> None:
    created = (await wire.post(PODS, pod("a") | {"status": {"phase": "Running"}})).body
    assert created["status"]["phase"] == "Pending"
    changed = {**created, "status": {"phase": "Running"}, "spec": {**created["spec"], "nodeName": "x"}}
    through_status = await wire.put(f"{PODS}/a/status", changed)
    assert through_status.body["status"]["phase"] == "Running"
    assert "nodeName" not in through_status.body["spec"]
    body = through_status.body
    through_main = await wire.put(f"{PODS}/a", {**body, "status": {"phase": "Failed"}})
    assert through_main.body["status"]["phase"] == "Running"
    patched = await wire.patch(f"{PODS}/a/status", {"status": {"nominatedNodeName": "n1"}})
    assert patched.body["status"] == {**body["status"], "nominatedNodeName": "n1"}


async def test_generation_counts_changes_of_what_is_wanted(wire: Wire) -> None:
    path = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
    budget = {"metadata": {"name": "b"}, "spec": {"minAvailable": 1, "selector": {"matchLabels": {"a": "b"}}}}
    assert (await wire.post(path, budget)).body["metadata"]["generation"] == 1
    assert (await wire.patch(f"{path}/b", {"metadata": {"labels": {"x": "y"}}})).body["metadata"][
        "generation"
    ] == 1
    assert (await wire.patch(f"{path}/b", {"spec": {"minAvailable": 2}})).body["metadata"]["generation"] == 2
    status = {"status": {"disruptionsAllowed": 3}}
    assert (await wire.patch(f"{path}/b/status", status)).body["metadata"]["generation"] == 2


async def test_another_served_version_shows_the_same_object(wire: Wire) -> None:
    old, new = "/apis/kueue.x-k8s.io/v1beta1/resourceflavors", "/apis/kueue.x-k8s.io/v1beta2/resourceflavors"
    created = await wire.post(old, {"metadata": {"name": "spot"}, "spec": {"nodeLabels": {"kind": "spot"}}})
    assert created.status == 201
    assert created.body["apiVersion"] == "kueue.x-k8s.io/v1beta1"
    shown = await wire.get(f"{new}/spot")
    assert shown.body["apiVersion"] == "kueue.x-k8s.io/v1beta2"
    assert shown.body["metadata"]["uid"] == created.body["metadata"]["uid"]
    assert [item["apiVersion"] for item in (await wire.get(old)).body["items"]] == ["kueue.x-k8s.io/v1beta1"]


async def test_a_client_of_an_older_version_reads_and_writes_its_own_words(wire: Wire) -> None:
    old, new = "/apis/kueue.x-k8s.io/v1beta1/clusterqueues", "/apis/kueue.x-k8s.io/v1beta2/clusterqueues"
    created = await wire.post(old, {"metadata": {"name": "q"}, "spec": {"cohort": "a"}})
    assert (created.status, created.body["spec"]["cohort"]) == (201, "a")
    assert "Warning" not in created.headers
    changed = await wire.patch(f"{old}/q", {"spec": {"cohort": "b"}})
    assert changed.body["spec"]["cohort"] == "b"
    assert "cohortName" not in changed.body["spec"]
    assert (await wire.get(f"{new}/q")).body["spec"]["cohortName"] == "b"
    assert (await wire.get(old)).body["items"][0]["spec"]["cohort"] == "b"
    workloads = "/apis/kueue.x-k8s.io/{}/namespaces/default/workloads"
    podset: dict[str, Any] = {"name": "main", "count": 1, "template": pod()}
    workload = {
        "metadata": {"name": "w"},
        "spec": {
            "queueName": "q",
            "priority": 100,
            "priorityClassName": "high",
            "priorityClassSource": "kueue.x-k8s.io/workloadpriorityclass",
            "podSets": [{**podset, "template": {"spec": podset["template"]["spec"]}}],
        },
    }
    shown = (await wire.post(workloads.format("v1beta1"), workload)).body["spec"]
    assert (shown["priorityClassName"], "priorityClassRef" in shown) == ("high", False)
    reference = (await wire.get(workloads.format("v1beta2") + "/w")).body["spec"]["priorityClassRef"]
    assert reference == {"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": "high"}


async def test_yaml_comes_in_and_goes_out(wire: Wire) -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: v\n"
    created = await wire("POST", CONFIG_MAPS, text, {"Content-Type": "application/yaml"})
    assert created.body["data"] == {"k": "v"}
    shown = await wire.get(f"{CONFIG_MAPS}/a", Accept="application/yaml")
    assert b"k: v" in shown.body


async def test_partial_metadata_is_all_that_is_sent_to_who_wants_no_more(wire: Wire) -> None:
    await wire.post(CONFIG_MAPS, config_map("a", n="1"))
    accept = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
    listed = await wire.get(CONFIG_MAPS, Accept=accept)
    assert listed.body["kind"] == "PartialObjectMetadataList"
    assert set(listed.body["items"][0]) == {"kind", "apiVersion", "metadata"}


async def test_events_are_the_same_in_both_of_their_apis(wire: Wire) -> None:
    old, new = "/api/v1/namespaces/default/events", "/apis/events.k8s.io/v1/namespaces/default/events"
    event = {
        "metadata": {"name": "e"},
        "eventTime": "2026-11-15T12:00:00.000000Z",
        "regarding": {"kind": "Pod", "name": "a", "namespace": "default"},
        "note": "Preempted by default/b",
        "reason": "Preempted",
        "action": "Preempting",
        "type": "Normal",
        "reportingController": "reprieve",
        "reportingInstance": "reprieve-0",
    }
    created = await wire.post(new, event)
    assert (created.status, created.body["note"]) == (201, "Preempted by default/b")
    shown = (await wire.get(f"{old}/e")).body
    assert shown["apiVersion"] == "v1"
    assert shown["message"] == "Preempted by default/b"
    assert shown["involvedObject"]["name"] == "a"
    assert shown["reportingComponent"] == "reprieve"
    assert (await wire.get(f"{old}?fieldSelector=involvedObject.name%3Da")).names == ["e"]
    assert (await wire.get(f"{new}?fieldSelector=regarding.name%3Da")).names == ["e"]
    series = {"series": {"count": 2, "lastObservedTime": "2026-11-15T12:01:00.000000Z"}}
    assert (await wire.patch(f"{new}/e", series)).body["series"]["count"] == 2
    assert (await wire.get(f"{old}/e")).body["series"]["count"] == 2
    assert (await wire.get(new)).body["items"][0]["regarding"]["name"] == "a"
