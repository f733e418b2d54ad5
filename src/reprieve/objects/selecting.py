"""What selects pods: of Services and controllers their selector, for default spreading, and nothing else."""

from typing import TypeVar

import msgspec

from reprieve.objects.meta import NOTHING, LabelSelector, Object, ObjectMeta, View


class _ByLabels(View):
    selector: dict[str, str] = NOTHING
    """One that is left out and an empty one are the same: neither adds to what is counted."""


class _BySelector(View):
    selector: LabelSelector | None = None


class Service(Object):
    spec: _ByLabels = _ByLabels()


class ReplicationController(Object):
    spec: _ByLabels = _ByLabels()


class ReplicaSet(Object):
    spec: _BySelector = _BySelector()


class StatefulSet(Object):
    spec: _BySelector = _BySelector()


Controller = ReplicationController | ReplicaSet | StatefulSet
SELECTING_KINDS = (Service, ReplicationController, ReplicaSet, StatefulSet)
SELECTING: dict[tuple[str, str], type[Object]] = {
    ("", "Service"): Service,
    ("", "ReplicationController"): ReplicationController,
    ("apps", "ReplicaSet"): ReplicaSet,
    ("apps", "StatefulSet"): StatefulSet,
}
"""By group and kind, as `kinds.KINDS`; they are not in it because they are admitted by no rule of ours."""
SPREADS_BY = frozenset(
    {("v1", "ReplicationController"), ("apps/v1", "ReplicaSet"), ("apps/v1", "StatefulSet")}
)
"""Controllers whose pods are spread, as an owner reference names them: no other version counts."""

T = TypeVar("T", bound=Object)


def bare(view: T) -> T:
    """With its identity alone: a cluster keeps ten ReplicaSets of a Deployment, and of each most are labels
    and annotations."""
    meta = view.metadata
    kept = ObjectMeta(
        name=meta.name, namespace=meta.namespace, uid=meta.uid, resource_version=meta.resource_version
    )
    return msgspec.structs.replace(view, metadata=kept)
