"""A plan for a pod or a pod group, over manifests."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from reprieve.cluster import Cluster, ticks
from reprieve.config import Configuration
from reprieve.objects import (
    Document,
    InvalidObject,
    LabelSelector,
    Object,
    PodGroup,
    Reference,
    ReprieveError,
    Source,
    decode_all,
    document_of,
    parse_time,
)
from reprieve.preemption import Plan, decide
from reprieve.whatif.warnings import warnings

_MAPS = ("Service", "ReplicationController")
_SELECTORS = ("ReplicaSet", "StatefulSet")


def plan_unit(
    objects: Iterable[Document | Source],
    for_: Reference,
    config: Mapping[str, Any] | None = None,
    now: str | datetime | None = None,
) -> Plan:
    """Who makes way for a pod or pod group. Without `now` the present moment counts."""
    moment = parse_time(now) if isinstance(now, str) else now or datetime.now(UTC)
    cluster = load(objects)
    plan = decide(cluster, for_, Configuration.load(config), ticks(moment), alternatives=True)
    return msgspec.structs.replace(plan, reasons=(*plan.reasons, *warnings(cluster)))


def load(objects: Iterable[Document | Source]) -> Cluster:
    """A cluster of these objects.

    Manifests do not say whether a scheduler still keeps the promises (nominations) it once made to other waiting pods, so no room is
    kept for them; kube-scheduler's recorded answers do the same.
    """
    documents = list(objects)
    cluster = Cluster(honour_nominations=False)
    seen: set[tuple[type[Object], str]] = set()
    for each in decode_all(documents):
        identity = (type(each), each.key)
        if identity in seen:
            raise ReprieveError(f"{type(each).__name__}/{each.key} is given twice; which one counts?")
        seen.add(identity)
        if isinstance(each, PodGroup):
            _check(each)
        cluster.set(each)
    for kind, namespace, name, selector in _owners(map(document_of, documents)):
        cluster.set_owner(kind, namespace, name, selector)
    return cluster


def _check(group: PodGroup) -> None:
    """What an API server would not have stored, and what would make every gang fit."""
    gang = group.spec.scheduling_policy.gang
    if gang is not None and gang.min_count < 1:
        path, text = "spec.schedulingPolicy.gang.minCount", f"must be at least 1, is {gang.min_count}"
        raise InvalidObject(path, gang.min_count, text, f"PodGroup/{group.key}")


def _owners(documents: Iterable[Document]) -> Iterator[tuple[str, str, str, LabelSelector]]:
    """Selectors of services and controllers: only default spreading reads them, so they have no typed view."""
    for document in documents:
        kind = document.get("kind")
        if kind not in (*_MAPS, *_SELECTORS):
            continue
        selector = (document.get("spec") or {}).get("selector")
        if not selector:
            continue
        meta = document.get("metadata") or {}
        raw = {"matchLabels": selector} if kind in _MAPS else selector
        yield kind, meta.get("namespace", ""), meta.get("name", ""), msgspec.convert(raw, LabelSelector)
