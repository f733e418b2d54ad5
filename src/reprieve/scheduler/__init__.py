"""The scheduler as a pure state machine: observations in, actions out. It does no I/O and reads no clock;
`controllers.scheduler` runs it against an API server.

core                       the machine's front: observe, cycle, results, recover
memory                     the state that the parts below share; all of it can be rebuilt from the API
intake, wakeups            each change of an object, and which waiting units it can help
waiting, queue             the waiting pods, their units, and the unit to try next
cycles                     one decision and the actions that follow from it
results                    how those actions ended
nominations, preemptions   nodes set aside for waiting pods, and victims that are on their way out
incomplete                 gangs of which only a part is bound
devices                    ResourceClaims on their way to a pod, and those that nobody uses
volumes                    claims on their way to a volume, and what is reserved meanwhile
holds                      pods that wait for quota
reports                    what pods are told that no cycle has looked at
marks, recovery            what an interrupted preemption leaves in the API, finished or undone
actions, status            actions as data and the port that performs them; conditions and events
"""

from reprieve.scheduler import marks, status
from reprieve.scheduler import sentences as scheduler_texts
from reprieve.scheduler.actions import (
    Action,
    ActionError,
    Actions,
    Bind,
    BindClaim,
    BindGang,
    Emit,
    Evicted,
    FreeClaim,
    Nominate,
    Preempt,
    Release,
    Reprieve,
    SetGroupCondition,
    SetPodCondition,
    UseDevices,
    Wanted,
)
from reprieve.scheduler.core import Core, CycleResult
from reprieve.scheduler.devices import DevicesFailed
from reprieve.scheduler.marks import Mark
from reprieve.scheduler.queue import State
from reprieve.scheduler.volumes import BindingFailed
from reprieve.scheduler.waiting import instant

__all__ = [
    "Action",
    "ActionError",
    "Actions",
    "Bind",
    "BindClaim",
    "BindGang",
    "BindingFailed",
    "Core",
    "CycleResult",
    "DevicesFailed",
    "Emit",
    "Evicted",
    "FreeClaim",
    "Mark",
    "Nominate",
    "Preempt",
    "Release",
    "Reprieve",
    "SetGroupCondition",
    "SetPodCondition",
    "State",
    "UseDevices",
    "Wanted",
    "instant",
    "marks",
    "scheduler_texts",
    "status",
]
