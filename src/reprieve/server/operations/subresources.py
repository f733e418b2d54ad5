"""The subresources that are more than a part of their object: binding, eviction, scale."""

from collections.abc import Iterator
from typing import Any

import msgspec

from reprieve.objects import (
    Document,
    LabelSelector,
    has_condition,
    matches,
    put_condition,
    well_known,
)
from reprieve.server.backend import Backend, DeleteOptions
from reprieve.server.documents import at
from reprieve.server.errors import (
    ApiError,
    Cause,
    bad_request,
    conflict,
    internal,
    invalid,
    invalid_value,
    not_supported,
    required,
    too_many_requests,
    wrong_uid,
)
from reprieve.server.operations.deletion import delete
from reprieve.server.registry import ResourceInfo, ScalePaths
from reprieve.server.selection import format_selector
from reprieve.server.storage import Record

_BUDGETS = "poddisruptionbudgets.policy"
_REFUSED = "Cannot evict pod as it would violate the pod's disruption budget."
_MAX_DISRUPTED = 2000


def pods_of(backend: Backend) -> ResourceInfo:
    resource = backend.registry.find("", "v1", "pods")
    assert resource is not None
    return resource


def bind(backend: Backend, namespace: str, name: str, binding: Document, dry_run: bool = False) -> None:
    """Assign a pod to a node, once."""
    node = _target_node(name, binding)
    current = backend.existing(pods_of(backend), namespace, name)
    document = current.object
    spec, meta = document["spec"], document["metadata"]
    uid = (binding.get("metadata") or {}).get("uid")
    if uid and uid != meta["uid"]:
        raise wrong_uid("", "pods", name, uid, meta["uid"])
    if "deletionTimestamp" in meta:
        raise conflict("", "pods/binding", name, f"pod {name} is being deleted, cannot be assigned to a host")
    if spec.get("nodeName"):
        message = f'pod {name} is already assigned to node "{spec["nodeName"]}"'
        raise conflict("", "pods/binding", name, message)
    if spec.get("schedulingGates"):
        raise conflict("", "pods/binding", name, f"pod {name} has non-empty .spec.schedulingGates")
    spec["nodeName"] = node
    annotations = (binding.get("metadata") or {}).get("annotations")
    if isinstance(annotations, dict):
        meta["annotations"] = {**meta.get("annotations", {}), **{k: str(v) for k, v in annotations.items()}}
    status = document.setdefault("status", {})
    status.pop("nominatedNodeName", None)
    put_condition(status, backend.timestamp(), type=well_known.POD_SCHEDULED, status="True")
    if not dry_run:
        backend.store.put(current.storage_key, namespace, name, document)


def _target_node(name: str, binding: Document) -> str:
    target = binding.get("target")
    if not isinstance(target, dict):
        raise invalid("", "Binding", name, [required("target")])
    causes = []
    if target.get("kind", "Node") not in ("", "Node", "Minion"):
        causes.append(not_supported("target.kind", target["kind"], ("Node", "<empty>")))
    node = target.get("name")
    if not isinstance(node, str) or not node:
        causes.append(required("target.name"))
    if causes:
        raise invalid("", "Binding", name, causes)
    return str(node)


def evict(backend: Backend, namespace: str, name: str, eviction: Document, dry_run: bool = False) -> None:
    """Delete a pod if the budgets that cover it allow it; 429 if they do not."""
    options, dry_run = _delete_options(eviction, dry_run)
    resource = pods_of(backend)
    current = backend.existing(resource, namespace, name)
    pod = current.object
    if not _counts_for_budgets(pod):
        delete(backend, resource, namespace, name, options, dry_run)
        return
    budgets = list(_budgets_for(backend, namespace, current))
    if len(budgets) > 1:
        raise internal(
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
        )
    if budgets:
        _charge(backend, budgets[0], pod, dry_run)
    if not dry_run:
        _mark_disrupted(backend, current, pod)
    delete(backend, resource, namespace, name, options, dry_run)


def _delete_options(eviction: Document, dry_run: bool) -> tuple[DeleteOptions, bool]:
    raw = eviction.get("deleteOptions")
    if raw is None:
        return DeleteOptions(), dry_run
    try:
        options = msgspec.convert(raw, DeleteOptions)
    except msgspec.ValidationError as error:
        raise bad_request(f"deleteOptions: {error}") from None
    return options, dry_run or bool(options.dry_run)


def _counts_for_budgets(pod: Document) -> bool:
    """A pod that never ran, has ended or is being deleted takes nothing from a budget."""
    phase = (pod.get("status") or {}).get("phase")
    return phase not in ("Succeeded", "Failed", "Pending") and "deletionTimestamp" not in pod["metadata"]


