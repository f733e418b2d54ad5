"""What an API server demands of pods and their templates beyond what scheduling reads."""

import re
from collections.abc import Collection

import msgspec

from reprieve.objects.meta import Document
from reprieve.objects.structure import DUPLICATE, FORBIDDEN, NOT_FOUND, Problem
from reprieve.objects.text import shown
from reprieve.objects.validation.checks import (
    At,
    Problems,
    between,
    dns_label,
    int32,
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
        yield from runnable_spec(new.field("spec"))
    else:
        yield from _pod_change(new.field("spec"), old.field("spec"))


def runnable_spec(spec: At, claims: Collection[str] = ()) -> Problems:
    """`claims`: volumes that the pods get from whoever makes them."""
    yield from required(spec.field("containers"))
    volumes = {*claims, *(volume.field("name").text for volume in spec.field("volumes").items())}
    for container in [*spec.field("containers").items(), *spec.field("initContainers").items()]:
        yield from required(container.field("name"))
        yield from dns_label(container.field("name"))
        yield from required(container.field("image"))
        yield from _mounts(container, volumes)
    yield from between(spec.field("terminationGracePeriodSeconds"), 0, None)
    yield from int32(spec.field("activeDeadlineSeconds"), 1)
    node = spec.field("nodeName")
    yield from subdomain(node)
    if node.text and spec.field("schedulingGates").items():
        yield node.problem("cannot be set until all schedulingGates have been cleared", FORBIDDEN)


def _mounts(container: At, volumes: set[str]) -> Problems:
    claimed = set()
    for mount in container.field("volumeMounts").items():
        name, path = mount.field("name"), mount.field("mountPath")
        yield from required(name)
        yield from required(path)
        if name.text and name.text not in volumes:
            yield name.problem(f"no volume of the pod is called {shown(name.text)}", NOT_FOUND)
        if path.text and path.text in claimed:
            yield path.problem("must be unique", DUPLICATE)
        claimed.add(path.text)


def _pod_change(spec: At, before: At) -> Problems:
    """Compares the specs without the fields that may change.

    Gates are checked with what scheduling relies on.
    """
    free = _FREE_FIELDS + (_FREE_WHILE_GATED if before.field("schedulingGates").items() else ())
    if _fixed_part(spec, free) != _fixed_part(before, free):
        message = f"pod updates may not change fields other than {_MUTABLE}"
        yield Problem(spec.path, None, message, FORBIDDEN)
    if not _tolerations(spec) >= _tolerations(before):
        message = "existing toleration can not be modified except its tolerationSeconds"
        yield Problem(spec.field("tolerations").path, None, message, FORBIDDEN)


def _tolerations(spec: At) -> set[bytes]:
    return {
        msgspec.json.encode(each.value, order="deterministic") for each in spec.field("tolerations").items()
    }


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


def pod_template(new: At, old: At | None) -> Problems:
    del old
    yield from template(new.field("template", "spec"))


def template(spec: At, claims: Collection[str] = ()) -> Problems:
    yield from pod_spec(spec)
    yield from runnable_spec(spec, claims)


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
