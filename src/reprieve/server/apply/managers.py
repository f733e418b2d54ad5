"""`metadata.managedFields`: who owns which fields, read from and written to documents."""

from datetime import datetime
from typing import Any

import msgspec

from reprieve.objects import format_time
from reprieve.server.apply import fieldset
from reprieve.server.apply.fieldset import FieldSet

APPLY = "Apply"
UPDATE = "Update"
MAX_UPDATERS = 10
"""As upstream: the oldest of more updaters than this are folded into one, so that the list stays short."""
ANCIENT = "ancient-changes"


class Owner(msgspec.Struct, frozen=True, kw_only=True):
    """One entry. `identity` tells entries apart; a manager may own fields by applying and by updating."""

    manager: str
    operation: str
    api_version: str
    subresource: str = ""
    time: str = ""
    fields: FieldSet = frozenset()

    @property
    def identity(self) -> tuple[str, str, str, str]:
        version = self.api_version if self.operation == UPDATE else ""
        return self.manager, self.operation, self.subresource, version

    def describe(self) -> str:
        """How a conflict names it."""
        text = f'"{self.manager}"'
        if self.subresource:
            text += f' with subresource "{self.subresource}"'
        if self.operation == UPDATE:
            text += f" using {self.api_version}"
            if self.time:
                text += f" at {self.time}"
        return text

    def owning(self, fields: FieldSet) -> "Owner":
        return msgspec.structs.replace(self, fields=fields)

    def at(self, now: datetime) -> "Owner":
        return msgspec.structs.replace(self, time=stamp(now))


def stamp(now: datetime) -> str:
    return format_time(now.replace(microsecond=0))


def read(metadata: dict[str, Any]) -> list[Owner]:
    """The owners named by a document's metadata; entries that make no sense are dropped."""
    entries = metadata.get("managedFields")
    if not isinstance(entries, list):
        return []
    return [_owner(e) for e in entries if isinstance(e, dict) and e.get("operation") in (APPLY, UPDATE)]


def _owner(entry: dict[str, Any]) -> Owner:
    return Owner(
        manager=str(entry.get("manager", "")),
        operation=entry["operation"],
        api_version=str(entry.get("apiVersion", "")),
        subresource=str(entry.get("subresource", "")),
        time=str(entry.get("time", "")),
        fields=fieldset.parse(entry.get("fieldsV1")),
    )


def write(owners: list[Owner]) -> list[dict[str, Any]]:
    """Entries in upstream's order: appliers first, then by time, manager and subresource. Empty ones are left out."""
    kept = _fold([owner for owner in owners if owner.fields])
    kept.sort(key=lambda o: (o.operation, o.time, o.manager, o.subresource))
    return [_entry(owner) for owner in kept]


def _fold(owners: list[Owner]) -> list[Owner]:
    updaters = sorted((o for o in owners if o.operation == UPDATE), key=lambda o: (o.time, o.manager))
    surplus = len(updaters) - MAX_UPDATERS
    if surplus <= 0:
        return owners
    oldest = updaters[: surplus + 1]
    fields = frozenset().union(*(o.fields for o in oldest))
    folded = msgspec.structs.replace(oldest[-1], manager=ANCIENT, subresource="", fields=fields)
    return [o for o in owners if o not in oldest] + [folded]


def _entry(owner: Owner) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "manager": owner.manager,
        "operation": owner.operation,
        "apiVersion": owner.api_version,
    }
    if owner.time:
        entry["time"] = owner.time
    entry["fieldsType"] = "FieldsV1"
    entry["fieldsV1"] = fieldset.encode(owner.fields)
    if owner.subresource:
        entry["subresource"] = owner.subresource
    return entry
