"""What happens to a document on its way in. All of it is synchronous: no other write can come in between. The
types of its metadata were checked before (`metadata.check_shape`).

A new object:

1. its namespace exists and is not being deleted (404, 403)
2. types: spec and status are objects, typed parts have the right types (400); before that, what belongs to a
   queue is suspended or gated, if a quota controller runs (`queues`)
3. server-owned metadata (uid, times)
4. an empty status where it is a subresource
5. the hooks of the resource: pruning, defaults, what classes and the LimitRanges of the namespace add
6. validation (422), the rules of `reprieve.objects.admission`, LimitRanges (403)

An update:

1. types, as for a new object
2. server-owned metadata kept; status or spec kept from the old object, depending on the subresource
3. the hooks of the resource: pruning, defaults
4. validation, with what may not change (422), then the rules of `reprieve.objects.admission`
5. generation grows if anything but metadata and status changed; a Deployment's with its annotations, too
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from reprieve.admission import limit_ranges, runtime_classes
from reprieve.config import Configuration
from reprieve.objects import (
    KINDS,
    REFUSED,
    Context,
    Document,
    PriorityClasses,
    QuantityError,
    admit,
    misfits,
    normalise,
    on_create,
    priority_class_of,
    shown,
    well_known,
)
from reprieve.server import metadata
from reprieve.server.admitted_specs import AdmittedSpecs
from reprieve.server.documents import at, items
from reprieve.server.errors import Cause, cause_of, forbidden, invalid, not_found
from reprieve.server.field_validation import empty_status, spell_quantities, wrong_types
from reprieve.server.queues import StopsAtCreation
from reprieve.server.quotas import Quotas
from reprieve.server.registry import ResourceInfo, Scene
from reprieve.server.storage import Change, Store

_LIMITS = "limitranges"
_CLASSES, _GROUP_TEMPLATES = "priorityclasses.scheduling.k8s.io", "workloads.scheduling.k8s.io"


class Admission:
    def __init__(
        self,
        store: Store,
        configuration: Configuration,
        quotas: Quotas,
        stop: StopsAtCreation | None = None,
    ) -> None:
        """`stop`: what becomes of an object that needs quota, before anything else."""
        self._store = store
        self._configuration = configuration
        self._stop = stop
        self._admitted = AdmittedSpecs()
        self._quotas = quotas
        self._context: Context | None = None
        self._generation = 0
        """Grows when an equal document could get another answer than before."""
        store.listen(self._follow)

    def create(self, resource: ResourceInfo, document: Document, timestamp: str) -> Document:
        """The document to store; a document of another served version comes back in the storage version."""
        meta = document["metadata"]
        self._require_namespace(resource, meta)
        if self._stop is not None:
            self._stop(resource.storage_key, document)
        if resource.complete is None or self._is_special(document):
            return self._create(resource, document, timestamp)
        key = self._admitted.key(document, self._generation)
        if not self._admitted.reuse(key, document):
            document = self._create(resource, document, timestamp)
            self._admitted.keep(key, document)
            return document
        metadata.fill_new(meta, timestamp)
        meta["generation"] = 1
        _refuse(resource, meta, metadata.validate(resource, meta))
        return _in_order(resource, document)

    def _is_special(self, pod: Document) -> bool:
        """Whether its namespace or a class decides, too: then equal specs may get different answers."""
        namespace = pod["metadata"].get("namespace", "")
        limited = namespace in self._store.collection(_LIMITS).buckets or self._quotas.apply_to(namespace)
        return limited or bool(runtime_classes.named(pod))

    def _limits(self, document: Document) -> list[list[Document]]:
        """Those of the document's namespace, by LimitRange; what they mean is in `reprieve.admission`."""
        ranges = self._store.collection(_LIMITS).scan(document["metadata"].get("namespace", ""))
        return [items(record.object, "spec", "limits") for record in ranges]

    def _create(self, resource: ResourceInfo, document: Document, timestamp: str) -> Document:
        document = _shape(resource, document)
        meta = document["metadata"]
        metadata.fill_new(meta, timestamp)
        if resource.has_generation:
            meta["generation"] = 1
        if resource.has_status and not resource.keeps_status:
            document.pop("status", None)
            if not resource.custom:
                document["status"] = empty_status(resource)
        _default(resource, document)
        limits = self._limits(document)
        if resource.complete is not None:
            resource.complete(document, Scene(self._find, limits))
        on_create(document, timestamp)
        causes = metadata.validate(resource, meta) + _causes(resource, document, None)
        _refuse(resource, meta, causes)
        document = self._admit(resource, document, None)
        if limits:
            self._check_limits(resource, document)
        return document

    def _check_limits(self, resource: ResourceInfo, document: Document) -> None:
        """403 with everything that is outside the limits of the namespace."""
        problems = limit_ranges.outside(document, self._limits(document))
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
        judged = not resource.judged_by_spec or document.get("spec") is not old.get("spec")
        if judged:
            _default(resource, document)
            # A resize changes what no other update may; `operations.resize` looked at the change.
            causes += _causes(resource, document, None if subresource == "resize" else old)
        _refuse(resource, meta, causes)
        noted = meta.get("annotations") != was.get("annotations")
        if judged or noted:
            document = self._admit(resource, document, old)
        if resource.limited and subresource == "":
            self._check_limits(resource, document)
        counts = judged and "generation" in was and not resource.fixed_generation
        if counts and ((noted and resource.counts_annotations) or _intent(document) != _intent(old)):
            document["metadata"]["generation"] = was["generation"] + 1
        return document

    def _admit(self, resource: ResourceInfo, document: Document, old: Document | None) -> Document:
        """With defaults and priorities of `objects.admission`; 403 or 422 with all that speaks against it."""
        if resource.custom or (resource.group, resource.kind) not in KINDS:
            return document
        own, name = document["metadata"].get("finalizers", ()), document["metadata"].get("name", "")
        admitted, problems = admit(document, self._rules(), old)
        if refused := [each for each in problems if each.reason == REFUSED]:
            raise forbidden(resource.group, resource.plural, name, "; ".join(map(str, refused)))
        if problems:
            raise invalid(resource.group, resource.kind, name, [cause_of(each) for each in problems])
        _without_unlifted(admitted["metadata"], own)
        return admitted

    def _rules(self) -> Context:
        if self._context is None:
            classes = [priority_class_of(r.object) for r in self._store.collection(_CLASSES).scan("")]
            context = self._configuration.admission_context(PriorityClasses(classes))
            self._context = context._replace(drops_disabled=True, workload=self._workload)
        return self._context

    def _workload(self, namespace: str, name: str) -> Document | None:
        record = self._store.head(_GROUP_TEMPLATES, namespace, name)
        return None if record is None else record.object

    def _find(self, storage_key: str, name: str) -> Document | None:
        record = self._store.head(storage_key, "", name)
        return None if record is None else record.object

    def _follow(self, changes: list[Change]) -> None:
        if any(change.record.storage_key == _CLASSES for change in changes):
            self._context = None
            self._generation += 1

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


def _default(resource: ResourceInfo, document: Document) -> None:
    if resource.prune is not None:
        resource.prune(document)
    if resource.default is not None:
        resource.default(document)


def _causes(resource: ResourceInfo, document: Document, old: Document | None) -> list[Cause]:
    return resource.validate(document, old) if resource.validate is not None else []


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
    if "finalize" in resource.subresources and subresource != "finalize":
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
    if not resource.often_written:
        return {}
    return {k: old[k] for k in ("spec", "status") if k in old and document.get(k) == old[k]}


def _intent(document: Document) -> dict[str, Any]:
    return {k: v for k, v in document.items() if k not in ("metadata", "status", "apiVersion", "kind")}


def _without_unlifted(meta: Document, own: Sequence[str]) -> None:
    """Without Kueue's finalizer, unless the document came with it: only Kueue's controllers remove it, and
    without them nothing could be deleted. Those controllers add it. Finalizers that this server's own
    controllers remove stay."""
    kept = [f for f in meta.get("finalizers", ()) if f != well_known.RESOURCE_IN_USE or f in own]
    if kept:
        meta["finalizers"] = kept
    else:
        meta.pop("finalizers", None)
