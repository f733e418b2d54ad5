"""One rule, one test: who is a victim, who is spared, who may preempt at all."""

from datetime import UTC, datetime

import pytest

import reprieve
from reprieve.cluster.pods import ticks
from reprieve.config import Configuration
from reprieve.placement.sentences import filters
from reprieve.preemption import Plan, UnknownTarget, sentences
from tests.builders import priority_class, terminating
from tests.preemption.planning import budget, gang, node, plan, pod, pod_group, victims

BOTH = pytest.mark.parametrize("algorithm", ["kep-5710", "kubernetes"])
PREEMPTED = {
    "conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}]
}
ZONE = "topology.kubernetes.io/zone"


@BOTH
def test_the_least_important_pod_makes_way(algorithm: str) -> None:
    full = [
        node("n"),
        pod("low", on="n", priority=1),
        pod("mid", on="n", priority=5),
        pod("top", "2", on="n", priority=9),
    ]
    assert victims(plan([*full, pod("want", "1", priority=50)], "Pod/a/want", algorithm)) == ["low"]


@BOTH
def test_at_equal_priority_a_pod_on_its_own_goes_before_a_pod_of_a_group(algorithm: str) -> None:
    full = [
        node("n", "2"),
        pod_group("g", priority=1),
        pod("alone", on="n", priority=1),
        pod("member", on="n", priority=1, group="g"),
    ]
    assert victims(plan([*full, pod("want", priority=50)], "Pod/a/want", algorithm)) == ["alone"]


@BOTH
def test_at_equal_rank_the_later_start_goes(algorithm: str) -> None:
    full = [
        node("n", "2"),
        pod("old", on="n", start="2026-01-01T00:00:00Z"),
        pod("new", on="n", start="2026-01-01T00:00:09Z"),
    ]
    assert victims(plan([*full, pod("want", priority=50)], "Pod/a/want", algorithm)) == ["new"]


@BOTH
def test_a_group_in_mode_all_goes_as_a_whole_across_nodes(algorithm: str) -> None:
    full = [
        node("m", "2"), node("n", "2"), pod_group("g", priority=1, mode="all"),
        pod("g-0", "2", on="m", priority=1, group="g"), pod("g-1", "2", on="n", priority=1, group="g"),
    ]  # fmt: skip
    found = plan([*full, pod("want", "2", priority=50)], "Pod/a/want", algorithm)
    assert sorted(victims(found)) == ["g-0", "g-1"]
    assert {victim.unit for victim in found.victims} == {"PodGroup/a/g"}


@BOTH
def test_a_group_in_mode_single_loses_only_what_is_needed(algorithm: str) -> None:
    full = [
        node("n", "2"),
        pod_group("g", priority=1),
        pod("g-0", on="n", priority=1, group="g"),
        pod("g-1", on="n", priority=1, group="g"),
    ]
    assert len(victims(plan([*full, pod("want", priority=50)], "Pod/a/want", algorithm))) == 1


@BOTH
def test_the_groups_priority_counts_not_its_pods(algorithm: str) -> None:
    full = [node("n", "1"), pod_group("g", priority=60), pod("g-0", on="n", priority=1, group="g")]
    assert plan([*full, pod("want", priority=50)], "Pod/a/want", algorithm).outcome == "unschedulable"


@BOTH
def test_a_budget_is_respected_before_importance(algorithm: str) -> None:
    full = [
        node("n", "2"),
        pod("kept", on="n", priority=1),
        pod("other", on="n", priority=5),
        budget("kept", 0),
    ]
    found = plan([*full, pod("want", priority=50)], "Pod/a/want", algorithm)
    assert victims(found) == ["other"]
    assert found.pdb_violations == 0
    assert found.budgets[0].sentence == sentences.budget_use("a/kept", allowed=0, taken=0, kept=1)


@BOTH
def test_a_budget_is_broken_only_when_nothing_else_helps(algorithm: str) -> None:
    full = [node("n", "1"), pod("kept", on="n", priority=1), budget("kept", 0)]
    found = plan([*full, pod("want", priority=50)], "Pod/a/want", algorithm)
    assert found.pdb_violations == 1
    assert found.victims[0].violates_budget


def test_kep_5710_spares_a_whole_priority_that_kubernetes_touches() -> None:
    """Placed on the emptied cluster the pod goes where most is free, on the important pod's node; the cut-off
    keeps it away.
    """
    full = [
        node("m", "8"),
        node("n", "4"),
        pod("important", "8", on="m", priority=90),
        pod("cheap", "4", on="n", priority=1),
    ]
    objects = [*full, *gang(1, "3")]
    assert victims(plan(objects, "PodGroup/a/gang", "kubernetes")) == ["important"]
    assert victims(plan(objects, "PodGroup/a/gang", "kep-5710")) == ["cheap"]


