"""Documents of every kind against the schema of their kind: what a real API server would say."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprieve.config import Configuration
from reprieve.objects import SchemaNode, schemas
from reprieve.objects.documents import Source, read_documents
from reprieve.objects.normalise import respell
from reprieve.objects.review import review
from tests.objects.samples import SAMPLES, edited
from tests.scale import examples

BUILTIN = [source.document for source in read_documents(Path(__file__).with_name("builtin_kinds.yaml"))]
SOUND = [*BUILTIN, *SAMPLES]


def made(api_version: str, kind: str, **parts: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}, **parts}


def spoilt(kind: str, path: str, value: Any) -> dict[str, Any]:
    return edited(next(each for each in SOUND if each["kind"] == kind), path, value)


def said(*documents: Any) -> list[str]:
    sources = [Source("f", str(number), each) for number, each in enumerate(documents, 1)]
    return [str(each) for each in review(sources, Configuration.load(None).admission_context())]


@pytest.mark.parametrize("document", SOUND, ids=lambda each: each["kind"])
def test_a_sound_document_gets_no_word(document: dict[str, Any]) -> None:
    assert said(document) == []


CONTAINER = "spec.template.spec.containers.0"
CRON = "spec.jobTemplate.spec.template.spec"
WRONG: list[tuple[dict[str, Any], str]] = [
    (
        spoilt("Deployment", "spec.template.spec.containrs", []),
        "spec.template.spec.containrs: unknown field; did you mean 'containers'?",
    ),
    (
        spoilt("Deployment", f"{CONTAINER}.imagePullPolicy", "Allways"),
        "spec.template.spec.containers[0].imagePullPolicy: expected one of Always, IfNotPresent, Never; "
        "got 'Allways'; did you mean 'Always'?",
    ),
    (spoilt("StatefulSet", "spec.replicas", "two"), "spec.replicas: expected an integer, got string 'two'"),
    (
        spoilt("DaemonSet", "spec.minReadySeconds", 2**31),
        "spec.minReadySeconds: must be a whole number of 32 bits, got 2147483648",
    ),
    (
        spoilt("Deployment", "spec.template.spec.restartPolicy", "Never"),
        "spec.template.spec.restartPolicy: expected one of Always; got 'Never'",
    ),
    (
        spoilt("Deployment", f"{CONTAINER}.resources", {"limits": {"a.b/gpu": "0.5"}}),
        "spec.template.spec.containers[0].resources.limits[a.b/gpu]: must be an integer, got '0.5': "
        "a.b/gpu is handed out in whole ones",
    ),
    (spoilt("CronJob", f"{CRON}.containers.0.image", None), f"{CRON}.containers[0].image: is required"),
    (
        spoilt("CronJob", f"{CRON}.restartPolicy", None),
        f'{CRON}.restartPolicy: valid values: "OnFailure", "Never"',
    ),
    (spoilt("Service", "spec.ports.0.port", None), "spec.ports[0].port: is required"),
    (spoilt("ConfigMap", "data.a", 1), "data[a]: expected a string, got integer 1"),
    (spoilt("Secret", "data.a", "???"), "data[a]: expected a string of base64"),
    (
        spoilt("PersistentVolumeClaim", "spec.resources.requests.storage", "lots"),
        "spec.resources.requests[storage]: expected a quantity such as 500m, 2 or 1.5Gi, got string 'lots'",
    ),
    (
        spoilt("PersistentVolume", "metadata.namespace", "a"),
        "metadata.namespace: PersistentVolume is not namespaced, so it must not be set",
    ),
    (
        spoilt("PodGroup", "spec.schedulingPolicy.gang.minCuont", 3),
        "spec.schedulingPolicy.gang.minCuont: unknown field; did you mean 'minCount'?",
    ),
    (spoilt("Pod", "metadata.lables", {}), "metadata.lables: unknown field; did you mean 'labels'?"),
    (spoilt("Pod", "spec.containers", ...), "spec.containers: is required"),
]


@pytest.mark.parametrize(("document", "line"), WRONG, ids=[line for _, line in WRONG])
def test_a_wrong_field_is_named_with_its_path(document: dict[str, Any], line: str) -> None:
    assert said(document) == [f"f:1: {line}"]


@pytest.mark.parametrize(
    ("api_version", "kind", "line"),
    [
        ("v1", "Pdo", "kind: there is no kind 'Pdo' in v1; did you mean 'Pod'?"),
        ("v1", "Deployment", "kind: there is no kind 'Deployment' in v1; it is in apps/v1"),
        (
            "apps/v1beta1",
            "Deployment",
            "apiVersion: there is no Deployment in apps/v1beta1; it is in apps/v1",
        ),
        ("app/v1", "Deployment", "apiVersion: there is no API group 'app'; it is in apps/v1 (got 'app/v1')"),
        ("app/v1", "Foo", "apiVersion: there is no API group 'app'; did you mean 'apps'? (got 'app/v1')"),
        (
            "scheduling.k8s.io/v1beta1",
            "PodGroups",
            "kind: there is no kind 'PodGroups' in scheduling.k8s.io/v1beta1; did you mean 'PodGroup'?",
        ),
        (
            "kueue.x-k8s.io/v1beta2",
            "ClusterQeue",
            "kind: there is no kind 'ClusterQeue' in kueue.x-k8s.io/v1beta2; did you mean 'ClusterQueue'?",
        ),
        (
            "example.com/v1",
            "Foo",
            "warning: kind: example.com/v1 Foo was not checked: there is no schema of it here",
        ),
    ],
)
def test_a_kind_or_version_that_nobody_serves_is_named(api_version: str, kind: str, line: str) -> None:
    assert said(made(api_version, kind)) == [f"f:1: {line}"]


def test_a_custom_kind_is_checked_when_its_definition_comes_along() -> None:
    spec = {
        "type": "object",
        "required": ["size"],
        "properties": {"size": {"type": "integer"}, "mode": {"type": "string", "enum": ["a", "b"]}},
    }
    schema = {"type": "object", "properties": {"spec": spec}}
    definition = made("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    definition["metadata"]["name"] = "foos.example.com"
    definition["spec"] = {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"kind": "Foo", "plural": "foos"},
        "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}],
    }
    assert said(made("example.com/v1", "Foo", spec={"size": 1, "mode": "a"}), definition) == []
    assert said(made("example.com/v1", "Foo", spec={"szie": 1, "mode": "c"}), definition) == [
        "f:1: spec.szie: unknown field; did you mean 'size'?",
        "f:1: spec.mode: expected one of a, b; got 'c'",
        "f:1: spec.size: is required",
    ]


def test_the_second_object_of_a_name_is_a_problem_for_every_kind() -> None:
    twice = [made("v1", "ConfigMap"), made("v1", "ConfigMap")]
    twice[1]["metadata"]["namespace"] = "default"
    assert said(*twice) == ["f:2: metadata.name: ConfigMap/default/x is already defined at f:1"]


def places(value: Any, node: SchemaNode, path: str = "") -> Iterator[str]:
    """Every object of the document whose fields its schema names."""
    if node.shape == "object" and isinstance(value, dict) and node.fields and not node.open:
        yield path
        for name, item in value.items():
            yield from places(item, node.fields[name], f"{path}.{name}" if path else name)
    elif node.shape == "list" and isinstance(value, list):
        for index, item in enumerate(value):
            yield from places(item, node.item_schema, f"{path}.{index}" if path else str(index))
    elif node.shape == "map" and isinstance(value, dict):
        for name, item in value.items():
            yield from places(item, node.item_schema, f"{path}.{name}" if path else name)


@examples(300)
@given(st.data())
def test_a_misspelled_field_is_found_wherever_it_stands(data: st.DataObject) -> None:
    document = data.draw(st.sampled_from(SOUND))
    group, _, version = document["apiVersion"].rpartition("/")
    schema = schemas.builtin_schema(group, version, document["kind"])
    assert schema is not None
    place = data.draw(st.sampled_from(sorted(places(respell(document), schema))))
    wrong = edited(document, f"{place}.misspelt" if place else "misspelt", 1)
    assert any("misspelt: unknown field" in line for line in said(wrong)), place
