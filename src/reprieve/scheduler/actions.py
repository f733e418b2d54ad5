"""What the scheduler wants done, as data, and the one port through which it is done.

The core returns actions and never performs one. `Actions` is all that the shell knows of the outside; its live
implementation is `controllers.scheduler.api_actions`.

Pods and groups carry their UID, so that a namesake is never meant. `unit` names what the core was deciding about.
"""

from dataclasses import dataclass
from typing import Protocol

from reprieve.objects import Reference
from reprieve.scheduler.marks import Mark


@dataclass(frozen=True, slots=True)
class Bind:
    """Put a pod on a node.

    `insist`: the pod belongs to a gang, whose other pods are being bound as well: while the trouble may pass, do not give up.
    """

    unit: Reference
    pod: Reference
    node: str
    insist: bool = False


@dataclass(frozen=True, slots=True)
class Nominate:
    """Promise a node to a waiting pod; an empty node takes the promise back. A message says why it still waits."""

    pod: Reference
    node: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class BindGang:
    """Promise every pod its place, then bind them all. In this order, so that after a crash in the middle whoever comes next finds
    the places of the rest kept."""

    nominations: tuple[Nominate, ...]
    binds: tuple[Bind, ...]


@dataclass(frozen=True, slots=True)
class Evicted:
    """One victim: who it is, where it runs, why it must go."""

    pod: Reference
    node: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Preempt:
    """Promise the places, then mark every victim, then delete every victim. In this order, so that after a crash the
    objects alone tell what was meant: a promise without marks is not yet a preemption, and no victim is deleted before all of them
    carry the mark.
    """

    unit: Reference
    preemptor: Reference
    nominations: tuple[Nominate, ...]
    victims: tuple[Evicted, ...]
    mark: Mark


@dataclass(frozen=True, slots=True)
class Release:
    """Mark, then delete, the bound pods of a gang that cannot be completed (`incomplete.py`)."""

    unit: Reference
    group: Reference
    pods: tuple[Evicted, ...]
    mark: Mark


@dataclass(frozen=True, slots=True)
class Reprieve:
    """Take the mark off a pod that was to be evicted and is not."""

    pod: Reference
    message: str


@dataclass(frozen=True, slots=True)
class SetPodCondition:
    """`PodScheduled` false, and why."""

    pod: Reference
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class SetGroupCondition:
    group: Reference
    type: str
    status: str
    reason: str
    message: str
    generation: int = 0


@dataclass(frozen=True, slots=True)
class Emit:
    """An event that people see."""

    regarding: Reference
    reason: str
    note: str
    action: str
    warning: bool = False
    related: Reference | None = None
    by: str = ""
    """The scheduler in whose name it is told, if we have several."""


Action = (
    Bind | BindGang | Nominate | Preempt | Release | Reprieve | SetPodCondition | SetGroupCondition | Emit
)


class ActionError(Exception):
    """An action that did not happen, after all retries. `gone`: its object does not exist (any more)."""

    def __init__(self, message: str, *, gone: bool = False) -> None:
        super().__init__(message)
        self.gone = gone


class Actions(Protocol):
    """One method for each verb. They return when it has happened and raise `ActionError` when it has not."""

    async def bind(self, bind: Bind) -> None: ...

    async def nominate(self, nomination: Nominate) -> None: ...

    async def mark(self, victim: Reference, mark: Mark) -> None: ...

    async def delete(self, victim: Reference) -> None: ...

    async def reprieve(self, pod: Reference, message: str) -> None: ...

    async def set_pod_condition(self, condition: SetPodCondition) -> None: ...

    async def set_group_condition(self, condition: SetGroupCondition) -> None: ...

    def emit(self, event: Emit) -> None: ...
