"""What every operation works on: storage, the registry of resources, admission, watchers, the clock."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from reprieve.config import Configuration
from reprieve.objects import format_time
from reprieve.server.admission import Admission
from reprieve.server.errors import not_found
from reprieve.server.queues import StopsAtCreation
from reprieve.server.quotas import Quotas
from reprieve.server.registry import Registry, ResourceInfo
from reprieve.server.resources import builtin_resources
from reprieve.server.storage import Record, Store
from reprieve.server.watch import Hub

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    return datetime.now(UTC)


class WriteOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Options of a write, beside its content."""

    dry_run: bool = False
    manager: str = ""
    force: bool = False
    """Server-side apply takes fields over from other managers."""
    with_status: bool = False
    """The status is written, too, and nobody sees one without the other: for controllers of this server."""


class DeleteOptions(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The body of a DELETE; unset members have the kind's defaults."""

    grace_period_seconds: int | None = None
    propagation_policy: str | None = None
    orphan_dependents: bool | None = None
    preconditions: dict[str, str] | None = None
    dry_run: list[str] | None = None


class Backend:
    def __init__(
        self,
        directory: Path | None = None,
        *,
        history: int = 20_000,
        clock: Clock = utc_now,
        configuration: Configuration | None = None,
        quota: bool = False,
    ) -> None:
        """`quota`: a quota controller runs beside the server; what needs quota is stopped when created."""
        configuration = configuration or Configuration.load(None)
        self.store = Store(directory, history)
        self.registry = Registry(builtin_resources())
        self.hub = Hub(self.store)
        self.quotas = Quotas(self.store)
        stop = StopsAtCreation(self.store, configuration) if quota else None
        self.admission = Admission(self.store, configuration, self.quotas, stop)
        self.clock = clock
        self._second = (datetime.min.replace(tzinfo=UTC), "")

    def timestamp(self) -> str:
        """Now, as documents write it: whole seconds."""
        now = self.clock().replace(microsecond=0)
        if now != self._second[0]:
            self._second = (now, format_time(now))
        return self._second[1]

    def existing(self, resource: ResourceInfo, namespace: str, name: str) -> Record:
        """The state that a write must build on, or 404."""
        record = self.store.head(resource.storage_key, namespace, name)
        if record is None:
            raise not_found(resource.group, resource.plural, name)
        return record
