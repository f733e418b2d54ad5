"""What an API server demands beyond what scheduling reads: of pods, and of the kinds that make pods."""

import re

import msgspec

from reprieve.objects.meta import Document, LabelSelector
from reprieve.objects.selectors import matches
from reprieve.objects.structure import FORBIDDEN, REQUIRED, Problem
from reprieve.objects.validation.checks import (
    At,
    Problems,
    between,
    dns_label,
    int32,
    one_of,
    required,
    subdomain,
)
from reprieve.objects.validation.pods import pod_spec

MOST_PODS = 100_000
"""How many pods one object may ask for. Kubernetes has no such limit; the embedded server is one process."""

_MUTABLE = (
    "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
    "`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` "
    "(allow it to be set to 1 if it was previously negative)"
)
_FREE_FIELDS = ("activeDeadlineSeconds", "terminationGracePeriodSeconds", "schedulingGates", "tolerations")
_FREE_WHILE_GATED = ("nodeSelector", "affinity")


def pod(new: At, old: At | None) -> Problems:
    if old is None:
        yield from _runnable_spec(new.field("spec"))
    else:
        yield from _pod_change(new.field("spec"), old.field("spec"))


def _runnable_spec(spec: At) -> Problems:
    yield from required(spec.field("containers"))
    for container in [*spec.field("containers").items(), *spec.field("initContainers").items()]:
        yield from required(container.field("name"))
        yield from dns_label(container.field("name"))
        yield from required(container.field("image"))
    yield from between(spec.field("terminationGracePeriodSeconds"), 0, None)
    node = spec.field("nodeName")
    yield from subdomain(node)
    if node.text and spec.field("schedulingGates").items():
        yield node.problem("cannot be set until all schedulingGates have been cleared", FORBIDDEN)


def _pod_change(spec: At, before: At) -> Problems:
    """Compares the specs without the fields that may change.

    Gates are checked with what scheduling relies on.
    """
    free = _FREE_FIELDS + (_FREE_WHILE_GATED if before.field("schedulingGates").items() else ())
    if _fixed_part(spec, free) != _fixed_part(before, free):
        message = f"pod updates may not change fields other than {_MUTABLE}"
        yield Problem(spec.path, None, message, FORBIDDEN)
    kept = [each.value for each in spec.field("tolerations").items()]
    if any(each.value not in kept for each in before.field("tolerations").items()):
        message = "existing toleration can not be modified except its tolerationSeconds"
        yield Problem(spec.field("tolerations").path, None, message, FORBIDDEN)


def _fixed_part(spec: At, free: tuple[str, ...]) -> Document:
    result: Document = {name: value for name, value in (spec.value or {}).items() if name not in free}
    for field in ("containers", "initContainers"):
        if field in result:
            containers = (each.value for each in spec.field(field).items())
            result[field] = [
                {name: value for name, value in each.items() if name != "image"}
                for each in containers
                if isinstance(each, dict)
            ]
    return result


def job(new: At, old: At | None) -> Problems:
    if old is not None:
        yield from _job_change(new.field("spec"), old.field("spec"))
    else:
        yield from _job_template(new.field("spec", "template", "spec"))


def cron_job(new: At, old: At | None) -> Problems:
    if old is None:
        template = new.field("spec", "jobTemplate", "spec", "template", "spec")
        yield from pod_spec(template)
        yield from _job_template(template)


def _job_template(template: At) -> Problems:
    yield from _runnable_spec(template)
    policy = template.field("restartPolicy")
    if policy.text not in ("OnFailure", "Never"):
        yield policy.problem('valid values: "OnFailure", "Never"', REQUIRED)


def pod_template(new: At, old: At | None) -> Problems:
    del old
    yield from _template(new.field("template", "spec"))


def _template(spec: At) -> Problems:
    yield from pod_spec(spec)
    yield from _runnable_spec(spec)


def size_problems(document: Document) -> list[Problem]:
    """Fewer pods than none, or more than one process can hold; Kubernetes has no such limit."""
    found = []
    for name in ("replicas", "parallelism", "completions"):
        place = At(document).field("spec", name)
        if (place.number or 0) > MOST_PODS:
            found.append(place.problem(f"must be less than or equal to {MOST_PODS}"))
        elif (place.number or 0) < 0 and name != "replicas":  # which is a rule of its own
            found.append(place.problem("must be greater than or equal to 0"))
    indexes = At(document).field("status", "completedIndexes")
    if any(len(number) > len(str(MOST_PODS)) for number in re.findall(r"[0-9]+", indexes.text)):
        found.append(indexes.problem(f"must be below {MOST_PODS}"))
    return found


def _job_change(spec: At, before: At) -> Problems:
    fixed = ["selector", "completionMode", "podFailurePolicy"]
    if spec.field("completionMode").value != "Indexed":
        fixed.append("completions")
    if not before.field("suspend").value:
        fixed.append("template")
    yield from _unchanged(spec, before, fixed)


def replication_controller(new: At, old: At | None) -> Problems:
    spec = new.field("spec")
    yield from int32(spec.field("replicas"), 0)
    if old is None and spec.field("template").is_set:
        yield from _template(spec.field("template", "spec"))
        yield from _always(spec.field("template", "spec"))


def replicated(new: At, old: At | None) -> Problems:
    spec = new.field("spec")
    yield from int32(spec.field("replicas"), 0)
    if old is not None:
        yield from _unchanged(spec, old.field("spec"), ["selector"])
        return
    selector, template = spec.field("selector"), spec.field("template")
    yield from _template(template.field("spec"))
    yield from _always(template.field("spec"))
    if not selector.value:
        yield selector.problem("is required", REQUIRED)
        return
    try:
        view = msgspec.convert(selector.value, LabelSelector)
    except msgspec.ValidationError as error:
        yield selector.problem(str(error))
        return
    labels = template.field("metadata", "labels")
    if not matches(view, labels.value if isinstance(labels.value, dict) else {}):
        yield Problem(labels.path, labels.value or {}, "`selector` does not match template `labels`")


def _always(template: At) -> Problems:
    """Pods that a controller keeps running."""
    if template.field("restartPolicy").text:
        yield from one_of(template.field("restartPolicy"), ("Always",))


def _unchanged(new: At, old: At, names: list[str]) -> Problems:
    for name in names:
        if new.field(name).value != old.field(name).value:
            yield Problem(new.field(name).path, "", "field is immutable")
