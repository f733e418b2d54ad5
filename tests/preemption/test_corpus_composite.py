"""Decisions of the real kube-scheduler about trees of groups and about domains."""

import pytest

from tests.preemption.test_corpus import COMPOSITE, decided, differs, rows


@pytest.mark.slow
@pytest.mark.parametrize("family", ["composite-tables", "composite-generated", "topology-generated"])
def test_every_recorded_tree_and_domain_gets_the_recorded_answer(family: str) -> None:
    assert [row["name"] for row in rows(family, COMPOSITE) if differs(row)] == []


def test_pods_of_failed_groups_get_nobody_evicted_but_under_kubernetes() -> None:
    """kube-scheduler counts pods of groups that failed; the other algorithms do not."""
    quirks = [row for row in rows("composite-tables", COMPOSITE) if "withoutQuirk" in row.get("quirk", {})]
    assert quirks
    for row in quirks:
        allowed = len(row["quirk"]["withoutQuirk"]["victims"])
        assert len(decided(row, "kep-5710")["victims"]) <= allowed
