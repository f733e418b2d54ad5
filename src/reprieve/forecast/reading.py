"""What raw objects say about runs: whose they are, how long they may take, how long earlier ones took."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from reprieve.forecast import sentences
from reprieve.forecast.run_times import Likeness
from reprieve.jobs import JobKinds, ending, queue_of
from reprieve.objects import (
    Document,
    Reference,
    TimeError,
    condition_of,
    controller_of,
    kind_key,
    parse_duration,
    parse_time,
    raw,
    well_known,
    whole_number,
)
from reprieve.records import Run
from reprieve.simulate import ticks

_LIMITS = ("spec.activeDeadlineSeconds", "spec.runPolicy.activeDeadlineSeconds")
_DEADLINES = {"Job": "spec.activeDeadlineSeconds", "CronJob": "spec.jobTemplate.spec.activeDeadlineSeconds"}
_NOT_CLIMBED = "CronJob"
"""Its jobs are runs of their own; pods are its own only where its next run is supposed."""
_DEEPEST = 8
WORKLOAD = (well_known.KUEUE_API, "Workload")


class Owners:
    """Who made what: from an object up to the job that a person wrote."""

    def __init__(self, documents: Iterable[Document], kinds: JobKinds) -> None:
        self.kinds = kinds
        self._names = {each.kind for each in kinds}
        self.jobs = {Reference.read(each): each for each in documents if self.is_job(each)}

    def is_job(self, document: Document) -> bool:
        """Most documents are pods: one look is enough for them."""
        return document.get("kind") in self._names and self.kinds.find(document) is not None

    def chain(self, document: Document) -> list[Reference]:
        """Its controller, and what made that in turn, as far as it is known."""
        found: list[Reference] = []
        namespace = Reference.read(document).namespace
        owner = controller_of(document)
        if owner is None and kind_key(document) == WORKLOAD:
            owner = next(iter(raw.items(document, "metadata", "ownerReferences")), None)
        while owner is not None and len(found) < _DEEPEST:
            if owner.get("kind") == _NOT_CLIMBED and (found or document.get("kind") != "Pod"):
                break
            if found and self.kinds.of(str(owner.get("apiVersion")), str(owner.get("kind"))) is None:
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


class Announced(NamedTuple):
    length: int | None = None
    unread: str = ""
    """Why what it says is no run time."""


def announced(documents: Iterable[Document]) -> Announced:
    """The first `reprieve.dev/expected-runtime` among them."""
    for each in documents:
        text = ((each.get("metadata") or {}).get("annotations") or {}).get(
            well_known.EXPECTED_RUNTIME_ANNOTATION
        )
        if text is None:
            continue
        try:
            seconds = parse_duration(str(text))
        except TimeError as error:
            return Announced(unread=str(error))
        if seconds < 0:
            return Announced(unread=sentences.run_time_is_negative(str(text)))
        return Announced(ticks(seconds))
    return Announced()


def limit_of(documents: Iterable[Document]) -> int | None:
    """The shortest time after which one of them is stopped."""
    found = [seconds for each in documents for seconds in _limits(each)]
    return ticks(min(found)) if found else None


def deadline_of(document: Document) -> int | None:
    """Of a Job: after so long it fails, also while its pods wait for a place. A pod's own limit waits."""
    path = _DEADLINES.get(str(document.get("kind")))
    value = _at(document, path) if path and kind_key(document)[0] == "batch" else None
    return ticks(value) if isinstance(value, int) and value > 0 else None


def _limits(document: Document) -> Iterator[float]:
    for path in _LIMITS:
        value = _at(document, path)
        if isinstance(value, int) and value > 0:
            yield value
    label = str(_at(document, "metadata.labels", {}).get(well_known.MAX_EXEC_TIME_LABEL) or "")
    if seconds := whole_number(label):
        yield seconds
    value = _at(document, "spec.maximumExecutionTimeSeconds")
    if kind_key(document) == WORKLOAD and isinstance(value, int) and value > 0:
        yield value


def _at(document: Document, path: str, default: Any = None) -> Any:
    found: Any = document
    for step in path.split("."):
        found = found.get(step) if isinstance(found, Mapping) else None
    return default if found is None else found


def endings(documents: Mapping[Reference, Document], kinds: JobKinds) -> dict[Reference, str]:
    """How those have ended that have, and when: `Complete, 2026-01-01 00:00:00`."""
    found: dict[Reference, str] = {}
    for ref, each in documents.items():
        if ref.kind == "Pod" and _is_over(each):
            found[ref] = str(_at(each, "status.phase"))
            continue
        end = condition_of(each, well_known.FINISHED) if ref.kind == "Workload" else ending(each, kinds)
        if end is not None and end.get("status") == "True":
            time = time_of(end.get("lastTransitionTime") or _at(each, "status.completionTime"))
            found[ref] = sentences.ended_at(str(end.get("type")), time)
    return found


