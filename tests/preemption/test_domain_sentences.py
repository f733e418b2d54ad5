"""A plan says why it goes to this domain, and what the others would cost or lack."""

import pytest

from reprieve import plan
from reprieve.preemption import Plan, sentences
from tests import builders
from tests.builders import Document

RACK = "topology.kubernetes.io/rack"


def rack(name: str, nodes: int, cpu: int = 2, crowd: int = 0, priority: int = 1) -> list[Document]:
    """Nodes of a rack, the first ones full with a pod each."""
    found = []
    for number in range(nodes):
        node = f"{name}-{number}"
        found.append(builders.node(node, cpu, labels={RACK: name}))
        if number < crowd:
            found.append(builders.pod(f"old-{node}", cpu, priority, on=node))
    return found


def said(documents: list[Document], target: str, algorithm: str = "kep-5710") -> tuple[str, ...]:
    found = plan(documents, target, {"preemption": {"algorithm": algorithm}})
    assert isinstance(found, Plan)
    return found.reasons


GANG = builders.gang(4, 2, 100, group=builders.in_one(RACK))


@pytest.mark.parametrize("algorithm", ["kep-5710", "minimal-cost"])
def test_a_rack_that_would_need_fewer_evictions_but_is_too_small_is_named(algorithm: str) -> None:
    documents = [*rack("r1", 4, crowd=3), *rack("r7", 3), *GANG]
    reasons = said(documents, "PodGroup/default/gang", algorithm)
    assert sentences.goes_to_domain(RACK, "r1") in reasons
    assert sentences.domain_is_cheaper_but_too_small(RACK, "r7", 3, 3, 4) in reasons


def test_a_rack_that_is_too_small_and_needs_as_many_evictions_is_not_named() -> None:
    documents = [*rack("r1", 4, crowd=3), *rack("r7", 3, crowd=3), *GANG]
    assert said(documents, "PodGroup/default/gang")[-1] == sentences.goes_to_domain(RACK, "r1")


def test_the_next_best_rack_and_what_more_it_would_cost_are_named() -> None:
    documents = [*rack("r1", 4, crowd=1), *rack("r2", 4, crowd=3), *GANG]
    reasons = said(documents, "PodGroup/default/gang")
    assert sentences.next_best_domain(RACK, "r2", 2, None) in reasons


def test_a_rack_with_more_important_victims_is_said_to_have_them() -> None:
    documents = [*rack("r1", 4, crowd=1), *rack("r2", 4, crowd=1, priority=50), *GANG]
    reasons = said(documents, "PodGroup/default/gang")
    assert sentences.next_best_domain(RACK, "r2", 0, 50) in reasons


def test_where_no_rack_is_enough_the_closest_is_named() -> None:
    documents = [*rack("r1", 2, crowd=1), *rack("r2", 3, crowd=1), *GANG]
    reasons = said(documents, "PodGroup/default/gang")
    assert sentences.no_domain_is_enough(RACK, 2, "r2", 3, 4) in reasons


def test_a_tree_names_the_domains_of_its_root() -> None:
    leaves = [
        each
        for name in ("a", "b")
        for each in builders.gang(2, 2, 100, name=name, group=builders.below("tree"))
    ]
    documents = [*rack("r1", 4, crowd=1), *rack("r2", 4, crowd=3), *leaves]
    documents.append(builders.composite("tree", 2, 100, key=RACK))
    reasons = said(documents, "CompositePodGroup/default/tree")
    assert sentences.goes_to_domain(RACK, "r1") in reasons
    assert sentences.next_best_domain(RACK, "r2", 2, None) in reasons