def _budgets_for(backend: Backend, namespace: str, pod: Record) -> Iterator[Record]:
    for record in backend.store.collection(_BUDGETS).scan(namespace):
        selector = (record.object.get("spec") or {}).get("selector")
        if selector is None:
            continue
        if matches(msgspec.convert(selector, LabelSelector), pod.labels or {}):
            head = backend.store.head(_BUDGETS, namespace, record.name)
            if head is not None:
                yield head


def _charge(backend: Backend, budget: Record, pod: Document, dry_run: bool) -> None:
    document = budget.object
    status = document.get("status") or {}
    if _is_expendable(document, pod):
        return
    allowed = status.get("disruptionsAllowed", 0)
    if status.get("observedGeneration", 0) < document["metadata"].get("generation", 0):
        raise _refusal(f"The disruption budget {budget.name} is still being processed by the server.", 10)
    if len(status.get("disruptedPods") or {}) > _MAX_DISRUPTED:
        raise _refusal("DisruptedPods map too big - too many evictions not confirmed by PDB controller", 10)
    if allowed <= 0:
        needs, has = status.get("desiredHealthy", 0), status.get("currentHealthy", 0)
        raise _refusal(
            f"The disruption budget {budget.name} needs {needs} healthy pods and has {has} currently", 0
        )
    status["disruptionsAllowed"] = allowed - 1
    if allowed == 1:
        put_condition(
            status,
            backend.timestamp(),
            type=well_known.DISRUPTION_ALLOWED,
            status="False",
            reason=well_known.INSUFFICIENT_PODS,
            message="",
            observedGeneration=document["metadata"].get("generation", 0),
        )
    status["disruptedPods"] = {
        **(status.get("disruptedPods") or {}),
        pod["metadata"]["name"]: backend.timestamp(),
    }
    document["status"] = status
    if not dry_run:
        backend.store.put(budget.storage_key, budget.namespace, budget.name, document)


def _is_expendable(budget: Document, pod: Document) -> bool:
    """A pod that is not ready is not among the healthy ones; it may go if those are enough."""
    if has_condition(pod, well_known.READY):
        return False
    if (budget.get("spec") or {}).get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    status = budget.get("status") or {}
    desired = status.get("desiredHealthy", 0)
    return bool(desired > 0 and status.get("currentHealthy", 0) >= desired)


def _refusal(message: str, retry_after: int) -> ApiError:
    return too_many_requests(_REFUSED, retry_after, [Cause("DisruptionBudget", message)])


def _mark_disrupted(backend: Backend, current: Record, pod: Document) -> None:
    put_condition(
        pod.setdefault("status", {}),
        backend.timestamp(),
        type=well_known.DISRUPTION_TARGET,
        status="True",
        reason="EvictionByEvictionAPI",
        message="Eviction API: evicting",
    )
    backend.store.put(current.storage_key, current.namespace, current.name, pod)


# -- scale: one number of a workload, in the shape of autoscaling/v1 Scale -----------------------------------


def read_scale(resource: ResourceInfo, document: Document) -> Document:
    paths = resource.scale_paths or ScalePaths()
    meta = document["metadata"]
    kept = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    status: Document = {"replicas": _number(at(document, *_keys(paths.status_replicas_path)))}
    selector = _selector(resource, document, paths)
    if selector:
        status["selector"] = selector
    return {
        "apiVersion": "autoscaling/v1",
        "kind": "Scale",
        "metadata": {key: meta[key] for key in kept if key in meta},
        "spec": {"replicas": _number(at(document, *_keys(paths.spec_replicas_path)))},
        "status": status,
    }


def write_scale(resource: ResourceInfo, document: Document, scale: Document) -> None:
    """Set the number of replicas of the workload."""
    spec = scale.get("spec")
    replicas = spec.get("replicas", 0) if isinstance(spec, dict) else None
    if not isinstance(replicas, int) or isinstance(replicas, bool):
        raise bad_request(
            'Scale in version "v1" cannot be handled as a Scale: spec.replicas: expected an integer'
        )
    if replicas < 0:
        cause = invalid_value("spec.replicas", replicas, "must be greater than or equal to 0")
        raise invalid("autoscaling", "Scale", document["metadata"]["name"], [cause])
    *parents, last = _keys((resource.scale_paths or ScalePaths()).spec_replicas_path)
    for part in parents:
        document = document.setdefault(part, {})
        if not isinstance(document, dict):
            raise internal(f"{resource.kind} has no object at {part}")
    document[last] = replicas


def _keys(path: str) -> list[str]:
    """`.spec.replicas` as keys; definitions allow nothing else here."""
    return [part for part in path.split(".") if part]


def _number(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _selector(resource: ResourceInfo, document: Document, paths: ScalePaths) -> str:
    if resource.custom:
        found = at(document, *_keys(paths.label_selector_path)) if paths.label_selector_path else ""
        return found if isinstance(found, str) else ""
    selector = at(document, "spec", "selector")
    if resource.kind == "ReplicationController":
        return ",".join(f"{k}={v}" for k, v in sorted((selector or {}).items()))
    return format_selector(selector or {})
