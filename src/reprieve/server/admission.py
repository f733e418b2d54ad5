"""What happens to a document on its way in. All of it is synchronous: no other write can come in between. The
types of its metadata were checked before (`metadata.check_shape`).

A new object:

1. its namespace exists and is not being deleted (404, 403)
2. types: spec and status are objects, typed parts have the right types (400); before that, what belongs to a
   queue is suspended or gated, if a quota controller runs (`queues`)
3. server-owned metadata (uid, times)
4. an empty status where it is a subresource
5. defaults, those of the namespace's LimitRanges, pruning
6. validation (422), the rules of `reprieve.objects.admission`, LimitRanges (403)

An update:

1. types, as for a new object
2. server-owned metadata kept; status or spec kept from the old object, depending on the subresource
3. defaults, pruning
4. validation, with what may not change (422), then the rules of `reprieve.objects.admission`
5. generation grows if anything but metadata and status changed; a Deployment's with its annotations, too
"""

from typing import Any

import msgspec

from reprieve.admission import limit_ranges, runtime_classes
from reprieve.objects import (
    KINDS,
    Document,
    QuantityError,
    builtin_problems,
    misfits,
    normalise,
    on_create,
    on_write,
    shown,
    size_problems,
)
from reprieve.server import metadata
from reprieve.server.admitted_specs import AdmittedSpecs
from reprieve.server.documents import at
from reprieve.server.errors import Cause, cause_of, forbidden, invalid, not_found
from reprieve.server.field_validation import empty_status, spell_quantities, wrong_types
from reprieve.server.limit_ranges import LimitRanges
from reprieve.server.queues import StopsAtCreation
from reprieve.server.quotas import Quotas
from reprieve.server.registry import ResourceInfo
from reprieve.server.rules import ObjectRules
from reprieve.server.storage import Store

_STATUS_DECIDED_ELSEWHERE = {"nodes", "pods", "namespaces", "jobs.batch"}
"""Kinds whose status on create is kept (nodes) or written by `defaults`."""


_NEVER_COUNTED = {"priorityclasses.scheduling.k8s.io"}
"""Kinds whose generation stays what it was at first."""


_JUDGED_BY_SPEC = {"pods", "persistentvolumes", "persistentvolumeclaims"}
"""Kinds that change most, whose rules are about their spec: a change of anything else is not judged anew."""


