"""A quick refusal, for callers that nobody reads, refuses whom the whole search refuses and nobody else."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from reprieve.cluster import NOWHERE, Cluster
from reprieve.config import Configuration
from reprieve.objects import Pod, Reference
from reprieve.preemption import Plan, decide
from reprieve.preemption.most_free import at_most
from reprieve.preemption.view import View
from reprieve.whatif.pods import load
from tests.builders import Document
from tests.preemption.planning import node, plan, pod, pod_group
from tests.reached import enough
from tests.scale import examples
from tests.strategies.choices import Choices
from tests.strategies.cluster import crowded_scene, scene


@st.composite
def _scenes(draw: st.DrawFn) -> tuple[list[Document], str, list[int]]:
    """A scene, who waits in it, and numbers that choose which pods leave."""
    choices = Choices(draw)
    documents, target = crowded_scene(choices) if choices.chance(70) else scene(choices)
    return documents, target, [choices.number(0, 10**6) for _ in range(choices.number(1, 4))]


@pytest.mark.parametrize("algorithm", ["kubernetes", "kep-5710", "minimal-cost"])
def test_without_an_explanation_the_decision_is_the_same(algorithm: str) -> None:
    config = Configuration.load({"preemption": {"algorithm": algorithm}})
    outcomes: Counter[str] = Counter()
    drawn = 0

    @examples(60)
    @given(_scenes())
    def same(found: tuple[list[Document], str, list[int]]) -> None:
        nonlocal drawn
        drawn += 1
        documents, target, numbers = found
        seen = set()
        cluster, unit = load(documents), Reference.parse(target)
        for number in (None, *numbers):
            if number is not None:
                _change(cluster, number)
            explained = decide(cluster, unit, config, 0)
            quick = decide(cluster, unit, config, 0, explain=False)
            assert _without_sentences(quick) == _without_sentences(explained)
            seen.add(explained.outcome)
        outcomes.update(seen)

    same()
    enough(outcomes["unschedulable"], of=drawn, least_share=0.03, what="refusals")
    enough(outcomes["preempts"], of=drawn, least_share=0.05, what="preemptions")


@examples(50)
@given(_scenes())
def test_the_table_catches_up_with_pods_that_leave(
    found: tuple[list[Document], str, list[int]],
) -> None:
    documents, _, numbers = found
    cluster, config = load(documents), Configuration.load({})
    for number in (0, *numbers):
        kept = _all_at_most(cluster, config)
        cluster.lasting.clear()
        assert kept == _all_at_most(cluster, config)
        _change(cluster, number)


def test_a_pod_fits_as_often_as_what_everybody_below_it_leaves_allows() -> None:
    documents = [
        node("one", 8),
        node("two", 4),
        pod("equal", cpu=3, on="one", priority=100),
        pod("lower", cpu=5, on="one", priority=0),
        pod("lowest", cpu=4, on="two", priority=-10),
        pod("waits", cpu=2, priority=100),
    ]
    cluster = load(documents)
    view = View(cluster, Configuration.load({}), 0)
    cls = cluster.class_of(cluster.pods.row_of["a/waits"])
    assert [at_most(view, [cls], below) for below in (-10, 0, 100, 101)] == [0, 2, 4, 6]


def test_what_a_group_counts_for_is_what_may_leave() -> None:
    """A pod that says it is important, in a group that is not, makes way with the group."""
    documents = [
        node("one", 4),
        pod_group("low", None, 0, mode="all"),
        pod("member", cpu=4, on="one", priority=1000, group="low"),
        pod("waits", cpu=4, priority=100),
    ]
    view = View(cluster := load(documents), Configuration.load({}), 0)
    cls = cluster.class_of(cluster.pods.row_of["a/waits"])
    assert at_most(view, [cls], 100) == 1
    assert plan(documents, "Pod/a/waits").outcome == "preempts"


def _change(cluster: Cluster, number: int) -> None:
    """A running pod leaves."""
    running = [key for key, row in cluster.pods.row_of.items() if cluster.pods.node[row] >= 0]
    if running:
        key = running[number % len(running)]
        cluster.remove(Pod, key)


def _all_at_most(cluster: Cluster, config: Configuration) -> list[int | None]:
    view = View(cluster, config, 0)
    rows = [row for row in cluster.pods.row_of.values() if cluster.pods.node[row] == NOWHERE]
    return [at_most(view, [cluster.class_of(row)], below) for row in rows for below in (-10, 0, 10, 100, 101)]


def _without_sentences(plan: Plan) -> Plan:
    return replace(plan, message="", reasons=())
