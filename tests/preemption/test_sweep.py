"""The dry run over all nodes at once says what the dry run of each node says, budgets included."""

from operator import itemgetter

import numpy as np
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
from tests.builders import Document, budget, node, pod, pod_group, views
from tests.reached import enough
from tests.scale import examples
from tests.strategies.choices import Choices
from tests.strategies.cluster import HOST, crowded_scene, scenes


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
    return compare_in(loaded(documents), config)


def loaded(documents: list[Document]) -> Cluster:
    """As `load`, but capacity is kept for nominated pods."""
    cluster = Cluster()
    cluster.set_all(views(*documents))
    return cluster


def compare_in(cluster: Cluster, config: Configuration) -> list[Selection]:
    view = View(cluster, config, 0)
    sweep = swept(view)
    if sweep is None:
        return []
    filters, candidates = sweep.filters, sweep.candidates
    found = sweep.best(len(candidates))
    alone = {
        slot: choice
        for slot in cluster.nodes.order.tolist()
        if candidates[slot] and not sweep.closer[slot]
        if (choice := dry_run(view, filters, slot)) is not None and choice.victims
    }
    expected = sorted(alone.values(), key=lambda choice: choice_key(view, choice))
    assert [each.assigned[0].slot for each in found] == [each.assigned[0].slot for each in expected]
    assert [each.assigned[0].slot for each in sweep.best(1)] == [each.assigned[0].slot for each in found[:1]]
    for one, other in zip(found, expected, strict=True):
        assert one.victims == other.victims
        assert list(one.reprieved) == other.reprieved
        assert one.violations == other.violations
    return found


def swept(view: View) -> Sweep | None:
    """The sweep for the first pod that waits and is nominated for no node."""
    pods = view.cluster.pods
    waiting = (row for row in pods.row_of.values() if pods.node[row] == NOWHERE)
    row = next(row for row in waiting if not pods.info[row].nominated_node)
    filters = PodFilters(view.cluster, row, view.faithful)
    candidates = diagnose(filters, view.scoring).code == UNSCHEDULABLE
    return Sweep(view, filters, candidates) if filters.countable else None


@pytest.mark.parametrize("algorithm", ["kubernetes", "kep-5710"])
def test_the_sweep_agrees_with_the_dry_run_of_each_node(algorithm: str) -> None:
    config = Configuration.load({"preemption": {"algorithm": algorithm}})
    broken: list[bool] = []

    @examples(200)
    @given(_scenes())
    def agrees(documents: list[Document]) -> None:
        broken.append(any(each.broken for each in compare(documents, config)))

    agrees()
    enough(sum(broken), of=len(broken), least_share=0.04, what="broken budgets")


@st.composite
def _equals(draw: st.DrawFn) -> list[Document]:
    """Nodes full of pods of few priorities and starts, more than Go sorts stably, of different sizes."""
    choices = Choices(draw)
    nodes = choices.number(1, 4)
    documents = [node(f"n{i}", "40") for i in range(nodes)]
    priorities, starts = choices.one_of(((0,), (0, 5), (0, 5, 20))), choices.number(1, 3)
    for number in range(choices.number(13, 34) * nodes):
        made = pod(
            f"run-{number:03}",
            on=f"n{number % nodes}",
            cpu=str(choices.number(1, 3)),
            priority=choices.one_of(priorities),
            start=f"2026-03-01T0{choices.number(1, starts)}:00:00Z",
        )
        documents.append(made)
    return [*documents, pod("want", cpu=str(choices.number(4, 30)), priority=choices.one_of((10, 100)))]


def test_equal_pods_are_swept_in_the_order_of_gos_sort() -> None:
    config = Configuration.load({"preemption": {"algorithm": "kubernetes"}})
    preempted: list[bool] = []

    @examples(120, least=30)
    @given(_equals())
    def agrees(documents: list[Document]) -> None:
        cluster = loaded(documents)
        sweep = swept(View(cluster, config, 0))
        assert sweep is None or not sweep.closer.any()
        preempted.append(bool(compare_in(cluster, config)))

    agrees()
    enough(sum(preempted), of=len(preempted), least_share=0.2, what="scenes in which somebody makes way")


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
    cluster, config = loaded(documents), Configuration.load({})
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
    evicted: list[bool] = []

    @examples(200)
    @given(_scenes_with_groups())
    def agrees(documents: list[Document]) -> None:
        swept = compare(documents, config)
        evicted.append(any(unit.group >= 0 for choice in swept for unit in choice.victims))

    agrees()
    enough(sum(evicted), of=len(evicted), least_share=0.07, what="scenes in which a whole group goes")


