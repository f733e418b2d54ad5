"""The thin loop around the core: feeds it changes and time, performs what it asks for, tells it how that ended.

One task runs cycles; each action runs as a task of its own (`lanes`), so that no API call holds up a decision. With asynchronous
preemption off the loop waits for each preemption's calls before the next cycle; the result is the same.
"""

import asyncio
import logging
import time
from collections.abc import Iterable
from contextlib import suppress

from reprieve.kube import Change
from reprieve.kube.pacing import Clock
from reprieve.records import Decision, DecisionLog
from reprieve.scheduler import status
from reprieve.scheduler.actions import (
    Action,
    ActionError,
    Actions,
    Bind,
    BindGang,
    Emit,
    Nominate,
    Preempt,
    Ref,
    Reprieve,
    SetGroupCondition,
    SetPodCondition,
)
from reprieve.scheduler.core import Core, Cycle
from reprieve.scheduler.lanes import Lanes
from reprieve.scheduler.metrics import Metrics
from reprieve.scheduler.room import instant

log = logging.getLogger(__name__)

IN_FLIGHT = 64
RECOVER_EVERY = 10.0
BREATHE = 8
"""Cycles between two chances for the network to be heard."""


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
    ) -> None:
        self.core = core
        self.records = records if records is not None else DecisionLog()
        self.metrics = metrics or Metrics()
        self._actions = actions
        self._asynchronous = asynchronous
        self._clock = clock
        self._lanes = Lanes(IN_FLIGHT)
        self._wake = asyncio.Event()
        self._revision = ""
        self._synchronous: list[asyncio.Task[None]] = []

    def observe(self, change: Change) -> None:
        """An informer's handler."""
        self._revision = change.new.metadata.resource_version or self._revision
        self.core.observe(change.type, change.old, change.new, self._clock())
        self._wake.set()

    async def run(self) -> None:
        """Schedule until cancelled. Everything that exists has been observed before."""
        self.perform(self.core.recover())
        recovered = self._clock()
        try:
            while True:
                await self._cycles()
                now = self._clock()
                if now - recovered >= RECOVER_EVERY:
                    recovered = now
                    self.perform(self.core.recover())
                ready = self.core.queue.next_ready()
                limit = RECOVER_EVERY if ready is None else min(RECOVER_EVERY, max(0.0, ready - now))
                self._wake.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout(limit + 0.001):
                        await self._wake.wait()
        finally:
            await self._lanes.stop()

    async def _cycles(self) -> None:
        """Until nobody is ready."""
        count = 0
        while True:
            started = time.perf_counter()
            cycle = self._cycle()
            if cycle is None:
                return
            self._note(cycle, time.perf_counter() - started)
            self.perform(cycle.actions)
            if self._synchronous:
                await asyncio.gather(*self._synchronous, return_exceptions=True)
                self._synchronous.clear()
            count += 1
            if count % BREATHE == 0:
                await asyncio.sleep(0)

    def _cycle(self) -> Cycle | None:
        try:
            return self.core.cycle(self._clock())
        except Exception as error:
            # A bug must not stop everyone else's scheduling: the unit says what happened and waits.
            log.exception("a decision failed")
            cycle = self.core.crashed(f"internal error: {error!r}", self._clock())
            if cycle is None:
                raise
            return cycle

    def perform(self, actions: Iterable[Action]) -> None:
        for action in actions:
            match action:
                case Bind():
                    self._lanes.submit([action.pod.key], lambda bind=action: self._bind(bind))  # type: ignore[misc]
                case BindGang():
                    keys = [each.pod.key for each in action.binds]
                    self._lanes.submit(keys, lambda gang=action: self._bind_gang(gang), limited=False)  # type: ignore[misc]
                case Preempt():
                    keys = [each.pod.key for each in action.nominations]
                    task = self._lanes.submit(keys, lambda it=action: self._preempt(it), limited=False)  # type: ignore[misc]
                    if not self._asynchronous:
                        self._synchronous.append(task)
                case Nominate() | Reprieve() | SetPodCondition():
                    self._lanes.submit([action.pod.key], lambda it=action: self._try(it))  # type: ignore[misc]
                case SetGroupCondition():
                    self._lanes.submit([f"group/{action.group.key}"], lambda it=action: self._try(it))  # type: ignore[misc]
                case Emit():
                    self._actions.emit(action)

    async def _try(self, action: Nominate | Reprieve | SetPodCondition | SetGroupCondition) -> None:
        """Status for people: worth retries, not worth stopping for."""
        try:
            match action:
                case Nominate():
                    await self._actions.nominate(action)
                case Reprieve():
                    await self._actions.reprieve(action.pod, action.message)
                case SetPodCondition():
                    await self._actions.set_pod_condition(action)
                case SetGroupCondition():
                    await self._actions.set_group_condition(action)
        except ActionError as error:
            if not error.gone:
                log.warning("%s: %s", type(action).__name__, error)

    async def _bind(self, bind: Bind) -> None:
        error = None
        try:
            await self._actions.bind(bind)
        except ActionError as refused:
            error = str(refused)
            log.warning("binding %s to %s failed: %s", bind.pod.key, bind.node, refused)
        self.metrics.bound(error)
        self.perform(self.core.bound(bind, error, self._clock()))
        self._wake.set()

    async def _bind_gang(self, gang: BindGang) -> None:
        errors = await self._each(gang.nominations, lambda it: it.pod, self._actions.nominate)
        if errors:
            log.warning("places of a gang could not be promised before binding: %s", errors)
        self.perform(gang.binds)

    async def _preempt(self, preempt: Preempt) -> None:
        started = time.perf_counter()
        errors = await self._evict(preempt)
        kind = preempt.preemptor.kind.lower()
        self.metrics.evicted(kind, "error" if errors else "success", time.perf_counter() - started)
        if errors:
            log.warning("preemption for %s failed for %d victims: %s", preempt.unit, len(errors), errors)
        self.perform(self.core.evicted(preempt, errors, self._clock()))
        self._wake.set()

    async def _evict(self, preempt: Preempt) -> dict[str, str]:
        """Promise, mark, delete: each step for all before the next step for any. Returns what failed, by pod."""
        if errors := await self._each(preempt.nominations, lambda it: it.pod, self._actions.nominate):
            return errors
        gone: set[str] = set()
        marked = await self._each(
            preempt.victims, lambda it: it.pod, lambda it: self._actions.mark(it.pod, preempt.message), gone
        )
        if marked:
            return marked
        staying = [victim for victim in preempt.victims if victim.pod.key not in gone]
        failed = await self._each(staying, lambda it: it.pod, lambda it: self._actions.delete(it.pod))
        for victim in staying:
            if victim.pod.key not in failed:
                self._actions.emit(status.preempted(victim, preempt.preemptor))
        return failed

    async def _each(self, items, ref, call, gone: set[str] | None = None) -> dict[str, str]:  # type: ignore[no-untyped-def]
        """Call for every item at once, up to the limit; what does not exist any more has not failed."""
        errors: dict[str, str] = {}

        async def one(item: object) -> None:
            pod: Ref = ref(item)
            try:
                async with self._lanes.slots:
                    await call(item)
            except ActionError as error:
                if not error.gone:
                    errors[pod.key] = str(error)
                elif gone is not None:
                    gone.add(pod.key)

        await asyncio.gather(*(one(item) for item in items))
        return errors

    def _note(self, cycle: Cycle, seconds: float) -> None:
        self.metrics.cycle(cycle, seconds, self.core)
        plan = cycle.plan.to_dict() if cycle.plan is not None else {}
        now = self._clock()
        decision = self.records.add(
            Decision(
                time=instant(now), controller="scheduler", for_=cycle.unit, outcome=cycle.outcome,
                revision=self._revision, duration_ms=round(seconds * 1000, 3),
                placements=plan.get("placements", {}),
                victims=[victim for victim in plan.get("victims", ()) if victim["pod"] in cycle.victims],
                reasons=cycle.reasons, cost=plan.get("cost", {}), alternatives=plan.get("alternatives", []),
            )
        )  # fmt: skip
        log.info(
            decision.sentence,
            extra={
                "unit": cycle.unit,
                "outcome": cycle.outcome,
                "victims": len(cycle.victims),
                "decision": decision.id,
            },
        )

    async def idle(self) -> None:
        """Until every action under way has ended."""
        await self._lanes.idle()
