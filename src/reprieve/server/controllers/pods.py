"""Pods as controllers see them, reduced and indexed; and pods as controllers create them.

The index is fed by the store's committed changes, so it is never behind what readers see. A pod costs a few
hundred bytes there, not the tens of kilobytes of its document.
"""

import copy
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any
from weakref import WeakKeyDictionary

import msgspec

from reprieve.objects import Document, group_name, parse_integer, well_known, whole_number
from reprieve.server.api import Api
from reprieve.server.storage import DELETED, Change, Record, Store

PodKey = tuple[str, str]
DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
Listener = Callable[["Pod | None", "Pod | None"], None]


class _Owner(msgspec.Struct, gc=False, frozen=True):
    uid: str = ""
    kind: str = ""
    name: str = ""
    controller: bool | None = None


class _Meta(msgspec.Struct, gc=False, rename="camel"):
    uid: str = ""
    creation_timestamp: str = ""
    deletion_timestamp: str = ""
    deletion_grace_period_seconds: int | None = None
    owner_references: list[_Owner] = []
    finalizers: list[str] = []
    annotations: dict[str, str] = {}


class _Group(msgspec.Struct, gc=False, rename="camel"):
    pod_group_name: str = ""


class _ClaimSource(msgspec.Struct, gc=False, rename="camel"):
    claim_name: str = ""


class _Ephemeral(msgspec.Struct, gc=False):
    pass


class _Volume(msgspec.Struct, gc=False, rename="camel"):
    name: str = ""
    persistent_volume_claim: _ClaimSource | None = None
    ephemeral: _Ephemeral | None = None


class _Spec(msgspec.Struct, gc=False, frozen=True, rename="camel"):
    node_name: str = ""
    scheduling_group: _Group | None = None
    volumes: list[_Volume] | None = None


class _Condition(msgspec.Struct, gc=False, rename="camel"):
    type: str = ""
    status: str = ""
    last_transition_time: str | None = None


class _Container(msgspec.Struct, gc=False, rename="camel"):
    restart_count: int = 0


class _Status(msgspec.Struct, gc=False, frozen=True, rename="camel"):
    phase: str = ""
    conditions: list[_Condition] | None = None
    container_statuses: list[_Container] | None = None


class _Document(msgspec.Struct, gc=False):
    metadata: _Meta
    spec: _Spec = _Spec()
    status: _Status = _Status()


_decode = msgspec.json.Decoder(_Document).decode


class Pod(msgspec.Struct, gc=False, frozen=True):
    namespace: str
    name: str
    uid: str
    labels: dict[str, str]
    created: str
    deleting: bool
    controller_uid: str
    controller_kind: str
    controller_name: str
    finalizers: tuple[str, ...]
    node: str
    group: str
    phase: str
    ready: bool
    completion_index: int | None
    ready_since: str = ""
    restarts: int = 0
    deletion_cost: int = 0
    shut_down: bool = False
    """Its node is done with it: only finalizers keep it."""
    claims: tuple[str, ...] = ()
    """PersistentVolumeClaims that its volumes name."""
    own_claims: tuple[str, ...] = ()
    """Those of its generic ephemeral volumes."""

    @property
    def key(self) -> PodKey:
        return self.namespace, self.name

    @property
    def finished(self) -> bool:
        return self.phase in well_known.TERMINAL_PHASES

    @property
    def active(self) -> bool:
        return not self.finished and not self.deleting


def reduce(record: Record) -> Pod:
    document = _decode(record.raw)
    meta = document.metadata
    owner = next((o for o in meta.owner_references if o.controller), _Owner())
    ready = next((c for c in document.status.conditions or () if c.type == well_known.READY), None)
    is_ready = ready is not None and ready.status == "True"
    link = document.spec.scheduling_group
    index = meta.annotations.get(well_known.JOB_INDEX_ANNOTATION, "")
    volumes = document.spec.volumes or ()
    return Pod(
        namespace=record.namespace,
        name=record.name,
        uid=meta.uid,
        labels=record.labels or {},
        created=meta.creation_timestamp,
        deleting=bool(meta.deletion_timestamp),
        controller_uid=owner.uid,
        controller_kind=owner.kind,
        controller_name=owner.name,
        finalizers=tuple(meta.finalizers),
        node=document.spec.node_name,
        group=group_name(link.pod_group_name if link else None, record.labels or {}),
        phase=document.status.phase,
        ready=is_ready,
        completion_index=whole_number(index),
        ready_since=(ready.last_transition_time or "") if ready is not None and is_ready else "",
        restarts=sum(c.restart_count for c in document.status.container_statuses or ()),
        deletion_cost=_number(meta.annotations.get(DELETION_COST, "")),
        shut_down=bool(meta.deletion_timestamp) and meta.deletion_grace_period_seconds == 0,
        claims=tuple(v.persistent_volume_claim.claim_name for v in volumes if v.persistent_volume_claim),
        own_claims=tuple(f"{record.name}-{v.name}" for v in volumes if v.ephemeral is not None),
    )