@BOTH
def test_never_means_never(algorithm: str) -> None:
    full = [node("n", "1"), pod("low", on="n")]
    want = pod("want", priority=50, preemptionPolicy="Never")
    found = plan([*full, want], "Pod/a/want", algorithm)
    assert found.outcome == "unschedulable"
    assert sentences.NEVER_PREEMPTS in found.message


@BOTH
def test_the_policy_of_a_priority_class_counts_where_the_pod_states_none(algorithm: str) -> None:
    full = [node("n", "1"), pod("low", on="n"), priority_class("meek", 50, preemptionPolicy="Never")]
    want = pod("want", priorityClassName="meek")
    assert plan([*full, want], "Pod/a/want", algorithm).outcome == "unschedulable"


@BOTH
def test_a_pod_waits_while_its_victim_is_on_the_way_out(algorithm: str) -> None:
    leaving = terminating(pod("low", "1", on="n", status=PREEMPTED))
    want = pod("want", "1", priority=50, status={"nominatedNodeName": "n"})
    found = plan(
        [node("n", "1"), node("m", "1"), pod("other", on="m"), leaving, want], "Pod/a/want", algorithm
    )
    assert found.outcome == "unschedulable"
    assert sentences.VICTIM_IS_TERMINATING in found.message


def test_kep_5710_starts_from_scratch_when_the_nominated_node_no_longer_does() -> None:
    leaving = terminating(pod("low", "1", on="n", status=PREEMPTED))
    intruder = pod("intruder", "1", on="n", priority=90)
    want = pod("want", "2", priority=50, status={"nominatedNodeName": "n"})
    objects = [node("n", "2"), node("m", "2"), pod("other", "2", on="m"), leaving, intruder, want]
    assert victims(plan(objects, "Pod/a/want")) == ["other"]
    assert plan(objects, "Pod/a/want", "kubernetes").outcome == "unschedulable"


@BOTH
def test_a_gang_keeps_its_nominations_while_victims_leave(algorithm: str) -> None:
    leaving = terminating(pod("low", "2", on="n", status=PREEMPTED))
    objects = [node("n", "2"), leaving, *gang(1)]
    objects[-1]["status"]["nominatedNodeName"] = "n"
    found = plan(objects, "PodGroup/a/gang", algorithm)
    assert (found.outcome, found.ongoing, found.placements, found.victims) == (
        "preempts",
        True,
        {"a/gang-0": "n"},
        (),
    )


def test_a_gang_starts_from_scratch_when_its_nominations_no_longer_do() -> None:
    leaving = terminating(pod("low", "1", on="n", status=PREEMPTED))
    objects = [
        node("n", "2"),
        pod("intruder", "1", on="n", priority=900),
        leaving,
        node("m", "2"),
        pod("other", "2", on="m"),
        *gang(1),
    ]
    objects[-1]["status"]["nominatedNodeName"] = "n"
    found = plan(objects, "PodGroup/a/gang")
    assert (victims(found), found.ongoing) == (["other"], False)


@BOTH
def test_preemption_priority_protects_more_than_scheduling_priority(algorithm: str) -> None:
    guard = {"reprieve.dev/preemption-priority-class": "protected"}
    full = [
        node("n", "2"),
        priority_class("protected", 40),
        pod("guarded", on="n", annotations=guard),
        pod("plain", on="n", priority=20),
    ]
    assert victims(plan([*full, pod("want", priority=50)], "Pod/a/want", algorithm)) == ["plain"]
    assert plan([*full, pod("want", "2", priority=30)], "Pod/a/want", algorithm).outcome == "unschedulable"


@BOTH
def test_preemption_priority_never_protects_less(algorithm: str) -> None:
    guard = {"reprieve.dev/preemption-priority-class": "weak"}
    full = [node("n", "1"), priority_class("weak", 1), pod("p", on="n", priority=60, annotations=guard)]
    assert plan([*full, pod("want", priority=50)], "Pod/a/want", algorithm).outcome == "unschedulable"


def test_preemption_priority_of_a_group_protects_its_pods() -> None:
    guard = {"reprieve.dev/preemption-priority-class": "protected"}
    full = [
        node("n", "1"),
        priority_class("protected", 70),
        pod_group("g", priority=1, annotations=guard),
        pod("g-0", on="n", group="g"),
    ]
    assert plan([*full, pod("want", priority=50)], "Pod/a/want").outcome == "unschedulable"


