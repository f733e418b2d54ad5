"""Every object of the corpus: its view survives encoding, and the door lets it in (what upstream itself would
refuse excepted, by name).
"""

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reprieve.config import Configuration
from reprieve.objects.admission import admit
from reprieve.objects.decode import decode, encode

CORPUS = Path(__file__).parents[1] / "corpus"
FILES = sorted(CORPUS.glob("*/*.jsonl.gz"))

# Kubernetes 1.37 accepts the basic policy with disruption mode all, and so do the clusters in the corpus.
CONTEXT = Configuration.load({"admission": {"allowWholeGroupDisruptionForBasic": True}}).admission_context()

NOT_DNS_NAMES = set(
    """
    A AA AAA Admitted-Workload-1 Admitted-Workload-2 Admitted-Workload-3 B BB BBB C CC CCC CCCC CQ1 CQ2
    CQ3 ClusterQueueA ClusterQueueB Cohort-A Cohort-B RIGHT ROOT SUB-A WL1 WL2 a1_low a2_low
    a_best_effort a_best_effort_low a_incoming a_low a_standard a_standard_1 a_standard_2
    admitted_borrowing admitted_borrowing_not_preemptible admitted_borrowing_prio_10
    admitted_borrowing_prio_8 admitted_borrowing_prio_9 admitted_nominal admitted_other_1
    admitted_other_2 admitted_same_cohort admitted_same_queue_preemptible all_nominal all_spot
    b_best_effort b_best_effort_low b_high b_incoming b_low b_one b_standard b_standard_1 b_standard_2
    b_two c_incoming c_other older_new p_incoming q_borrowing q_nominal q_other q_same_cohort
    taint_and_toleration with_shared_cq
    """.split()  # noqa: SIM905
)
"""Names in upstream's Go tables, which never meet an API server: it would refuse upper case and underscores.
"""

_NO_COVERED_RESOURCES = "a queue whose resource group covers nothing, as upstream's builder makes it"
INVALID_UPSTREAM = {
    "flavor spanning multiple resource groups": "one flavor in two resource groups",
    "multiple preemptions skip preemption when shared limited resource": (
        "borrowWithinCohort without reclaimWithinCohort"
    ),
    "partial admission disabled, multiple variable pod sets": "more than one podset with minCount",
    "partial admission multiple variable pod sets": "more than one podset with minCount",
    "with fair sharing: nominal-first ordering admits workload fitting within nominal "
    "despite higher CQ DRS": "cpu in two resource groups",
    "avoid queues within nominal quota": _NO_COVERED_RESOURCES,
    "forced to preempt priority candidate": _NO_COVERED_RESOURCES,
    "incoming workload fits in CQ nominal quota": _NO_COVERED_RESOURCES,
    "infeasible preemption all available workloads in pruned subtrees": _NO_COVERED_RESOURCES,
    "preempt hierarchical candidates and inside CQ": _NO_COVERED_RESOURCES,
    "reclaim nominal quota from lowest priority workload, excluding non-borrowing": _NO_COVERED_RESOURCES,
    "respect lending limits": _NO_COVERED_RESOURCES,
}


BEHIND_THE_DOOR = re.compile(
    r"spec.nodeLabels|spec.preemption.borrowWithinCohort.policy|spec.podSets.*opologyRequest.*"
)
"""Fields of the topology cases that the code behind upstream's webhooks answers and the webhooks refuse: a
flavor without labels, borrowing without reclaiming, slices without a size.
"""

ODD_ZONES = {"z0__", "z1__"}
"""Zones of volumes in the recorded cases that are no label values: one of two names is missing."""

_TIMES = re.compile(r'"20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z"')


def objects(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """(name of the case, object)."""
    with gzip.open(path, "rt") as lines:
        for line in lines:
            case = json.loads(line)
            remotes = [
                each
                for remote in (case.get("remotes") or {}).values()
                for each in remote.get("objects") or ()
            ]
            for document in [*case["objects"], *remotes]:
                yield case["name"], document


def shape(document: dict[str, Any]) -> str:
    """The document without what makes it one of many: a hundred thousand pods have a few thousand shapes."""
    parts = dict(document)
    parts["metadata"] = {
        key: value for key, value in document["metadata"].items() if key not in ("name", "uid")
    }
    if isinstance(document.get("spec"), dict):
        parts["spec"] = {
            key: value for key, value in document["spec"].items() if key not in ("nodeName", "priority")
        }
    return _TIMES.sub("time", json.dumps(parts))


def test_the_corpus_is_there() -> None:
    assert {path.parent.name for path in FILES} >= {"kubernetes", "kueue", "topology"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name.partition(".")[0])
def test_every_view_survives_encoding(path: Path) -> None:
    for case, document in objects(path):
        view = decode(document)
        assert decode(encode(view)) == view, case


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name.partition(".")[0])
def test_the_door_lets_every_object_in(path: Path) -> None:
    checked: set[str] = set()
    for case, document in objects(path):
        looked_at = len(checked)
        checked.add(shape(document))
        if case in INVALID_UPSTREAM or len(checked) == looked_at:
            continue
        odd = NOT_DNS_NAMES | ODD_ZONES
        problems = [each for each in admit(document, CONTEXT)[1] if each.value not in odd]
        if path.parent.name == "topology":
            problems = [each for each in problems if not BEHIND_THE_DOOR.fullmatch(each.path)]
        assert problems == [], case


@pytest.mark.parametrize("name", INVALID_UPSTREAM)
def test_what_upstream_would_refuse_is_refused_here_too(name: str) -> None:
    tables = [path for path in FILES if path.name.endswith("tables.jsonl.gz") and path.parent.name == "kueue"]
    of_case = [document for path in tables for case, document in objects(path) if case == name]
    problems = [
        each
        for document in of_case
        for each in admit(document, CONTEXT)[1]
        if each.value not in NOT_DNS_NAMES
    ]
    assert problems
