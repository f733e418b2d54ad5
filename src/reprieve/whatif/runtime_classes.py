"""What a RuntimeClass adds to the pods that name it: overhead, a node selector, tolerations.

An API server writes that into a pod when it is created, and Kueue counts it for a workload. A manifest that
no server has seen lacks it.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import msgspec

from reprieve.objects import (
    Document,
    Object,
    Pod,
    PodSet,
    PodSpec,
    RuntimeClass,
    Workload,
    kind_key,
)
from reprieve.whatif import sentences

_KEY = ("node.k8s.io", "RuntimeClass")


class Completed(NamedTuple):
    views: list[Object]
    notes: tuple[str, ...]
    """About classes that are not among the documents, so that nobody knows what they add."""


def with_runtime_classes(views: Iterable[Object], documents: Iterable[Document]) -> Completed:
    """The views with what their runtime classes add, where it is not there yet."""
    known = {
        str((each.get("metadata") or {}).get("name")): RuntimeClass.read(each)
        for each in documents
        if kind_key(each) == _KEY
    }
    missing: dict[tuple[str, str], None] = {}

    def complete(spec: PodSpec, owner: str) -> PodSpec:
        name = spec.runtime_class_name
        if not name or spec.overhead:
            return spec
        if name not in known:
            missing[name, owner] = None
            return spec
        return known[name].complete(spec)

    found = [_completed(view, complete) for view in views]
    return Completed(found, (sentences.runtime_classes_are_missing([*missing]),) if missing else ())


def _completed(view: Object, complete: Callable[[PodSpec, str], PodSpec]) -> Object:
    if isinstance(view, Pod) and view.spec.runtime_class_name and not view.metadata.uid:
        return msgspec.structs.replace(view, spec=complete(view.spec, f"Pod/{view.key}"))
    if isinstance(view, Workload) and any(
        each.template.spec.runtime_class_name for each in view.spec.pod_sets
    ):
        pod_sets = tuple(_pod_set(each, complete, f"Workload/{view.key}") for each in view.spec.pod_sets)
        return msgspec.structs.replace(view, spec=msgspec.structs.replace(view.spec, pod_sets=pod_sets))
    return view


def _pod_set(pod_set: PodSet, complete: Callable[[PodSpec, str], PodSpec], owner: str) -> PodSet:
    spec = complete(pod_set.template.spec, owner)
    return msgspec.structs.replace(pod_set, template=msgspec.structs.replace(pod_set.template, spec=spec))
