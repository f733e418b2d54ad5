"""Jobs and replicated workloads."""

import msgspec

from reprieve.objects.meta import LabelSelector
from reprieve.objects.selectors import matches
from reprieve.server.defaults.shape import peek
from reprieve.server.errors import Cause, invalid_value, required
from reprieve.server.registry import Document
from reprieve.server.validation.pods import validate_pod_spec


def validate_job(new: Document, old: Document | None) -> list[Cause]:
    spec = new.get("spec") or {}
    if old is None:
        pod_spec = peek(spec, "template", "spec")
        causes = validate_pod_spec(pod_spec if isinstance(pod_spec, dict) else {}, "spec.template.spec")
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
    return _immutable(spec, was, fixed)


def validate_replicated(new: Document, old: Document | None) -> list[Cause]:
    spec = new.get("spec") or {}
    causes = []
    replicas = spec.get("replicas", 1)
    if not isinstance(replicas, int) or isinstance(replicas, bool) or replicas < 0:
        causes.append(invalid_value("spec.replicas", replicas, "must be greater than or equal to 0"))
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