def test_a_unit_is_no_victim_before_its_minimum_run_time() -> None:
    full = [node("n", "1"), pod("young", on="n", annotations={"reprieve.dev/min-runtime": "1h"})]
    objects = [*full, pod("want", priority=50)]
    early, late = (ticks(datetime(2026, 1, 1, hour, 30, tzinfo=UTC)) for hour in (0, 1))
    assert plan(objects, "Pod/a/want", now=early).outcome == "unschedulable"
    assert victims(plan(objects, "Pod/a/want", now=late)) == ["young"]


@BOTH
def test_a_gang_is_placed_whole_or_not_at_all(algorithm: str) -> None:
    found = plan([node("n", "3"), *gang(2)], "PodGroup/a/gang", algorithm)
    assert (found.outcome, found.placements) == ("unschedulable", {})


def test_a_gang_that_does_not_fit_gets_what_is_missing_in_numbers() -> None:
    found = plan([node("n", "3"), pod("low", "1", on="n"), *gang(2)], "PodGroup/a/gang")
    assert sentences.gang_lacks_nodes(lower=1, placed=1, pods=2, short=1, needed=2) in found.reasons
    assert sentences.asks_for_more_than_can_be_free("cpu", 4000, 3000, nodes=1) in found.reasons


@BOTH
def test_a_topology_constraint_keeps_the_gang_in_one_domain(algorithm: str) -> None:
    nodes = [node(f"{zone}{i}", "2", labels={ZONE: zone}) for zone in "xy" for i in range(2)]
    full = [pod("x-busy", "2", on="x0", priority=900), pod("y-low", "2", on="y1")]
    objects = [*nodes, *full, *gang(2, group={"schedulingConstraints": {"topology": [{"key": ZONE}]}})]
    found = plan(objects, "PodGroup/a/gang", algorithm, TopologyAwareWorkloadScheduling=True)
    assert set(found.placements.values()) == {"y0", "y1"}
    assert victims(found) == ["y-low"]
    anywhere = plan(objects, "PodGroup/a/gang", algorithm, TopologyAwareWorkloadScheduling=False)
    assert anywhere.outcome == "scheduled"


def test_kep_5710_takes_the_domain_that_costs_least() -> None:
    nodes = [node("x0", "4", labels={ZONE: "x"}), node("y0", "3", labels={ZONE: "y"})]
    full = [pod("dear", "4", on="x0", priority=90), pod("cheap", "3", on="y0")]
    objects = [*nodes, *full, *gang(1, group={"schedulingConstraints": {"topology": [{"key": ZONE}]}})]
    assert victims(plan(objects, "PodGroup/a/gang", TopologyAwareWorkloadScheduling=True)) == ["cheap"]


@BOTH
def test_gated_pods_wait(algorithm: str) -> None:
    want = pod("want", schedulingGates=[{"name": "g"}])
    assert plan([node("n"), want], "Pod/a/want", algorithm).outcome == "gated"
    objects = [node("n"), *gang(2)]
    objects[-1]["spec"]["schedulingGates"] = [{"name": "g"}]
    assert plan(objects, "PodGroup/a/gang", algorithm).outcome == "gated"


def test_a_pod_of_a_missing_group_waits_for_it() -> None:
    found = plan([node("n"), pod("want", group="nowhere")], "Pod/a/want")
    assert found.outcome == "gated"
    assert found.message == sentences.group_is_missing("nowhere")


def test_a_group_without_pods_is_unschedulable() -> None:
    found = plan([node("n"), pod_group("empty", priority=10, minimum=3)], "PodGroup/a/empty")
    assert found.outcome == "unschedulable"
    assert sentences.has_too_few_pods("PodGroup/a/empty", 0, 3) in found.reasons


def test_kube_scheduler_refuses_members_of_another_priority_than_the_groups() -> None:
    objects = [node("n"), *gang(2)]
    objects[-1]["spec"]["priority"] = 7
    found = plan(objects, "PodGroup/a/gang", "kubernetes")
    assert found.outcome == "unschedulable"
    assert found.message == sentences.priority_differs("a/gang-1", 7, 100)


OURS = pytest.mark.parametrize("algorithm", ["kep-5710", "minimal-cost"])


@OURS
def test_a_group_preempts_with_its_own_priority_whatever_its_pods_say(algorithm: str) -> None:
    objects = [node("n"), pod("old", "4", on="n", priority=50), *gang(2)]
    for each in objects[-2:]:
        each["spec"]["priority"] = 7
    assert victims(plan(objects, "PodGroup/a/gang", algorithm)) == ["old"]


