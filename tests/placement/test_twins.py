"""Domains in the same state get the same answer, and no others are taken for twins."""

from hypothesis import given
from hypothesis import strategies as st

from reprieve.cluster import Cluster
from reprieve.placement import carried_over, domains_of, first_twins, place_gang
from tests import builders
from tests.scale import examples

RACK = "example.com/rack"


@examples(60)
@given(
    st.lists(st.lists(st.tuples(st.integers(2, 6), st.integers(0, 2)), min_size=2, max_size=2), min_size=3),
    st.integers(1, 6),
    st.integers(1, 3),
)
def test_what_is_carried_over_to_a_twin_is_what_it_would_answer_itself(
    racks: list[list[tuple[int, int]]], size: int, cpu: int
) -> None:
    documents = []
    for number, nodes in enumerate(racks[:6]):
        for place, (offered, used) in enumerate(nodes):
            name = f"n{number}-{place}"
            documents.append(builders.node(name, offered, labels={RACK: f"r{number}"}))
            if used:
                documents.append(builders.pod(f"p{number}-{place}", used, on=name))
    cluster = Cluster()
    for each in builders.views(*documents, *builders.gang(size, cpu)):
        cluster.set(each)
    rows = [cluster.pods.row_of[f"default/gang-{number}"] for number in range(size)]
    domains = domains_of(cluster, RACK, [])
    found = [place_gang(cluster, rows, size, 0, within=each.nodes) for each in domains]
    for number, first in enumerate(first_twins(cluster, rows, domains, faithful=True)):
        there = carried_over(cluster, found[first], domains[first], domains[number])
        assert [(each.row, each.slot) for each in there.assigned] == [
            (each.row, each.slot) for each in found[number].assigned
        ]
        assert there.feasible == found[number].feasible


def test_equal_racks_are_twins_and_a_fuller_one_is_not() -> None:
    cluster = Cluster()
    nodes = [builders.node(f"n{number}", 4, labels={RACK: f"r{number}"}) for number in range(4)]
    for each in builders.views(*nodes, builders.pod("p", 1, on="n2"), *builders.gang(2, 1)):
        cluster.set(each)
    rows = [cluster.pods.row_of[f"default/gang-{number}"] for number in range(2)]
    assert first_twins(cluster, rows, domains_of(cluster, RACK, []), faithful=True) == [0, 0, 2, 0]
