"""Why a node, or every node, refuses a pod: a code and its values. The sentence is made where it is shown."""

from collections.abc import Callable
from enum import Enum
from typing import NamedTuple

from reprieve.placement.sentences import devices, filters, volumes


class Code(Enum):
    """What a filter objects to."""

    def __init__(self, said: str | Callable[..., str]) -> None:
        self.said = said

    __hash__ = object.__hash__  # that of `Enum` looks the name up each time

    # A node's objection.
    CORDONED = (filters.CORDONED,)
    TAINTED = (filters.TAINTED,)
    NOT_SELECTED = (filters.NOT_SELECTED,)
    OUTSIDE = (filters.OUTSIDE,)
    PORTS_TAKEN = (filters.PORTS_TAKEN,)
    TOO_MANY_PODS = (filters.TOO_MANY_PODS,)
    INSUFFICIENT = (filters.insufficient,)
    SPREAD_LABEL = (filters.SPREAD_LABEL,)
    SPREAD_SKEW = (filters.SPREAD_SKEW,)
    AFFINITY = (filters.AFFINITY,)
    ANTI_AFFINITY = (filters.ANTI_AFFINITY,)
    VETOED = (filters.VETOED,)
    KEPT = (filters.KEPT,)
    VOLUME_FAR = (volumes.FAR,)
    NO_VOLUME = (volumes.NOTHING,)
    STORAGE_FULL = (volumes.FULL,)
    VOLUME_LOST = (volumes.LOST,)
    VOLUME_ZONE = (volumes.ZONE,)
    TOO_MANY_VOLUMES = (volumes.TOO_MANY,)
    DISK_IN_USE = (volumes.DISK,)
    CLAIM_IN_USE = (volumes.IN_USE,)
    DRIVER_NOT_INSTALLED = (volumes.driver_not_installed,)
    CANNOT_ALLOCATE = (devices.CANNOT_ALLOCATE,)
    INVALID_POOLS = (devices.INVALID_POOLS,)
    CLAIM_UNAVAILABLE = (devices.UNAVAILABLE,)
    STALE_EXTENDED = (devices.STALE_EXTENDED,)

    # What keeps the pod from every node.
    CONFLICT = (filters.CONFLICT,)
    UNBOUND_IMMEDIATE = (volumes.IMMEDIATE,)
    VOLUME_NOT_FOUND = (volumes.volume_not_found,)
    VOLUME_CLAIM_NOT_FOUND = (volumes.claim_not_found,)
    VOLUME_CLAIM_NOT_MADE = (volumes.claim_not_made_yet,)
    VOLUME_CLAIM_LOST = (volumes.claim_lost_its_volume,)
    VOLUME_CLAIM_DELETED = (volumes.claim_is_being_deleted,)
    VOLUME_CLAIM_OF_ANOTHER = (volumes.claim_of_another_pod,)
    CLAIM_NAMES_NOTHING = (devices.claim_names_nothing,)
    CLAIM_NOT_MADE = (devices.claim_not_made_yet,)
    CLAIM_NOT_FOUND = (devices.claim_not_found,)
    CLAIM_DELETED = (devices.claim_is_being_deleted,)
    CLAIM_OF_ANOTHER_POD = (devices.claim_of_another_pod,)
    CLAIM_OF_ANOTHER_GROUP = (devices.claim_of_another_group,)
    CLAIM_BEING_ALLOCATED = (devices.claim_is_being_allocated,)
    UNKNOWN_REQUEST_TYPE = (devices.unknown_request_type,)
    NO_SUCH_CLASS = (devices.no_such_class,)
    ATTEMPT_FAILS = (filters.attempt_fails,)
    """A filter cannot tell. The value is what it says."""


class Reason(NamedTuple):
    code: Code
    values: tuple[str, ...] = ()

    @property
    def is_capacity(self) -> bool:
        """A resource is short, or the number of pods that the node takes."""
        return self.code in (Code.INSUFFICIENT, Code.TOO_MANY_PODS)

    def __str__(self) -> str:
        said = self.code.said
        return said if isinstance(said, str) else said(*self.values)
