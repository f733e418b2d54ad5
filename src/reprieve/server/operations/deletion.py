"""Delete: preconditions, grace, finalizers, dependents; and when an object is finally removed.

An object is removed at once unless something holds it: finalizers (its own, or those that a propagation
policy adds: `foregroundDeletion`, `orphan`), a pod's grace period while it is on a node, a namespace's
`spec.finalizers`. Then it carries a deletion timestamp and is removed by the write that releases the last
hold.
"""

from datetime import timedelta

from reprieve.objects import Document, format_time, well_known
from reprieve.server.backend import Backend, DeleteOptions
from reprieve.server.errors import conflict, forbidden, invalid, invalid_value, not_supported, wrong_uid
from reprieve.server.registry import ResourceInfo
from reprieve.server.storage import Record
from reprieve.server.storage.records import encode

FOREGROUND = "foregroundDeletion"
ORPHAN = "orphan"
_IMMORTAL = ("default", "kube-system", "kube-public")
_LEAVE_PODS = ("jobs.batch", "replicationcontrollers")
_POLICIES = ("", "Foreground", "Background", "Orphan")

LONGEST_GRACE = 100 * 365 * 24 * 3600
"""A pod may ask for more, and nobody will see it end; the time must be one that can be written."""


def delete(
    backend: Backend,
    resource: ResourceInfo,
    namespace: str,
    name: str,
    options: DeleteOptions,
    dry_run: bool = False,
) -> tuple[Record, bool]:
    """The last or the marked state, and whether the object is gone."""
    _check_options(options)
    if resource.storage_key == "namespaces" and name in _IMMORTAL:
        raise forbidden("", "namespaces", name, "this namespace may not be deleted")
    current = backend.existing(resource, namespace, name)
    document = current.object
    _check_preconditions(resource, current, document, options)
    grace = _grace(resource, document, options)
    finalizers = _finalizers(resource, document, options)
    gone = grace == 0 and not finalizers and not _held_namespace(resource, document)
    if gone and resource.storage_key == "pods":
        _mark(backend, resource, document, grace, finalizers)
    elif not gone and not _mark(backend, resource, document, grace, finalizers):
        return current, False
    if dry_run:
        return _as_answered(current, document), gone
    if not gone:
        return backend.store.put(current.storage_key, namespace, name, document), False
    return backend.store.delete(current.storage_key, namespace, name, document), True


def _as_answered(current: Record, document: Document) -> Record:
    """The last state in the version in which it was found, for whoever deleted it; watchers see the next."""
    document["metadata"]["resourceVersion"] = str(current.revision)
    place = (current.storage_key, current.namespace, current.name)
    return Record(*place, current.revision, encode(document), current.labels)


def _check_options(options: DeleteOptions) -> None:
    causes = []
    policy = options.propagation_policy or ""
    if policy not in _POLICIES:
        causes.append(not_supported("propagationPolicy", policy, (*_POLICIES[1:], "nil")))
    if policy and options.orphan_dependents is not None:
        message = "orphanDependents and deletionPropagation cannot be both set"
        causes.append(invalid_value("propagationPolicy", policy, message))
    if options.dry_run and options.dry_run != ["All"]:
        causes.append(not_supported("dryRun", options.dry_run[0], ("All",)))
    if causes:
        raise invalid("meta.k8s.io", "DeleteOptions", "", causes)


def _check_preconditions(
    resource: ResourceInfo, current: Record, document: Document, options: DeleteOptions
) -> None:
    wanted = options.preconditions or {}
    uid, version = wanted.get("uid"), wanted.get("resourceVersion")
    found = document["metadata"]["uid"]
    if uid and uid != found:
        raise wrong_uid(resource.group, resource.kind, current.name, uid, found)
    if version and version != str(current.revision):
        message = (
            f"Precondition failed: ResourceVersion in precondition: {version}, "
            f"ResourceVersion in object meta: {current.revision}"
        )
        raise conflict(resource.group, resource.kind, current.name, message)


def _grace(resource: ResourceInfo, document: Document, options: DeleteOptions) -> int:
    """Seconds a pod gets to stop; only a pod that is on a node and not finished needs any."""
    if resource.storage_key != "pods":
        return 0
    spec, status = document.get("spec") or {}, document.get("status") or {}
    if not spec.get("nodeName") or status.get("phase") in well_known.TERMINAL_PHASES:
        return 0
    grace = options.grace_period_seconds
    if grace is None:
        grace = int(spec.get("terminationGracePeriodSeconds") or 0)
    return min(grace, LONGEST_GRACE) if grace >= 0 else 1


def _finalizers(resource: ResourceInfo, document: Document, options: DeleteOptions) -> list[str]:
    """The object's finalizers once the propagation policy is taken into account.

    Without one, Jobs and ReplicationControllers leave their pods behind, as they always did.
    """
    policy = options.propagation_policy or ""
    finalizers: list[str] = list(document["metadata"].get("finalizers", ()))
    if policy or options.orphan_dependents is not None:
        finalizers = [f for f in finalizers if f not in (FOREGROUND, ORPHAN)]
    if policy == "Foreground":
        finalizers.append(FOREGROUND)
    elif policy == "Orphan" or options.orphan_dependents:
        finalizers.append(ORPHAN)
    elif leaves_pods(resource, options):
        decided = {FOREGROUND, ORPHAN} & set(finalizers) or "deletionTimestamp" in document["metadata"]
        finalizers += [] if decided else [ORPHAN]
    return finalizers


def leaves_pods(resource: ResourceInfo, options: DeleteOptions) -> bool:
    """Whether pods stay behind because nobody said what is to become of them."""
    unsaid = not options.propagation_policy and options.orphan_dependents is None
    return unsaid and resource.storage_key in _LEAVE_PODS


def _held_namespace(resource: ResourceInfo, document: Document) -> bool:
    return resource.storage_key == "namespaces" and bool((document.get("spec") or {}).get("finalizers"))


def _mark(
    backend: Backend, resource: ResourceInfo, document: Document, grace: int, finalizers: list[str]
) -> bool:
    """Write the deletion timestamp; a later delete can only shorten the grace. False: nothing changes."""
    meta = document["metadata"]
    before = dict(meta)
    if finalizers:
        meta["finalizers"] = finalizers
    elif "finalizers" in meta:
        del meta["finalizers"]
    is_namespace = resource.storage_key == "namespaces"
    if "deletionTimestamp" not in meta or grace < meta.get("deletionGracePeriodSeconds", 0):
        if "generation" in meta and "deletionTimestamp" not in meta:
            meta["generation"] += 1
        until = (backend.clock() + timedelta(seconds=grace)).replace(microsecond=0)
        meta["deletionTimestamp"] = format_time(until)
        if not is_namespace:
            meta["deletionGracePeriodSeconds"] = grace
    if is_namespace:
        document["status"] = {**(document.get("status") or {}), "phase": "Terminating"}
    return bool(meta != before)


def finish_if_finalized(backend: Backend, current: Record, document: Document) -> Record | None:
    """Remove an object when this write releases its last hold."""
    meta = document["metadata"]
    if "deletionTimestamp" not in meta or meta.get("finalizers"):
        return None
    if meta.get("deletionGracePeriodSeconds"):
        return None
    if current.storage_key == "namespaces" and (document.get("spec") or {}).get("finalizers"):
        return None
    backend.store.delete(current.storage_key, current.namespace, current.name, document)
    return _as_answered(current, document)
