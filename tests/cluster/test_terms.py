"""Affinity terms: which pods they select, in which namespaces."""

import pytest

from reprieve.cluster import Cluster, Term
from tests.builders import Document, pod, view

ONE = {"matchLabels": {"app": "one"}}
TEAM = {"matchLabels": {"team": "a"}}


def term(**fields: object) -> Term:
    """The required term of a pod in the namespace `home`, as its class has it."""
    whole: Document = {"topologyKey": "zone", "labelSelector": ONE, **fields}
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [whole]}}
    cluster = Cluster()
    cluster.set(view(pod(namespace="home", labels={"app": "one", "version": "2"}, affinity=affinity)))
    [found] = cluster.class_of(0).affinity
    return found


@pytest.mark.parametrize(
    ("fields", "namespace", "of_namespace", "labels", "selected"),
    [
        ({}, "home", {}, {"app": "one"}, True),
        ({}, "home", {}, {"app": "two"}, False),
        ({}, "away", {}, {"app": "one"}, False),
        ({"namespaces": ["away"]}, "away", {}, {"app": "one"}, True),
        ({"namespaces": ["away"]}, "home", {}, {"app": "one"}, False),
        ({"namespaceSelector": TEAM}, "away", {"team": "a"}, {"app": "one"}, True),
        ({"namespaceSelector": TEAM}, "away", {"team": "a"}, {"app": "two"}, False),
        ({"namespaceSelector": TEAM}, "home", {"team": "b"}, {"app": "one"}, False),
        ({"namespaceSelector": {}}, "away", {}, {"app": "one"}, True),
        ({"namespaces": ["home"], "namespaceSelector": TEAM}, "home", {}, {"app": "one"}, True),
        ({"namespaces": ["home"], "namespaceSelector": TEAM}, "away", {"team": "a"}, {"app": "one"}, True),
        ({"labelSelector": None}, "home", {}, {"app": "one"}, False),
        ({"matchLabelKeys": ["version"]}, "home", {}, {"app": "one", "version": "2"}, True),
        ({"matchLabelKeys": ["version"]}, "home", {}, {"app": "one", "version": "1"}, False),
        ({"mismatchLabelKeys": ["version"]}, "home", {}, {"app": "one", "version": "2"}, False),
        ({"mismatchLabelKeys": ["version"]}, "home", {}, {"app": "one", "version": "1"}, True),
        ({"matchLabelKeys": ["unknown"]}, "home", {}, {"app": "one"}, True),
    ],
)
def test_a_term_selects_pods_by_labels_in_its_namespaces(
    fields: Document, namespace: str, of_namespace: dict[str, str], labels: dict[str, str], selected: bool
) -> None:
    assert term(**fields).covers(namespace, of_namespace, labels) == selected
