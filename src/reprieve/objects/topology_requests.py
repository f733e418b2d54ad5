"""The topology request of a pod set, from the annotations of its pod template, as Kueue's webhooks read them.

Unreadable numbers and lists are left out of the request: validation of the Workload names what is missing.
"""

import json
from collections.abc import Mapping
from typing import Any

from reprieve.objects import well_known
from reprieve.objects.meta import Document
from reprieve.objects.selectors import whole_number


def topology_request(annotations: Mapping[str, Any], index_label: str = "") -> Document | None:
    """The field `topologyRequest`, or None if nothing is asked for. `index_label` names each pod's rank."""
    request: Document = {}
    for field, name in (
        ("required", well_known.TOPOLOGY_REQUIRED_ANNOTATION),
        ("preferred", well_known.TOPOLOGY_PREFERRED_ANNOTATION),
    ):
        if not request and annotations.get(name):
            request[field] = annotations[name]
    if not request and annotations.get(well_known.TOPOLOGY_UNCONSTRAINED_ANNOTATION) == "true":
        request["unconstrained"] = True
    layers = _layers(annotations.get(well_known.TOPOLOGY_SLICES_ANNOTATION))
    if layers:
        request["podsetSliceRequiredTopologyConstraints"] = layers
    elif annotations.get(well_known.TOPOLOGY_SLICE_ANNOTATION):
        request["podSetSliceRequiredTopology"] = annotations[well_known.TOPOLOGY_SLICE_ANNOTATION]
        size = whole_number(str(annotations.get(well_known.TOPOLOGY_SLICE_SIZE_ANNOTATION, "")))
        if size is not None:
            request["podSetSliceSize"] = size
    group = annotations.get(well_known.TOPOLOGY_GROUP_ANNOTATION)
    if group:
        request["podSetGroupName"] = group
    if request and index_label:
        request["podIndexLabel"] = index_label
    return request or None


def _layers(text: Any) -> list[Document]:
    try:
        found = json.loads(text) if isinstance(text, str) else []
    except (ValueError, RecursionError):
        return []
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
