"""Spans of decisions: one trace a unit, from its creation to its last binding, and nothing when it is off."""

import asyncio
import subprocess
import sys
from datetime import UTC, datetime
from itertools import pairwise

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client.openmetrics.exposition import generate_latest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from reprieve.config import Configuration
from reprieve.kube import Change
from reprieve.objects.decode import decode
from reprieve.records import Decision
from reprieve.runtime import endpoints, tracing
from reprieve.runtime.tracing import Tracing
from tests.builders import node
from tests.scheduler.bench import Bench
from tests.scheduler.world import pod, pod_group
from tests.waiting import PATIENCE


class Traced(Bench):
    """A scheduler's loop whose spans are kept."""

    def __init__(self, *documents):
        self.sent = InMemorySpanExporter()
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(self.sent))
        self.tracing = Tracing(provider.get_tracer("test"))
        super().__init__(*documents, tracing=self.tracing)
        self.shell.records.follower = self.tracing.decided
        self.objects = {each["metadata"]["name"]: each for each in documents}

    def deleted(self, name):
        view = decode(self.objects[name])
        self.shell.observe(Change("DELETED", view, view))

    def spans(self, name=""):
        return [each for each in self.sent.get_finished_spans() if each.name.startswith(name)]


async def test_a_preemption_is_one_trace_from_creation_to_the_last_binding():
    boss = pod("boss", 2, 100)
    boss["metadata"]["creationTimestamp"] = "2026-01-01T00:00:00Z"
    traced = Traced(node("n1", 2), pod("victim", 2, on="n1"), boss)
    async with traced.running():
        await traced.until(lambda: traced.spans("evictions"))
        traced.deleted("victim")
        await traced.until(lambda: traced.spans("Pod/ns/boss"))
    [root] = traced.spans("Pod/ns/boss")
    children = [each for each in traced.spans() if each is not root]
    assert [each.name for each in children] == [
        "decision: preempts", "evictions", "decision: scheduled", "binding",
    ]  # fmt: skip
    assert {each.context.trace_id for each in children} == {root.context.trace_id}
    assert {each.parent.span_id for each in children} == {root.context.span_id}
    assert root.start_time == datetime(2026, 1, 1, tzinfo=UTC).timestamp() * 1e9
    assert root.end_time >= max(each.end_time for each in children)
    assert children[0].attributes["reprieve.victims"] == 1
    assert "boss" in children[0].attributes["reprieve.why"]


async def test_a_gangs_trace_ends_with_its_last_pod():
    traced = Traced(
        node("n1", 4), pod_group("train", 2), pod("a", 2, group="train"), pod("b", 2, group="train")
    )
    async with traced.running():
        await traced.until(lambda: traced.spans("PodGroup/ns/train"))
    assert {each.attributes["reprieve.pod"] for each in traced.spans("binding")} == {"ns/a", "ns/b"}
    assert traced.spans()[-1].name == "PodGroup/ns/train"


async def test_who_is_deleted_while_waiting_leaves_no_open_trace():
    traced = Traced(node("n1", 1), pod("large", 2))
    async with traced.running():
        await traced.until(lambda: traced.spans("decision: unschedulable"))
    assert traced.spans("Pod/") == []
    traced.deleted("large")
    [root] = traced.spans("Pod/ns/large")
    assert root.attributes["reprieve.unfinished"] == "deleted"


async def test_open_traces_are_bounded(monkeypatch):
    monkeypatch.setattr(tracing, "MOST_OPEN", 2)
    traced = Traced(node("n1", 1), *(pod(f"large-{number}", 2) for number in range(5)))
    async with traced.running():
        await traced.until(lambda: len(traced.spans("decision: unschedulable")) == 5)
    assert len(traced.spans("Pod/")) == 3
    traced.tracing.close()
    assert len(traced.spans("Pod/")) == 5


