"""Alerts and dashboards ask for metrics and labels that a run exposes; each alert has a runbook."""

import json
import re
from collections.abc import Iterator
from typing import Any

import promql_parser as promql
import pytest

from reprieve.manifests import Installation, monitoring
from tests.docs.pages import ROOT
from tests.docs.test_metrics import registered

GIVEN_BY_PROMETHEUS = {"le", "pod", "namespace", "instance", "job"}
SERIES = re.compile(r"_(bucket|sum|count)$")


def queries() -> Iterator[tuple[str, str]]:
    _, rule, *dashboards = monitoring(Installation())
    for each in rule["spec"]["groups"][0]["rules"]:
        yield each["alert"], each["expr"]
    for document in dashboards:
        [content] = document["data"].values()
        for panel in json.loads(content)["panels"]:
            for target in panel["targets"]:
                yield panel["title"], target["expr"].replace("$__rate_interval", "5m")


def selectors(node: Any) -> Iterator[promql.VectorSelector]:
    if isinstance(node, promql.VectorSelector):
        yield node
    for name in ("lhs", "rhs", "expr", "vector_selector", "vs"):
        if (child := getattr(node, name, None)) is not None:
            yield from selectors(child)
    for child in getattr(node, "args", None) or ():
        yield from selectors(child)


@pytest.mark.parametrize(("where", "query"), list(queries()), ids=lambda text: text[:40])
def test_a_query_asks_for_what_a_run_exposes(where, query):
    known = registered()
    found = list(selectors(promql.parse(query)))
    assert found, f"{where}: no metric in {query}"
    labels: set[str] = set()
    for each in found:
        assert each.name
        base = each.name if each.name in known else SERIES.sub("", each.name)
        assert base in known, f"{where}: there is no metric {each.name}"
        assert base == each.name or known[base][0] == "histogram", f"{where}: {each.name}"
        labels |= known[base][1]
        named = {matcher.name for matcher in each.matchers.matchers}
        assert named <= known[base][1], f"{where}: {named}"
    for grouping in re.findall(r"\bby \(([^)]*)\)", query):
        assert {name.strip() for name in grouping.split(",")} <= labels | GIVEN_BY_PROMETHEUS, where


def test_every_query_of_a_rate_is_of_a_counter():
    known = registered()
    for where, query in queries():
        for name in re.findall(r"\b(?:rate|increase)\((\w+)", query):
            base = SERIES.sub("", name)
            assert (known.get(name) or known[base])[0] in ("counter", "histogram"), where


def test_every_alert_has_a_runbook():
    headings = re.findall(
        r"^### (\w+)$", (ROOT / "docs/troubleshooting.md").read_text(encoding="utf-8"), re.M
    )
    rules = monitoring(Installation())[1]["spec"]["groups"][0]["rules"]
    assert [each["alert"] for each in rules] == headings
    for each in rules:
        page, _, anchor = each["annotations"]["runbook_url"].partition("#")
        assert page == "docs/troubleshooting.md"
        assert anchor == each["alert"].lower()


def test_panels_do_not_overlap_and_have_numbers_of_their_own():
    for document in monitoring(Installation())[2:]:
        [content] = document["data"].values()
        panels = json.loads(content)["panels"]
        places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels]
        assert len(set(places)) == len(panels) == len({panel["id"] for panel in panels})
        assert all(x + panel["gridPos"]["w"] <= 24 for (x, _), panel in zip(places, panels, strict=True))


def test_every_metric_of_the_controllers_is_on_a_dashboard_or_in_an_alert():
    shown = {SERIES.sub("", name) for _, query in queries() for name in re.findall(r"\b[a-z_]{8,}\b", query)}
    unused = set(registered()) - shown
    # kube-scheduler's newer names for the same numbers, and a time that the error counts stand for.
    assert unused == {
        "scheduler_goroutines_duration_seconds",
        "scheduler_preemption_attempts_total",
        "scheduler_preemption_goroutines_duration_seconds",
        "scheduler_preemption_goroutines_execution_total",
        "scheduler_workload_preemption_attempts_total",
    }
