"""Whom default spreading counts: the Services of a pod, and the controller that its owner reference names."""

import pytest

from reprieve.cluster import Cluster
from reprieve.objects import LabelSelector, selecting
from tests.builders import Document, document, pod, view

LABELS = {"app": "web", "hash": "1"}


def owner(kind: str, name: str = "web", version: str = "apps/v1", **more: object) -> Document:
    return {"apiVersion": version, "kind": kind, "name": name, "controller": True, **more}


def service(name: str = "web", namespace: str = "default", **selector: str) -> Document:
    return document("Service", name, namespace, spec={"selector": selector} if selector else {})


def replica_set(name: str = "web", **labels: str) -> Document:
    return document("ReplicaSet", name, "default", spec={"selector": {"matchLabels": labels}})


def selector(*documents: Document, owners: tuple[Document, ...] = ()) -> LabelSelector | None:
    cluster = Cluster()
    cluster.set(view(pod("p", labels=LABELS, metadata={"ownerReferences": list(owners)})))
    for each in documents:
        cluster.set(view(each))
    return cluster.selectors.of(cluster.class_of(cluster.pods.row_of["default/p"]))


def labels(*documents: Document, owners: tuple[Document, ...] = ()) -> dict[str, str] | None:
    found = selector(*documents, owners=owners)
    return None if found is None else dict(found.match_labels)


def test_services_of_the_namespace_that_select_the_pod_are_merged() -> None:
    both = (service("one", app="web"), service("other", hash="1"))
    assert labels(*both) == LABELS
    assert labels(*both, service("wrong", app="db"), service("headless")) == LABELS
    assert labels(service("far", "elsewhere", app="web")) is None
    assert labels(service("all")) is None


def test_a_controller_counts_because_it_owns_the_pod_and_not_because_it_selects_it() -> None:
    theirs = replica_set(app="web")
    assert labels(theirs) is None
    assert labels(theirs, owners=(owner("ReplicaSet"),)) == {"app": "web"}
    assert labels(replica_set(app="other"), owners=(owner("ReplicaSet"),)) == {"app": "other"}
    assert labels(service(app="web"), owners=(owner("ReplicaSet"),)) == {"app": "web"}


@pytest.mark.parametrize(
    "given",
    [
        owner("ReplicaSet", controller=False),
        owner("ReplicaSet", version="extensions/v1beta1"),
        owner("ReplicaSet", name="another"),
        owner("Deployment"),
    ],
)
def test_an_owner_that_is_not_exactly_the_controller_adds_nothing(given: Document) -> None:
    assert labels(replica_set(app="web"), owners=(given,)) is None


def test_of_several_owners_the_first_controller_counts() -> None:
    owners = (owner("ReplicaSet", "bystander", controller=False), owner("ReplicaSet"))
    assert labels(replica_set("bystander", app="no"), replica_set(app="web"), owners=owners) == {"app": "web"}


def test_a_replication_controller_overrules_services_and_a_replica_set_adds_to_them() -> None:
    old = document("ReplicationController", "web", "default", spec={"selector": {"hash": "2"}})
    assert labels(service(hash="1"), old, owners=(owner("ReplicationController", version="v1"),)) == {
        "hash": "2"
    }
    both = selector(service(hash="1"), replica_set(hash="2"), owners=(owner("ReplicaSet"),))
    assert both is not None
    assert both.match_labels == {"hash": "1"}
    assert [(each.key, each.values) for each in both.match_expressions] == [("hash", ("2",))]


def test_what_is_changed_or_removed_is_looked_up_again() -> None:
    cluster = Cluster()
    cluster.set(view(pod("p", labels=LABELS, metadata={"ownerReferences": [owner("ReplicaSet")]})))
    cls = cluster.class_of(0)
    assert cluster.selectors.of(cls) is None
    cluster.set(view(replica_set(app="web")))
    cluster.set(view(service(hash="1")))
    assert cluster.selectors.of(cls) == LabelSelector(match_labels=LABELS)
    cluster.remove(selecting.Service, "default/web")
    assert cluster.selectors.of(cls) == LabelSelector(match_labels={"app": "web"})
    cluster.set(view(replica_set(app="other")))
    assert cluster.selectors.of(cls) == LabelSelector(match_labels={"app": "other"})
    cluster.remove(selecting.ReplicaSet, "default/web")
    assert cluster.selectors.of(cls) is None


def test_only_controllers_that_spread_tell_classes_apart_and_none_changes_the_shape() -> None:
    cluster = Cluster()
    owners = [
        owner("ReplicaSet"),
        owner("ReplicaSet", "b"),
        owner("Job", version="batch/v1"),
        owner("Job", "b"),
    ]
    for number, each in enumerate(owners):
        cluster.set(view(pod(f"p{number}", labels=LABELS, metadata={"ownerReferences": [each]})))
    classes = [cluster.class_of(row) for row in range(4)]
    assert len({each.id for each in classes}) == 3
    assert classes[2] is classes[3]
    assert len({each.shape for each in classes}) == 1


def test_views_keep_only_their_identity_and_selector() -> None:
    labelled = replica_set(app="web")
    labelled["metadata"] |= {"labels": LABELS, "annotations": {"a": "b"}, "uid": "u", "resourceVersion": "7"}
    found = view(labelled)
    assert (found.metadata.uid, found.metadata.resource_version) == ("u", "7")
    assert not found.metadata.labels
    assert not found.metadata.annotations
