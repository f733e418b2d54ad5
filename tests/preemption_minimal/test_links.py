"""Nodes linked by spanning units: the least they lose together, against every way tried one by one."""

from itertools import product
from typing import NamedTuple

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from reprieve.preemption.minimal.links import FAR, Links, subset_sums
from reprieve.preemption.minimal.node_bounds import Holdings
from tests.scale import examples


class Scene(NamedTuple):
    homes: list[tuple[int, ...]]
    """Of each spanning unit its nodes."""
    cost: list[int]
    fees: list[int]
    nodes: int


@st.composite
def scenes(draw: st.DrawFn) -> Scene:
    nodes = draw(st.integers(1, 4))
    home = st.sets(st.integers(0, nodes - 1), min_size=1, max_size=2).map(lambda found: tuple(sorted(found)))
    homes = draw(st.lists(home, max_size=3))
    amounts = st.lists(st.integers(0, 9), min_size=len(homes), max_size=len(homes))
    return Scene(homes, draw(amounts), draw(amounts), nodes)


def links_of(scene: Scene) -> Links:
    """Each unit pays all of its cost on its first node."""
    held = [(unit, node) for unit, homes in enumerate(scene.homes) for node in homes]
    unit, node = (np.array([each[i] for each in held], np.int64) for i in (0, 1))
    first = np.array([scene.homes[u][0] == n for u, n in held], np.bool_)
    cost = np.where(first, np.array(scene.cost, np.int64)[unit], 0) if held else np.zeros(0, np.int64)
    nothing = np.zeros((len(held), 1), np.int64)
    holdings = Holdings(unit, node, nothing, nothing > 0, cost, first, np.arange(len(held)))
    return Links(scene.nodes, holdings, np.ones(len(scene.homes), np.bool_))


@examples(300, least=60)
@given(st.data(), scenes())
def test_the_least_loss_is_that_of_the_best_way_to_evict_spanning_units(
    data: st.DataObject, scene: Scene
) -> None:
    """Each unit leaves or stays. It is paid once; a node then loses the least of the sets it can rely on."""
    links = links_of(scene)
    plain = 2  # sets of other units on each node, below the bits of the spanning ones
    sets = plain << links.bits
    values = st.lists(st.integers(-9, 9), min_size=sets * scene.nodes, max_size=sets * scene.nodes)
    loss = np.array(data.draw(values), np.int64).reshape(sets, scene.nodes)
    # A set relies on units that the node does not hold only in the eyes of the table: nobody can.
    for number, node in product(range(sets), range(scene.nodes)):
        relied = {unit for unit in range(len(scene.homes)) if number // plain >> links.column[unit] & 1}
        here = {unit for unit in relied if links.component[scene.homes[unit][0]] == links.component[node]}
        if bin(number // plain).count("1") != len(here):
            loss[number, node] = FAR

    def lost(leaving: tuple[bool, ...]) -> int:
        total = sum(c + f for c, f, out in zip(scene.cost, scene.fees, leaving, strict=True) if out)
        for node in range(scene.nodes):
            least = 0  # a node that loses by it takes no part
            for number in range(sets):
                bits = number // plain
                relied = [
                    unit for unit, homes in enumerate(scene.homes)
                    if links.component[homes[0]] == links.component[node] and bits >> links.column[unit] & 1
                ]  # fmt: skip
                if all(leaving[unit] for unit in relied):
                    least = min(least, int(loss[number, node]))
            total += least
        return total

    chosen = links.choose(loss, np.array(scene.fees, np.int64))
    assert chosen.total == min(map(lost, product((False, True), repeat=len(scene.homes))))
    out = [unit in chosen.units.tolist() for unit in range(len(scene.homes))]
    assert lost(tuple(out)) == chosen.total, "the units it names are a way to lose no more"
    paid = sum(c + f for c, f, leaves in zip(scene.cost, scene.fees, out, strict=True) if leaves)
    assert chosen.least.sum() + paid == chosen.total


@given(st.lists(st.lists(st.integers(0, 100), min_size=2, max_size=2), max_size=4))
def test_every_set_of_rows_has_its_sum(rows: list[list[int]]) -> None:
    sums = subset_sums(np.array(rows, np.int64).reshape(len(rows), 2))
    for number, total in enumerate(sums.tolist()):
        chosen = [row for bit, row in enumerate(rows) if number >> bit & 1]
        assert total == [sum(row[i] for row in chosen) for i in (0, 1)]


def test_sums_of_what_is_never_paid_stay_small_enough_to_add_up() -> None:
    assert subset_sums(np.full((3, 1), FAR)).tolist() == [[0], *([[FAR]] * 7)]
