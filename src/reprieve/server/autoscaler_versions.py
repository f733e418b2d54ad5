"""HorizontalPodAutoscalers in autoscaling/v1, which knows one metric, as they are stored in autoscaling/v2.

What v1 has no field for travels in the annotations that Kubernetes uses for it, so that nothing is lost when
an older client writes back what it read.
"""

from typing import Any

import msgspec

from reprieve.objects import Document
from reprieve.server.documents import at, items

_METRICS = "autoscaling.alpha.kubernetes.io/metrics"
_BEHAVIOR = "autoscaling.alpha.kubernetes.io/behavior"


def _is_cpu(metric: Document) -> bool:
    target = at(metric, "resource", "target", default={})
    return (
        metric.get("type") == "Resource"
        and at(metric, "resource", "name") == "cpu"
        and target.get("type") == "Utilization"
    )


def autoscaler_to_v1(document: Document) -> Document:
    spec: Document = dict(document.get("spec") or {})
    metrics = items(spec, "metrics")
    spec.pop("metrics", None)
    behavior = spec.pop("behavior", None)
    cpu = next((metric for metric in metrics if _is_cpu(metric)), None)
    if cpu is not None:
        average = at(cpu, "resource", "target", "averageUtilization")
        if average is not None:
            spec["targetCPUUtilizationPercentage"] = average
    others = [metric for metric in metrics if metric is not cpu]
    annotations = dict(document["metadata"].get("annotations") or {})
    for key, value in ((_METRICS, others), (_BEHAVIOR, behavior)):
        if value:
            annotations[key] = msgspec.json.encode(value).decode()
    metadata = {**document["metadata"], **({"annotations": annotations} if annotations else {})}
    newer = ("conditions", "currentMetrics")
    status = {key: value for key, value in (document.get("status") or {}).items() if key not in newer}
    return {**document, "metadata": metadata, "spec": spec, **({"status": status} if status else {})}


def autoscaler_to_v2(document: Document) -> Document:
    spec: Document = dict(document.get("spec") or {})
    metadata = dict(document["metadata"])
    annotations = dict(metadata.get("annotations") or {})
    metrics: list[Any] = list(_read(annotations.pop(_METRICS, "")) or ())
    behavior = _read(annotations.pop(_BEHAVIOR, ""))
    percentage = spec.pop("targetCPUUtilizationPercentage", None)
    if percentage is not None:
        target = {"type": "Utilization", "averageUtilization": percentage}
        metrics.insert(0, {"type": "Resource", "resource": {"name": "cpu", "target": target}})
    if metrics:
        spec["metrics"] = metrics
    if behavior:
        spec["behavior"] = behavior
    metadata.pop("annotations", None)
    if annotations:
        metadata["annotations"] = annotations
    return {**document, "metadata": metadata, "spec": spec}


def _read(text: str) -> Any:
    try:
        return msgspec.json.decode(text) if text else None
    except (msgspec.DecodeError, RecursionError):
        return None
