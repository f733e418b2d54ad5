"""What is done on large clusters only, on small ones that can be judged: the promises hold there, too."""

import importlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprieve.config import Configuration
from reprieve.preemption import sentences
from reprieve.preemption.algorithms import select_for_gang
from reprieve.preemption.gangs import GangSearch
from reprieve.preemption.preemptor import find_group
from reprieve.preemption.units import Selection
from reprieve.preemption.view import View
from reprieve.whatif.pods import load
from tests.builders import Document, budget, node, pod, pod_group
from tests.preemption_minimal.instances import limited
from tests.preemption_minimal.manifests import full_clusters
from tests.preemption_minimal.plans import costs, plan, stands
from tests.reached import enough
from tests.scale import examples
from tests.strategies.choices import Choices


@contextmanager
def as_if_large() -> Iterator[None]:
    """Every cluster counts as a large one: quick answers and bounds first, and the search before kep-5710."""
    decide = importlib.import_module("reprieve.preemption.minimal.decide")
    with limited({"search.SMALL": 0, "search.SMALL_UNIFORM": 0}), pytest.MonkeyPatch.context() as patch:
        patch.setattr(decide, "SMALL", 0)
        yield


@examples(150)
@given(full_clusters())
def test_the_least_cost_is_never_more_than_that_of_kep_5710(objects: list[Document]) -> None:
    with as_if_large():
        cost = costs(objects)
    kep, minimal = cost["kep-5710"], cost["minimal-cost"]
    if kep is not None:
        assert minimal is not None
        assert (*minimal[:2], minimal[2] - 1e-6) <= kep


@examples(60)
@given(full_clusters())
def test_no_victim_could_have_stayed_and_no_plan_is_cheaper_than_the_bound(objects: list[Document]) -> None:
    exact = plan(objects)
    with as_if_large():
        quick = plan(objects)
    everyone = {victim.pod for victim in quick.victims}
    for unit in {victim.unit for victim in quick.victims}:
        gone = {victim.pod for victim in quick.victims if victim.unit != unit}
        assert not stands(load(objects), gone, quick.placements), unit
    if everyone:
        assert stands(load(objects), everyone, quick.placements)
        if quick.cost.optimality == sentences.CHEAPEST:
            assert quick.cost.total <= exact.cost.total + 1e-6


@st.composite
def _with_groups(draw: st.DrawFn) -> list[Document]:
    """Full nodes with groups that go whole, some of them under a budget, and a gang of two kinds of pods."""
    choices = Choices(draw)
    nodes, groups = choices.number(2, 5), choices.number(1, 4)
    objects = [node(f"n{i}", 6) for i in range(nodes)]
    priorities = [choices.one_of((0, 10, 20)) for _ in range(groups)]
    objects += [pod_group(f"g{i}", 1, priority, mode="all") for i, priority in enumerate(priorities)]
    for number in range(6 * nodes):
        own = choices.number(0, groups - 1) if choices.chance(40) else -1
        objects.append(
            pod(
                f"run-{number:02}",
                1,
                priorities[own] if own >= 0 else choices.one_of((0, 10, 20)),
                on=f"n{number % nodes}",
                group=f"g{own}" if own >= 0 else "",
                labels={"app": choices.one_of("ab")},
                start=f"2026-05-{1 + number % 28:02}T00:00:00Z",
            )
        )
    objects.append(budget("b", choices.number(0, 2), match={"app": "a"}))
    size = choices.number(2, 4)
    waiting = [pod(f"gang-{i}", 2 + i % 2, 1000, group="gang") for i in range(size)]
    return [*objects, pod_group("gang", size, 1000), *waiting]


def test_kep_5710_is_cut_short_only_above_the_ceiling() -> None:
    """A selection that is cut short has a victim above the ceiling; one that has none is the whole one."""
    seen: Counter[str] = Counter()
    drawn = 0
    config = Configuration.load({"preemption": {"algorithm": "kep-5710"}})

    @examples(150)
    @given(_with_groups(), st.sampled_from((-1, 0, 10)))
    def holds(objects: list[Document], ceiling: int) -> None:
        nonlocal drawn
        drawn += 1
        cluster = load(objects)
        view = View(cluster, config, None)
        cluster.let_groups_rule(view.groups_rule)
        preemptor = find_group(view, "default/gang")
        search = GangSearch(view, preemptor.gang, preemptor.domains)
        whole = select_for_gang(search)
        cut = select_for_gang(search, ceiling)
        if not isinstance(whole, Selection) or not isinstance(cut, Selection):
            assert type(whole) is type(cut)
            return
        seen["cut short" if cut.cut_short else "whole"] += 1
        if cut.cut_short:
            assert whole.highest > ceiling
        elif whole.highest <= ceiling:
            assert list(cut.victims) == list(whole.victims)
            assert cut.violations == whole.violations

    holds()
    for kind in ("cut short", "whole"):
        enough(seen[kind], of=drawn, least_share=0.07, what=f"selections that are {kind}")
