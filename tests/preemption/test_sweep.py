"""The dry run over all nodes at once says what the dry run of each node says, budgets included."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from reprieve.cluster import NOWHERE, Cluster
from reprieve.config import Configuration
from reprieve.objects import LabelSelector, Pod
from reprieve.placement import UNSCHEDULABLE, PodFilters, diagnose
from reprieve.preemption.pods import choice_key, dry_run
from reprieve.preemption.sweep import Sweep
from reprieve.preemption.units import Selection
from reprieve.preemption.view import View
from reprieve.whatif.pods import load
from tests.builders import Document, budget, pod_group
from tests.scale import SCALE, examples
from tests.strategies.choices import Choices
from tests.strategies.cluster import crowded_scene


@st.composite
def _scenes(draw: st.DrawFn) -> list[Document]:
    """A crowd under more budgets than usual; some of its pods are under two, and one is counted as disrupted
    already.
    """
    choices = Choices(draw)
    documents, _ = crowded_scene(choices)
    budgets = []
    for number in range(choices.number(1, 4)):
        match = {"app": choices.one_of(("one", "two", "three"))}
        made = budget(
            f"more-{number}", choices.one_of((-1, 0, 1, 2)), match=match, namespace=choices.one_of("ab")
        )
        if choices.chance(20):
            made["status"]["disruptedPods"] = {f"crowd-{choices.number(0, 9):03}": "2026-03-01T00:00:00Z"}
        budgets.append(made)
    return [*documents, *budgets]


def compare(documents: list[Document], config: Configuration) -> list[Selection]:
    """What the sweep found, after it was compared with the dry run of every node that it judged."""
    return compare_in(load(documents), config)


def compare_in(cluster: Cluster, config: Configuration) -> list[Selection]:
    view = View(cluster, config, 0)
    row = next(row for row in cluster.pods.row_of.values() if cluster.pods.node[row] == NOWHERE)
    filters = PodFilters(cluster, row, view.faithful)
    candidates = diagnose(filters, view.scoring).code == UNSCHEDULABLE
    if not filters.plain or filters.cls.ports:
        return []
    sweep = Sweep(view, filters, candidates)
    found = sweep.best(len(candidates))
    alone = {
        slot: choice
        for slot in cluster.nodes.order.tolist()
        if candidates[slot] and not sweep.closer[slot]
        if (choice := dry_run(view, filters, slot)) is not None and choice.victims
    }
    expected = sorted(alone.values(), key=lambda choice: choice_key(view, choice))
    assert [each.assigned[0].slot for each in found] == [each.assigned[0].slot for each in expected]
    for one, other in zip(found, expected, strict=True):
        assert one.victims == other.victims
        assert list(one.reprieved) == other.reprieved
        assert one.violations == other.violations
    return found


@pytest.mark.parametrize("algorithm", ["kubernetes", "kep-5710"])
def test_the_sweep_agrees_with_the_dry_run_of_each_node(algorithm: str) -> None:
    config = Configuration.load({"preemption": {"algorithm": algorithm}})
    with_broken_budget = 0

    @examples(200)
    @given(_scenes())
    def agrees(documents: list[Document]) -> None:
        nonlocal with_broken_budget
        with_broken_budget += any(each.broken for each in compare(documents, config))

    agrees()
    assert with_broken_budget > 3 or SCALE < 1, "too few scenes in which a budget is broken"


@st.composite
def _changes(draw: st.DrawFn) -> tuple[list[Document], list[int]]:
    return draw(_scenes()), draw(st.lists(st.integers(0, 10**6), min_size=1, max_size=4))


@examples(60)
@given(_changes())
def test_the_sweep_agrees_after_pods_leave_and_budgets_change(
    scene: tuple[list[Document], list[int]],
) -> None:
    """The table that a sweep keeps catches up: with other pods, other allowances and other selectors."""
    documents, numbers = scene
    cluster, config = load(documents), Configuration.load({})
    compare_in(cluster, config)
    for number in numbers:
        running = [key for key, row in cluster.pods.row_of.items() if cluster.pods.node[row] >= 0]
        budgets = cluster.budgets.all
        if number % 3 == 0 and running:
            cluster.remove(Pod, running[number % len(running)])
        elif budgets:
            old = budgets[number % len(budgets)]
            status = replace(old.status, disruptions_allowed=number % 3)
            spec = replace(old.spec, selector=LabelSelector(match_labels={"app": "two"}))
            cluster.set(replace(old, status=status) if number % 3 == 1 else replace(old, spec=spec))
        compare_in(cluster, config)


@st.composite
def _scenes_with_groups(draw: st.DrawFn) -> list[Document]:
    """A crowd whose pods belong to groups that go as a whole, several on a node and on several nodes."""
    choices = Choices(draw)
    documents, _ = crowded_scene(choices)
    running = [each for each in documents if each["kind"] == "Pod" and each["spec"].get("nodeName")]
    groups: dict[tuple[str, int], Document] = {}
    for each in running:
        if not choices.chance(60) or "schedulingGroup" in each["spec"]:
            continue
        each["spec"]["priority"] = 0
        namespace, number = each["metadata"]["namespace"], choices.number(0, 3)
        made = groups.setdefault(
            (namespace, number),
            pod_group(f"whole-{number}", None, choices.number(0, 9), mode="all", namespace=namespace),
        )
        each["spec"]["schedulingGroup"] = {"podGroupName": made["metadata"]["name"]}
    return [*documents, *groups.values()]


@pytest.mark.parametrize("algorithm", ["kubernetes", "kep-5710"])
def test_the_sweep_agrees_with_the_dry_run_next_to_whole_groups(algorithm: str) -> None:
    config = Configuration.load({"preemption": {"algorithm": algorithm}})
    groups_evicted = 0

    @examples(200)
    @given(_scenes_with_groups())
    def agrees(documents: list[Document]) -> None:
        nonlocal groups_evicted
        swept = compare(documents, config)
        groups_evicted += sum(unit.group >= 0 for choice in swept for unit in choice.victims)

    agrees()
    assert groups_evicted > 20 or SCALE < 1, "too few scenes in which a whole group goes"
