"""Conditions of a workload: how they change, never when."""

from datetime import datetime

import msgspec

from reprieve.objects import Condition, Workload, WorkloadStatus, find_condition

LONGEST_MESSAGE = 32 * 1024
Conditions = tuple[Condition, ...]


def with_condition(
    conditions: Conditions,
    type: str,
    status: bool,
    reason: str,
    message: str,
    now: datetime,
    generation: int = 0,
) -> Conditions:
    """The conditions with this one set; its time moves only when its status does."""
    text = "True" if status else "False"
    old = find_condition(conditions, type)
    since = old.last_transition_time if old is not None and old.status == text else now
    new = Condition(
        type=type,
        status=text,
        reason=reason,
        message=shortened(message),
        last_transition_time=since,
        observed_generation=generation,
    )
    if old is None:
        return (*conditions, new)
    return tuple(new if each is old else each for each in conditions)


def shortened(message: str, longest: int = LONGEST_MESSAGE) -> str:
    if len(message) <= longest:
        return message
    return message[: longest - 3] + "..."


def turned_off(
    conditions: Conditions, type: str, reason: str, now: datetime, generation: int = 0
) -> Conditions:
    """A True condition becomes False and says what it was."""
    old = find_condition(conditions, type)
    if old is None or old.status != "True":
        return conditions
    return with_condition(conditions, type, False, reason, f"Previously: {old.message}", now, generation)


def with_status(workload: Workload, **changes: object) -> Workload:
    status: WorkloadStatus = msgspec.structs.replace(workload.status, **changes)
    return msgspec.structs.replace(workload, status=status)
