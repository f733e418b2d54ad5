"""A plan for a pod or a pod group, over manifests."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from reprieve.cluster import Cluster
from reprieve.cluster.pods import ticks
from reprieve.config import Configuration
from reprieve.objects.decode import decode_all
from reprieve.objects.meta import Document, Object
from reprieve.objects.times import parse_time
from reprieve.preemption import Plan, decide


def plan_unit(
    objects: Iterable[Document],
    for_: str,
    config: Mapping[str, Any] | None = None,
    now: str | datetime | None = None,
) -> Plan:
    """Who makes way for a pod or pod group. Without `now` the present moment counts."""
    moment = parse_time(now) if isinstance(now, str) else now or datetime.now(UTC)
    return decide(load(decode_all(objects)), for_, Configuration.load(config), ticks(moment))


def load(objects: Iterable[Object]) -> Cluster:
    """A cluster of these objects.

    Manifests do not say whether a scheduler still keeps the promises (nominations) it once made to other waiting pods, so no room is
    kept for them; kube-scheduler's recorded answers do the same.
    """
    cluster = Cluster(promises=False)
    for each in objects:
        cluster.set(each)
    return cluster
