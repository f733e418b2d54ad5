"""Claims for volumes that a StatefulSet makes for each of its replicas."""

from typing import Any

import reprieve
from reprieve.jobs import JobKinds, expand, replica_claims, replica_volumes, sentences
from tests.builders import Document, node

TEMPLATES: list[Document] = [
    {"metadata": {"name": "data", "labels": {"tier": "gold"}}, "spec": {"storageClassName": "fast"}}
]


def test_a_replica_has_a_claim_of_its_own_by_name() -> None:
    (claim,) = replica_claims(TEMPLATES, "db-2", "prod", {"app": "db"})
    assert claim["metadata"]["name"] == "data-db-2"
    assert claim["metadata"]["namespace"] == "prod"
    assert claim["metadata"]["labels"] == {"tier": "gold", "app": "db"}
    assert claim["spec"] == {"storageClassName": "fast"}


def test_the_claim_of_a_replica_takes_the_place_of_a_volume_with_its_name() -> None:
    volumes = [{"name": "data", "emptyDir": {}}, {"name": "cache", "emptyDir": {}}]
    assert replica_volumes(TEMPLATES, "db-0", volumes) == [
        {"name": "data", "persistentVolumeClaim": {"claimName": "data-db-0"}},
        {"name": "cache", "emptyDir": {}},
    ]


def stateful_set(**spec: Any) -> Document:
    container = {"name": "c", "image": "i", "volumeMounts": [{"name": "data", "mountPath": "/data"}]}
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "db", "namespace": "default"},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": {"app": "db"}},
            "template": {"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [container], **spec}},
            "volumeClaimTemplates": [
                {
                    "metadata": {"name": "data"},
                    "spec": {"resources": {"requests": {"storage": "1Gi"}}, "accessModes": ["ReadWriteOnce"]},
                }
            ],
        },
    }


CLASS: Document = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "fast", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
    "provisioner": "csi.example.com",
    "volumeBindingMode": "WaitForFirstConsumer",
}


def test_each_replica_is_planned_with_its_claim_of_the_default_class() -> None:
    plan: Any = reprieve.plan([node("n"), CLASS, stateful_set()], "statefulset/default/db")
    assert plan.outcome == "scheduled"
    assert {claim for each in plan.plans for claim in each.volumes} == {
        "default/data-db-0",
        "default/data-db-1",
    }


def test_a_volume_with_the_name_of_a_claim_template_gives_way_to_the_claim() -> None:
    named = stateful_set(volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "none"}}])
    plan: Any = reprieve.plan([node("n"), CLASS, named], "statefulset/default/db")
    assert plan.outcome == "scheduled"


def test_a_claim_that_is_there_is_used_again() -> None:
    claim = replica_claims(TEMPLATES, "db-0", "default", {})[0]
    found = expand(stateful_set(), JobKinds(), [claim])
    assert [each["metadata"]["name"] for each in found.claims] == ["data-db-1"]


def test_without_any_word_about_storage_the_claims_are_not_looked_at() -> None:
    found = expand(stateful_set(), JobKinds())
    assert found.claims == ()
    assert found.unread == (sentences.unread_field("spec.volumeClaimTemplates", sentences.VOLUMES),)
