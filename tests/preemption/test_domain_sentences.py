"""A plan says why it goes to this domain, and what the others would cost or lack."""

import pytest

from reprieve import plan
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


def said(documents: list[Document], target: str, algorithm: str = "kep-5710") -> str:
    return " ".join(plan(documents, target, {"preemption": {"algorithm": algorithm}}).reasons)


GANG = builders.gang(4, 2, 100, group=builders.in_one(RACK))


@pytest.mark.parametrize("algorithm", ["kep-5710", "minimal-cost"])
def test_a_rack_that_would_need_fewer_evictions_but_is_too_small_is_named(algorithm: str) -> None:
    documents = [*rack("r1", 4, crowd=3), *rack("r7", 3), *GANG]
    text = said(documents, "PodGroup/default/gang", algorithm)
    assert "It goes to rack r1." in text
    assert "The rack r7 would need 3 fewer evictions but has 3 of 4 slots." in text


def test_the_next_best_rack_and_what_more_it_would_cost_are_named() -> None:
    documents = [*rack("r1", 4, crowd=1), *rack("r2", 4, crowd=3), *GANG]
    text = said(documents, "PodGroup/default/gang")
    assert "The rack r2 is next best: it would need 2 more evictions." in text


def test_a_rack_with_more_important_victims_is_said_to_have_them() -> None:
    documents = [*rack("r1", 4, crowd=1), *rack("r2", 4, crowd=1, priority=50), *GANG]
    text = said(documents, "PodGroup/default/gang")
    assert "The rack r2 is next best: it would need as many evictions, up to priority 50." in text


def test_where_no_rack_is_enough_the_closest_is_named() -> None:
    documents = [*rack("r1", 2, crowd=1), *rack("r2", 3, crowd=1), *GANG]
    text = said(documents, "PodGroup/default/gang")
    assert "None of the 2 racks is enough: rack r2 comes closest, with 3 of 4 slots." in text


def test_a_tree_names_the_domains_of_its_root() -> None:
    leaves = [
        each
        for name in ("a", "b")
        for each in builders.gang(2, 2, 100, name=name, group=builders.below("tree"))
    ]
    documents = [*rack("r1", 4, crowd=1), *rack("r2", 4, crowd=3), *leaves]
    documents.append(builders.composite("tree", 2, 100, key=RACK))
    text = said(documents, "CompositePodGroup/default/tree")
    assert "It goes to rack r1." in text
    assert "The rack r2 is next best: it would need 2 more evictions." in text
