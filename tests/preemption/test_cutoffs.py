"""KEP-5710 against kube-scheduler on the recorded cases."""

from collections import Counter

import msgspec
import pytest

from reprieve.objects import Reference
from reprieve.preemption import Plan, decide
from reprieve.whatif.pods import load
from tests.preemption.test_corpus import Row, configuration, rows

QUIRK = "quirk-anti-affinity-check-skipped"


def planned(row: Row, algorithm: str) -> Plan:
    config = configuration(row)
    preemption = msgspec.structs.replace(config.preemption, algorithm=algorithm)
    return decide(
        load(row["objects"]),
        Reference.parse(row["submit"]),
        msgspec.structs.replace(config, preemption=preemption),
        0,
    )


def highest(plan: Plan) -> int:
    return max((victim.priority for victim in plan.victims), default=-(2**62))


@pytest.mark.slow
@pytest.mark.parametrize("family", ["pod-generated", "group-generated"])
def test_no_victim_is_more_important_than_the_one_kubernetes_picks(family: str) -> None:
    """Where kubernetes' plan would not stand (it overlooks anti-affinity), there is nothing to compare
    with.
    """
    better: Counter[str] = Counter()
    for row in rows(family):
        if QUIRK in row["tags"]:
            continue
        theirs, ours = planned(row, "kubernetes"), planned(row, "kep-5710")
        if theirs.ongoing and not ours.ongoing:
            continue  # kubernetes waits for victims whose going will not help; KEP-5710 starts from scratch
        if theirs.outcome in ("preempts", "scheduled"):
            assert ours.outcome == theirs.outcome or ours.outcome == "scheduled", row["name"]
            assert highest(ours) <= highest(theirs), row["name"]
            better["priority"] += highest(ours) < highest(theirs)
            better["budgets"] += ours.pdb_violations < theirs.pdb_violations
    assert better["priority"] >= (90 if family == "group-generated" else 4)
