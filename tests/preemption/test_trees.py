"""Trees of groups on generated clusters: the naive reference agrees, and what a plan promises holds."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given

from reprieve.config import Configuration
from reprieve.objects import Reference, amount
from reprieve.preemption import Plan, decide
from reprieve.whatif.pods import load
from tests.builders import Document
from tests.reached import enough
from tests.reference.core.trees import TreeReference
from tests.scale import examples
from tests.strategies.trees import PRIORITY, TARGET, TreeScene, tree_scenes

ALGORITHMS = ("kubernetes", "kep-5710", "minimal-cost")
OWN = ("kep-5710", "minimal-cost")


def decided(documents: TreeScene, algorithm: str, **gates: bool) -> Plan:
    config = Configuration.load({"preemption": {"algorithm": algorithm}, "featureGates": gates})
    return decide(load(documents), Reference.parse(TARGET), config, 0)


def test_the_fast_path_decides_about_trees_as_the_naive_reference_does() -> None:
    @examples(150)
    @given(tree_scenes())
    def agrees(documents: TreeScene) -> None:
        plan = decided(documents, "kubernetes")
        ours = {
            "outcome": plan.outcome,
            "placements": plan.placements,
            "victims": sorted(victim.pod for victim in plan.victims),
        }
        assert ours == TreeReference(documents).plan("default/tree")

    agrees()


class Tree:
    """The waiting tree, and which of its groups a plan satisfies."""

    def __init__(self, documents: TreeScene, plan: Plan) -> None:
        self.groups = {
            each["metadata"]["name"]: each
            for each in documents
            if each["kind"] in ("PodGroup", "CompositePodGroup")
        }
        self.pods = [each for each in documents if each["kind"] == "Pod"]
        self.plan = plan

    def children(self, name: str) -> list[str]:
        return [
            key
            for key, each in self.groups.items()
            if each["spec"].get("parentCompositePodGroupName") == name
        ]

    def placed(self, name: str) -> list[str]:
        """The nodes of the pods of a group and of all groups below."""
        below = self.children(name)
        if below:
            return [node for child in below for node in self.placed(child)]
        own = [each for each in self.pods if group_of(each) == name]
        return [self.plan.placements[key(pod)] for pod in own if key(pod) in self.plan.placements]

    def satisfied(self, name: str) -> bool:
        policy = self.groups[name]["spec"]["schedulingPolicy"]["gang"]
        if "minCount" in policy:
            return len(self.placed(name)) >= policy["minCount"]
        return sum(map(self.satisfied, self.children(name))) >= policy["minGroupCount"]

    def half_placed(self, name: str = "tree") -> Iterator[str]:
        """Groups of which some pods got nodes, but not enough."""
        if self.placed(name) and not self.satisfied(name):
            yield name
        for child in self.children(name):
            yield from self.half_placed(child)


def key(pod: Document) -> str:
    return f"default/{pod['metadata']['name']}"


def group_of(pod: Document) -> str:
    name: str = pod["spec"].get("schedulingGroup", {}).get("podGroupName", "")
    return name


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_trees_all_or_none_at_every_level(algorithm: str) -> None:
    @examples(100)
    @given(tree_scenes())
    def holds(documents: TreeScene) -> None:
        plan = decided(documents, algorithm)
        if plan.outcome == "preempts" and algorithm == "kubernetes":
            return  # kube-scheduler nominates pods of groups that failed
        assert list(Tree(documents, plan).half_placed()) == []

    holds()


@pytest.mark.parametrize("algorithm", OWN)
def test_what_a_tree_is_assigned_fits_and_straddles_no_domain(algorithm: str) -> None:
    @examples(100)
    @given(tree_scenes())
    def holds(documents: TreeScene) -> None:
        plan = decided(documents, algorithm)
        assert overfull(documents, plan) == []
        assert straddling(documents, plan) == []
        assert all(victim.priority < PRIORITY for victim in plan.victims)

    holds()


def test_without_workload_aware_preemption_trees_preempt_one_by_one_and_all_or_none() -> None:
    """The rollback: the same promises, with the victims of each pod added up."""
    preempted: list[bool] = []

    @examples(100)
    @given(tree_scenes())
    def holds(documents: TreeScene) -> None:
        plan = decided(documents, "kep-5710", WorkloadAwarePreemption=False)
        preempted.append(plan.outcome == "preempts" and not plan.ongoing)
        if not preempted[-1]:
            return
        assert list(Tree(documents, plan).half_placed()) == []
        assert overfull(documents, plan) == []
        assert straddling(documents, plan) == []
        assert all(victim.priority < PRIORITY for victim in plan.victims)

    holds()
    enough(sum(preempted), of=len(preempted), least_share=0.04, what="trees that preempt")


def overfull(documents: TreeScene, plan: Plan) -> list[str]:
    """Nodes that get more than they have."""
    gone = {victim.pod for victim in plan.victims}
    used: dict[str, int] = {}
    for pod in (each for each in documents if each["kind"] == "Pod"):
        node = plan.placements.get(key(pod)) or pod["spec"].get("nodeName")
        if node and key(pod) not in gone:
            used[node] = used.get(node, 0) + cpu(pod["spec"]["containers"][0]["resources"]["requests"])
    offered = {
        each["metadata"]["name"]: cpu(each["status"]["allocatable"])
        for each in documents
        if each["kind"] == "Node"
    }
    return [node for node, number in used.items() if number > offered[node]]


def cpu(amounts: dict[str, Any]) -> int:
    return amount("cpu", amounts["cpu"])


def straddling(documents: TreeScene, plan: Plan) -> list[str]:
    """Groups whose pods are in more than one of their domains, or in none."""
    tree = Tree(documents, plan)
    labels = {
        each["metadata"]["name"]: each["metadata"]["labels"] for each in documents if each["kind"] == "Node"
    }
    found = []
    for name, group in tree.groups.items():
        constraints = group["spec"].get("schedulingConstraints")
        if constraints:
            label = constraints["topology"][0]["key"]
            domains = {labels[node].get(label) for node in tree.placed(name)}
            if len(domains) > 1 or None in domains:
                found.append(name)
    return found


@examples(100)
@given(tree_scenes())
def test_what_kubernetes_places_the_others_place_and_never_for_a_higher_priority(
    documents: TreeScene,
) -> None:
    theirs = decided(documents, "kubernetes")
    if theirs.outcome not in ("scheduled", "preempts"):
        return
    for algorithm in OWN:
        ours = decided(documents, algorithm)
        assert ours.outcome in ("scheduled", "preempts")
        if theirs.outcome == "scheduled":
            assert ours.victims == ()
        elif ours.victims:
            assert (ours.cost.highest_priority or 0) <= (theirs.cost.highest_priority or 0)


@examples(60)
@given(tree_scenes())
def test_no_victim_of_a_tree_could_have_stayed(documents: TreeScene) -> None:
    """Give any victim unit back, and the plan no longer fits."""
    plan = decided(documents, "minimal-cost")
    for unit in {victim.unit for victim in plan.victims}:
        fewer = tuple(victim for victim in plan.victims if victim.unit != unit)
        kept = Plan(for_=plan.for_, outcome=plan.outcome, placements=plan.placements, victims=fewer)
        assert overfull(documents, kept) != []
