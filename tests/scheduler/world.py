"""A cluster in a few lines: objects, a clock, and a core whose actions happen at once, or when the test says
so.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from reprieve.config import Configuration
from reprieve.objects import Reference, well_known
from reprieve.objects.decode import decode
from reprieve.objects.times import format_time
from reprieve.scheduler.actions import (
    Action,
    Bind,
    BindGang,
    Emit,
    Nominate,
    Preempt,
    Release,
    Reprieve,
    SetGroupCondition,
    SetPodCondition,
)
from reprieve.scheduler.core import Core, CycleResult
from reprieve.scheduler.waiting import instant
from tests import builders
from tests.builders import Document

GONE: Document = {"metadata": {"deletionTimestamp": ""}}


pod = partial(builders.pod, namespace="ns", labels={}, schedulerName="reprieve")
pod_group = partial(builders.pod_group, namespace="ns", mode="single")


class World:
    """The API as the core sees it. Evictions begin at once; victims end when `end` is called (or at once:
    `graceful=False`).
    """

    def __init__(self, *documents: Document, graceful: bool = False, config: Document | None = None) -> None:
        self.now = 1_000_000.0
        self.documents: dict[tuple[str, str], Document] = {}
        self.core = Core(Configuration.load(config), "reprieve")
        self.graceful = graceful
        self.events: list[Emit] = []
        self.cycles: list[CycleResult] = []
        self.evictions: list[str] = []
        self.held: list[Action] = []
        self.hold: Callable[[Action], bool] = lambda action: False
        self._uid = 0
        self.add(*documents)

    # The API

    def add(self, *documents: Document) -> None:
        for document in documents:
            metadata = document["metadata"]
            key = (document["kind"], metadata["name"])
            old = self.documents.get(key)
            if old is None:
                self._uid += 1
                metadata.setdefault("uid", f"uid-{self._uid}")
                metadata.setdefault("creationTimestamp", "2026-01-01T00:00:00Z")
            self.documents[key] = document
            before = decode(old) if old is not None else None
            self.core.observe("MODIFIED" if old else "ADDED", before, decode(document), self.now)

    def change(self, kind: str, name: str, **parts: Document) -> None:
        old = self.documents[kind, name]
        new = {**old, **{part: {**old.get(part, {}), **fields} for part, fields in parts.items()}}
        self.documents[kind, name] = new
        self.core.observe("MODIFIED", decode(old), decode(new), self.now)

    def remove(self, kind: str, name: str) -> None:
        document = self.documents.pop((kind, name), None)
        if document is not None:
            self.core.observe("DELETED", decode(document), decode(document), self.now)

    def end(self, *names: str) -> None:
        """Victims that were deleted are gone now; all of them when none is named."""
        for (kind, name), document in list(self.documents.items()):
            if (
                kind == "Pod"
                and document["metadata"].get("deletionTimestamp")
                and (not names or name in names)
            ):
                self.remove("Pod", name)

    # The loop

    def run(self, limit: int = 200) -> list[CycleResult]:
        """Cycles until nobody is ready; their actions happen."""
        done: list[CycleResult] = []
        while (cycle := self.core.cycle(self.now)) is not None:
            done.append(cycle)
            self.perform(cycle.actions)
            assert len(done) < limit, "the queue does not come to rest"
        self.perform(self.core.report(self.now))
        self.cycles += done
        return done

    def wait(self, seconds: float) -> list[CycleResult]:
        self.now += seconds
        return self.run()

    def perform(self, actions: list[Action]) -> None:
        for action in actions:
            if self.hold(action):
                self.held.append(action)
            else:
                self._perform(action)

    def release(self) -> None:
        """What was held happens now."""
        held, self.held = self.held, []
        for action in held:
            self._perform(action)

    def fail(self, error: str = "no") -> None:
        """What was held fails."""
        held, self.held = self.held, []
        for action in held:
            if isinstance(action, Bind):
                self.perform(self.core.bound(action, error, self.now))
            elif isinstance(action, Preempt):
                errors = {victim.pod.key: error for victim in action.victims}
                self.perform(self.core.evicted(action, errors, self.now))
            elif isinstance(action, Release):
                errors = {member.pod.key: error for member in action.pods}
                self.perform(self.core.released(action, errors, self.now))

    def _perform(self, action: Action) -> None:
        assert isinstance(action, Action)
        match action:
            case Bind(pod=ref, node=where):
                there = "deletionTimestamp" not in self.documents.get(("Pod", ref.name), GONE)["metadata"]
                if there:
                    self.change("Pod", ref.name, spec={"nodeName": where})
                self.perform(self.core.bound(action, None if there else "the pod is gone", self.now))
            case BindGang():
                for nomination in action.nominations:
                    self._perform(nomination)
                self.perform(list(action.binds))
            case Preempt():
                for nomination in action.nominations:
                    self._perform(nomination)
                for victim in action.victims:
                    self.mark(victim.pod.name, *action.mark)
                for victim in action.victims:
                    self.delete(victim.pod.name)
                self.perform(self.core.evicted(action, {}, self.now))
            case Release():
                for member in action.pods:
                    self.mark(member.pod.name, *action.mark)
                for member in action.pods:
                    self.delete(member.pod.name)
                self.perform(self.core.released(action, {}, self.now))
            case Nominate(pod=ref, node=where) if ("Pod", ref.name) in self.documents:
                self.change("Pod", ref.name, status={"nominatedNodeName": where})
                if action.message:  # in the same patch
                    self._condition("Pod", ref.name, "PodScheduled", "False", "Unschedulable", action.message)
            case Reprieve(pod=ref):
                self.mark(ref.name, well_known.PREEMPTION_WITHDRAWN, "", truth="False")
            case SetPodCondition(pod=ref, reason=reason, message=message):
                self._condition("Pod", ref.name, "PodScheduled", "False", reason, message)
            case SetGroupCondition(group=ref):
                self._condition(
                    "PodGroup", ref.name, action.type, action.status, action.reason, action.message
                )
            case Emit():
                self.events.append(action)

    def mark(
        self, name: str, reason: str, message: str, annotation: str = "", *, truth: str = "True"
    ) -> None:
        """In one write, as through the status endpoint of a pod; without an annotation it takes that off."""
        if ("Pod", name) not in self.documents:
            return
        kept = dict(self.documents["Pod", name]["metadata"].get("annotations", {}))
        kept.pop(well_known.EVICTED_FOR_ANNOTATION, None)
        if annotation:
            kept[well_known.EVICTED_FOR_ANNOTATION] = annotation
        condition = (well_known.DISRUPTION_TARGET, truth, reason, message)
        self._condition("Pod", name, *condition, metadata={"annotations": kept})

    def mark_in_words(self, name: str, message: str) -> None:
        """As versions did it that wrote no annotation, and as kube-scheduler does it."""
        self.mark(name, well_known.PREEMPTION_BY_SCHEDULER, message)

    def delete(self, name: str) -> None:
        if ("Pod", name) not in self.documents:
            return
        self.evictions.append(name)
        waiting = not self.documents["Pod", name]["spec"].get("nodeName")
        self.change("Pod", name, metadata={"deletionTimestamp": "2026-01-01T00:00:30Z"})
        if waiting or not self.graceful:
            self.remove("Pod", name)

    def _condition(
        self, kind: str, name: str, type: str, truth: str, reason: str, message: str, **parts: Document
    ) -> None:
        if (kind, name) not in self.documents:
            return
        before = self.condition(kind, name, type)
        kept = [each for each in self.conditions(kind, name) if each["type"] != type]
        same = before is not None and before["status"] == truth
        since = before["lastTransitionTime"] if same else format_time(instant(self.now))
        new = {
            "type": type,
            "status": truth,
            "reason": reason,
            "message": message,
            "lastTransitionTime": since,
        }
        self.change(kind, name, status={"conditions": [*kept, new]}, **parts)

    # What the tests ask

    def conditions(self, kind: str, name: str) -> list[Document]:
        found: list[Document] = self.documents[kind, name].get("status", {}).get("conditions", [])
        return found

    def condition(self, kind: str, name: str, type: str) -> Any:
        return next((each for each in self.conditions(kind, name) if each["type"] == type), None)

    def where(self, *names: str) -> list[str]:
        return [self.documents["Pod", name]["spec"].get("nodeName", "") for name in names]

    def nominated(self, *names: str) -> list[str]:
        return [self.documents["Pod", name].get("status", {}).get("nominatedNodeName", "") for name in names]

    def running(self) -> list[str]:
        return sorted(
            name
            for (kind, name), doc in self.documents.items()
            if kind == "Pod" and doc["spec"].get("nodeName")
        )

    def state(self, unit: str) -> str:
        found = self.core.queue.units.get(Reference.parse(unit))
        return found.state.value if found else ""

    def restart(self, config: Document | None = None) -> "World":
        """A new scheduler that knows nothing but the objects, and perhaps another configuration."""
        fresh = World(graceful=self.graceful, config=config)
        fresh.now = self.now
        fresh.add(*[doc for (kind, _), doc in self.documents.items() if kind != "Pod"])
        fresh.add(*[doc for (kind, _), doc in self.documents.items() if kind == "Pod"])
        fresh.perform(fresh.core.recover(fresh.now))
        return fresh
