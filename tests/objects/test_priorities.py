"""Which priority class applies, what it fills in, and what must not contradict it."""

from functools import partial
from typing import Any

import pytest

from reprieve.objects.admission import admit
from reprieve.objects.structure import REFUSED
from tests import builders
from tests.builders import priority_class
from tests.objects.door import context, lines, paths, stored

pod = partial(builders.pod, "p", None, namespace="ml")
group = partial(builders.pod_group, "g", namespace="ml")


def resolved(document: dict[str, Any], *classes: dict[str, Any]) -> tuple[Any, Any, Any]:
    spec = stored(document, at=context(*classes))["spec"]
    return spec.get("priorityClassName"), spec.get("priority"), spec.get("preemptionPolicy")


@pytest.mark.parametrize("make", [pod, group])
class TestPodsAndGroupsAlike:
    def test_without_any_class_the_priority_is_zero(self, make: Any) -> None:
        assert resolved(make()) == (None, 0, "PreemptLowerPriority")

    def test_a_named_class_fills_in_the_priority(self, make: Any) -> None:
        named = priority_class("high", 7)
        assert resolved(make(priorityClassName="high"), named) == ("high", 7, "PreemptLowerPriority")

    def test_of_several_default_classes_the_smallest_value_is_taken(self, make: Any) -> None:
        classes = [
            priority_class(name, value, globalDefault=True) for name, value in (("b", 9), ("c", 3), ("a", 5))
        ]
        assert resolved(make(), *classes) == ("c", 3, "PreemptLowerPriority")

    def test_a_class_that_does_not_exist_is_refused(self, make: Any) -> None:
        (problem,) = admit(make(priorityClassName="gone"), context())[1]
        assert str(problem) == "spec.priorityClassName: no PriorityClass with name gone was found"
        assert problem.reason == REFUSED

    def test_a_stated_priority_must_be_the_classs(self, make: Any) -> None:
        named = priority_class("high", 7)
        assert resolved(make(priorityClassName="high", priority=7), named)[1] == 7
        assert lines(make(priorityClassName="high", priority=8), at=context(named)) == [
            "spec.priority: is 8, but PriorityClass high says 7"
        ]
        assert lines(make(priority=8), at=context()) == [
            "spec.priority: is 8, but the default without any PriorityClass says 0"
        ]

    def test_priority_is_resolved_only_when_created(self, make: Any) -> None:
        old = make(priorityClassName="gone", priority=5)
        stored(old, at=context(), old=old)

    def test_where_the_classes_are_not_known_nothing_is_claimed_about_them(self, make: Any) -> None:
        stored(make(priorityClassName="somewhere", priority=8))


def test_the_policy_of_a_pod_comes_from_its_class() -> None:
    never = priority_class("calm", 7, preemptionPolicy="Never")
    assert resolved(pod(priorityClassName="calm"), never) == ("calm", 7, "Never")
    assert lines(
        pod(priorityClassName="calm", preemptionPolicy="PreemptLowerPriority"), at=context(never)
    ) == ["spec.preemptionPolicy: is 'PreemptLowerPriority', but PriorityClass calm says 'Never'"]


def test_a_group_of_a_class_with_policy_never_need_not_say_so_itself() -> None:
    never = priority_class("calm", 7, preemptionPolicy="Never")
    assert resolved(group(priorityClassName="calm"), never) == ("calm", 7, "Never")
    assert resolved(group(priorityClassName="calm", preemptionPolicy="Never"), never) == ("calm", 7, "Never")
    other = group(priorityClassName="calm", preemptionPolicy="PreemptLowerPriority")
    assert paths(other, at=context(never)) == ["spec.preemptionPolicy"]


def test_without_the_gate_a_groups_policy_is_left_alone() -> None:
    never = priority_class("calm", 7, preemptionPolicy="Never")
    off = context(never, config={"featureGates": {"PodGroupPreemptionPolicy": False}})
    assert "preemptionPolicy" not in stored(group(priorityClassName="calm"), at=off)["spec"]


def test_system_classes_exist_always_for_pods_and_groups() -> None:
    assert resolved(pod(priorityClassName="system-node-critical"))[1] == 2_000_001_000
    assert resolved(group(priorityClassName="system-cluster-critical"))[1] == 2_000_000_000


@pytest.mark.parametrize("make", [pod, group])
class TestPreemptionPriority:
    LOW, HIGH = priority_class("low", 1), priority_class("high", 9)

    def protected_by(self, make: Any, name: str, **spec: Any) -> dict[str, Any]:
        document = make(**spec)
        document["metadata"]["annotations"] = {"reprieve.dev/preemption-priority-class": name}
        result: dict[str, Any] = document
        return result

    def test_may_be_higher_or_equal(self, make: Any) -> None:
        at = context(self.LOW, self.HIGH)
        stored(self.protected_by(make, "high", priorityClassName="low"), at=at)
        stored(self.protected_by(make, "low", priorityClassName="low"), at=at)

    def test_is_never_lower_than_the_scheduling_priority(self, make: Any) -> None:
        document = self.protected_by(make, "low", priorityClassName="high")
        assert lines(document, at=context(self.LOW, self.HIGH)) == [
            "metadata.annotations.reprieve.dev/preemption-priority-class: "
            "low has value 1, lower than the scheduling priority 9"
        ]

    def test_must_exist(self, make: Any) -> None:
        document = self.protected_by(make, "gone", priorityClassName="high")
        assert "no PriorityClass with name gone was found" in lines(document, at=context(self.HIGH))[0]

    def test_may_change_but_not_below(self, make: Any) -> None:
        at = context(self.LOW, self.HIGH, priority_class("mid", 5))
        old = stored(self.protected_by(make, "high", priorityClassName="mid"), at=at)
        new = stored(self.protected_by(make, "mid", priorityClassName="mid"), at=at)
        stored(new, at=at, old=old)
        new["metadata"]["annotations"]["reprieve.dev/preemption-priority-class"] = "low"
        assert len(lines(new, at=at, old=old)) == 1


def test_the_field_of_the_first_draft_is_held_to_the_same_rule() -> None:
    low, high = priority_class("low", 1), priority_class("high", 9)
    document = group(priorityClassName="high", preemptionPriorityClassName="low")
    assert paths(document, at=context(low, high)) == ["spec.preemptionPriorityClassName"]
