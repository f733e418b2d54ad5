"""Requests, refusals and retries."""

from typing import Any

import pytest

from reprieve.kube import PODS, ApiError, Client, MemoryTransport, RateLimit, TransportError
from reprieve.kube.resources import BUDGETS, CLUSTER_QUEUES, KUEUE_WORKLOADS, NODES, POD_GROUPS
from tests.kube.apiserver import Script, listing, ok, status, stored


def test_paths_follow_the_api_conventions():
    assert PODS.path() == "/api/v1/pods"
    assert PODS.path("ns", "a", "binding") == "/api/v1/namespaces/ns/pods/a/binding"
    assert NODES.path("ignored", "n1") == "/api/v1/nodes/n1"
    assert (
        POD_GROUPS.path("ml", "train", "status")
        == "/apis/scheduling.k8s.io/v1beta1/namespaces/ml/podgroups/train/status"
    )


async def test_a_get_gives_a_typed_view():
    client = Script(ok(stored("a", nodeName="n1"))).client()
    assert (await client.get(PODS, "a", "ns")).spec.node_name == "n1"


async def test_an_explicit_null_and_an_old_spelling_are_read_the_careful_way():
    group = {
        "metadata": {"name": "g", "namespace": "ns"},
        "spec": {"disruptionMode": "PodGroup", "workloadRef": None},
    }
    client = Script(ok(group)).client()
    assert (await client.get(POD_GROUPS, "g", "ns")).disrupted_as_a_whole


async def test_a_listing_follows_the_pages_and_keeps_the_last_revision():
    script = Script(listing(stored("a"), revision=7, token="next"), listing(stored("b"), revision=7))
    result = await script.client().listing(PODS, labels="app=x")
    assert [item.name for item in result.items] == ["a", "b"]
    assert result.revision == "7"
    assert script.requests[1].query == {"labelSelector": "app=x", "limit": "500", "continue": "next"}


async def test_an_expired_continue_token_restarts_the_listing_without_pages():
    script = Script(
        listing(stored("a"), token="old"),
        status(410, "Expired"),
        listing(stored("a"), stored("b"), revision=9),
    )
    result = await script.client().listing(PODS)
    assert [item.name for item in result.items] == ["a", "b"]
    assert "limit" not in script.requests[2].query


async def test_null_items_are_an_empty_collection():
    assert (await Script(ok({"metadata": {}, "items": None})).client().listing(PODS)).items == []


async def test_too_many_requests_waits_as_long_as_the_server_asks():
    script = Script(status(429, "TooManyRequests", **{"Retry-After": "3"}), ok(stored("a")))
    client = script.client()
    await client.create(PODS, stored("a"), "ns")
    assert script.slept == [3.0]
    assert len(script.requests) == 2


async def test_a_server_error_without_retry_after_is_raised_at_once():
    script = Script(status(500, "InternalError", "etcd"))
    with pytest.raises(ApiError) as raised:
        await script.client().create(PODS, stored("a"), "ns")
    assert raised.value.transient
    assert raised.value.message == "etcd"
    assert len(script.requests) == 1


async def test_retries_end_after_a_bounded_number_of_refusals():
    script = Script(status(429, "TooManyRequests", **{"Retry-After": "1"}))
    with pytest.raises(ApiError):
        await script.client().get(PODS, "a", "ns")
    assert len(script.requests) == 8


async def test_a_lost_connection_is_tried_again_for_reads_and_not_for_writes():
    def lost(request):
        raise TransportError("reset")

    script = Script(lost, ok(stored("a")))
    client = script.client()
    assert (await client.get(PODS, "a", "ns")).name == "a"
    script = Script(lost, ok(stored("a")))
    with pytest.raises(TransportError):
        await script.client().create(PODS, stored("a"), "ns")
    assert len(script.requests) == 1


@pytest.mark.parametrize(
    ("answer", "property"),
    [
        (status(404, "NotFound"), "not_found"),
        (status(409, "Conflict"), "conflict"),
        (status(409, "AlreadyExists"), "already_exists"),
        (status(410, "Expired"), "expired"),
        (status(422, "Invalid"), "invalid"),
        (status(504, "Timeout"), "transient"),
    ],
)
async def test_refusals_say_what_they_are(answer, property):
    with pytest.raises(ApiError) as raised:
        await Script(answer).client().create(PODS, stored("a"), "ns")
    assert getattr(raised.value, property)


async def test_a_refusal_without_a_status_keeps_the_text():
    from reprieve.kube import Response

    with pytest.raises(ApiError, match="502 Error: <html>bad gateway"):
        await Script(Response(502, b"<html>bad gateway")).client().create(PODS, stored("a"), "ns")


async def test_a_deletion_names_the_pod_it_means():
    script = Script(ok({"kind": "Status", "status": "Success"}))
    await script.client().delete(PODS, "a", "ns", uid="u1")
    assert script.requests[0].json()["preconditions"] == {"uid": "u1"}


async def test_a_binding_answered_with_a_status_is_a_success():
    script = Script(ok({"kind": "Status", "apiVersion": "v1", "status": "Success", "code": 201}, 201))
    await script.client().bind("ns", "a", "u1", "n1")
    assert script.requests[0].path.endswith("/pods/a/binding")
    assert script.requests[0].json()["target"]["name"] == "n1"
    assert script.requests[0].json()["metadata"]["uid"] == "u1"