class Past(NamedTuple):
    """How long something ran that came to its end by itself."""

    ref: Reference
    uid: str
    like: Likeness
    length: int


def ended_runs(documents: Sequence[Document], owners: Owners) -> Iterator[Past]:
    """Of jobs and workloads that have ended, as they say themselves."""
    seen: set[Reference] = set()
    starts = _pod_starts(documents, owners)
    for ref, each in owners.jobs.items():
        if (found := _run(each, owners.kinds, starts.get(ref))) is not None:
            seen.add(ref)
            yield Past(ref, _uid(each), likeness(ref, queue_of(each)), found)
    for each in documents:
        if each.get("kind") != "Workload" or kind_key(each) != WORKLOAD:
            continue
        owner = controller_of(each)
        ref, uid = Reference.read(each), _uid(each)
        if owner is not None:
            ref, uid = Reference(str(owner.get("kind")), ref.namespace, str(owner.get("name"))), _of(owner)
        found = _between(_since(each, well_known.ADMITTED), _since(each, well_known.FINISHED))
        if ref not in seen and found is not None:
            yield Past(ref, uid, likeness(ref, str(_at(each, "spec.queueName", ""))), found)


def _pod_starts(documents: Sequence[Document], owners: Owners) -> dict[Reference, str]:
    """When the first pod was placed of those that are over: a job counts the time before that as well."""
    found: dict[Reference, str] = {}
    for each in documents:
        if each.get("kind") == "Pod" and _is_over(each):
            start = str(_at(each, "status.startTime", ""))
            for ref in owners.chain(each) if start else ():
                found[ref] = min(start, found.get(ref, start))
    return found


def _is_over(pod: Document) -> bool:
    return (pod.get("status") or {}).get("phase") in well_known.TERMINAL_PHASES


def recorded_runs(runs: Iterable[Run]) -> tuple[list[Past], dict[str, int]]:
    """How long runs took that a controller noted and that have ended; by UID, how long others had run when
    they were stopped.

    Pods of one job, and its workload, are one run: from the first start to the last end.
    """
    ended: defaultdict[tuple[str, str], list[Run]] = defaultdict(list)
    stopped: dict[str, int] = {}
    for each in runs:
        if each.end == "stopped":
            stopped[each.uid] = max(ticks(each.seconds), stopped.get(each.uid, 0))
        elif each.end == "ended":
            ended[each.ran, each.uid].append(each)
    return [_as_one(group) for group in ended.values()], stopped


def _as_one(runs: Sequence[Run]) -> Past:
    ref = Reference(*runs[0].ran.split("/", 2))
    last = max(each.time.timestamp() for each in runs)
    first = min(each.time.timestamp() - each.seconds for each in runs)
    queue = next((each.queue for each in runs if each.queue), "")
    return Past(ref, runs[0].uid, likeness(ref, queue), ticks(last - first))


def each_once(noted: Iterable[Past], said: Iterable[Past], unfinished: Collection[str]) -> Iterator[Past]:
    """Every run once. What a controller noted counts first, for it saw the pods; not while others of them
    run, whose owners' UIDs are `unfinished`."""
    known: set[tuple[Reference, str]] = set()
    for each in (*noted, *said):
        if (each.ref, each.uid) not in known and (not each.uid or each.uid not in unfinished):
            known.add((each.ref, each.uid))
            yield each


def unfinished_uids(documents: Sequence[Document], owners: Owners) -> set[str]:
    """Of jobs that are not over, and of what made pods that are not."""
    found = {_uid(each) for each in owners.jobs.values() if ending(each, owners.kinds) is None}
    pods = (each for each in documents if each.get("kind") == "Pod" and not _is_over(each))
    return found | {_of(controller_of(each) or {}) for each in pods}


def likeness(ref: Reference, queue: str) -> Likeness:
    return Likeness(ref.kind, ref.namespace, ref.name, queue)


def _run(job: Document, kinds: JobKinds, placed: str | None) -> int | None:
    end = ending(job, kinds)
    if end is None or end.get("type") == well_known.JOB_FAILED:
        return None
    status = job.get("status") or {}
    over = status.get("completionTime") or end.get("lastTransitionTime")
    return _between(placed or status.get("startTime"), over)


def _uid(document: Document) -> str:
    return _of(document.get("metadata") or {})


def _of(reference: Document) -> str:
    return str(reference.get("uid") or "")


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
