"""Writing workloads: one write at a time for each, each on the version that it was decided on."""

import asyncio
import logging
from collections.abc import Callable

from reprieve.controllers.quota.observed import Observed
from reprieve.controllers.quota.status import status_patch
from reprieve.kube import KUEUE_WORKLOADS, ApiError, Client, TransportError
from reprieve.objects import Document, Workload, split_key, well_known

log = logging.getLogger(__name__)

Decide = Callable[[Workload], Workload]


class WorkloadWrites:
    """What the API server answers counts at once, as if the watch had brought it."""

    def __init__(self, client: Client, seen: Observed, look_again: Callable[[str], None]) -> None:
        """`look_again` is told the key of a workload whose write failed or may have."""
        self._client = client
        self._seen = seen
        self._look_again = look_again
        self._locks: dict[str, asyncio.Lock] = {}

    async def status(self, key: str, decide: Decide, gates: bool = False) -> None:
        """Write what `decide` makes of the workload as it is known when its turn comes.

        What was decided counts at once; if the write is refused, what is true counts again.
        """
        async with self._locks.setdefault(key, asyncio.Lock()):
            raw, known = self._seen.raw.get(key), self._seen.workloads.get(key)
            if raw is None or known is None:
                return
            patch = status_patch(raw, known, decide(known))
            if not gates:
                patch.pop("preemptionGates", None)
            if patch:
                await self._send(key, raw, patch)

    async def _send(self, key: str, raw: Document, patch: Document) -> None:
        namespace, name = split_key(key)
        body = {"metadata": {"resourceVersion": raw["metadata"]["resourceVersion"]}, "status": patch}
        self._seen.writing.add(key)
        try:
            answer = await self._client.patch(KUEUE_WORKLOADS, name, body, namespace, subresource="status")
        except (ApiError, TransportError) as error:
            log.info("%s: decided on the past, looking again: %s", key, error)
            self._look_again(key)
            return
        finally:
            self._seen.writing.discard(key)
        self._seen.see_workload(answer)

    async def reread(self, key: str) -> None:
        """Read the workload after a write that failed or may have; until then the decision counts."""
        namespace, name = split_key(key)
        try:
            found = await self._client.get(KUEUE_WORKLOADS.raw(), name, namespace)
        except ApiError as error:
            if not error.not_found:
                raise
            self._seen.forget_workload(key)
        else:
            self._seen.see_workload(found, again=True)

    async def note_gate(self, key: str, note: str) -> None:
        """Note that the gate was seen opening; only then may it be obeyed."""
        metadata = {
            "resourceVersion": self._seen.raw[key]["metadata"]["resourceVersion"],
            "annotations": {well_known.GATE_SEEN_ANNOTATION: note},
        }
        await self._patch(key, {"metadata": metadata})

    async def deactivate(self, key: str) -> None:
        await self._patch(key, {"spec": {"active": False}})

    async def _patch(self, key: str, body: Document) -> None:
        namespace, name = split_key(key)
        self._seen.see_workload(await self._client.patch(KUEUE_WORKLOADS, name, body, namespace))

    def forget(self, key: str) -> None:
        self._locks.pop(key, None)
