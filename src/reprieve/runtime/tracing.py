"""Spans of decisions and of what follows from them, sent by OpenTelemetry (extra `otel`).

One trace for each unit that is decided on, from its creation to its last binding:

    PodGroup/ml/train          since it was created, until its last pod has its node
      decision: preempts       how long it took, how many victims, its number in the records
      evictions                the calls that nominate, mark and delete
      decision: scheduled
      binding                  one for each pod

Whoever is told of a decision or a call says so here; nothing is looked up, and nothing is kept of a unit but
its open trace. Off by default; then this module is not imported.
"""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from reprieve.config import Configuration
from reprieve.objects import ReprieveError
from reprieve.records import Decision

try:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.sdk.trace.sampling import TraceIdRatioBased
    from opentelemetry.trace import Span, Status, StatusCode, Tracer, format_span_id, format_trace_id
    from opentelemetry.trace.propagation import set_span_in_context
except ImportError as error:
    raise ReprieveError(
        "tracing.endpoint needs OpenTelemetry, which is not installed; get it: pip install 'reprieve[otel]'"
    ) from error

MOST_OPEN = 10_000
"""Units whose trace is open at once; beyond it the oldest ends without its binding."""
WAITING = frozenset({"preempts", "waits", "unschedulable", "gated", "error"})
"""Outcomes after which there is more to come."""
NANOSECONDS = 1_000_000_000


@dataclass(slots=True)
class Journey:
    """The open trace of one unit."""

    root: Span
    unbound: set[str] = field(default_factory=set)
    latest: Span | None = None
    """Its last decision."""


class Tracing:
    def __init__(
        self, tracer: Tracer, clock: Callable[[], float] = time.time, end: Callable[[], None] | None = None
    ) -> None:
        self._tracer = tracer
        self._clock = clock
        self._end = end
        self._open: OrderedDict[str, Journey] = OrderedDict()

    @classmethod
    def of(cls, config: Configuration) -> "Tracing":
        """Sends to the endpoint of the configuration, from a thread of its own."""
        section = config.tracing
        provider = TracerProvider(
            resource=Resource.create({"service.name": "reprieve"}),
            sampler=TraceIdRatioBased(section.sampling_rate_per_million / 1_000_000),
        )
        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=section.endpoint)))
        return cls(provider.get_tracer("reprieve"), end=provider.shutdown)

    def created(self, unit: str, since: float) -> None:
        """A decision about the unit follows; `since` is when it was created."""
        if unit not in self._open:
            self._begin(unit, since)

    def decided(self, decision: Decision) -> None:
        """The log of decisions calls this for every one that it keeps."""
        ended = decision.time.timestamp()
        began = ended - decision.duration_ms / 1000
        journey = self._open.get(decision.for_) or self._begin(decision.for_, began)
        span = self._child(journey, f"decision: {decision.outcome}", began)
        if span.is_recording():
            span.set_attributes(
                {
                    "reprieve.controller": decision.controller,
                    "reprieve.decision": decision.id,
                    "reprieve.unit": decision.for_,
                    "reprieve.outcome": decision.outcome,
                    "reprieve.victims": len(decision.victims),
                    "reprieve.why": decision.sentence,
                }
            )
        span.end(_nanoseconds(ended))
        journey.latest = span
        if decision.controller != "scheduler":
            if decision.outcome not in WAITING:
                self._close(decision.for_, ended)
        elif decision.outcome == "scheduled":
            journey.unbound = set(decision.placements)

    def exemplar(self, unit: str) -> dict[str, str] | None:
        """What a sample of a metric says about the last decision on the unit, if its trace is sent."""
        journey = self._open.get(unit)
        if journey is None or journey.latest is None:
            return None
        context = journey.latest.get_span_context()
        if not context.trace_flags.sampled:
            return None
        return {"trace_id": format_trace_id(context.trace_id), "span_id": format_span_id(context.span_id)}

    def evicted(self, unit: str, victims: int, seconds: float, errors: int) -> None:
        journey = self._open.get(unit)
        if journey is None:
            return
        now = self._clock()
        span = self._child(journey, "evictions", now - seconds)
        span.set_attributes({"reprieve.victims": victims, "reprieve.failed": errors})
        if errors:
            span.set_status(Status(StatusCode.ERROR, f"{errors} of {victims} victims stay"))
        span.end(_nanoseconds(now))

    def bound(self, unit: str, pod: str, node: str, seconds: float, error: str | None) -> None:
        journey = self._open.get(unit)
        if journey is None:
            return
        now = self._clock()
        span = self._child(journey, "binding", now - seconds)
        span.set_attributes({"reprieve.pod": pod, "reprieve.node": node})
        if error is not None:
            span.set_status(Status(StatusCode.ERROR, error))
        span.end(_nanoseconds(now))
        journey.unbound.discard(pod)
        if error is None and not journey.unbound:
            self._close(unit, now)

    def gone(self, unit: str) -> None:
        """The unit was deleted; a trace that is still open ends without a binding."""
        if unit in self._open:
            self._close(unit, self._clock(), "deleted")

    def close(self) -> None:
        """End every open trace and send what is left."""
        for unit in list(self._open):
            self._close(unit, self._clock(), "the controller ended")
        if self._end is not None:
            self._end()

    def _begin(self, unit: str, since: float) -> Journey:
        root = self._tracer.start_span(unit, start_time=_nanoseconds(since))
        root.set_attribute("reprieve.unit", unit)
        journey = self._open[unit] = Journey(root)
        if len(self._open) > MOST_OPEN:
            self._close(next(iter(self._open)), self._clock(), "too many units wait")
        return journey

    def _child(self, journey: Journey, name: str, began: float) -> Span:
        return self._tracer.start_span(
            name, context=set_span_in_context(journey.root), start_time=_nanoseconds(began)
        )

    def _close(self, unit: str, now: float, unfinished: str = "") -> None:
        root = self._open.pop(unit).root
        if unfinished:
            root.set_attribute("reprieve.unfinished", unfinished)
        root.end(_nanoseconds(now))


def _nanoseconds(seconds: float) -> Any:
    return round(seconds * NANOSECONDS)
