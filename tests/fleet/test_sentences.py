"""The text of every sentence that `fleet` says: the only place in its tests where our English stands."""

from functools import partial
from types import ModuleType

import pytest

from reprieve.fleet import sentences
from tests.catalogues import Constant, Said, without_text

SAID: list[Said] = [
    # Kueue's own words
    (partial(sentences.no_adapter, "Thing"), "No multikueue adapter found for owner kind Thing"),
    (partial(sentences.admitted_on, "east"), 'The workload was admitted on "east"'),
    (partial(sentences.evicted_on_manager, "why"), "Evicted on manager: why"),
    (
        partial(sentences.evicted_on_worker, "east"),
        'Workload evicted on worker cluster: "east", resetting for re-admission',
    ),
    (
        partial(sentences.evicted_after_ready, "east"),
        'Workload evicted on worker cluster: "east", resetting for re-admission. Previously: "Ready"',
    ),
    (
        partial(sentences.out_of_sync, "east"),
        'Remote workload on worker cluster "east" is out of sync with its user job, resetting '
        "for re-dispatch",
    ),
    (partial(sentences.after_ready, "Admitting remote lost"), 'Admitting remote lost, Previously: "Ready"'),
    # workers
    (partial(sentences.waits_for_worker, "east", 12.5), "east is out of reach; waiting 12.5 s more for it"),
    (
        partial(sentences.no_worker_can_run_it, ["east lacks Job", "west lacks Job"]),
        "No worker can run it: east lacks Job; west lacks Job",
    ),
    (
        partial(sentences.tree_cannot_be_sent, "g", "t"),
        "PodGroup g is part of the tree t, and trees of groups cannot be sent to a worker: "
        "submit the tree to the worker itself, or its groups without a parent",
    ),
    # preemption gates
    (partial(sentences.has_its_turn, "east", 30.0), "east has its turn to preempt for 30 s more"),
    (partial(sentences.has_no_gate, "east"), "the copy in east has no gate to open"),
    (partial(sentences.may_preempt, "east", ""), "east may preempt"),
    (partial(sentences.may_preempt, "east", "victims=1"), "east may preempt (victims=1)"),
    # what is not among the objects
    (partial(sentences.no_such_workload, "ml/w"), "Workload/ml/w is not among the objects"),
    (
        partial(sentences.no_fleet_check, "ml/w"),
        "Workload/ml/w has no admission check of kueue.x-k8s.io/multikueue",
    ),
    (
        partial(sentences.no_fleet_config, "workers", "check"),
        "MultiKueueConfig/workers of AdmissionCheck/check is missing",
    ),
]
CONSTANTS: list[Constant] = [
    (sentences, "REMOTE_IS_GONE", "Admitting remote no longer exists"),
    (sentences, "REMOTE_IS_LOST", "Admitting remote lost"),
    (sentences, "MAY_ADMIT_WITHOUT_PREEMPTION", "a worker may still admit without preemption"),
]


@pytest.mark.parametrize(("said", "text"), SAID, ids=[each.func.__name__ for each, _ in SAID])
def test_a_sentence_with_values_has_its_text(said: "partial[str]", text: str) -> None:
    assert said() == text


@pytest.mark.parametrize(("catalogue", "name", "text"), CONSTANTS, ids=[name for _, name, _ in CONSTANTS])
def test_a_sentence_without_values_has_its_text(catalogue: ModuleType, name: str, text: str) -> None:
    assert getattr(catalogue, name) == text


def test_every_sentence_has_a_text_here() -> None:
    assert without_text((sentences,), SAID, CONSTANTS) == []