def _number(text: str) -> int:
    """An int32 in an annotation; anything else counts as 0."""
    return (parse_integer(text) or 0) if len(text) < 12 else 0


class PodIndex:
    """Pods by key, controller, namespace, node, group and claim; listeners get every change."""

    def __init__(self, api: Api) -> None:
        self._pods: dict[PodKey, Pod] = {}
        self._by: dict[str, dict[Any, dict[PodKey, Pod]]] = {
            name: defaultdict(dict) for name in ("controller", "namespace", "node", "group", "claim")
        }
        self._listeners: list[Listener] = []
        for record in api.backend.store.collection("pods").scan(None):
            self._replace(record, gone=False)
        api.backend.store.listen(self._follow)

    @staticmethod
    def shared(api: Api) -> "PodIndex":
        """One index for all controllers of the same server."""
        store = api.backend.store
        if store not in _SHARED:
            _SHARED[store] = PodIndex(api)
        return _SHARED[store]

    def listen(self, listener: Listener) -> None:
        """Called with (before, after) while a change is being published: may only queue work."""
        self._listeners.append(listener)

    def get(self, key: PodKey) -> Pod | None:
        return self._pods.get(key)

    def __iter__(self) -> Iterator[Pod]:
        return iter(list(self._pods.values()))

    def of_controller(self, uid: str) -> list[Pod]:
        return self._group("controller", uid)

    def in_namespace(self, namespace: str) -> list[Pod]:
        return self._group("namespace", namespace)

    def on_node(self, node: str) -> list[Pod]:
        return self._group("node", node)

    def in_group(self, namespace: str, group: str) -> list[Pod]:
        return self._group("group", (namespace, group))

    def of_claim(self, namespace: str, claim: str) -> list[Pod]:
        return self._group("claim", (namespace, claim))

    def _group(self, name: str, value: Any) -> list[Pod]:
        return list(self._by[name].get(value, {}).values())

    def _follow(self, changes: list[Change]) -> None:
        for change in changes:
            if change.record.storage_key == "pods":
                before, after = self._replace(change.record, change.type == DELETED)
                for listener in self._listeners:
                    listener(before, after)

    def _replace(self, record: Record, gone: bool) -> tuple[Pod | None, Pod | None]:
        key = (record.namespace, record.name)
        before = self._pods.pop(key, None)
        if before is not None:
            for name, value in _memberships(before):
                members = self._by[name][value]
                members.pop(key, None)
                if not members:
                    del self._by[name][value]
        if gone:
            return before, None
        after = reduce(record)
        self._pods[key] = after
        for name, value in _memberships(after):
            self._by[name][value][key] = after
        return before, after


_SHARED: WeakKeyDictionary[Store, PodIndex] = WeakKeyDictionary()


def _memberships(pod: Pod) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = [("namespace", pod.namespace)]
    if pod.controller_uid:
        found.append(("controller", pod.controller_uid))
    if pod.node:
        found.append(("node", pod.node))
    if pod.group:
        found.append(("group", (pod.namespace, pod.group)))
    found += [("claim", (pod.namespace, claim)) for claim in {*pod.claims, *pod.own_claims}]
    return found


# -- making pods ---------------------------------------------------------------------------------------------


def owner_reference(owner: Document) -> Document:
    meta = owner["metadata"]
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": meta["name"],
        "uid": meta["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def pod_from_template(owner: Document, template: Document) -> Document:
    """A pod with a generated name, the template's labels, annotations and finalizers, and its owner."""
    meta = template.get("metadata") or {}
    metadata: dict[str, Any] = {
        "generateName": f"{owner['metadata']['name']}-",
        "namespace": owner["metadata"]["namespace"],
        "labels": dict(meta.get("labels") or {}),
        "annotations": dict(meta.get("annotations") or {}),
        "finalizers": list(meta.get("finalizers") or ()),
        "ownerReferences": [owner_reference(owner)],
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": copy.deepcopy(template.get("spec") or {}),
    }
