"""What the scheduler wants done, as data, and the one port through which it is done.

The core returns actions and never performs one. `Actions` is the port; its live implementation is
`controllers.scheduler.api_actions`.

Pods and groups carry their UID, so that an action never hits a new object of the same name. `unit` is what
the core decided on.
"""

from collections.abc import Callable
from typing import Protocol

import msgspec

from reprieve.objects import Allocation, ConsumerReference, Reference, ResourceClaim
from reprieve.placement import ExtendedClaim
from reprieve.scheduler.marks import Mark


class BindClaim(msgspec.Struct, frozen=True):
    """Give a claim a volume, or have one made for it on the pod's node.

    `version` is that of the object that is written: whoever changed it since then wins.
    """

    claim: Reference
    volume: str
    """Empty: one is to be made."""
    version: str
    kept: bool = False
    """The volume was meant for the claim already."""


class UseDevices(msgspec.Struct, frozen=True):
    """Reserve a ResourceClaim for the pod and, where it has no allocation yet, write the one decided on."""

    claim: Reference
    allocation: Allocation | None
    """None: it was allocated before; only the user is added."""
    user: ConsumerReference
    """The pod, or its group where the claim is the group's."""
    extended: ExtendedClaim | None = None
    """The claim does not exist yet: it is made for the extended resources of the pod."""


class FreeClaim(msgspec.Struct, frozen=True):
    """Take the allocation from a claim that nobody uses, so that its devices can be chosen anew.

    `version` is that of the claim as it was looked at: whoever began to use it since then keeps it.
    """

    claim: Reference
    version: str
    delete: bool = False
    """It was made for the extended resources of a pod, and is made anew."""


class Bind(msgspec.Struct, frozen=True):
    """Bind a pod to a node, once its claims are bound: `claims` are those for which something is to be done.

    `insist`: other pods of its gang are being bound as well, so retry transient errors without limit.
    """

    unit: Reference
    pod: Reference
    node: str
    insist: bool = False
    claims: tuple[BindClaim, ...] = ()
    devices: tuple[UseDevices, ...] = ()


class Nominate(msgspec.Struct, frozen=True):
    """Nominate a node for a waiting pod; an empty one withdraws the nomination. `message`: why it waits."""

    pod: Reference
    node: str
    message: str = ""


class BindGang(msgspec.Struct, frozen=True):
    """Nominate every pod's node, then bind them all: after a crash in between, nodes stay set aside for the
    rest."""

    nominations: tuple[Nominate, ...]
    binds: tuple[Bind, ...]


class Evicted(msgspec.Struct, frozen=True):
    """A pod to evict: its node, and the reason for people."""

    pod: Reference
    node: str
    reason: str = ""


class Preempt(msgspec.Struct, frozen=True):
    """Nominate, then mark every victim, then delete every victim.

    In this order the API objects alone show how far a preemption got: nominations without marks are not yet a
    preemption, and no victim is deleted before all of them carry the mark.
    """

    unit: Reference
    preemptor: Reference
    nominations: tuple[Nominate, ...]
    victims: tuple[Evicted, ...]
    mark: Mark


class Release(msgspec.Struct, frozen=True):
    """Mark, then delete, the bound pods of a gang that cannot be completed (`incomplete.py`)."""

    unit: Reference
    group: Reference
    pods: tuple[Evicted, ...]
    mark: Mark


class Reprieve(msgspec.Struct, frozen=True):
    """Take the mark off a pod that is not going to be evicted after all."""

    pod: Reference
    message: str


class SetPodCondition(msgspec.Struct, frozen=True):
    """`PodScheduled` is false, and why."""

    pod: Reference
    reason: str
    message: str


class SetGroupCondition(msgspec.Struct, frozen=True):
    group: Reference
    type: str
    status: str
    reason: str
    message: str
    generation: int = 0


class Emit(msgspec.Struct, frozen=True):
    """An event that people see."""

    regarding: Reference
    reason: str
    note: str
    action: str
    warning: bool = False
    related: Reference | None = None
    by: str = ""
    """The scheduler name to report it under, if we have several."""


Action = (
    Bind
    | BindGang
    | FreeClaim
    | Nominate
    | Preempt
    | Release
    | Reprieve
    | SetPodCondition
    | SetGroupCondition
    | Emit
)


class ActionError(Exception):
    """An action that failed after all retries. `gone`: its object does not exist any more."""

    def __init__(self, message: str, *, gone: bool = False) -> None:
        super().__init__(message)
        self.gone = gone


Wanted = Callable[[], bool]


class Actions(Protocol):
    """One method for each verb: returns when it is done, raises `ActionError` when it failed."""

    async def bind(self, bind: Bind) -> None: ...

    async def use_devices(self, use: UseDevices, pod: Reference) -> ResourceClaim:
        """Returns the claim as it is now."""

    async def unuse_devices(self, use: UseDevices, pod: Reference) -> ResourceClaim | None:
        """The pod could not be bound. Returns the claim as it is now; None: it does not exist.

        Does not give up before it knows: what may be written holds its devices.
        """

    async def free_claim(self, free: FreeClaim) -> None: ...

    async def bind_claim(self, bind: BindClaim, node: str) -> str:
        """Writes what binds the claim; returns the version of the object that was written."""

    async def nominate(self, nomination: Nominate) -> None: ...

    async def mark(self, victim: Reference, mark: Mark) -> str:
        """Returns the version of the pod that carries the mark."""

    async def delete(self, victim: Reference, mark: Mark, version: str, wanted: Wanted) -> None:
        """Only while it carries this mark, and while it is `wanted`, asked right before each attempt."""

    async def reprieve(self, pod: Reference, message: str) -> None: ...

    async def set_pod_condition(self, condition: SetPodCondition) -> None: ...

    async def set_group_condition(self, condition: SetGroupCondition) -> None: ...

    def emit(self, event: Emit) -> None: ...
