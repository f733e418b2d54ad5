"""How often one workload may preempt the same other one, and when the other one stands aside."""

import pytest

from reprieve.objects.decode import decode_all
from reprieve.quota import Rules, cycle
from reprieve.quota.offline import load
from reprieve.quota.preemption_limit import MOST, PreemptionLimit
from tests.builders import cluster_queue, flavor, local_queue, workload
from tests.strategies.quota import NOW


def preempted(times: int, limit: PreemptionLimit | None = None) -> PreemptionLimit:
    limit = limit or PreemptionLimit()
    for _ in range(times):
        limit.preempted("p", "v")
    return limit


@pytest.mark.parametrize("times", range(MOST + 1))
def test_the_last_time_the_victim_yields_and_is_no_candidate_any_more(times: int) -> None:
    limit = preempted(times)
    assert limit.yields_to("v") == ("p" if times == MOST else "")
    assert limit.protected_from("p") == (["v"] if times == MOST else [])
    assert limit.yields_to("p") == ""
    assert limit.protected_from("v") == []


@pytest.mark.parametrize("how", ["reserved", "gave_up", "gone"])
def test_the_victim_yields_until_its_preemptor_has_quota_is_gone_or_can_do_nothing(how: str) -> None:
    limit = preempted(MOST)
    limit.preempted("other", "w")
    assert getattr(limit, how)("other") == []
    assert limit.yields_to("v") == "p"
    assert getattr(limit, how)("p") == ["v"]
    assert limit.yields_to("v") == ""
    assert limit.protected_from("p") == ([] if how == "gone" else ["v"])


@pytest.mark.parametrize("how", ["reserved", "gone"])
def test_a_victim_with_quota_or_without_existence_yields_to_nobody(how: str) -> None:
    limit = preempted(MOST)
    getattr(limit, how)("v")
    assert limit.yields_to("v") == ""
    assert limit.protected_from("p") == (["v"] if how == "reserved" else [])


def test_other_quota_is_another_situation() -> None:
    limit = preempted(MOST)
    limit.quota_changed()
    assert limit.yields_to("v") == ""
    assert limit.protected_from("p") == []
    assert limit.gave_up("p") == []
    assert preempted(MOST - 1, limit).yields_to("v") == "", "it is counted from the beginning"


@pytest.mark.parametrize("satisfied", [True, False])
def test_released_quota_counts_anew_for_those_that_have_theirs(satisfied: bool) -> None:
    limit = preempted(MOST)
    if satisfied:
        limit.reserved("p")
    limit.quota_released()
    assert limit.protected_from("p") == ([] if satisfied else ["v"])


def test_a_preemptor_that_preempts_again_has_not_got_its_quota() -> None:
    limit = preempted(1)
    limit.reserved("p")
    preempted(MOST - 1, limit).quota_released()
    assert limit.protected_from("p") == ["v"]


@pytest.mark.parametrize("times", [MOST - 1, MOST])
def test_in_a_cycle_who_yields_is_not_tried_before_its_preemptor(times: int) -> None:
    """Who borrows comes later, so that the victim would take the quota again that it was preempted for."""
    objects = [
        flavor(), cluster_queue("own", 1, cohort="all"), cluster_queue("borrower", 0, cohort="all"),
        local_queue("own", "own"), local_queue("borrower", "borrower"),
        workload("v", queue="own"), workload("p", queue="borrower"),
    ]  # fmt: skip
    quota = load(decode_all(objects), Rules(), NOW)
    for _ in range(times):
        quota.preemption_limit.preempted("default/p", "default/v")
    admitted = [each.info.key for each in cycle(quota, NOW).reserved]
    assert admitted == (["default/p"] if times == MOST else ["default/v"])
