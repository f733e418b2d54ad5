"""One leader among replicas, on a coordination.k8s.io Lease, as client-go does it.

1. Clocks are never compared: a candidate notes, on its own monotonic clock, when it last
   saw the record *change*, and may take over only `lease_duration` after that.
2. Every write carries the resource version read before; the loser of a race gets a conflict and waits.
3. A leader that could not renew for `renew_deadline` (shorter than the lease) stops leading before anyone
   else can start.
4. A leader that stops on purpose empties the record, so that the next one need not wait.
5. A leader that was held up (a paused process, a sleeping machine) may wake before it notices 3. So every
   write asks `may_write` right before it is sent: nothing is sent later than `renew_deadline` after the last
   renewal was, and that is before anyone else can start.
"""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from reprieve.kube.client import Client
from reprieve.kube.errors import ApiError, ConfigError, TransportError, missing_right
from reprieve.kube.pacing import Backoff, Clock, Sleep, since_boot
from reprieve.kube.resources import LEASES
from reprieve.objects import format_micro_time

log = logging.getLogger(__name__)

JITTER = 1.2
REFUSED_PAUSE = 30.0
"""The longest pause between attempts of a replica that may not take the lease."""


@dataclass(frozen=True, slots=True)
class Election:
    name: str
    namespace: str
    identity: str
    lease_duration: float = 15.0
    renew_deadline: float = 10.0
    retry_period: float = 2.0

    def __post_init__(self) -> None:
        if not self.lease_duration > self.renew_deadline > self.retry_period * JITTER > 0:
            raise ValueError("lease_duration > renew_deadline > 1.2 * retry_period > 0 must hold")


class LeaderElector:
    def __init__(
        self,
        client: Client,
        election: Election,
        *,
        clock: Clock = since_boot,
        sleep: Sleep = asyncio.sleep,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._client = client
        self._election = election
        self._clock = clock
        self._sleep = sleep
        self._now = now
        self._jitter = jitter
        self._observed: dict[str, Any] | None = None
        self._observed_at = 0.0
        self._held_until = float("-inf")
        self.leader = ""
        """The leader, as far as we have seen."""
        self.problem = ""
        """The right that is missing to take the lease, in words."""

    @property
    def leads(self) -> bool:
        return self.leader == self._election.identity

    def may_write(self) -> bool:
        """Whether nobody else can lead at this moment."""
        return self.leads and self._clock() < self._held_until

    async def run(self, lead: Callable[[], Awaitable[None]]) -> None:
        """Become the leader and run `lead` until it returns or, cancelled, until the lease is lost."""
        await self._acquire()
        log.info("leading as %s", self._election.identity)
        leading = asyncio.ensure_future(lead())
        renewing = asyncio.create_task(self._renew(), name="leader-renewal")
        try:
            await asyncio.wait({leading, renewing}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            lost = renewing.done()
            for task in (leading, renewing):
                task.cancel()
            results = await asyncio.gather(leading, renewing, return_exceptions=True)
            self._held_until = float("-inf")
            if not lost:
                await self._release()
        if isinstance(results[0], Exception):
            raise results[0]

    async def _acquire(self) -> None:
        refused = Backoff(base=self._election.retry_period, cap=REFUSED_PAUSE, random=self._jitter)
        while not await self._try():
            if self.problem:
                await self._sleep(refused.next())
            else:
                await self._sleep(self._election.retry_period * (1 + JITTER * self._jitter()))

    async def _renew(self) -> None:
        """Returns when the lease could not be renewed in time."""
        renewed = self._clock()
        while True:
            await self._sleep(self._election.retry_period)
            try:
                async with asyncio.timeout(
                    max(0.1, self._election.renew_deadline - (self._clock() - renewed))
                ):
                    kept = await self._try()
            except TimeoutError:
                kept = False
            if kept:
                renewed = self._clock()
            elif not self.leads or self._clock() - renewed >= self._election.renew_deadline:
                log.error("lost the lease to %s", self.leader or "nobody")
                return

    async def _try(self) -> bool:
        """One attempt to take or keep the lease."""
        try:
            taken = await self._take_or_keep()
        except (ApiError, TransportError) as error:
            self._tell(error)
            return False
        self.problem = ""
        return taken

    def _tell(self, error: ApiError | TransportError) -> None:
        """A missing right is logged once; the client does the same for a server that does not answer."""
        election = self._election
        if isinstance(error, ApiError) and error.refused:
            lease = f"the Lease {election.name!r} in the namespace {election.namespace!r}"
            problem = missing_right(error, f"get, create and update {lease}")
            if problem != self.problem:
                log.error("%s; nothing is decided meanwhile", problem)
            self.problem = problem
            return
        expected = (isinstance(error, ApiError) and error.conflict) or (
            isinstance(error, TransportError) and not self.leads
        )
        log.log(logging.DEBUG if expected else logging.WARNING, "lease %s: %s", election.name, error)

    async def _take_or_keep(self) -> bool:
        election = self._election
        try:
            lease: dict[str, Any] = await self._client.get(LEASES, election.name, election.namespace)
        except ApiError as error:
            if not error.not_found:
                raise
            spec = self._spec({}, taking=True)
            metadata, sent = {"name": election.name, "namespace": election.namespace}, self._clock()
            try:
                self._observe(await self._client.create(LEASES, {"metadata": metadata, "spec": spec}))
                self._held_until = sent + election.renew_deadline
            except ApiError as refused:
                if refused.not_found:
                    raise ConfigError(
                        f"the namespace {election.namespace!r} of the lease does not exist"
                    ) from refused
                raise
            return True
        spec = lease.get("spec") or {}
        self._observe(lease)
        holder = spec.get("holderIdentity") or ""
        duration = spec.get("leaseDurationSeconds") or election.lease_duration
        if holder and holder != election.identity and self._clock() < self._observed_at + duration:
            return False
        lease["spec"] = self._spec(spec, taking=holder != election.identity)
        sent = self._clock()
        self._observe(await self._client.replace(LEASES, election.name, lease, election.namespace))
        self._held_until = sent + election.renew_deadline
        return True

    def _spec(self, old: dict[str, Any], taking: bool) -> dict[str, Any]:
        now = format_micro_time(self._now())
        return {
            **old,
            "holderIdentity": self._election.identity,
            "leaseDurationSeconds": max(1, int(self._election.lease_duration)),
            "renewTime": now,
            "acquireTime": now if taking else old.get("acquireTime", now),
            "leaseTransitions": int(old.get("leaseTransitions") or 0) + (1 if taking and old else 0),
        }

    def _observe(self, lease: dict[str, Any]) -> None:
        spec = lease.get("spec") or {}
        if spec != self._observed:
            self._observed = spec
            self._observed_at = self._clock()
        self.leader = spec.get("holderIdentity") or ""

    async def _release(self) -> None:
        """Best effort: if it fails the lease runs out by itself."""
        if not self.leads:
            return
        election = self._election
        try:
            lease = await self._client.get(LEASES, election.name, election.namespace)
            if (lease.get("spec") or {}).get("holderIdentity") != election.identity:
                return
            lease["spec"] = {
                **self._spec(lease["spec"], taking=False),
                "holderIdentity": "",
                "leaseDurationSeconds": 1,
            }
            await self._client.replace(LEASES, election.name, lease, election.namespace)
        except (ApiError, TransportError) as error:
            log.warning("could not release the lease: %s", error)
        self.leader = ""