async def test_an_update_is_made_again_from_a_fresh_read_after_a_conflict():
    script = Script(ok(stored("a", 1)), status(409, "Conflict"), ok(stored("a", 2)), ok(stored("a", 3)))

    def change(document):
        document["metadata"]["labels"] = {"x": "y"}
        return True

    await script.client().update_with_retries(PODS, "a", "ns", change)
    assert [request.method for request in script.requests] == ["GET", "PUT", "GET", "PUT"]
    assert script.requests[3].json()["metadata"]["resourceVersion"] == "2"


async def test_an_update_that_changes_nothing_sends_nothing():
    script = Script(ok(stored("a", 1)))
    await script.client().update_with_retries(PODS, "a", "ns", lambda document: False)
    assert len(script.requests) == 1


async def test_the_wanted_version_is_preferred_and_another_served_one_is_taken():
    resources = {"resources": [{"name": "workloads"}]}
    groups = {"versions": [{"version": "v1beta1"}]}
    found = await Script(ok(groups), ok(resources)).client().served(KUEUE_WORKLOADS)
    assert found is not None
    assert found.version == "v1beta1"


async def test_a_kind_that_is_installed_later_is_found_later():
    groups = {"versions": [{"version": "v1"}]}
    before: dict[str, Any] = {"resources": []}
    after = {"resources": [{"name": "podgroups"}]}
    newer = {"versions": [{"version": "v1"}, {"version": "v1beta1"}]}
    client = Script(ok(groups), ok(before), status(404, "NotFound"), ok(newer), ok(after)).client()
    assert await client.served(POD_GROUPS) is None
    found = await client.served(POD_GROUPS)
    assert found is not None
    assert found.version == "v1beta1"


async def test_a_kind_is_found_in_the_group_that_stands_in_for_its_own():
    """No definition can add a kind to a group that the API server has itself."""
    own = [ok({"versions": [{"version": "v1"}]}), ok({"resources": [{"name": "priorityclasses"}]})]
    stand_in = [ok({"versions": [{"version": "v1beta1"}]}), ok({"resources": [{"name": "podgroups"}]})]
    script = Script(*own, *stand_in)
    found = await script.client().served(POD_GROUPS)
    assert found is not None
    assert found.path("ns", "g") == "/apis/scheduling.reprieve.dev/v1beta1/namespaces/ns/podgroups/g"
    assert found.view is POD_GROUPS.view


async def test_documents_of_an_older_version_are_read_in_the_words_of_the_current_one():
    old = {"metadata": {"name": "q"}, "spec": {"cohort": "pool"}}
    queue = await Script(ok(old)).client().get(CLUSTER_QUEUES.at("v1beta1"), "q")
    assert queue.spec.cohort_name == "pool"
    budget = {
        "apiVersion": "policy/v1beta1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "b", "namespace": "ns"},
    }
    assert (await Script(ok(budget)).client().get(BUDGETS.at("v1beta1"), "b", "ns")).name == "b"


async def test_a_server_that_does_not_answer_is_said_at_once_and_once(caplog):
    caplog.set_level("INFO")
    answers = iter([TransportError("GET http://x/y: refused")] * 3 + [ok({"metadata": {}})])

    async def answer(request):
        given = next(answers)
        if isinstance(given, Exception):
            raise given
        return given

    slept, problems_at_the_first_pause = [], []

    async def sleep(seconds):
        slept.append(seconds)
        problems_at_the_first_pause.append([r.getMessage() for r in caplog.records])

    client = Client(MemoryTransport(answer), sleep=sleep)
    await client.request("GET", "/y")
    assert len(slept) == 3
    problem = "the API server does not answer; trying again until it does (GET http://x/y: refused)"
    assert problems_at_the_first_pause == [[problem]] * 3
    assert [r.getMessage() for r in caplog.records] == [problem, "the API server answers again"]
    assert client.problems == {}


async def test_a_watch_that_cannot_be_opened_says_so_too(caplog):
    """Who only watches, as a scheduler with nothing to do, must notice that the server went away."""

    async def no_answer(request):
        raise TransportError("GET http://x/pods: refused")

    client = Client(MemoryTransport(no_answer))
    for _ in range(2):
        with pytest.raises(TransportError):
            await anext(client.watch(PODS, query={}, timeout=60))
    [problem] = [r.getMessage() for r in caplog.records if r.levelname == "WARNING"]
    assert problem == client.problems[""]
    assert "does not answer" in problem


async def test_a_kind_that_is_not_served_is_none_and_left_out_of_a_dump():
    client = Script(status(404, "NotFound")).client()
    assert await client.served(KUEUE_WORKLOADS) is None
    assert await client.list_all([KUEUE_WORKLOADS]) == []


async def test_the_rate_limit_lets_a_burst_through_and_then_spaces_requests():
    now, slept = [0.0], []

    async def sleep(seconds):
        now[0] += seconds
        slept.append(round(seconds, 3))

    limit = RateLimit(10, 2, clock=lambda: now[0], sleep=sleep)
    for _ in range(4):
        await limit.take()
    assert slept == [0.1, 0.1]
    now[0] = 10.0
    await limit.take()
    assert slept == [0.1, 0.1]
