"""The tables of fields are complete: whatever a document or a record has is on its page."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

import reprieve
from reprieve.dashboard.inventory import Inventory
from reprieve.dashboard.views import ClusterViews
from reprieve.explain.advice.changes import Change
from reprieve.explain.advice.remedy import Remedy
from reprieve.explain.answer import Eviction, Explanation
from reprieve.objects.documents import read_documents
from reprieve.preemption.plan import Alternative, BudgetUse, Cost, Plan, Reprieved, Victim
from reprieve.records import Decision
from reprieve.whatif import compare, plan_fleet
from tests.docs.pages import EXAMPLES, ROOT

NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)


def documents(folder: str) -> list[dict[str, Any]]:
    return [source.document for source in read_documents(EXAMPLES / folder)]


def missing(page: str, names: Iterable[str]) -> list[str]:
    """Names that the page mentions nowhere as code."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    words = set(re.findall(r"[\w-]+", " ".join(re.findall(r"`[^`\n]+`|\"[^\"\n]+\"", text))))
    return [name for name in names if name not in words]


@pytest.mark.parametrize(
    ("page", "kind"),
    [
        ("explain.md", Explanation),
        ("explain.md", Eviction),
        ("explain.md", Remedy),
        ("formats.md", Decision),
        ("plan-format.md", Plan),
        ("plan-format.md", Victim),
        ("plan-format.md", Reprieved),
        ("plan-format.md", BudgetUse),
        ("plan-format.md", Alternative),
        ("plan-format.md", Cost),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_every_field_is_described(page: str, kind: type[msgspec.Struct]) -> None:
    assert missing(page, (field.encode_name for field in msgspec.structs.fields(kind))) == []


@pytest.mark.parametrize("kind", Change.__subclasses__(), ids=lambda kind: kind.__name__)
def test_every_change_that_a_remedy_may_ask_for_is_described(kind: type[msgspec.Struct]) -> None:
    assert (
        missing("explain.md", [kind.__name__, *(f.encode_name for f in msgspec.structs.fields(kind))]) == []
    )


def test_every_field_of_a_quota_plan_is_described() -> None:
    objects = documents("10-flavors-preempt-before-spot")
    plan = reprieve.plan(objects, "Workload/jobs/training").to_dict()
    assert missing("quota.md", plan.keys() - {"apiVersion", "kind"}) == []
    assert missing("quota.md", plan["victims"][0]) == []


def test_every_field_of_an_admission_run_is_described() -> None:
    run = reprieve.admit(documents("12-cohort-reclaim")).to_dict()
    assert missing("quota.md", run.keys() - {"apiVersion", "kind"}) == []
    assert missing("quota.md", run["cycles"][0]) == []


def test_every_field_of_a_fleet_plan_is_described() -> None:
    workers = {
        path.stem: documents(f"30-fleet/workers/{path.name}")
        for path in (EXAMPLES / "30-fleet/workers").iterdir()
    }
    plan = plan_fleet(documents("30-fleet/urgent.yaml")[0], workers, now=NOW).to_dict()
    assert missing("formats.md", plan) == []
    for cluster in plan["clusters"]:
        assert missing("formats.md", [*cluster, *cluster.get("cost", {})]) == []


def test_every_field_of_a_comparison_is_described() -> None:
    found = compare(documents("01-first-plan"), "PodGroup/ml/train", now=NOW)
    assert missing("formats.md", [*found, *found["plans"][0]]) == []


def test_every_field_of_the_pages_state_is_described() -> None:
    view = ClusterViews(Inventory()).view(0, NOW)
    assert missing("formats.md", [*view, *view["summary"], "quota", "fleet", "contact"]) == []
