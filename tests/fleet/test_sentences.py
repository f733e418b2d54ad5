"""The text of every sentence that `fleet` says: the only place in its tests where our English stands."""

import pytest

from reprieve.fleet import sentences
from tests.catalogues import without_a_row

ROWS = [
    # Kueue's own words
    (sentences.no_adapter("Thing"), "No multikueue adapter found for owner kind Thing"),
    (sentences.admitted_on("east"), 'The workload was admitted on "east"'),
    (sentences.evicted_on_manager("why"), "Evicted on manager: why"),
    (
        sentences.evicted_on_worker("east"),
        'Workload evicted on worker cluster: "east", resetting for re-admission',
    ),
    (
        sentences.evicted_after_ready("east"),
        'Workload evicted on worker cluster: "east", resetting for re-admission. Previously: "Ready"',
    ),
    (
        sentences.out_of_sync("east"),
        'Remote workload on worker cluster "east" is out of sync with its user job, resetting '
        "for re-dispatch",
    ),
    (sentences.after_ready("Admitting remote lost"), 'Admitting remote lost, Previously: "Ready"'),
    # workers
    (sentences.waits_for_worker("east", 12.5), "east is out of reach; waiting 12.5 s more for it"),
    (
        sentences.no_worker_can_run_it(["east lacks Job", "west lacks Job"]),
        "No worker can run it: east lacks Job; west lacks Job",
    ),
    (
        sentences.tree_cannot_be_sent("g", "t"),
        "PodGroup g is part of the tree t, and trees of groups cannot be sent to a worker: "
        "submit the tree to the worker itself, or its groups without a parent",
    ),
    # preemption gates
    (sentences.has_its_turn("east", 30.0), "east has its turn to preempt for 30 s more"),
    (sentences.has_no_gate("east"), "the copy in east has no gate to open"),
    (sentences.may_preempt("east", ""), "east may preempt"),
    (sentences.may_preempt("east", "victims=1"), "east may preempt (victims=1)"),
    # what is not among the objects
    (sentences.no_such_workload("ml/w"), "Workload/ml/w is not among the objects"),
    (
        sentences.no_fleet_check("ml/w"),
        "Workload/ml/w has no admission check of kueue.x-k8s.io/multikueue",
    ),
    (
        sentences.no_fleet_config("workers", "check"),
        "MultiKueueConfig/workers of AdmissionCheck/check is missing",
    ),
    (sentences.REMOTE_IS_GONE, "Admitting remote no longer exists"),
    (sentences.REMOTE_IS_LOST, "Admitting remote lost"),
    (sentences.MAY_ADMIT_WITHOUT_PREEMPTION, "a worker may still admit without preemption"),
]


@pytest.mark.parametrize(("said", "text"), ROWS)
def test_the_sentence_reads(said: str, text: str) -> None:
    assert said == text


def test_every_sentence_has_a_row() -> None:
    assert not without_a_row(sentences, __file__)
