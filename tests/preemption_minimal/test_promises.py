"""What `minimal-cost` promises on every cluster."""

from copy import deepcopy

from hypothesis import given

import reprieve
from reprieve.whatif import compare
from reprieve.whatif.pods import load
from tests.builders import Document
from tests.preemption_minimal.manifests import NOW, full_clusters
from tests.preemption_minimal.plans import GANG, costs, stands
from tests.scale import examples

many = examples(150)
MINIMAL = {"preemption": {"algorithm": "minimal-cost"}}


@many
@given(full_clusters())
def test_the_least_cost_is_never_more_than_that_of_kep_5710(objects: list[Document]) -> None:
    cost = costs(objects)
    kep, minimal = cost["kep-5710"], cost["minimal-cost"]
    if kep is not None:
        assert minimal is not None
        assert (*minimal[:2], minimal[2] - 1e-6) <= kep


@many
@given(full_clusters())
def test_kep_5710_never_takes_a_more_important_victim_than_kubernetes(objects: list[Document]) -> None:
    """Where kube-scheduler's plan holds: it overlooks anti-affinity of pods it spares, and is then cheap for
    the wrong reason.
    """
    plans = {each["algorithm"]: each for each in compare(objects, GANG, now=NOW)["plans"]}
    theirs = reprieve.plan(objects, GANG, config={"preemption": {"algorithm": "kubernetes"}}, now=NOW)
    if theirs.outcome == "preempts" and stands(
        load(objects), {victim.pod for victim in theirs.victims}, theirs.placements
    ):
        highest = [plans[name]["cost"]["highestPriority"] for name in ("kep-5710", "kubernetes")]
        assert highest[0] is None or highest[0] <= highest[1]


@many
@given(full_clusters())
def test_no_victim_could_have_stayed(objects: list[Document]) -> None:
    plan = reprieve.plan(objects, GANG, config=MINIMAL, now=NOW)
    for unit in {victim.unit for victim in plan.victims}:
        gone = {victim.pod for victim in plan.victims if victim.unit != unit}
        assert not stands(load(objects), gone, plan.placements), unit
    if plan.victims:
        everyone = {victim.pod for victim in plan.victims}
        assert stands(load(objects), everyone, plan.placements)


def among_equals(objects: list[Document]) -> list[Document]:
    """The same cluster where every third pod is as important as the gang: it could preempt a gang that had
    preempted it.
    """
    for number, each in enumerate(objects):
        if each["kind"] == "Pod" and each["metadata"]["name"].startswith("run-") and number % 3 == 0:
            each["spec"]["priority"] = 1000
    return objects


@many
@given(full_clusters())
def test_a_resubmitted_victim_never_preempts_its_preemptor(objects: list[Document]) -> None:
    objects = among_equals(objects)
    plan = reprieve.plan(objects, GANG, config=MINIMAL, now=NOW)
    if plan.outcome != "preempts":
        return
    after = [settled(each, plan) for each in objects]
    for victim in {victim.pod for victim in plan.victims}:
        again = reprieve.plan(after, f"Pod/{victim}", config=MINIMAL, now=NOW)
        assert not {each.pod for each in again.victims} & plan.placements.keys(), victim


def settled(each: Document, plan: reprieve.preemption.Plan) -> Document:
    """The object once the plan was carried out and its victims were submitted anew."""
    if each["kind"] != "Pod":
        return each
    key = f"default/{each['metadata']['name']}"
    spec = dict(each["spec"])
    if key in {victim.pod for victim in plan.victims}:
        spec.pop("nodeName")
        return {**each, "spec": spec, "status": {"phase": "Pending"}}
    if key in plan.placements:
        return {
            **each,
            "spec": spec | {"nodeName": plan.placements[key]},
            "status": {"phase": "Running", "startTime": NOW},
        }
    return each


@examples(20)
@given(full_clusters())
def test_equal_inputs_give_equal_plans(objects: list[Document]) -> None:
    first, second = (reprieve.plan(deepcopy(objects), GANG, config=MINIMAL, now=NOW) for _ in range(2))
    assert first == second