async def test_whoever_asks_for_openmetrics_gets_exemplars_and_whoever_asks_for_text_gets_none():
    traced = Traced(node("n1", 2), pod("a", 2))
    async with traced.running():
        await traced.until(lambda: traced.spans("Pod/ns/a"))
    [decision] = traced.spans("decision")
    app = web.Application()
    endpoints.add_metrics(app, traced.shell.metrics.registry)
    async with TestClient(TestServer(app)) as client:
        asked = {"Accept": "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3"}
        async with client.get("/metrics", headers=asked) as answer:
            assert answer.content_type == "application/openmetrics-text"
            assert f'trace_id="{decision.context.trace_id:032x}"' in await answer.text()
        async with client.get("/metrics") as answer:
            assert answer.content_type == "text/plain"
            assert "trace_id" not in await answer.text()


async def test_a_sample_of_a_metric_names_the_trace_of_its_decision():
    traced = Traced(node("n1", 2), pod("a", 2))
    async with traced.running():
        await traced.until(lambda: traced.spans("Pod/ns/a"))
    [decision] = traced.spans("decision")
    text = generate_latest(traced.shell.metrics.registry).decode()
    found = [
        sample.exemplar.labels
        for family in text_string_to_metric_families(text)
        if family.name == "scheduler_scheduling_attempt_duration_seconds"
        for sample in family.samples
        if sample.exemplar
    ]
    assert found == [
        {
            "trace_id": f"{decision.context.trace_id:032x}",
            "span_id": f"{decision.context.span_id:016x}",
        }
    ]


def test_decisions_about_quota_end_their_trace_when_quota_is_given():
    traced = Traced()
    for minute, outcome in enumerate(("unschedulable", "preempts", "scheduled")):
        time = datetime(2026, 1, 1, 0, minute, tzinfo=UTC)
        traced.shell.records.add(
            Decision(time=time, controller="quota", for_="Workload/ml/tune", outcome=outcome)
        )
    *decisions, root = traced.spans()
    assert [each.name for each in decisions] == [
        "decision: unschedulable", "decision: preempts", "decision: scheduled",
    ]  # fmt: skip
    assert all(earlier.end_time < later.end_time for earlier, later in pairwise(decisions))
    assert (root.end_time - root.start_time) == 120 * 1e9


async def test_spans_reach_a_collector():
    bodies = []

    async def collect(request):
        bodies.append(ExportTraceServiceRequest.FromString(await request.read()))
        return web.Response(body=b"", content_type="application/x-protobuf")

    app = web.Application()
    app.router.add_post("/v1/traces", collect)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        port = runner.addresses[0][1]
        traced = Tracing.of(
            Configuration.load({"tracing": {"endpoint": f"http://127.0.0.1:{port}/v1/traces"}})
        )
        traced.decided(
            Decision(time=datetime.now(UTC), controller="quota", for_="Workload/ml/tune", outcome="scheduled")
        )
        await asyncio.to_thread(traced.close)
    finally:
        await runner.cleanup()
    sent = [
        span.name
        for body in bodies
        for resource in body.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]
    assert sent == ["decision: scheduled", "Workload/ml/tune"]


def test_what_is_not_sampled_costs_no_exemplar():
    traced = Tracing.of(
        Configuration.load({"tracing": {"endpoint": "http://127.0.0.1:9/", "samplingRatePerMillion": 0}})
    )
    traced.decided(
        Decision(time=datetime.now(UTC), controller="scheduler", for_="Pod/a/b", outcome="unschedulable")
    )
    assert traced.exemplar("Pod/a/b") is None
    traced.close()


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (
            "import reprieve.controllers.scheduler.service, sys; print('opentelemetry' in sys.modules)",
            "False",
        ),
        (
            "import sys; sys.modules['opentelemetry'] = None\n"
            "try: import reprieve.runtime.tracing\n"
            "except Exception as error: print(error)",
            "pip install 'reprieve[otel]'",
        ),
    ],
)
def test_it_is_imported_only_where_it_is_wanted_and_says_what_is_missing(code, said):
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    assert said in answer.stdout
