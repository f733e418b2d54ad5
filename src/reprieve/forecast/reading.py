"""What raw objects say about runs: whose they are, how long they may take, how long earlier ones took."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from reprieve.forecast.run_times import Likeness
from reprieve.jobs import JobKinds, ending, queue_of
from reprieve.objects import (
    Document,
    InvalidObject,
    Reference,
    TimeError,
    condition_of,
    kind_key,
    parse_duration,
    parse_time,
    well_known,
)
from reprieve.simulate import ticks

_LIMITS = ("spec.activeDeadlineSeconds", "spec.runPolicy.activeDeadlineSeconds")
_NOT_CLIMBED = "CronJob"
"""Its jobs are runs of their own."""
_DEEPEST = 8
WORKLOAD = (well_known.KUEUE_API, "Workload")


def controller_of(document: Document) -> Document | None:
    owners = (document.get("metadata") or {}).get("ownerReferences") or ()
    return next((each for each in owners if each.get("controller")), None)


class Owners:
    """Who made what: from an object up to the job that a person wrote."""

    def __init__(self, documents: Iterable[Document], kinds: JobKinds) -> None:
        self._kinds = kinds
        self.jobs = {Reference.read(each): each for each in documents if kinds.find(each) is not None}

    def chain(self, document: Document) -> list[Reference]:
        """Its controller, and what made that in turn, as far as it is known."""
        found: list[Reference] = []
        namespace = Reference.read(document).namespace
        owner = controller_of(document)
        while owner is not None and owner.get("kind") != _NOT_CLIMBED and len(found) < _DEEPEST:
            if found and self._kinds.of(str(owner.get("apiVersion")), str(owner.get("kind"))) is None:
                break
            ref = Reference(str(owner.get("kind")), namespace, str(owner.get("name")))
            found.append(ref)
            above = self.jobs.get(ref)
            owner = None if above is None else controller_of(above)
        return found


def is_service(ref: Reference, kinds: JobKinds) -> bool:
    """Whether it keeps pods running instead of ending."""
    row = next((each for each in kinds if each.kind == ref.kind), None)
    if row is None:
        return ref.kind in ("DaemonSet", "ReplicationController", "Node")
    return not row.ended and row.group != "batch"


def announced(documents: Iterable[Document]) -> int | None:
    """The first `reprieve.dev/expected-runtime` among them."""
    for each in documents:
        text = ((each.get("metadata") or {}).get("annotations") or {}).get(
            well_known.EXPECTED_RUNTIME_ANNOTATION
        )
        if text is None:
            continue
        path = f"metadata.annotations[{well_known.EXPECTED_RUNTIME_ANNOTATION}]"
        try:
            seconds = parse_duration(str(text))
        except TimeError as error:
            raise InvalidObject(path, text, str(error), str(Reference.read(each))) from error
        if seconds < 0:
            raise InvalidObject(path, text, f"must not be negative: {text!r}", str(Reference.read(each)))
        return ticks(seconds)
    return None


def limit_of(documents: Iterable[Document]) -> int | None:
    """The shortest time after which one of them is stopped."""
    found = [seconds for each in documents for seconds in _limits(each)]
    return ticks(min(found)) if found else None


def _limits(document: Document) -> Iterator[float]:
    for path in _LIMITS:
        value = _at(document, path)
        if isinstance(value, int) and value > 0:
            yield value
    label = str(_at(document, "metadata.labels", {}).get(well_known.MAX_EXEC_TIME_LABEL) or "")
    if label.isdigit() and int(label):
        yield int(label)
    value = _at(document, "spec.maximumExecutionTimeSeconds")
    if kind_key(document) == WORKLOAD and isinstance(value, int) and value > 0:
        yield value


def _at(document: Document, path: str, default: Any = None) -> Any:
    found: Any = document
    for step in path.split("."):
        found = found.get(step) if isinstance(found, Mapping) else None
    return default if found is None else found


def ended_runs(documents: Iterable[Document], kinds: JobKinds) -> Iterator[tuple[Likeness, int]]:
    """How long jobs and workloads ran that have come to their end by themselves."""
    seen: set[Reference] = set()
    workloads = []
    for each in documents:
        if kind_key(each) == WORKLOAD:
            workloads.append(each)
        elif kinds.find(each) is not None and (found := _run(each, kinds)) is not None:
            seen.add(Reference.read(each))
            yield likeness(Reference.read(each), queue_of(each)), found
    for each in workloads:
        owner = controller_of(each)
        namespace = Reference.read(each).namespace
        ref = Reference.read(each)
        if owner is not None:
            ref = Reference(str(owner.get("kind")), namespace, str(owner.get("name")))
        found = _between(_since(each, well_known.ADMITTED), _since(each, well_known.FINISHED))
        if ref not in seen and found is not None:
            yield likeness(ref, str(_at(each, "spec.queueName", ""))), found


def likeness(ref: Reference, queue: str) -> Likeness:
    return Likeness(ref.kind, ref.namespace, ref.name, queue)


def _run(job: Document, kinds: JobKinds) -> int | None:
    end = ending(job, kinds)
    if end is None or end.get("type") == well_known.JOB_FAILED:
        return None
    status = job.get("status") or {}
    over = status.get("completionTime") or end.get("lastTransitionTime")
    return _between(status.get("startTime"), over)


def _since(document: Document, type: str) -> Any:
    condition = condition_of(document, type)
    return (condition or {}).get("lastTransitionTime") if (condition or {}).get("status") == "True" else None


def _between(start: Any, end: Any) -> int | None:
    begun, over = time_of(start), time_of(end)
    if begun is None or over is None or over < begun:
        return None
    return ticks((over - begun).total_seconds())


def time_of(text: Any) -> datetime | None:
    try:
        return parse_time(str(text)) if text else None
    except TimeError:
        return None
