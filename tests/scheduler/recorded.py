"""The scheduler's actions, noted instead of performed."""

from dataclasses import dataclass, field

from reprieve.objects import Reference, ResourceClaim
from reprieve.scheduler.actions import (
    ActionError,
    Bind,
    BindClaim,
    Emit,
    FreeClaim,
    Nominate,
    SetGroupCondition,
    SetPodCondition,
    UseDevices,
    Wanted,
)
from reprieve.scheduler.marks import Mark


@dataclass
class Recorded:
    """Notes every call as (verb, key, detail) and refuses those that a test names."""

    calls: list[tuple[str, str, str]] = field(default_factory=list)
    refuse: set[tuple[str, str]] = field(default_factory=set)

    def _note(self, verb: str, key: str, detail: str = "") -> None:
        self.calls.append((verb, key, detail))
        if (verb, key) in self.refuse:
            raise ActionError(f"{verb} {key} refused")

    async def bind(self, bind: Bind) -> None:
        self._note("bind", bind.pod.key, bind.node)

    async def use_devices(self, use: UseDevices, pod: Reference) -> ResourceClaim:
        self._note("use-devices", use.claim.key, pod.key)
        return ResourceClaim()

    async def unuse_devices(self, use: UseDevices, pod: Reference) -> ResourceClaim | None:
        self._note("unuse-devices", use.claim.key, pod.key)
        return None

    async def free_claim(self, free: FreeClaim) -> None:
        self._note("free-claim", free.claim.key)

    async def bind_claim(self, bind: BindClaim, node: str) -> str:
        self._note("bind-claim", bind.claim.key, node)
        return "1"

    async def nominate(self, nomination: Nominate) -> None:
        self._note("nominate", nomination.pod.key, nomination.node)

    async def mark(self, victim: Reference, mark: Mark) -> str:
        self._note("mark", victim.key, f"{mark.reason}: {mark.message}")
        return "1"

    async def delete(self, victim: Reference, mark: Mark, version: str, wanted: Wanted) -> None:
        if not wanted():
            raise ActionError("not wanted")
        self._note("delete", victim.key)

    async def reprieve(self, pod: Reference, message: str) -> None:
        self._note("reprieve", pod.key, message)

    async def set_pod_condition(self, condition: SetPodCondition) -> None:
        self._note("pod-condition", condition.pod.key, condition.reason)

    async def set_group_condition(self, condition: SetGroupCondition) -> None:
        self._note("group-condition", condition.group.key, f"{condition.type}={condition.status}")

    def emit(self, event: Emit) -> None:
        self.calls.append(("emit", event.regarding.key, event.reason))
