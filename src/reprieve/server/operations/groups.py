"""Which pods of a group have a node now."""

from collections import Counter
from collections.abc import Callable, Iterable

import msgspec

from reprieve.objects import group_name
from reprieve.server.storage import Record

GROUPS = "podgroups.scheduling.k8s.io"


class _Meta(msgspec.Struct, gc=False, rename="camel"):
    deletion_timestamp: str | None = None


class _Link(msgspec.Struct, gc=False, rename="camel"):
    pod_group_name: str = ""


class _Spec(msgspec.Struct, gc=False, rename="camel"):
    node_name: str = ""
    scheduling_group: _Link | None = None


class _Status(msgspec.Struct, gc=False):
    phase: str = ""


class _Pod(msgspec.Struct, gc=False):
    metadata: _Meta
    spec: _Spec
    status: _Status = msgspec.field(default_factory=_Status)


_decode = msgspec.json.Decoder(_Pod).decode


def placed_pods(pods: Iterable[Record]) -> Callable[[str, str], int]:
    """Namespace and name of a group to the number of its pods that run, or ran to their end."""
    found: Counter[tuple[str, str]] = Counter()
    for record in pods:
        pod = _decode(record.raw)
        link = pod.spec.scheduling_group
        group = group_name(link.pod_group_name if link else None, record.labels or {})
        if not group or not pod.spec.node_name or pod.status.phase == "Failed":
            continue
        if pod.metadata.deletion_timestamp is None or pod.status.phase == "Succeeded":
            found[record.namespace, group] += 1
    return lambda namespace, name: found[namespace, name]
