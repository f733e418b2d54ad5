"""Carries out a step: calls in the order that the step demands. Nothing is decided here.

Every write to a copy names the version it is based on. That matters for the gate: an opening that was
delayed on its way must not land after the closing that followed it.
"""

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime

from reprieve.controllers.fleet.connection import Connection, NotConnected
from reprieve.controllers.fleet.gangs import sync_gang
from reprieve.controllers.fleet.jobs import sync_job
from reprieve.controllers.fleet.manager_cluster import ManagerCluster
from reprieve.fleet import (
    POD,
    Action,
    CloseGate,
    CreateCopy,
    DeactivateCopy,
    DeleteCopy,
    Finish,
    Group,
    Nominate,
    OpenGate,
    SaveLedger,
    SetCheck,
    Step,
    SyncJob,
    UpdateCopy,
    owner_of,
    typed,
)
from reprieve.jobs import JobKinds
from reprieve.kube import KUEUE_WORKLOADS, ApiError, Client, TransportError
from reprieve.objects import Document, format_time, set_condition, split_key, well_known

log = logging.getLogger(__name__)

Change = Callable[[Document], bool]

REFUSED = (ApiError, TransportError, TimeoutError, NotConnected)


class Execution:
    """One step of one workload on its way to the API servers."""

    def __init__(
        self,
        key: str,
        group: Group,
        manager: ManagerCluster,
        workers: dict[str, Connection],
        origin: str,
        now: datetime,
        kinds: JobKinds,
    ) -> None:
        self._key = key
        self._group = group
        self._manager = manager
        self._workers = workers
        self._origin = origin
        self._now = now
        self._kinds = kinds

    async def carry_out(self, step: Step) -> list[str]:
        """The chain up to its first failure (raised), then the rest concurrently; returns the refusals."""
        for action in step.chain:
            await self._do(action)
        results = await asyncio.gather(*(self._do(action) for action in step.each), return_exceptions=True)
        refused = []
        for action, result in zip(step.each, results, strict=True):
            if isinstance(result, REFUSED):
                refused.append(f"{type(action).__name__} in {getattr(action, 'cluster', '')}: {result}")
            elif isinstance(result, BaseException):
                raise result
        return refused

    async def _do(self, action: Action) -> None:
        manager, key, now = self._manager, self._key, self._now
        match action:
            case SaveLedger(ledger):
                await manager.save_ledger(
                    key, ledger, self._group.local["metadata"].get("resourceVersion", "")
                )
            case Nominate(clusters):
                await manager.nominate(key, clusters)
            case SetCheck(state, message, cluster):
                await manager.set_check(key, self._group.check, state, message, cluster, now)
            case Finish(reason, message):
                await manager.finish(key, reason, message, now)
            case _:
                await self._remote(action)

    async def _sync(self, worker: Connection, final: bool) -> None:
        owner = owner_of(self._group.local)
        if owner is None:
            return
        if POD in owner.travels_as(self._kinds):
            await sync_gang(self._manager, worker, self._key, owner, self._origin, final)
            return
        kind = self._kinds.find(typed(owner.key))
        if kind is not None:
            await sync_job(self._manager, worker, self._key, owner, kind, self._origin, final)

    async def _remote(self, action: Action) -> None:
        key, now = self._key, self._now
        worker = self._workers[getattr(action, "cluster")]  # noqa: B009 - every remote action names its cluster
        match action:
            case OpenGate(cluster, at):
                await _open_gate(worker, key, self._group.copies[cluster]["metadata"].get("uid", ""), at)
            case CloseGate(_, at):
                await _close_gate(worker, key, at)
            case CreateCopy(_, document):
                await worker.write_copy(key, lambda client: client.create(KUEUE_WORKLOADS, document))
            case DeleteCopy():
                await worker.remove(key)
            case UpdateCopy(_, spec):
                await _update_spec(worker, key, spec)
            case DeactivateCopy(_, message):
                await _deactivate(worker, key, message, now)
            case SyncJob(_, final):
                await self._sync(worker, final)


async def _open_gate(worker: Connection, key: str, uid: str, at: datetime) -> None:
    """Open the gate of exactly the copy that signalled: one created since then starts closed."""

    def change(copy: Document) -> bool:
        if copy["metadata"].get("uid") != uid:
            raise ApiError(409, "Conflict", f"the copy of {key} in {worker.cluster} is another one by now")
        return _move(copy, well_known.GATE_OPEN, at)

    await _update(worker, key, change, "status")


async def _close_gate(worker: Connection, key: str, at: datetime) -> None:
    """Close the gate. Even a gate that is closed is written: an opening on its way must find a newer version.

    A copy that is gone has no gate to close.
    """
    try:
        await _update(
            worker, key, lambda copy: _move(copy, well_known.GATE_CLOSED, at, always=True), "status"
        )
    except ApiError as error:
        if not error.not_found:
            raise


async def _update_spec(worker: Connection, key: str, spec: Document) -> None:
    def change(copy: Document) -> bool:
        copy["spec"] = spec
        return True

    await _update(worker, key, change, "")


async def _deactivate(worker: Connection, key: str, message: str, at: datetime) -> None:
    def change(copy: Document) -> bool:
        return set_condition(
            copy, well_known.DEACTIVATION_TARGET, True, well_known.EVICTED_ON_MANAGER, message, at
        )

    await _update(worker, key, change, "status")


async def _update(worker: Connection, key: str, change: Change, subresource: str) -> None:
    namespace, name = split_key(key)

    async def make(client: Client) -> Document:
        return await client.update_with_retries(
            KUEUE_WORKLOADS, name, namespace, change, subresource=subresource
        )

    await worker.write_copy(key, make)


def _move(copy: Document, position: str, at: datetime, always: bool = False) -> bool:
    gates = copy.setdefault("status", {}).setdefault("preemptionGates", [])
    entry = next((gate for gate in gates if gate.get("name") == well_known.MULTIKUEUE_GATE), None)
    if entry is not None and entry.get("position") == position and not always:
        return False
    moved = {
        "name": well_known.MULTIKUEUE_GATE,
        "position": position,
        "lastTransitionTime": format_time(at.replace(microsecond=0)),
    }
    copy["status"]["preemptionGates"] = [gate for gate in gates if gate is not entry] + [moved]
    return True