class Admission:
    def __init__(
        self, store: Store, rules: ObjectRules, quotas: Quotas, stop: StopsAtCreation | None = None
    ) -> None:
        """`stop`: what becomes of an object that needs quota, before anything else."""
        self._store = store
        self._rules = rules
        self._stop = stop
        self._admitted = AdmittedSpecs()
        self._limit_ranges = LimitRanges(store)
        self._quotas = quotas

    def create(self, resource: ResourceInfo, document: Document, timestamp: str) -> Document:
        """The document to store; a document of another served version comes back in the storage version."""
        meta = document["metadata"]
        self._require_namespace(resource, meta)
        if self._stop is not None:
            self._stop(resource.storage_key, document)
        if resource.storage_key == "pods" and (name := runtime_classes.named(document)):
            self._add_runtime_class(document, name)
        if resource.storage_key != "pods" or self._is_limited(meta):
            return self._create(resource, document, timestamp)
        key = self._admitted.key(document, self._rules.generation)
        if not self._admitted.reuse(key, document):
            document = self._create(resource, document, timestamp)
            self._admitted.keep(key, document)
            return document
        metadata.fill_new(meta, timestamp)
        meta["generation"] = 1
        _refuse(resource, meta, metadata.validate(resource, meta))
        return _in_order(resource, document)

    def _add_runtime_class(self, pod: Document, name: str) -> None:
        """403 for a class that does not exist or contradicts the pod."""
        record = self._store.head("runtimeclasses.node.k8s.io", "", name)
        problem = f'RuntimeClass "{name}" not found'
        if record is not None:
            problem = runtime_classes.complete(pod, record.object)
        if problem:
            raise forbidden("", "pods", pod["metadata"].get("name", ""), f"pod rejected: {problem}")

    def _is_limited(self, meta: Document) -> bool:
        """Whether the namespace decides about pods, too: then equal specs may get different answers."""
        namespace = meta.get("namespace", "")
        return self._limit_ranges.apply_to(namespace) or self._quotas.apply_to(namespace)

    def _create(self, resource: ResourceInfo, document: Document, timestamp: str) -> Document:
        document = _shape(resource, document)
        meta = document["metadata"]
        metadata.fill_new(meta, timestamp)
        if resource.has_generation or resource.custom:
            meta["generation"] = 1
        storage_key = resource.storage_key
        if resource.has_status and storage_key not in _STATUS_DECIDED_ELSEWHERE:
            document.pop("status", None)
            if not resource.custom:
                document["status"] = empty_status(resource)
        on_write(document)
        limited = self._limit_ranges.apply_to(meta.get("namespace", ""))
        if limited and storage_key == "pods":
            limit_ranges.fill_in(document, self._limit_ranges.of(document))
        on_create(document, timestamp)
        causes = _custom(resource, document, None)
        causes += metadata.validate(resource, meta) + _problems(document, None)
        _refuse(resource, meta, causes)
        if self._rules.applies(resource):
            document = self._rules.admit(resource, document, None)
        if limited:
            self._check_limits(resource, document)
        return document

    def _check_limits(self, resource: ResourceInfo, document: Document) -> None:
        """403 with everything that is outside the limits of the namespace."""
        problems = limit_ranges.outside(document, self._limit_ranges.of(document))
        if problems:
            text = problems[0] if len(problems) == 1 else "[" + ", ".join(problems) + "]"
            raise forbidden(resource.group, resource.plural, document["metadata"].get("name", ""), text)

    def update(self, resource: ResourceInfo, document: Document, old: Document, subresource: str) -> Document:
        """`old` is the stored state. The result equals it when nothing changes."""
        if subresource == "status":
            document = {k: v for k, v in document.items() if k in ("metadata", "status")}
        same = _unchanged(resource, document, old)
        document = _shape(resource, {k: v for k, v in document.items() if k not in same}) | same
        document = _in_order(resource, _merge_subresource(resource, document, old, subresource))
        meta, was = document["metadata"], old["metadata"]
        metadata.keep_old(meta, was)
        causes = metadata.validate_change(resource, meta, was)
        storage_key = resource.storage_key
        judged = document.get("spec") is not old.get("spec") or storage_key not in _JUDGED_BY_SPEC
        if judged or storage_key != "pods":
            on_write(document)
        if judged:
            causes += _custom(resource, document, old)
            # A resize changes what no other update may; `operations.resize` looked at the change.
            before = None if subresource == "resize" else old
            causes += _problems(document, before)
        _refuse(resource, meta, causes)
        noted = meta.get("annotations") != was.get("annotations")
        if self._rules.applies(resource) and (judged or (noted and storage_key == "pods")):
            document = self._rules.admit(resource, document, old)
        if storage_key == "persistentvolumeclaims" and subresource == "":
            self._check_limits(resource, document)
        counts = "generation" in was and storage_key not in _NEVER_COUNTED
        noted = noted and storage_key == "deployments.apps"
        if counts and judged and (noted or _intent(document) != _intent(old)):
            document["metadata"]["generation"] = was["generation"] + 1
        return document

    def _require_namespace(self, resource: ResourceInfo, meta: Document) -> None:
        if not resource.namespaced:
            return
        name = meta.get("namespace", "")
        record = self._store.head("namespaces", "", name)
        if record is None:
            raise not_found("", "namespaces", name)
        if b'"deletionTimestamp"' in record.raw and "deletionTimestamp" in record.object["metadata"]:
            message = f"unable to create new content in namespace {name} because it is being terminated"
            cause = Cause(
                "NamespaceTerminating", f"namespace {name} is being terminated", "metadata.namespace"
            )
            raise forbidden(resource.group, resource.plural, meta.get("name", ""), message, [cause])


