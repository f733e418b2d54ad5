"""ResourceQuotas at the door: a write that uses more than a quota allows is refused, others are charged.

The usage is in the quota's own status, written in the same step as the object it is charged for, so that no
two writes can share what is left. `controllers.resource_quotas` counts again when something goes.
"""

from datetime import datetime

from reprieve.objects import Document
from reprieve.server.errors import ApiError, forbidden
from reprieve.server.quota_usage import (
    Usage,
    concerns,
    has_deadline,
    in_scope,
    parse,
    show,
    unstated,
    usage_of,
)
from reprieve.server.registry import ResourceInfo
from reprieve.server.storage import DELETED, Change, Record, Store

QUOTAS = "resourcequotas"


class Quotas:
    """The quotas of each namespace that has any; others pay one lookup."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._names: dict[str, set[str]] = {}
        for record in store.collection(QUOTAS).scan(None):
            self._names.setdefault(record.namespace, set()).add(record.name)
        store.listen(self._follow)

    def _follow(self, changes: list[Change]) -> None:
        for change in changes:
            if change.record.storage_key != QUOTAS:
                continue
            names = self._names.setdefault(change.record.namespace, set())
            if change.type == DELETED:
                names.discard(change.record.name)
            else:
                names.add(change.record.name)
            if not names:
                del self._names[change.record.namespace]

    def apply_to(self, namespace: str) -> bool:
        return namespace in self._names

    def charge(
        self, resource: ResourceInfo, document: Document, old: Document | None, now: datetime, dry_run: bool
    ) -> None:
        """Charge every quota that the write concerns, or refuse it with 403."""
        namespace = document["metadata"].get("namespace", "")
        if namespace not in self._names or not _is_charged(resource, document, old):
            return
        charged = []
        for name in sorted(self._names[namespace]):
            record = self._store.head(QUOTAS, namespace, name)
            if record is not None:
                charged.append(_charged(resource, record, document, old, now))
        for quota in charged:
            if quota is not None and not dry_run:
                self._store.put(QUOTAS, namespace, quota["metadata"]["name"], quota)


def _is_charged(resource: ResourceInfo, document: Document, old: Document | None) -> bool:
    """Every new object; of changes only those that can change what is used."""
    if old is None:
        return True
    if resource.storage_key == "pods":
        return has_deadline(document) != has_deadline(old)
    return resource.storage_key in ("services", "persistentvolumeclaims")


def _charged(
    resource: ResourceInfo, record: Record, document: Document, old: Document | None, now: datetime
) -> Document | None:
    """The quota after the write; None if it does not concern it."""
    quota, key = record.object, resource.storage_key
    status = quota.get("status") or {}
    hard, used = parse(status.get("hard") or {}), parse(status.get("used") or {})
    names = concerns(key, hard, pod_like=key == "pods")
    if not names or not in_scope(quota, key, document):
        return None
    problem = unstated(document, names) if key == "pods" else ""
    if problem:
        raise _refusal(resource, document, f"failed quota: {record.name}: {problem}")
    if any(name not in used for name in names):
        text = f"status unknown for quota: {record.name}, resources: {','.join(sorted(names))}"
        raise _refusal(resource, document, text)
    more = usage_of(key, document, now)
    if old is not None and in_scope(quota, key, old):
        before = usage_of(key, old, now)
        more = {name: max(0, number - before.get(name, 0)) for name, number in more.items()}
    asked = {name: number for name, number in more.items() if number and name in names}
    exceeded = sorted(name for name, number in asked.items() if used[name] + number > hard[name])
    if exceeded:
        said = (
            f"exceeded quota: {record.name}, requested: {_listed(asked, exceeded)}, "
            f"used: {_listed(used, exceeded)}, limited: {_listed(hard, exceeded)}"
        )
        raise _refusal(resource, document, said)
    if not asked:
        return None
    total = {name: number + asked.get(name, 0) for name, number in used.items()}
    quota["status"] = {**status, "used": {**(status.get("used") or {}), **show(total)}}
    return quota


def _refusal(resource: ResourceInfo, document: Document, text: str) -> ApiError:
    return forbidden(resource.group, resource.plural, document["metadata"].get("name", ""), text)


def _listed(usage: Usage, names: list[str]) -> str:
    shown = show({name: usage[name] for name in names})
    return ",".join(f"{name}={shown[name]}" for name in names)
