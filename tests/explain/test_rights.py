"""What the asker may not see is not shown, and what is missing does not make the answer wrong."""

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from reprieve.explain import explain, parse_target
from reprieve.explain.collect import from_cluster
from reprieve.explain.redaction import namespaces_of, without
from reprieve.explain.sentences import advice, answers
from reprieve.forecast import HORIZON, Span
from reprieve.forecast import sentences as forecast
from reprieve.kube import JOBS, NODES, PODS, ApiError, Resource
from reprieve.kube.client import Listing
from reprieve.objects import Reference
from tests.builders import job, node, owned_by, pod
from tests.explain.test_storm import NOW

RECORD: dict[str, Any] = {
    "id": "1",
    "time": "2026-11-15T20:59:00Z",
    "for": "PodGroup/ml/train",
    "outcome": "preempts",
    "placements": {"ml/train-0": "n"},
    "victims": [
        {"pod": "data/crunch-0", "unit": "Pod/data/crunch-0", "node": "n", "reason": "short for ml/train-0"},
        {"pod": "secret/x", "unit": "Pod/secret/x", "node": "n", "reason": "in the way"},
    ],
    "reprieved": [
        {"unit": "Pod/vault/y", "nodes": ["n"], "priority": 1, "reason": "fits next to ml/train-0"}
    ],
    "budgets": [{"budget": "bank/z", "allowed": 0, "victims": 0, "sentence": "bank/z allows none"}],
    "alternatives": [{"title": "on node m", "victims": ["Pod/crypt/w"]}],
    "reasons": ["It fits.", "Nobody of secret/x stays."],
    "cost": {"pods": 2},
    "sentence": "PodGroup/ml/train gets 1 pod on n; data/crunch-0 and secret/x make way.",
}


def test_every_place_that_names_something_is_looked_at():
    assert namespaces_of(RECORD) == {"ml", "data", "secret", "vault", "bank", "crypt"}


@pytest.mark.parametrize("namespace", ["secret", "vault", "bank", "crypt", "ml"])
def test_no_trace_of_a_hidden_namespace_is_left(namespace: str):
    shown = msgspec.json.encode(without(RECORD, {namespace})).decode()
    assert f"{namespace}/" not in shown
    assert "data/crunch-0" in shown


def test_a_hidden_preemptor_is_something_you_may_not_see():
    assert without(RECORD, {"ml"})["for"] == answers.HIDDEN


def test_a_namespace_whose_name_ends_like_a_hidden_one_is_shown():
    assert "data/crunch-0" in without(RECORD, {"ta"})["sentence"]


class OnlyOneNamespace:
    """An API server that lets its caller see pods of one namespace, and no nodes."""

    def __init__(self, namespace: str) -> None:
        self._namespace = namespace

    async def served(self, resource: Resource) -> Resource | None:
        return resource if resource in (PODS, NODES) else None

    async def listing(self, resource: Resource, namespace: str = "") -> Listing:
        if namespace != self._namespace:
            raise ApiError(403, "Forbidden", "no")
        pod = {"metadata": {"name": "mine", "namespace": namespace}, "spec": {"containers": []}}
        return Listing([pod], "1")

    async def request(self, method: str, path: str, *, body: bytes, content_type: str) -> bytes:
        assert path.endswith("selfsubjectaccessreviews")
        wanted = msgspec.json.decode(body)["spec"]["resourceAttributes"]["namespace"]
        return msgspec.json.encode({"status": {"allowed": wanted == self._namespace}})


async def test_rights_to_one_namespace_show_that_one_and_name_what_is_missing():
    client: Any = OnlyOneNamespace("data")
    evidence = await from_cluster(client, Reference.parse("pod/data/mine"), [RECORD])
    assert evidence.partial
    answer = explain("pod/data/mine", evidence, NOW)
    assert answer.would_help[0] == advice.BLIND
    assert answers.may_not_list("pods", "") in answer.not_shown
    assert answers.may_not_read_decisions(5) in answer.not_shown
    victim = explain("pod/data/crunch-0", evidence, NOW)
    assert victim.sentence == answers.pod_was_preempted("data/crunch-0", answers.HIDDEN, "")


class Cluster:
    """One full node; whether its jobs may be listed is the question."""

    def __init__(self, *, jobs: bool) -> None:
        self._jobs = jobs
        owner, expected = {"ownerReferences": [owned_by("Job", "train")]}, "reprieve.dev/expected-runtime"
        self._items = {
            NODES: [node("n", 4)],
            PODS: [
                pod("train-x", 4, on="n", start="2026-11-15T20:00:00Z", namespace="other", metadata=owner),
                pod("w", 2, namespace="mine"),
            ],
            JOBS: [job("train", namespace="other", metadata={"annotations": {expected: "90m"}})],
        }

    async def served(self, resource: Resource) -> Resource | None:
        return next(
            (each for each in self._items if (each.group, each.plural) == (resource.group, resource.plural)),
            None,
        )

    async def listing(self, resource: Resource, namespace: str = "") -> Listing:
        if resource.plural == "jobs" and not self._jobs:
            raise ApiError(403, "Forbidden", "no")
        found = next(items for each, items in self._items.items() if each.plural == resource.plural)
        return Listing([each for each in found if namespace in ("", each["metadata"].get("namespace"))], "1")


async def test_jobs_of_other_namespaces_are_read_for_how_long_they_run():
    client: Any = Cluster(jobs=True)
    evidence = await from_cluster(client, Reference.parse("pod/mine/w"))
    assert evidence.not_shown == []
    for target in ("pod/mine/w", "job/other/train", "deployment/other/web"):
        jobs = (await from_cluster(client, parse_target(target))).of_kind("Job")
        assert len([*jobs]) == 1, target
    now = datetime(2026, 11, 15, 21, tzinfo=UTC)
    found = explain("pod/mine/w", evidence, now, ahead=True).when
    assert found is not None
    start = Span(median=1800, low=1800, high=1800, at="2026-11-15T21:30:00Z")
    name = Reference.parse("Pod/mine/w")
    said = forecast.when_it_starts(name, start, certain=True, horizon=HORIZON, latest=False)
    assert found.sentence == said


async def test_whoever_may_not_list_jobs_is_told_what_is_missing():
    client: Any = Cluster(jobs=False)
    evidence = await from_cluster(client, Reference.parse("pod/mine/w"))
    assert not evidence.partial
    assert evidence.not_shown == [answers.may_not_list_jobs(["jobs"])]
    evidence = await from_cluster(client, Reference.parse("job/mine/w"))
    assert evidence.not_shown[0] == answers.may_not_list("jobs", "mine")
