"""Conditions as Kubernetes keeps them: one of each type, and its transition time moves only with its status.

Typed conditions are found and replaced (`find_condition`, `with_condition`). Those of raw documents are found
(`condition_of`) and written in place: `set_condition` takes a whole object, `put_condition` a status and a
timestamp.
"""

from datetime import datetime
from typing import Any

from reprieve.objects.meta import Condition, Document
from reprieve.objects.times import format_time

Conditions = tuple[Condition, ...]

_LONGEST_MESSAGE = 32 * 1024
"""What the API allows."""


def find_condition(conditions: Conditions, type: str) -> Condition | None:
    """The first condition of this type, as Kubernetes looks them up."""
    for condition in conditions:
        if condition.type == type:
            return condition
    return None


def condition_of(document: Document | None, type: str) -> Document:
    """The condition of this type in a raw document, empty if there is none. Documents of any shape are
    taken.
    """
    status = document.get("status") if document else None
    conditions = status.get("conditions") if isinstance(status, dict) else None
    for entry in conditions if isinstance(conditions, list) else ():
        if isinstance(entry, dict) and entry.get("type") == type:
            return entry
    return {}


def has_condition(document: Document | None, type: str) -> bool:
    """Whether the condition of this type is True."""
    return bool(condition_of(document, type).get("status") == "True")


def with_condition(
    conditions: Conditions,
    type: str,
    status: bool,
    reason: str,
    message: str,
    now: datetime,
    generation: int = 0,
) -> Conditions:
    """The conditions with this one set."""
    text = "True" if status else "False"
    old = find_condition(conditions, type)
    since = old.last_transition_time if old is not None and old.status == text else now
    new = Condition(
        type=type,
        status=text,
        reason=reason,
        message=_shortened(message),
        last_transition_time=since,
        observed_generation=generation,
    )
    if old is None:
        return (*conditions, new)
    return tuple(new if each is old else each for each in conditions)


def set_condition(
    document: Document, type: str, status: bool, reason: str, message: str, now: datetime
) -> bool:
    """Write a condition into an object's status; false if it was there already."""
    condition: Document = {"type": type, "status": "True" if status else "False"}
    condition |= {"reason": reason, "message": _shortened(message)}
    generation = (document.get("metadata") or {}).get("generation")
    if generation is not None:
        condition["observedGeneration"] = generation
    stamp = format_time(now.replace(microsecond=0))
    return put_condition(document.setdefault("status", {}), stamp, **condition)


def put_condition(status: Document, now: str, /, **condition: Any) -> bool:
    """Put a condition in place of the one of its type; false if it was there already.

    A new `observedGeneration` is recorded, but is no reason to write.
    """
    conditions: list[Document] = status.setdefault("conditions", [])
    for index, old in enumerate(conditions):
        if old.get("type") == condition["type"]:
            stays = old.get("status") == condition["status"]
            since = old.get("lastTransitionTime", now) if stays else now
            conditions[index] = {**condition, "lastTransitionTime": since}
            return any(
                old.get(field) != value for field, value in condition.items() if field != "observedGeneration"
            )
    conditions.append({**condition, "lastTransitionTime": now})
    return True


def _shortened(message: str) -> str:
    return message if len(message) <= _LONGEST_MESSAGE else message[: _LONGEST_MESSAGE - 3] + "..."