def _shape(resource: ResourceInfo, document: Document) -> Document:
    """The document in the storage version's spelling, once its types are right."""
    if not resource.custom:
        document["apiVersion"], document["kind"] = resource.api_version, resource.kind
        document = normalise(document)
        _check_types(resource, document)
        wrong = spell_quantities(resource, document)
        if wrong:
            text = "; ".join(f"{path}: {QuantityError(value)}" for path, value in wrong[:10])
            raise metadata.cannot_handle(resource, text)
    return _in_order(resource, resource.to_storage(document))


def _in_order(resource: ResourceInfo, document: Document) -> Document:
    """`apiVersion` and `kind` first: storage relies on it."""
    first = {
        "apiVersion": resource.storage_api_version,
        "kind": resource.kind,
        "metadata": document["metadata"],
    }
    return first | {key: value for key, value in document.items() if key not in first}


def _check_types(resource: ResourceInfo, document: Document) -> None:
    """Every field must have the type of the wire; typed views must be able to read what they read."""
    problems = [
        f"{path}: expected {type_}, got {shown(value)}"
        for path, value, type_ in wrong_types(resource, document)
    ]
    view = KINDS.get((resource.group, resource.kind))
    if view is not None and not problems:
        try:
            msgspec.convert(document, view)
        except (msgspec.ValidationError, ValueError) as error:
            problems = [str(p) for p in misfits(document, view)] or [str(error)]
    if problems:
        raise metadata.cannot_handle(resource, "; ".join(problems[:10]))


def _custom(resource: ResourceInfo, document: Document, old: Document | None) -> list[Cause]:
    """The hooks that come with a custom resource."""
    if resource.prune is not None:
        resource.prune(document)
    if resource.default is not None:
        resource.default(document)
    return resource.validate(document, old) if resource.validate is not None else []


def _problems(document: Document, old: Document | None) -> list[Cause]:
    """What kube-apiserver refuses of its own kinds."""
    return [cause_of(each) for each in [*builtin_problems(document, old), *size_problems(document)]]


def _refuse(resource: ResourceInfo, meta: Document, causes: list[Cause]) -> None:
    if causes:
        raise invalid(resource.group, resource.kind, meta.get("name", ""), causes)


def _merge_subresource(
    resource: ResourceInfo, document: Document, old: Document, subresource: str
) -> Document:
    """Through `status` only the status changes; through the main door everything else does."""
    if subresource == "status":
        result = dict(old)
        result["metadata"] = dict(old["metadata"])
        if not resource.custom:
            for key in ("labels", "annotations"):
                _copy_member(document["metadata"], result["metadata"], key)
        if "managedFields" in document["metadata"]:
            result["metadata"]["managedFields"] = document["metadata"]["managedFields"]
        _copy_member(document, result, "status")
        return result
    if resource.has_status:
        _copy_member(old, document, "status")
    if resource.storage_key == "namespaces" and subresource != "finalize":
        kept = at(old, "spec", "finalizers", default=[])
        document["spec"] = {**(document.get("spec") or {}), "finalizers": kept}
    return document


def _copy_member(source: Document, target: Document, key: str) -> None:
    if key in source:
        target[key] = source[key]
    else:
        target.pop(key, None)


def _unchanged(resource: ResourceInfo, document: Document, old: Document) -> Document:
    """Members of the objects that change most that are as stored: no need to check them."""
    if resource.storage_key not in _JUDGED_BY_SPEC and resource.storage_key != "nodes":
        return {}
    return {k: old[k] for k in ("spec", "status") if k in old and document.get(k) == old[k]}


def _intent(document: Document) -> dict[str, Any]:
    return {k: v for k, v in document.items() if k not in ("metadata", "status", "apiVersion", "kind")}
