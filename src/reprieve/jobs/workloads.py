"""What a job asks its queue for: the queue, the pod sets, the class, how long it may run."""

from collections.abc import Iterable
from typing import Final

import msgspec

from reprieve.jobs import sentences
from reprieve.jobs.kinds import JobKinds
from reprieve.jobs.paths import Place, at, mapping, text
from reprieve.jobs.pod_sets import PodSet
from reprieve.jobs.rows import JobKind
from reprieve.objects import Document, raw, topology_request, well_known, whole_number

GENERATED_LABELS: Final = frozenset(
    (
        "controller-uid",
        "job-name",
        well_known.JOB_CONTROLLER_UID_LABEL,
        well_known.JOB_NAME_LABEL,
    )
)
"""What the job controller adds to a job and its template."""


def queue_of(document: Document) -> str:
    """The LocalQueue that a job names; empty if it asks for no quota."""
    return str(raw.mapping(document, "metadata", "labels").get(well_known.QUEUE_LABEL) or "")


def suspended_by(document: Document, kinds: JobKinds) -> str:
    """The field that keeps a job from starting; empty if none does."""
    kind = kinds.find(document)
    if kind is None or not kind.suspend or not at(Place("", document), kind.suspend).value:
        return ""
    return kind.suspend


def requested(document: Document, kind: JobKind, sets: Iterable[PodSet]) -> list[Document]:
    """The pod sets of the workload. As in Kueue also those that have no pods now."""
    root, found = Place("", document), []
    for each in sets:
        count, template = each.requested
        found.append(
            {
                "name": each.name,
                "count": count,
                "template": plain_template(template),
                **_topology(root, each),
                **_least(root, kind, each),
            }
        )
    return found


def requested_before(document: Document, kind: JobKind, sets: Iterable[PodSet]) -> list[Document]:
    """What older versions asked for: they counted the pods that there are, as the job has their templates."""
    plain = [
        msgspec.structs.replace(
            each, asked=None, counted=None, template=each.written_template or each.template
        )
        for each in sets
    ]
    return requested(document, kind, plain)


def plain_template(template: Document) -> Document:
    """The pod template of a job as its user wrote it."""
    meta = template.get("metadata") or {}
    labels = meta.get("labels") or {}
    if GENERATED_LABELS.isdisjoint(labels):
        return template
    written = {name: value for name, value in labels.items() if name not in GENERATED_LABELS}
    return {**template, "metadata": {**meta, "labels": written}}


def priority_class_of(document: Document, kind: JobKind, sets: Iterable[PodSet]) -> str:
    """The PriorityClass of a job: its own field, or that of the first pods which name one, as in Kueue
    (pkg/controller/jobframework/reconciler.go, extractPriorityFromPodSets)."""
    own = text(Place("", document), kind.priority_class) if kind.priority_class else ""
    of_pods = (str(each.template["spec"].get("priorityClassName") or "") for each in sets)
    return own or next(filter(None, of_pods), "")


def time_limit(labels: Document) -> Document:
    """The field for the label that limits how long a job may run; what is no number is not one."""
    limit = str(labels.get(well_known.MAX_EXEC_TIME_LABEL) or "")
    seconds = whole_number(limit)
    return {"maximumExecutionTimeSeconds": seconds} if seconds else {}


def unheeded(document: Document, kind: JobKind, count: int) -> list[str]:
    """What a job of `count` pods says to its queue in vain, and why."""
    meta = mapping(Place("", document), "metadata")
    labels, annotations = meta.get("labels") or {}, meta.get("annotations") or {}
    found = []
    limit, least = (
        labels.get(well_known.MAX_EXEC_TIME_LABEL),
        annotations.get(well_known.MIN_PARALLELISM_ANNOTATION),
    )
    if limit is not None and not time_limit(labels):
        found.append(sentences.time_limit_is_no_number(limit))
    if least is not None and not kind.shrinks:
        found.append(sentences.ONLY_JOBS_START_SMALLER)
    elif least is not None and not _is_less(least, count):
        found.append(sentences.not_fewer_pods(least, count))
    if kind.autoscaling and at(Place("", document), kind.autoscaling).value:
        found.append(sentences.no_quota_for_more(kind.autoscaling))
    if annotations.get(well_known.ELASTIC_JOB_ANNOTATION) == "true":
        found.append(sentences.not_resized(bool(kind.shrinks)))
    return found


def _is_less(least: object, count: int) -> bool:
    return 0 < (whole_number(str(least)) or 0) < count


def _least(root: Place, kind: JobKind, pod_set: PodSet) -> Document:
    """A job that can shrink says how small it may become."""
    least = mapping(root, "metadata.annotations").get(well_known.MIN_PARALLELISM_ANNOTATION)
    if not kind.shrinks or not _is_less(least, pod_set.count):
        return {}
    return {"minCount": int(str(least))}


def _topology(root: Place, pod_set: PodSet) -> Document:
    rule = pod_set.rule
    field, _, value = rule.index_if.partition("=")
    index = rule.index_label if not field or at(at(root, rule.at), field).value == value else ""
    asked = topology_request(mapping(Place("", pod_set.template), "metadata.annotations"), index)
    if asked is None:
        return {}
    if rule.group_label and len(pod_set.factors) > 1:
        asked |= {"subGroupIndexLabel": rule.group_label, "subGroupCount": pod_set.factors[0]}
    return {"topologyRequest": asked}
