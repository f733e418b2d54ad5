"""Carrying out a step: calls in the order the step demands, nothing decided here."""

import asyncio
import logging
from datetime import datetime

from reprieve.controllers.fleet import gatework
from reprieve.controllers.fleet.connection import Connection, NotConnected
from reprieve.controllers.fleet.home import Home
from reprieve.controllers.fleet.jobs import bring_home, fresh_job, send_job
from reprieve.fleet import (
    Action,
    CloseGate,
    CreateCopy,
    DeactivateCopy,
    DeleteCopy,
    Finish,
    Group,
    Nominate,
    OpenGate,
    Remember,
    SetCheck,
    Step,
    SyncJob,
    UpdateCopy,
)
from reprieve.kube import KUEUE_WORKLOADS, ApiError, TransportError

log = logging.getLogger(__name__)

REFUSED = (ApiError, TransportError, TimeoutError, NotConnected)


class Execution:
    """One step of one workload on its way to the API servers."""

    def __init__(
        self, key: str, group: Group, home: Home, workers: dict[str, Connection], origin: str, now: datetime
    ) -> None:
        self._key = key
        self._group = group
        self._home = home
        self._workers = workers
        self._origin = origin
        self._now = now

    async def carry_out(self, step: Step) -> list[str]:
        """The chain in order up to its first failure (raised), then the rest side by side; returns what was refused."""
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
        home, key, now = self._home, self._key, self._now
        match action:
            case Remember(ledger):
                await home.remember(key, ledger, self._group.local["metadata"].get("resourceVersion", ""))
            case Nominate(clusters):
                await home.nominate(key, clusters)
            case SetCheck(state, message, cluster):
                await home.set_check(key, self._group.check, state, message, cluster, now)
            case Finish(reason, message):
                await home.finish(key, reason, message, now)
            case _:
                await self._remote(action)

    async def _sync(self, worker: Connection, final: bool) -> None:
        job = self._home.job_of(self._group.local)
        if job is None:
            return
        remote = await fresh_job(worker, job) if final else worker.job(job)
        if remote is not None:
            await bring_home(self._home.client, job, remote)
        elif not final:
            await send_job(worker, job, self._key, self._origin)

    async def _remote(self, action: Action) -> None:
        key, now = self._key, self._now
        worker = self._workers[getattr(action, "cluster")]  # noqa: B009 - every remote action names its cluster
        match action:
            case OpenGate(cluster, at):
                await gatework.open_gate(
                    worker, key, self._group.copies[cluster]["metadata"].get("uid", ""), at
                )
            case CloseGate(_, at):
                await gatework.close_gate(worker, key, at)
            case CreateCopy(_, document):
                await worker.write_copy(key, lambda client: client.create(KUEUE_WORKLOADS, document))
            case DeleteCopy():
                await worker.remove(key)
            case UpdateCopy(_, spec):
                await gatework.update_spec(worker, key, spec)
            case DeactivateCopy(_, message):
                await gatework.deactivate(worker, key, message, now)
            case SyncJob(_, final):
                await self._sync(worker, final)
