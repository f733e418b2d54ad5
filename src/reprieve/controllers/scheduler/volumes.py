"""Binds the claims of a pod that was placed: what is to be written is written, then waited for.

Every pod waits by itself, so a thousand wait at once. Each is looked at when what it waits for has changed;
that its node or the pod itself is gone is found by a look now and then.
"""

import asyncio
from collections import defaultdict
from contextlib import suppress

from reprieve.kube import Clock
from reprieve.objects import Object, storage
from reprieve.scheduler import ActionError, Actions, Bind, BindingFailed, Core

TIMEOUT = 600.0
"""How long a pod waits for its volumes, as in kube-scheduler."""
LOOK_EVERY = 1.0


class ClaimBinding:
    def __init__(self, core: Core, actions: Actions, clock: Clock, slots: asyncio.Semaphore) -> None:
        """`slots`: how many calls may be under way at once."""
        self._core = core
        self._actions = actions
        self._clock = clock
        self._slots = slots
        self._waiting: dict[str, dict[asyncio.Event, None]] = defaultdict(dict)
        """Who waits for a claim, by its key."""

    def observed(self, changed: Object) -> None:
        """The core has seen a change: whoever waits for this claim, or for this volume's claim, looks."""
        if not self._waiting:
            return
        if isinstance(changed, storage.PersistentVolumeClaim):
            key = changed.key
        elif isinstance(changed, storage.PersistentVolume) and changed.spec.claim_ref is not None:
            key = changed.spec.claim_ref.key
        else:
            return
        for event in self._waiting.get(key, ()):
            event.set()

    async def bind(self, bind: Bind) -> None:
        """Volumes first, then what is to be made; returns once every claim has its volume."""
        changed = asyncio.Event()
        keys = {each.claim.key for each in bind.claims}
        for key in keys:
            self._waiting[key][changed] = None
        try:
            written: dict[str, str] = {}
            async with self._slots:
                for each in bind.claims:
                    written[each.claim.key] = await self._actions.bind_claim(each, bind.node)
            await self._bound(bind, written, changed)
        finally:
            for key in keys:
                del self._waiting[key][changed]
                if not self._waiting[key]:
                    del self._waiting[key]

    async def _bound(self, bind: Bind, written: dict[str, str], changed: asyncio.Event) -> None:
        end = self._clock() + TIMEOUT
        while True:
            changed.clear()
            try:
                if self._core.claims_bound(bind, written):
                    return
            except BindingFailed as failed:
                raise ActionError(f"binding volumes: {failed}") from failed
            if self._clock() >= end:
                raise ActionError("binding volumes: context deadline exceeded")
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_EVERY):
                    await changed.wait()
            end = min(end, self._clock() + TIMEOUT)  # a clock that went back makes it no longer
