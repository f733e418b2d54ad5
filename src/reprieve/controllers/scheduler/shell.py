"""The loop around the core: feeds it changes and time, has its actions performed, records its decisions.

One task runs cycles. With asynchronous preemption off, the loop waits for each preemption's calls before the
next cycle; the result is the same.
"""

import asyncio
import logging
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec

from reprieve.controllers.scheduler.execution import Execution
from reprieve.controllers.scheduler.metrics import Metrics
from reprieve.controllers.scheduler.runs import run_of
from reprieve.kube import Change, Clock
from reprieve.objects import Reference
from reprieve.preemption import Plan
from reprieve.records import Decision, DecisionLog
from reprieve.scheduler import Actions, Core, CycleResult, instant

if TYPE_CHECKING:
    from reprieve.runtime import Tracing

log = logging.getLogger(__name__)

RECOVER_EVERY = 10.0
BREATHE = 8
"""Cycles before other tasks get a turn."""


class Shell:
    def __init__(
        self,
        core: Core,
        actions: Actions,
        *,
        records: DecisionLog | None = None,
        metrics: Metrics | None = None,
        asynchronous: bool = True,
        clock: Clock = time.time,
        tracing: "Tracing | None" = None,
    ) -> None:
        self.core = core
        self.records = records if records is not None else DecisionLog()
        self.metrics = metrics or Metrics()
        self._asynchronous = asynchronous
        self._clock = clock
        self._tracing = tracing
        self._wake = asyncio.Event()
        self._sleeps_until = 0.0
        self._execution = Execution(core, actions, self.metrics, clock, self._rouse, tracing)
        self._revision = ""
        self._latest = self._recovered = float("-inf")

    def _now(self) -> float:
        """The time. A clock that is set back takes along what waits: it would wait for as much longer."""
        now = self._clock()
        if now < self._latest:
            self.core.turn_back(self._latest - now)
            self._recovered -= self._latest - now
        self._latest = now
        return now

    def observe(self, change: Change) -> None:
        """An informer's handler."""
        self._revision = change.new.metadata.resource_version or self._revision
        self.core.observe(change.type, change.old, change.new, self._now())
        self._execution.observed(change.new)
        if (run := run_of(change, self._now())) is not None:
            self.records.add_run(run)
        if self._tracing is not None and change.type == "DELETED":
            self._tracing.gone(str(Reference.to(change.new)))
        self._rouse()

    def observe_all(self, objects: list[Any]) -> None:
        """An informer's handler of its first list."""
        versions = (each.metadata.resource_version for each in reversed(objects))
        self._revision = next(filter(None, versions), self._revision)
        self.core.observe_all(objects, self._now())
        for each in objects:
            self._execution.observed(each)
        self._rouse()

    def _rouse(self) -> None:
        """Something happened. Most of it (a pod starts, a binding succeeds) leaves nothing to do."""
        if not self._wake.is_set() and self.core.has_work(self._sleeps_until):
            self._wake.set()

    async def run(self) -> None:
        """Schedule until cancelled. Every existing object must have been observed before."""
        self._recovered = float("-inf")
        try:
            while True:
                now = self._now()
                if now - self._recovered >= RECOVER_EVERY:
                    self._recovered = now
                    self._execution.perform(self.core.recover(now))
                await self._cycles()
                self._execution.perform(self.core.report(self._now()))
                ready, now = self.core.next_time(), self._now()
                pause = RECOVER_EVERY if ready is None else min(max(0.0, ready - now), RECOVER_EVERY)
                self._sleeps_until = now + pause
                self._wake.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout(pause + 0.001):
                        await self._wake.wait()
        finally:
            await self._execution.stop()

    async def idle(self) -> None:
        """Until every action under way has ended."""
        await self._execution.idle()

    async def _cycles(self) -> None:
        """Run cycles until no unit is ready."""
        count = 0
        while True:
            started = time.perf_counter()
            cycle = self._cycle()
            if cycle is None:
                return
            self._note(cycle, time.perf_counter() - started)
            self._execution.perform(cycle.actions)
            if not self._asynchronous:
                await self._execution.preempted()
            count += 1
            if count % BREATHE == 0:
                await asyncio.sleep(0)

    def _cycle(self) -> CycleResult | None:
        try:
            return self.core.cycle(self._now())
        except Exception as error:
            # A bug must not stop scheduling altogether: the unit reports it and waits.
            log.exception("a decision failed")
            cycle = self.core.crashed(f"internal error: {error!r}", self._now())
            if cycle is None:
                raise
            return cycle

    def _note(self, cycle: CycleResult, seconds: float) -> None:
        unit = str(cycle.unit)
        if self._tracing is not None:
            queued = self.core.queue.units.get(cycle.unit)
            self._tracing.created(unit, self._now() if queued is None else queued.since)
        decision = self.records.add(
            Decision(
                time=instant(self._now()),
                controller="scheduler",
                for_=unit,
                outcome=cycle.outcome,
                revision=self._revision,
                duration_ms=round(seconds * 1000, 3),
                reasons=cycle.reasons,
                **({} if cycle.plan is None else _recorded(cycle.plan, cycle.victims)),
            )
        )
        exemplar = None if self._tracing is None else self._tracing.exemplar(unit)
        self.metrics.cycle(cycle, seconds, self.core, exemplar)
        if log.isEnabledFor(logging.INFO):
            about = {
                "unit": decision.for_,
                "outcome": cycle.outcome,
                "victims": len(cycle.victims),
                "decision": decision.id,
            }
            log.info(decision.sentence, extra=about)


def _recorded(plan: Plan, evicted: frozenset[str]) -> dict[str, Any]:
    """What the record of a decision has of its plan; of the victims only those evicted because of it."""
    record = {"placements": plan.placements, "cost": msgspec.to_builtins(plan.cost)}
    parts = {
        "victims": [each for each in plan.victims if each.pod in evicted] if evicted else (),
        "alternatives": plan.alternatives,
        "reprieved": plan.reprieved,
        "budgets": plan.budgets,
    }
    return record | {name: msgspec.to_builtins(list(part)) for name, part in parts.items() if part}
