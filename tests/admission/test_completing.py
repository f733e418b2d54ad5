"""Manifests as an API server would store them, whatever they hold."""

from contextlib import suppress
from copy import deepcopy
from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from reprieve.admission import complete
from reprieve.objects import Reference, ReprieveError, document_of
from tests.builders import Document, node, pod
from tests.scale import examples
from tests.strategies.objects import anything

NOW = datetime(2026, 11, 18, 12, tzinfo=UTC)
ADDING = (
    ("v1", "LimitRange"),
    ("v1", "ResourceQuota"),
    ("node.k8s.io/v1", "RuntimeClass"),
    ("storage.k8s.io/v1", "StorageClass"),
    ("resource.k8s.io/v1", "ResourceClaimTemplate"),
    ("v1", "PersistentVolumeClaim"),
)
SCRATCH = {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {"accessModes": []}}}}


def asks(**spec: Any) -> Document:
    claims = [{"name": "gpu", "resourceClaimTemplateName": "x"}]
    return pod("p", 1, runtimeClassName="x", volumes=[SCRATCH], resourceClaims=claims, **spec)


FIELDS = st.sampled_from(
    ["metadata", "spec", "status", "overhead", "scheduling", "value", "hard", "limits", "podFixed"]
)
WILD = st.dictionaries(FIELDS, anything(6) | st.dictionaries(FIELDS, anything(4), max_size=3), max_size=4)


@examples(200)
@given(st.sampled_from(ADDING), WILD)
def test_what_others_have_written_wrongly_is_told_and_crashes_nothing(
    kind: tuple[str, str], fields: dict[str, Any]
) -> None:
    named = {"name": "x", "namespace": "default"}
    wild = {"metadata": named, **fields, "apiVersion": kind[0], "kind": kind[1]}
    if not isinstance(wild["metadata"], dict):
        wild["metadata"] = named
    with suppress(ReprieveError):
        complete([wild, asks()], NOW)


def limits(**item: Any) -> Document:
    meta = {"name": "usual", "namespace": "default"}
    spec = {"limits": [{"type": "Container", **item}]}
    return {"apiVersion": "v1", "kind": "LimitRange", "metadata": meta, "spec": spec}


AMOUNTS = st.dictionaries(st.sampled_from(["cpu", "memory"]), st.integers(1, 4), max_size=2)


@examples(100)
@given(AMOUNTS, AMOUNTS, AMOUNTS, AMOUNTS)
def test_completing_twice_changes_nothing(
    requests: dict[str, int], most: dict[str, int], default: dict[str, int], highest: dict[str, int]
) -> None:
    container = {"name": "c", "image": "i", "resources": {"requests": requests, "limits": most}}
    given = [node("n"), limits(default=default, max=highest), asks(containers=[container])]
    before = deepcopy(given)
    once = complete(given, NOW)
    assert given == before, "what was given is left alone"
    again = complete(once.documents, NOW)
    assert [*map(document_of, again.documents)] == [*map(document_of, once.documents)]
    assert again.refused == once.refused


def test_only_the_namespace_itself_gives_requests_not_the_limits_of_the_pod() -> None:
    container = {"name": "c", "image": "i", "resources": {"limits": {"cpu": "2"}}}
    found = complete([limits(defaultRequest={"cpu": "1"}), pod("p", containers=[container])])
    assert found.notes == []
    (made,) = [document_of(each) for each in found.documents if document_of(each)["kind"] == "Pod"]
    assert made["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "2"}


def test_what_a_server_has_stored_is_left_alone() -> None:
    stored = pod("p", 1, metadata={"uid": "u"})
    found = complete([limits(max={"cpu": "500m"}), stored], NOW)
    assert found.documents[1] is stored
    assert Reference.read(stored) not in found.refused
