"""Jobs and replicated workloads."""

import re

import msgspec

from reprieve.objects import Document, LabelSelector, matches
from reprieve.server.defaults.shape import peek
from reprieve.server.errors import Cause, invalid_value, required
from reprieve.server.validation.pods import validate_pod_spec

MOST_PODS = 100_000
"""How many pods one object may ask for. Kubernetes has no such limit, but it has more than one process, too."""


def _validate_counts(spec: Document, fields: tuple[str, ...]) -> list[Cause]:
    causes = []
    for field in fields:
        value = spec.get(field, 0)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            causes.append(invalid_value(f"spec.{field}", value, "must be greater than or equal to 0"))
        elif value > MOST_PODS:
            causes.append(invalid_value(f"spec.{field}", value, f"must be less than or equal to {MOST_PODS}"))
    return causes


def validate_job(new: Document, old: Document | None) -> list[Cause]:
    spec = new.get("spec") or {}
    causes = _validate_counts(spec, ("parallelism", "completions"))
    indexes = peek(new, "status", "completedIndexes")
    if isinstance(indexes, str) and any(len(n) > len(str(MOST_PODS)) for n in re.findall(r"[0-9]+", indexes)):
        causes.append(invalid_value("status.completedIndexes", indexes, f"must be below {MOST_PODS}"))
    if old is None:
        pod_spec = peek(spec, "template", "spec")
        causes += validate_pod_spec(pod_spec if isinstance(pod_spec, dict) else {}, "spec.template.spec")
        policy = peek(pod_spec, "restartPolicy")
        if policy not in ("OnFailure", "Never"):
            message = 'Required value: valid values: "OnFailure", "Never"'
            causes.append(Cause("FieldValueRequired", message, "spec.template.spec.restartPolicy"))
        return causes
    was = old.get("spec") or {}
    fixed = ["selector", "completionMode", "podFailurePolicy"]
    if spec.get("completionMode") != "Indexed":
        fixed.append("completions")
    if not was.get("suspend"):
        fixed.append("template")
    return causes + _immutable(spec, was, fixed)


def validate_replicated(new: Document, old: Document | None) -> list[Cause]:
    spec = new.get("spec") or {}
    causes = _validate_counts(spec, ("replicas",))
    if old is not None:
        return causes + _immutable(spec, old.get("spec") or {}, ["selector"])
    selector = spec.get("selector")
    if not selector:
        return [*causes, required("spec.selector")]
    pod_spec = peek(spec, "template", "spec")
    causes += validate_pod_spec(pod_spec if isinstance(pod_spec, dict) else {}, "spec.template.spec")
    try:
        view = msgspec.convert(selector, LabelSelector)
    except msgspec.ValidationError as error:
        return [*causes, invalid_value("spec.selector", selector, str(error))]
    labels = peek(spec, "template", "metadata", "labels")
    if not matches(view, labels if isinstance(labels, dict) else {}):
        causes.append(
            invalid_value(
                "spec.template.metadata.labels", labels or {}, "`selector` does not match template `labels`"
            )
        )
    return causes


def _immutable(new: Document, old: Document, fields: list[str]) -> list[Cause]:
    return [
        invalid_value(f"spec.{field}", "", "field is immutable")
        for field in fields
        if new.get(field) != old.get(field)
    ]