@OURS
def test_a_group_is_preempted_with_its_own_priority_whatever_its_pods_say(algorithm: str) -> None:
    old = [pod_group("old", priority=50, minimum=1), pod("old-0", "4", on="n", priority=1, group="old")]
    assert plan([node("n"), *old, pod("want", "4", priority=20)], "Pod/a/want", algorithm).outcome == (
        "unschedulable"
    )
    old[1]["spec"]["priority"] = 90
    assert victims(plan([node("n"), *old, pod("want", "4", priority=60)], "Pod/a/want", algorithm)) == [
        "old-0"
    ]


@OURS
def test_a_groups_policy_counts_whatever_its_pods_say(algorithm: str) -> None:
    objects = [node("n"), pod("old", "4", on="n", priority=50), *gang(2)]
    objects[2]["spec"]["preemptionPolicy"] = "Never"
    assert sentences.NEVER_PREEMPTS in plan(objects, "PodGroup/a/gang", algorithm).message


def test_the_last_answer_leaves_the_priorities_as_they_were() -> None:
    from reprieve.whatif.pods import load

    objects = [node("n"), pod("old", "4", on="n", priority=50), *gang(2)]
    objects[-1]["spec"]["priority"] = 7
    cluster = load(objects)
    before = cluster.pods.priority.copy()
    reprieve.preemption.decide(cluster, reprieve.objects.Reference.parse("PodGroup/a/gang"), Configuration())
    assert (cluster.pods.priority == before).all()


@pytest.mark.parametrize("target", ["Pod/a/nobody", "PodGroup/a/nobody"])
def test_a_target_that_does_not_exist_is_an_error(target: str) -> None:
    with pytest.raises(UnknownTarget, match="nobody"):
        plan([node("n")], target)


def test_room_is_left_for_nominated_pods_that_are_at_least_as_important() -> None:
    from reprieve.cluster import Cluster
    from reprieve.objects.decode import decode
    from reprieve.placement import Code, PodFilters, Reason, diagnose, place

    cluster = Cluster()
    nominated = pod("holder", "2", priority=50, status={"nominatedNodeName": "n"})
    for each in (node("n", "3"), nominated, pod("equal", "2", priority=50), pod("higher", "2", priority=51)):
        cluster.set(decode(each))
    equal, higher = (PodFilters(cluster, cluster.pods.row_of[f"a/{name}"]) for name in ("equal", "higher"))
    assert place(equal) is None
    assert diagnose(equal).reasons == {Reason(Code.KEPT): 1}
    assert place(higher) is not None
    cluster.nominate("a/holder", "")
    assert place(equal) is not None


def test_the_message_is_kube_schedulers() -> None:
    nodes = [node(f"n{i}", "1") for i in range(4)]
    tainted = node("t", taints=[{"key": "k", "effect": "NoSchedule"}])
    full = [pod(f"run-{i}", on=f"n{i}", priority=90) for i in range(4)]
    found = plan([*nodes, tainted, *full, pod("want", priority=50)], "Pod/a/want", "kubernetes")
    before = filters.every_node_objects(5, {filters.TAINTED: 1, filters.insufficient("cpu"): 4})
    after = {sentences.NOT_HELPFUL: 1, sentences.NO_VICTIMS_FOR_POD: 4}
    assert found.message == sentences.preemption_refused(before, filters.every_node_objects(5, after))


def test_the_message_for_a_pod_that_no_eviction_helps() -> None:
    full = [node("n", "2"), pod("low", "1", on="n"), pod("high", "1", on="n", priority=90)]
    found = plan([*full, pod("want", "2", priority=50)], "Pod/a/want", "kubernetes")
    short = filters.every_node_objects(1, {filters.insufficient("cpu"): 1})
    assert found.message == sentences.preemption_refused(short, short)


def test_a_plan_names_the_nodes_it_did_not_choose() -> None:
    full = [
        node("m", "2"),
        node("n", "2"),
        pod("dear", "2", on="m", priority=9),
        pod("cheap", "2", on="n", priority=1),
    ]
    found = reprieve.plan([*full, pod("want", "2", priority=50)], "Pod/a/want")
    assert isinstance(found, Plan)
    assert victims(found) == ["cheap"]
    assert [(other.title, other.victims) for other in found.alternatives] == [
        (sentences.on_node("m"), ("Pod/a/dear",))
    ]