@st.composite
def _scenes_with_rules(draw: st.DrawFn) -> list[Document]:
    """Somebody with host ports, spread constraints and affinity, among pods under budgets, in whole groups,
    with equal starts and minimum run times, where others are nominated.
    """
    choices = Choices(draw)
    documents = draw(st.one_of(_scenes_with_groups(), scenes().map(itemgetter(0))))
    for each in documents:
        if each["kind"] != "Pod" or not each["spec"].get("nodeName"):
            continue
        if choices.chance(10):
            each["metadata"].setdefault("annotations", {})["reprieve.dev/min-runtime"] = "1h"
        if choices.chance(30):
            each["status"]["startTime"] = "2026-03-01T00:00:00Z"
    for number in range(choices.number(0, 2)):
        match = {"app": choices.one_of(("one", "two", "three"))}
        documents.append(budget(f"more-{number}", choices.one_of((0, 1, 2)), match=match, namespace="a"))
    if choices.chance(30):
        nominated = pod("nominated", priority=2000, namespace="b")
        nominated["status"] = {"nominatedNodeName": "node-0"}
        documents.append(nominated)
    return documents


@pytest.mark.parametrize("algorithm", ["kubernetes", "kep-5710"])
def test_the_sweep_agrees_with_the_dry_run_under_every_rule(algorithm: str) -> None:
    config = Configuration.load({"preemption": {"algorithm": algorithm}})
    ruled: list[bool] = []

    @examples(400)
    @given(_scenes_with_rules())
    def agrees(documents: list[Document]) -> None:
        found = [choice.assigned[0].filters for choice in compare(documents, config)]
        ruled.append(any(not filters.plain or filters.cls.ports for filters in found))

    agrees()
    enough(sum(ruled), of=len(ruled), least_share=0.03, what="scenes with a rule beyond resources")


APART = {
    "requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "one"}}}
    ]
}
EVENLY = {
    "topologyKey": "kubernetes.io/hostname",
    "maxSkew": 1,
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": {"app": "one"}},
}
PORT = {
    "name": "c",
    "ports": [{"containerPort": 80, "hostPort": 80}],
    "resources": {"requests": {"cpu": "2"}},
}


@pytest.mark.parametrize(
    ("trait", "wanted"),
    [
        ("budgets and whole groups", {}),
        ("equal starts", {}),
        ("minimum run times", {}),
        ("anti-affinity", {"affinity": {"podAntiAffinity": APART}}),
        ("spread constraints", {"topologySpreadConstraints": [EVENLY]}),
        ("host ports", {"containers": [PORT]}),
        ("nominations", {}),
    ],
)
@pytest.mark.parametrize("algorithm", ["kubernetes", "kep-5710"])
def test_no_node_is_tried_by_itself_because_of(trait: str, wanted: Document, algorithm: str) -> None:
    """A node that is tried by itself costs a hundred times as much as one in the sweep."""
    documents = _full_nodes(trait)
    request = {"containers": [{"name": "c", "resources": {"requests": {"cpu": "2"}}}]}
    labels = {"app": "one"}
    documents.append(pod("want", priority=1000, namespace="a", labels=labels, **{**request, **wanted}))
    cluster = loaded(documents)
    config = Configuration.load({"preemption": {"algorithm": algorithm}})
    assert compare_in(cluster, config)
    sweep = swept(View(cluster, config, 0))
    assert sweep is not None
    expected = ["node-0"] if trait == "nominations" else []  # the pods nominated there count there
    assert [cluster.nodes.names[slot] for slot in np.flatnonzero(sweep.closer)] == expected


def _full_nodes(trait: str) -> list[Document]:
    """Five nodes of four cores, each with four pods."""
    documents: list[Document] = []
    for number in range(5):
        documents.append(
            node(f"node-{number}", allocatable={"cpu": "4", "pods": "20"}, labels={HOST: f"node-{number}"})
        )
        for place in range(4):
            second = 0 if trait == "equal starts" else 10 * number + place
            each = pod(
                f"run-{number}-{place}",
                priority=0 if place < 2 else 10,
                namespace="a",
                labels={"app": ("one", "two")[place % 2]},
                containers=[{"name": "c", "resources": {"requests": {"cpu": "1"}}}],
                nodeName=f"node-{number}",
            )
            each["status"] = {"phase": "Running", "startTime": f"2026-03-01T00:00:{second:02}Z"}
            if trait == "minimum run times" and place == 0:
                each["metadata"]["annotations"] = {"reprieve.dev/min-runtime": "1h"}
            if trait == "budgets and whole groups" and place < 2:
                each["spec"]["schedulingGroup"] = {"podGroupName": f"whole-{place}"}
            documents.append(each)
    if trait == "budgets and whole groups":
        documents += [pod_group(f"whole-{number}", None, 0, mode="all", namespace="a") for number in range(2)]
        documents.append(budget("guard", 2, match={"app": "one"}, namespace="a"))
    if trait == "nominations":
        nominated = pod("nominated", priority=2000, namespace="a")
        nominated["status"] = {"nominatedNodeName": "node-0"}
        documents.append(nominated)
    return documents
