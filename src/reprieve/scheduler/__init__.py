"""The scheduler as a pure state machine: observations in, actions out. No I/O, no clock; `controllers.scheduler` is its live shell.

core                        the front of the machine
waiting, queue, wakeups     which pods wait, which unit is next, which change helps whom
intake                      every change of an object, into the cluster, the waiting pods and the queue
cycles, feasibility         one decision, and whether nominated nodes are still good
results                     how actions ended
nominations, preemptions    nominations and evictions under way
incomplete                  gangs that were begun and not finished
marks, recovery             what a crash leaves in the API objects, and how it is finished or undone
actions                     actions as data, and the port through which they are performed
status                      conditions and events
"""

from reprieve.scheduler import marks, status
from reprieve.scheduler.actions import (
    Action,
    ActionError,
    Actions,
    Bind,
    BindGang,
    Emit,
    Evicted,
    Nominate,
    Preempt,
    Release,
    Reprieve,
    SetGroupCondition,
    SetPodCondition,
)
from reprieve.scheduler.core import Core, CycleResult
from reprieve.scheduler.marks import Mark
from reprieve.scheduler.queue import State
from reprieve.scheduler.waiting import instant

__all__ = [
    "Action",
    "ActionError",
    "Actions",
    "Bind",
    "BindGang",
    "Core",
    "CycleResult",
    "Emit",
    "Evicted",
    "Mark",
    "Nominate",
    "Preempt",
    "Release",
    "Reprieve",
    "SetGroupCondition",
    "SetPodCondition",
    "State",
    "instant",
    "marks",
    "status",
]
