"""Performs the core's actions and reports back how each ended.

Each action runs as a task of its own (`keyed_tasks`), so that no API call delays a decision; conditions wait
for their turn (`statuses`), so that they delay no binding and no eviction. The order inside
an action makes crashes harmless: nominations are written before victims are marked, all victims are marked
before any is deleted, and all pods of a gang are nominated before any of them is bound.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

from reprieve.controllers.scheduler.keyed_tasks import KeyedTasks
from reprieve.controllers.scheduler.metrics import Metrics
from reprieve.controllers.scheduler.statuses import Condition, Statuses
from reprieve.controllers.scheduler.volumes import ClaimBinding
from reprieve.kube import Clock
from reprieve.objects import Object, Reference
from reprieve.scheduler import (
    Action,
    ActionError,
    Actions,
    Bind,
    BindGang,
    Core,
    DevicesFailed,
    Emit,
    Evicted,
    FreeClaim,
    Mark,
    Nominate,
    Preempt,
    Release,
    Reprieve,
    SetGroupCondition,
    SetPodCondition,
    status,
)

if TYPE_CHECKING:
    from reprieve.runtime import Tracing

log = logging.getLogger(__name__)

IN_FLIGHT = 64
DEVICES_TIMEOUT = 600.0
FIRST_LOOK, LAST_LOOK = 0.02, 1.0
"""Pauses between two looks whether devices are ready."""


class AboutPod(Protocol):
    @property
    def pod(self) -> Reference: ...


T = TypeVar("T", bound=AboutPod)


class Execution:
    def __init__(
        self,
        core: Core,
        actions: Actions,
        metrics: Metrics,
        clock: Clock,
        ended: Callable[[], None],
        tracing: "Tracing | None" = None,
    ) -> None:
        """`ended` is called after results that may change what the core does next."""
        self._core = core
        self._actions = actions
        self._metrics = metrics
        self._clock = clock
        self._ended = ended
        self._tracing = tracing
        self._tasks = KeyedTasks(IN_FLIGHT)
        self._volumes = ClaimBinding(core, actions, clock, self._tasks.slots)
        self._statuses = Statuses(self._send_status)
        self._preemptions: set[asyncio.Task[None]] = set()

    def observed(self, changed: Object) -> None:
        """The core has seen a change that actions under way may wait for."""
        self._volumes.observed(changed)

    def perform(self, actions: Iterable[Action]) -> None:
        for action in actions:
            match action:
                case Bind():
                    self._statuses.drop(action.pod.key)
                    # Waiting for volumes must not keep others from their turn.
                    work = partial(self._bind, action)
                    waits = bool(action.claims or action.devices)
                    self._tasks.submit([action.pod.key], work, limited=not waits)
                case Emit():
                    self._actions.emit(self._core.signed(action))
                case BindGang():
                    keys = self._undo_statuses(action.binds)
                    self._tasks.submit(keys, partial(self._bind_gang, action), limited=False)
                case Preempt():
                    keys = self._undo_statuses(action.nominations)
                    self._evicting(self._tasks.submit(keys, partial(self._preempt, action), limited=False))
                case Release():
                    self._evicting(self._tasks.submit((), partial(self._release, action), limited=False))
                case FreeClaim():
                    self._tasks.submit([f"claim {action.claim.key}"], partial(self._free_claim, action))
                case Nominate() | Reprieve():
                    self._tasks.submit([action.pod.key], partial(self._write_status, action))
                case SetPodCondition():
                    self._statuses.put(self._core.unit_of(action.pod).key, action)
                case SetGroupCondition():
                    self._statuses.put(action.group.key, action)

    def _undo_statuses(self, actions: Sequence[AboutPod]) -> list[str]:
        """The pods of these actions, whose conditions need not be written any more."""
        keys = [each.pod.key for each in actions]
        for key in keys:
            self._statuses.drop(key)
        return keys

    def _send_status(self, condition: Condition, ended: Callable[[], None]) -> None:
        if isinstance(condition, SetPodCondition):
            key = condition.pod.key
        else:
            key = f"group {condition.group.key}"
        task = self._tasks.submit([key], partial(self._write_status, condition))
        task.add_done_callback(lambda _: ended())

    def _evicting(self, task: asyncio.Task[None]) -> None:
        self._preemptions.add(task)
        task.add_done_callback(self._preemptions.discard)

    async def preempted(self) -> None:
        """Until the calls of every preemption under way have ended."""
        while self._preemptions:
            await asyncio.wait(self._preemptions)

    async def idle(self) -> None:
        await self._tasks.idle()

    async def stop(self) -> None:
        self._statuses.clear()
        await self._tasks.stop()

    async def _write_status(self, action: Nominate | Reprieve | SetPodCondition | SetGroupCondition) -> None:
        """Failures are logged, no more: if it still matters, the next decision writes it again."""
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
        started = 0.0 if self._tracing is None else self._clock()
        refused = await _outcome(self._volumes.bind(bind)) if bind.claims else None
        if refused is None and bind.devices:
            refused = await _outcome(self._use_devices(bind))
        if refused is None:
            refused = await _outcome(self._actions.bind(bind))
        if refused is not None and bind.devices:
            await self._unuse_devices(bind)
        error = None if refused is None else str(refused)
        if error is not None:
            log.warning("binding %s to %s failed: %s", bind.pod.key, bind.node, error)
        self._metrics.bound(error)
        if self._tracing is not None:
            self._tracing.bound(str(bind.unit), bind.pod.key, bind.node, self._clock() - started, error)
        self.perform(self._core.bound(bind, error, self._clock()))
        self._ended()

    async def _use_devices(self, bind: Bind) -> None:
        """Write allocations and users into the claims, then wait for binding conditions."""
        async with self._tasks.slots:
            for each in bind.devices:
                self._core.claim_written(await self._actions.use_devices(each, bind.pod))
        end, pause = self._clock() + DEVICES_TIMEOUT, FIRST_LOOK
        while True:
            try:
                if self._core.devices_ready(bind):
                    return
            except DevicesFailed as failed:
                raise ActionError(str(failed)) from failed
            if self._clock() >= end:
                raise ActionError(f"device binding timeout: claim={bind.devices[0].claim.name}")
            await asyncio.sleep(pause)
            pause = min(1.5 * pause, LAST_LOOK)
            end = min(end, self._clock() + DEVICES_TIMEOUT)  # a clock that went back makes it no longer

    async def _unuse_devices(self, bind: Bind) -> None:
        """Take back what was written for a pod that could not be bound, before its devices count as free."""
        for each in bind.devices:
            try:
                left = await self._actions.unuse_devices(each, bind.pod)
            except ActionError as error:
                log.warning("%s could not be given back for %s: %s", each.claim.key, bind.pod.key, error)
            else:
                if left is not None:
                    self._core.claim_written(left)

    async def _free_claim(self, free: FreeClaim) -> None:
        """A failure is logged, no more: the next decision about the pod tries again."""
        try:
            await self._actions.free_claim(free)
        except ActionError as error:
            if not error.gone:
                log.warning("%s could not be given back: %s", free.claim.key, error)

    async def _bind_gang(self, gang: BindGang) -> None:
        errors, _ = await self._each(gang.nominations, self._actions.nominate)
        if errors:
            log.warning("pods of a gang could not be nominated before binding: %s", errors)
        self.perform(gang.binds)

    async def _preempt(self, preempt: Preempt) -> None:
        started = time.perf_counter()
        errors = await self._evict(preempt)
        result = "error" if errors else "success"
        seconds, exemplar = time.perf_counter() - started, None
        if self._tracing is not None:
            exemplar = self._tracing.exemplar(str(preempt.unit))
            self._tracing.evicted(str(preempt.unit), len(preempt.victims), seconds, len(errors))
        self._metrics.evicted(preempt.preemptor.kind.lower(), result, seconds, exemplar)
        if errors:
            log.warning("preemption for %s failed for %d victims: %s", preempt.unit, len(errors), errors)
        self.perform(self._core.evicted(preempt, errors, self._clock()))
        self._ended()

    async def _evict(self, preempt: Preempt) -> dict[str, str]:
        """Nominate, mark, delete: each step for all before the next step for any. Returns errors by pod."""
        errors, _ = await self._each(preempt.nominations, self._actions.nominate)
        if errors:
            return errors
        event = partial(status.preempted, preemptor=preempt.preemptor)
        return await self._mark_and_delete(preempt.victims, preempt.mark, event)

    async def _release(self, release: Release) -> None:
        event = partial(status.released, group=release.group)
        errors = await self._mark_and_delete(release.pods, release.mark, event)
        if errors:
            log.warning("%d pods of %s could not be released: %s", len(errors), release.unit, errors)
        self.perform(self._core.released(release, errors, self._clock()))
        self._ended()

    async def _mark_and_delete(
        self, pods: Sequence[Evicted], mark: Mark, event: Callable[[Evicted], Emit]
    ) -> dict[str, str]:
        """Before each deletion the core is asked again: what they make way for may be gone by now.

        A pod that ended by itself meanwhile has made way: that is no failure.
        """
        versions: dict[str, str] = {}

        async def put_mark(each: Evicted) -> None:
            versions[each.pod.key] = await self._actions.mark(each.pod, mark)

        async def delete(each: Evicted) -> None:
            wanted = partial(self._core.still_evicts, each.pod)
            try:
                await self._actions.delete(each.pod, mark, versions[each.pod.key], wanted)
            except ActionError as error:
                raise ActionError(str(error), gone=error.gone or self._core.has_ended(each.pod)) from error

        errors, gone = await self._each(pods, put_mark)
        if errors:
            return errors
        staying = [each for each in pods if each.pod.key not in gone]
        errors, gone = await self._each(staying, delete)
        for each in staying:
            if each.pod.key not in errors and each.pod.key not in gone:
                self._actions.emit(self._core.signed(event(each)))
        return errors

    async def _each(
        self, items: Iterable[T], call: Callable[[T], Awaitable[None]]
    ) -> tuple[dict[str, str], set[str]]:
        """Call for every item at once, up to the limit. Returns errors by pod, and the pods that are gone."""
        errors: dict[str, str] = {}
        gone: set[str] = set()

        async def one(item: T) -> None:
            async with self._tasks.slots:
                error = await _outcome(call(item))
            if error is not None and error.gone:
                gone.add(item.pod.key)
            elif error is not None:
                errors[item.pod.key] = str(error)

        await asyncio.gather(*(one(item) for item in items))
        return errors, gone


async def _outcome(call: Awaitable[None]) -> ActionError | None:
    """How a call ended. The core must learn of every failure: it holds resources for what is under way."""
    try:
        await call
    except ActionError as error:
        return error
    except Exception as error:
        log.exception("a call failed in an unexpected way")
        return ActionError(repr(error))
    return None
