"""docs/metrics.md and the controllers agree on every metric: name, type and labels, both ways."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry
from prometheus_client.metrics import MetricWrapperBase

from reprieve.config import Configuration
from reprieve.controllers.fleet.reporting import Reporter as FleetReporter
from reprieve.controllers.quota.reporting import Reporter as QuotaReporter
from reprieve.controllers.scheduler.metrics import Metrics
from reprieve.quota.rules import Rules
from reprieve.quota.state import Quota
from reprieve.runtime.leadership import Leadership
from reprieve.runtime.stalls import StallWatch
from reprieve.scheduler.core import Core
from tests.docs.pages import PAGES, ROOT

ROW = re.compile(r"^\| `(\w+)` \| (counter|gauge|histogram) \|([^|]*)\|", re.M)
MENTION = re.compile(
    r"\b((?:scheduler|kueue|multikueue|reprieve|leader_election)_\w+(?<!_))(?:\{([^}]*)\})?(?=[^/\w]|$)"
)
CODE = re.compile(r"`([^`\n]+)`")

Shape = tuple[str, frozenset[str]]


def registered() -> dict[str, Shape]:
    """What all controllers of one process would show at /metrics."""
    registry = CollectorRegistry()
    configuration = Configuration.load(None)
    Metrics(registry).watch(Core(configuration, "reprieve"))
    QuotaReporter(Quota(Rules.of(configuration)), None, registry, lambda: datetime(2026, 11, 1, tzinfo=UTC))
    FleetReporter(None, registry)
    StallWatch(registry)
    Leadership("reprieve", registry)
    return dict(_shapes(registry))


def _shapes(registry: CollectorRegistry) -> Iterator[tuple[str, Shape]]:
    for collector in list(registry._collector_to_names):
        labels = collector._labelnames if isinstance(collector, MetricWrapperBase) else ()
        for family in collector.collect():
            name = f"{family.name}_total" if family.type == "counter" else family.name
            shown = {label for sample in family.samples for label in sample.labels} - {"le"}
            yield name, (family.type, frozenset({*labels, *shown}))


def described() -> dict[str, Shape]:
    text = (ROOT / "docs/metrics.md").read_text(encoding="utf-8")
    return {name: (kind, frozenset(CODE.findall(labels))) for name, kind, labels in ROW.findall(text)}


def test_the_page_and_the_controllers_name_the_same_metrics() -> None:
    assert described() == registered()
    assert len(described()) > 25


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_metrics_and_labels_that_a_page_mentions_exist(page: Path) -> None:
    known = registered()
    for code in CODE.findall(page.read_text(encoding="utf-8")):
        for name, condition in MENTION.findall(code):
            base = re.sub(r"_(bucket|sum|count)$", "", name)
            assert name in known or known.get(base, ("",))[0] == "histogram", f"no metric {name}: `{code}`"
            labels = set(re.findall(r"(\w+)\s*(?:=~|!=|=)", condition))
            assert labels <= {*known[base][1], "le"}, f"`{code}`"
