"""What a RuntimeClass means for the pods that name it: overhead, and where they may run.

As Kubernetes' admission does it: a class that does not exist is refused; its overhead is written into the
pod; its node selector and tolerations are added to the pod's own.
"""

from reprieve.objects import Document
from reprieve.server.documents import at
from reprieve.server.errors import forbidden
from reprieve.server.storage import Store

_CLASSES = "runtimeclasses.node.k8s.io"


def complete(store: Store, pod: Document) -> None:
    """In place; 403 for a class that does not exist or contradicts the pod."""
    spec = pod.get("spec")
    name = spec.get("runtimeClassName") if isinstance(spec, dict) else None
    if not isinstance(spec, dict) or not isinstance(name, str) or not name:
        return
    record = store.head(_CLASSES, "", name)
    if record is None:
        raise _refusal(pod, f'RuntimeClass "{name}" not found')
    runtime = record.object
    _add_overhead(pod, spec, at(runtime, "overhead", "podFixed", default={}))
    _add_scheduling(pod, spec, at(runtime, "scheduling", default={}))


def _add_overhead(pod: Document, spec: Document, overhead: Document) -> None:
    if not overhead:
        return
    if spec.get("overhead") not in (None, {}, overhead):
        raise _refusal(pod, "Pod's Overhead doesn't match RuntimeClass's defined Overhead")
    spec["overhead"] = overhead


def _add_scheduling(pod: Document, spec: Document, scheduling: Document) -> None:
    selector = scheduling.get("nodeSelector") or {}
    own = spec.get("nodeSelector") or {}
    if any(own.get(key, value) != value for key, value in selector.items()):
        raise _refusal(pod, "the pod's nodeSelector conflicts with that of its RuntimeClass")
    if selector:
        spec["nodeSelector"] = {**own, **selector}
    tolerations = spec.get("tolerations") or []
    added = [each for each in scheduling.get("tolerations") or () if each not in tolerations]
    if added:
        spec["tolerations"] = [*tolerations, *added]


def _refusal(pod: Document, message: str) -> Exception:
    return forbidden("", "pods", pod["metadata"].get("name", ""), f"pod rejected: {message}")
