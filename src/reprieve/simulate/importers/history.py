"""What a cluster says about pods that were there, and the jobs that follow from it.

A job is what made its pods: their PodGroup, their controller, or a pod by itself. It is submitted when it or
its first pod was made, begins when its first pod is given a node, and ends when its last pod does. What the
source does not say stays empty and is counted.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime
from decimal import Decimal
from typing import Any

from reprieve.objects import (
    Document,
    Pod,
    ReprieveError,
    counted,
    decode,
    parse_time,
    pod_requests,
    shown,
    some,
    well_known,
)
from reprieve.simulate.importers.records import Record, since_1970
from reprieve.simulate.pods import GPU
from reprieve.simulate.trace import TraceError

Unit = tuple[str, str]
"""Kind and namespace/name of what a pod belongs to."""
PARTS_OF_NODES = ("DaemonSet", "Node")
SERVICES = ("ReplicaSet", "StatefulSet", "ReplicationController")
"""Their pods come and go one by one."""
MOST_NAMED = 10
MILLIS = 1000
MEBI = 2**20


class Line:
    """Where something stands, for messages."""

    def __init__(self, where: str, number: int) -> None:
        self.where = where
        self.number = number

    def wrong(self, problem: str) -> TraceError:
        return TraceError(f"{self.where}:{self.number}: {problem}")

    def moment(self, field: str, text: object) -> datetime:
        if not isinstance(text, str) or not text:
            raise self.wrong(f"{field} is missing")
        try:
            return parse_time(text)
        except ValueError:
            raise self.wrong(
                f"{field} is no time with a zone: {shown(text)}; the API server writes 2026-01-31T09:30:00Z"
            ) from None


class SeenPod:
    def __init__(self, line: Line, key: str) -> None:
        self.line = line
        self.key = key
        self.unit: Unit = ("Pod", key)
        self.created: datetime | None = None
        self.started: datetime | None = None
        self.ended: datetime | None = None
        self.outcome = ""
        self.requests: tuple[int, int, int] | None = None
        self.priority: int | None = None
        self.queue = ""
        self._stays = False

    def end(self, at: datetime, outcome: str) -> None:
        """As an event says, which may be about one container or about a pod of this name before it."""
        if not self._stays:
            self.ended, self.outcome = self.ended or at, self.outcome or outcome

    def stay(self) -> None:
        """It is there, and nobody has told it to go: no event was its end."""
        self._stays = True
        self.ended, self.outcome = None, ""

    @property
    def ended_unknown(self) -> bool:
        return bool(self.outcome) and self.ended is None


class History:
    """Pods and the jobs that made them, as they are told one after the other."""

    def __init__(self) -> None:
        self._pods: dict[str, SeenPod] = {}
        self._submitted: dict[Unit, tuple[datetime, str]] = {}
        self._ended: dict[Unit, tuple[datetime, str]] = {}
        self._made: Counter[Unit] = Counter()
        """How often each was made, where the source says so."""
        self._parts = 0
        self.others: Counter[str] = Counter()
        """Objects that say nothing about jobs, by kind."""

    def made(self, unit: Unit) -> None:
        """A pod or a job is made; under a name that was there before, it is another one."""
        self._made[unit] += 1

    def called(self, unit: Unit) -> Unit:
        """The latest of this name. No object can be called like those after the first."""
        number = self._made[unit]
        return unit if number < 2 else (unit[0], f"{unit[1]}#{number}")

    def pod(self, line: Line, key: str) -> SeenPod:
        _, called = self.called(("Pod", key))
        return self._pods.setdefault(called, SeenPod(line, called))

    def submitted(self, unit: Unit, at: datetime, queue: str) -> None:
        self._submitted.setdefault(unit, (at, queue))

    def ended(self, unit: Unit, at: datetime, outcome: str) -> None:
        self._ended[unit] = at, outcome

    def describe(self, seen: SeenPod, document: Document) -> None:
        """What the pod's own object says, but for times."""
        try:
            pod = decode({**document, "apiVersion": "v1", "kind": "Pod"})
            assert isinstance(pod, Pod)
            asked = pod_requests(pod.spec)
        except ReprieveError as error:
            raise seen.line.wrong(f"Pod {seen.key}: {error}") from None
        seen.requests = asked.get("cpu", 0), -(-asked.get("memory", 0) // MEBI), asked.get(GPU, 0)
        seen.priority = pod.spec.priority
        namespace = seen.key.partition("/")[0]
        owner = next((each for each in pod.metadata.owner_references if each.controller), None)
        if pod.group_key:
            seen.unit = "PodGroup", pod.group_key
        elif owner is not None and owner.kind in PARTS_OF_NODES:
            seen.unit = owner.kind, seen.key
        elif owner is not None and owner.kind not in SERVICES:
            seen.unit = self.called((owner.kind, f"{namespace}/{owner.name}"))
        queue = pod.metadata.labels.get(well_known.QUEUE_LABEL, "")
        seen.queue = f"{namespace}/{queue}" if queue else ""

    def records(self) -> Iterator[tuple[int, Record]]:
        """With the line in which each job was first seen."""
        units: dict[Unit, list[SeenPod]] = {}
        for pod in self._pods.values():
            if pod.unit[0] in PARTS_OF_NODES:
                self._parts += 1
            else:
                units.setdefault(pod.unit, []).append(pod)
        hint = _hints(pod.priority for pods in units.values() for pod in pods)
        for unit, pods in units.items():
            yield pods[0].line.number, self._record(unit, pods, hint)

    def _record(self, unit: Unit, pods: list[SeenPod], hint: Callable[[int | None], int | None]) -> Record:
        kind, key = unit
        made = [pod.created for pod in pods if pod.created is not None]
        known = self._submitted.get(unit)
        if not made and known is None:
            raise pods[0].line.wrong(f"{kind} {key}: nothing says when it was made")
        submit = min(*made, known[0]) if known is not None and made else known[0] if known else min(made)
        asked = [pod.requests for pod in pods if pod.requests is not None]
        cpu, memory, gpu = (max(each) for each in zip(*asked, strict=True)) if asked else (None, None, None)
        priorities = [pod.priority for pod in pods if pod.priority is not None]
        return Record(
            name=key.replace("/", "."),
            submit=since_1970(submit),
            duration=self._duration(unit, pods),
            user=key.partition("/")[0],
            queue=next((pod.queue for pod in pods if pod.queue), known[1] if known else ""),
            pods=_together(pods),
            cpu=_decimal(cpu),
            memory=_decimal(memory),
            gpu=_decimal(gpu),
            hint=hint(max(priorities, default=None)),
            kind=kind,
            outcome=self._ended[unit][1] if unit in self._ended else _outcome(pods),
        )

    def _duration(self, unit: Unit, pods: list[SeenPod]) -> Decimal | None:
        """None while a pod runs, or when none ever did."""
        starts = [pod.started for pod in pods if pod.started is not None]
        ends = [pod.ended for pod in pods if pod.started is not None and pod.ended is not None]
        if unit in self._ended:
            ends = [self._ended[unit][0]]
        elif len(ends) < len(starts):
            return None
        if not starts or not ends:
            return None
        begin, end = min(starts), max(ends)
        if end < begin or any(pod.started and pod.ended and pod.ended < pod.started for pod in pods):
            raise pods[0].line.wrong(f"{unit[0]} {unit[1]} ends before it begins")
        return since_1970(end) - since_1970(begin)

    def notes(self, records: list[Record]) -> Iterator[str]:
        if running := sum(each.duration is None and not each.outcome for each in records):
            yield f"{counted(running, 'job')} had not ended, or never ran"
        if unknown := sum(each.gpu is None for each in records):
            yield f"{counted(unknown, 'job')} of unknown size: the source has not what their pods ask for"
        if vague := sum(pod.ended_unknown for pod in self._pods.values()):
            verb = "has" if vague == 1 else "have"
            yield f"{counted(vague, 'pod')} {verb} ended, and nothing says when"
        if self._parts:
            yield f"{counted(self._parts, 'pod')} of DaemonSets and nodes left out: they are part of a node"
        if self.others:
            named = some(sorted(self.others), MOST_NAMED)
            objects = counted(sum(self.others.values()), "object")
            yield f"{objects} left out that say nothing about jobs: {named}"


def _together(pods: list[SeenPod]) -> int:
    """How many ran at the same time at most: a pod that took the place of a failed one is no other."""
    changes: list[tuple[datetime, int]] = []
    for pod in pods:
        if pod.started is not None and not pod.ended_unknown:
            changes.append((pod.started, 1))
            if pod.ended is not None:
                changes.append((pod.ended, -1))
    most = now = 0
    for _, change in sorted(changes):
        now += change
        most = max(most, now)
    return most or len(pods)


def _outcome(pods: list[SeenPod]) -> str:
    """That of the pod that ended last."""
    ended = [(pod.ended, pod.outcome) for pod in pods if pod.ended is not None]
    return max(ended)[1] if ended and len(ended) == len(pods) else ""


def _hints(priorities: Iterator[int | None]) -> Callable[[int | None], int | None]:
    """The lowest of all priorities is low, the highest high, the others normal; one alone says nothing."""
    known = sorted({each for each in priorities if each is not None})

    def hint(priority: int | None) -> int | None:
        if priority is None or len(known) < 2:
            return None
        return 0 if priority == known[0] else 2 if priority == known[-1] else 1

    return hint


def _decimal(number: Any) -> Decimal | None:
    return None if number is None else Decimal(number)
