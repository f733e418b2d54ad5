"""Feature gates: defaults, what each needs, and refusals that say which one is missing."""

import pytest

from reprieve.config import Configuration, ConfigurationError
from reprieve.config.gates import GATES, OWN


def refused(**chosen: bool) -> list[str]:
    with pytest.raises(ConfigurationError) as caught:
        Configuration.load({"featureGates": chosen})
    return [str(problem) for problem in caught.value.problems]


def test_our_gates_are_on_but_for_the_one_kueue_keeps_off() -> None:
    config = Configuration.load(None)
    assert {name: config.gate(name) for name in OWN} == {
        "GenericWorkload": True,
        "GangScheduling": True,
        "WorkloadAwarePreemption": True,
        "SchedulerAsyncPreemption": True,
        "PodGroupPreemptionPolicy": True,
        "TopologyAwareWorkloadScheduling": True,
        "CompositePodGroup": True,
        "DynamicResourceAllocation": True,
        "DRAWorkloadResourceClaims": True,
        "MultiKueueOrchestratedPreemption": False,
    }


@pytest.mark.parametrize(
    ("name", "default"),
    [("PartialAdmission", True), ("ReclaimablePods", True), ("FlavorFungibility", True),
     ("PriorityBoost", False), ("RecomputeAssignmentUponPreemptionTargetsOverlap", True),
     ("PrioritizePreemptorWorkloads", False), ("ConcurrentAdmission", False),
     ("SchedulingEquivalenceHashing", True)],
)  # fmt: skip
def test_kueues_gates_have_upstreams_defaults(name: str, default: bool) -> None:
    assert Configuration.load(None).gate(name) is default


def test_every_need_is_a_gate() -> None:
    assert {need for gate in GATES.values() for need in gate.needs} <= set(GATES)


def test_a_gate_without_what_it_needs_is_refused_with_the_missing_gates_name() -> None:
    assert refused(GangScheduling=False, WorkloadAwarePreemption=True) == [
        "featureGates.WorkloadAwarePreemption: WorkloadAwarePreemption needs GangScheduling, which is off: "
        "turn on GangScheduling, or turn this gate off (got True)"
    ]
    both, gang = refused(WorkloadAwarePreemption=True, GenericWorkload=False, GangScheduling=True)
    assert "needs GenericWorkload and GangScheduling, which are off" in both
    assert "GangScheduling needs GenericWorkload, which is off" in gang


@pytest.mark.parametrize("name", ["PodGroupPreemptionPolicy", "TopologyAwareWorkloadScheduling"])
def test_groups_are_needed_by_what_concerns_groups(name: str) -> None:
    assert len(refused(**{"GenericWorkload": False, name: True})) == 1


def test_a_gate_that_is_on_only_by_default_gives_way() -> None:
    config = Configuration.load({"featureGates": {"GenericWorkload": False}})
    assert not config.gate("GangScheduling")
    assert not config.gate("WorkloadAwarePreemption")
    assert not config.gate("TopologyAwareWorkloadScheduling")
    assert config.gate("SchedulerAsyncPreemption")
    assert not Configuration.load({"featureGates": {"FlavorFungibility": False}}).gate(
        "FlavorFungibilityPreserveScanProgress"
    )


def test_a_gate_can_be_turned_off_by_itself() -> None:
    config = Configuration.load({"featureGates": {"WorkloadAwarePreemption": False}})
    assert config.gate("GangScheduling")
    assert not config.gate("WorkloadAwarePreemption")


def test_an_unknown_gate_is_refused_with_the_nearest_name() -> None:
    (line,) = refused(GangSchedulling=True)
    assert "there is no gate 'GangSchedulling'; did you mean 'GangScheduling'?" in line
    with pytest.raises(KeyError):
        Configuration.load(None).gate("GangSchedulling")


def test_a_gate_is_true_or_false() -> None:
    with pytest.raises(ConfigurationError, match="expected true or false, got string 'yes'"):
        Configuration.load({"featureGates": {"GangScheduling": "yes"}})


def test_kueues_rules_between_its_own_gates() -> None:
    assert len(refused(TopologyAwareScheduling=False, TASRecomputeAssignmentWithinSchedulingCycle=True)) == 1
    assert len(refused(UnadmittedWorkloadsObservability=False, UnadmittedWorkloadsExplicitStatus=True)) == 1
