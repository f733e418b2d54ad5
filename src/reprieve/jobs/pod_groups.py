"""What pods ask for together: pod sets by their shape."""

import json
from collections.abc import Iterable
from typing import Final

import msgspec

from reprieve.objects import Document, Pod, PodSpec, topology_request, well_known, whole_number

_SHAPE: Final = (
    "containers",
    "resourceClaims",
    "initContainers",
    "nodeSelector",
    "affinity",
    "tolerations",
    "overhead",
    "resources",
)


def shape_of(spec: PodSpec) -> str:
    """What makes two pods interchangeable for quota."""
    return shape(asked_by(spec))


def asked_by(spec: PodSpec) -> Document:
    """The fields that quota looks at."""
    encoded = msgspec.to_builtins(spec)
    return {field: encoded[field] for field in _SHAPE if field in encoded}


def shape(asked: Document) -> str:
    return json.dumps(asked, sort_keys=True)


def group_pod_sets(least: int, pods: Iterable[Pod]) -> list[Document]:
    """One pod set per shape of pod, the most frequent first; the first is enlarged up to `least` pods."""
    shapes: dict[str, list[Pod]] = {}
    for pod in sorted(pods, key=lambda pod: pod.name):
        shapes.setdefault(shape_of(pod.spec), []).append(pod)
    ordered = sorted(shapes.values(), key=lambda alike: (-len(alike), alike[0].name))
    missing = max(0, least - sum(len(alike) for alike in ordered))
    sets = []
    for number, alike in enumerate(ordered):
        template = {"spec": asked_by(alike[0].spec)}
        count = len(alike) + (missing if number == 0 else 0)
        asked = topology_request(alike[0].metadata.annotations)
        request = {} if asked is None else {"topologyRequest": asked}
        sets.append({"name": _pod_set_name(number), "count": count, "template": template, **request})
    return sets


def group_total(pods: Iterable[Pod]) -> int:
    """How many pods a group is to have: the most that any of them says; one for a pod on its own."""
    said = (
        each.metadata.annotations.get(well_known.POD_GROUP_TOTAL)
        or each.metadata.labels.get(well_known.POD_GROUP_TOTAL, "")
        for each in pods
        if well_known.POD_GROUP_NAME_LABEL in each.metadata.labels
    )
    return max((number for text in said if (number := whole_number(text)) is not None), default=1)


def _pod_set_name(number: int) -> str:
    return "main" if number == 0 else f"set-{number}"
