"""The pods of a job as its controller would make them, and the gangs that they form."""

import hashlib
from collections.abc import Iterable
from typing import Any

import msgspec

from reprieve.jobs import sentences
from reprieve.jobs.kinds import JobKinds
from reprieve.jobs.paths import Place, at, mapping, number, text
from reprieve.jobs.pod_sets import PodSet, pod_words
from reprieve.jobs.queueing import one_run
from reprieve.jobs.reading import pod_sets
from reprieve.jobs.replica_claims import replica_claims, replica_volumes
from reprieve.jobs.rows import JobKind
from reprieve.jobs.unread import unread
from reprieve.jobs.workloads import priority_class_of, queue_of, suspended_by
from reprieve.objects import (
    Document,
    InvalidObject,
    Pod,
    Reference,
    countable,
    decode,
    decode_as,
    group_key,
    kind_key,
    raw,
    refuse_unread_version,
    unknown_names,
    well_known,
    whole_pod,
)

_STORAGE = ("StorageClass", "PersistentVolume", "PersistentVolumeClaim")
"""Without any of them nothing is known of storage, and claims for volumes would fit nowhere."""
_DEPLOYMENT = ("apps", "Deployment")
HASH_LABEL = "pod-template-hash"
_GROUP_API = f"{well_known.SCHEDULING_API}/v1beta1"


class Expansion(msgspec.Struct, frozen=True, kw_only=True):
    """What a job would put into the cluster."""

    job: Reference
    sets: tuple[PodSet, ...]
    pods: dict[str, list[Document]]
    """By pod set, in order."""
    groups: tuple[Document, ...] = ()
    """PodGroups that the job does not name and that follow from its kind or from its scheduling policy."""
    between: Document | None = None
    """The ReplicaSet of a Deployment: it controls the pods, and they are spread by its selector."""
    claims: tuple[Document, ...] = ()
    """Claims for volumes that its controller makes for its pods."""
    stopped: str = ""
    """Why it starts no pods: it is suspended and in no queue that would start it, or asks for none."""
    priority_class: str = ""
    """Its own field for a priority class, where its kind has one."""
    unread: tuple[str, ...] = ()
    """Fields of the job that change where its pods go and that are not looked at, and what they do."""

    @property
    def notes(self) -> list[str]:
        return [*map(sentences.not_looked_at, self.unread)]

    @property
    def documents(self) -> list[Document]:
        between = [self.between] if self.between else []
        pods = (pod for pods in self.pods.values() for pod in pods)
        return [*self.groups, *between, *self.claims, *pods]

    def class_names(self) -> list[str]:
        """The priority classes that its pods have."""
        named = (pods[0]["spec"].get("priorityClassName") for pods in self.pods.values() if pods)
        groups = (each["spec"].get("priorityClassName") for each in self.groups)
        return [*dict.fromkeys(filter(None, (*groups, *named)))]

    def class_path(self, name: str) -> str:
        """The field of the job that names this priority class for its pods."""
        paths = (
            f"{each.path}.spec.priorityClassName"
            for each in self.sets
            if each.template["spec"].get("priorityClassName") == name
        )
        return next(paths, self.priority_class)

    def views(self) -> list[Pod]:
        """The pods, decoded: of each pod set and gang one, the others differ in name and labels only."""
        found: list[Pod] = []
        for pods in self.pods.values():
            like: dict[str, Pod] = {}
            for pod in pods:
                meta, gang = pod["metadata"], str(pod["spec"].get("schedulingGroup"))
                if gang in like:
                    named = msgspec.structs.replace(
                        like[gang].metadata, name=meta["name"], labels=meta["labels"]
                    )
                    found.append(msgspec.structs.replace(like[gang], metadata=named))
                else:
                    like[gang] = decode_as(pod, Pod)
                    found.append(like[gang])
        return found


def expand(document: Document, kinds: JobKinds, others: Iterable[Document] = ()) -> Expansion:
    """Raises `InvalidObject` with the path in the job that the user wrote."""
    refuse_unread_version(document)
    kind, others = kinds.find(document), list(others)
    sets = pod_sets(document, kinds, others)
    assert kind is not None
    for each in sets:
        _check(each, document)
    job, root = Reference.read(document), Place("", document)
    groups = _groups(root, kind, job, sets)
    between = _replica_set(root, job, sets[0]) if kind_key(document) == _DEPLOYMENT else None
    pods = {each.name: _pods(each, root, kind, job, groups, between) for each in sets}
    there = {Reference.read(each) for each in others if each.get("kind") in _STORAGE}
    claims = _claims(root, kind, job, [pod for each in pods.values() for pod in each]) if there else []
    not_read = unread(root, kind, kinds)
    if kind.claim_templates and at(root, kind.claim_templates).value and not there:
        not_read = (*not_read, sentences.unread_field(kind.claim_templates, sentences.VOLUMES))
    return Expansion(
        job=job,
        sets=tuple(sets),
        pods=pods,
        groups=tuple(groups),
        between=between,
        claims=tuple(each for each in claims if Reference.read(each) not in there),
        stopped=_stopped(document, kinds, sets),
        priority_class=kind.priority_class,
        unread=not_read,
    )


def _stopped(document: Document, kinds: JobKinds, sets: Iterable[PodSet]) -> str:
    field = suspended_by(document, kinds)
    if field and not queue_of(one_run(document, kinds) or document):
        return sentences.is_suspended(field)
    return "" if any(each.count for each in sets) else sentences.ASKS_FOR_NO_PODS


def _check(pod_set: PodSet, job: Document) -> None:
    """One pod of the template is read now, so that a mistake is told with its path in the job."""
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod"}, "spec": pod_set.template["spec"]}
    where = str(Reference.read(job))
    try:
        view = decode(pod)
    except InvalidObject as error:
        raise InvalidObject(f"{pod_set.path}.{error.path}", error.value, error.message, where) from error
    assert isinstance(view, Pod)
    path = f"{pod_set.path}.spec"
    stored = (job.get("metadata") or {}).get("uid")
    for problem in (
        *countable(view.spec, path),
        *([] if stored else [*unknown_names(view.spec, path), *whole_pod(view.spec, path)]),
    ):
        raise InvalidObject(problem.path, problem.value, problem.message, where)


def _groups(root: Place, kind: JobKind, job: Reference, sets: list[PodSet]) -> list[Document]:
    """The gangs of a job that does not bring its own group."""
    if any(_joins_group(each) for each in sets):
        return []
    policy = at(root, kind.scheduling) if kind.scheduling else Place("", None)
    gang = at(policy, "schedulingPolicy.gang")
    if not kind.gang and gang.value is None:
        return []
    total = sum(each.count for each in sets)
    if kind.gang_per_replica:
        replicas = max((each.factors[0] for each in sets), default=0)
        size = total // replicas if replicas else 0
        return [_group(root, kind, job, f"{job.name}-{n}", size, sets) for n in range(replicas) if size > 1]
    least = number(gang, "minCount", total)
    if kind.min_available:
        least = number(root, kind.min_available, total) or total
    made = _group(root, kind, job, job.name, min(least, total), sets)
    for field in ("disruptionMode", "schedulingConstraints"):
        if at(policy, field).value is not None:
            made["spec"][field] = at(policy, field).value
    return [made] if total > 1 else []


def _group(root: Place, kind: JobKind, job: Reference, name: str, least: int, sets: list[PodSet]) -> Document:
    spec: Document = {"schedulingPolicy": {"gang": {"minCount": least}}}
    if name_of_class := priority_class_of(root.value, kind, sets):
        spec["priorityClassName"] = name_of_class
    meta = {"name": name, "namespace": job.namespace, "ownerReferences": [_owner(root, job)]}
    return {"apiVersion": _GROUP_API, "kind": "PodGroup", "metadata": meta, "spec": spec}


def _joins_group(pod_set: PodSet) -> bool:
    return bool(
        group_key({"metadata": pod_set.template.get("metadata") or {}, "spec": pod_set.template["spec"]})
    )


def _replica_set(root: Place, job: Reference, pod_set: PodSet) -> Document:
    """As the Deployment makes it of its template. It has no labels, so that it asks no queue for quota."""
    mark = {HASH_LABEL: template_hash(pod_set.template)}
    template, selector = pod_set.template, mapping(root, "spec.selector")
    meta = template.get("metadata") or {}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": f"{job.name}-{mark[HASH_LABEL]}",
            "namespace": job.namespace,
            "ownerReferences": [_owner(root, job)],
        },
        "spec": {
            "replicas": pod_set.count,
            "selector": {**selector, "matchLabels": {**(selector.get("matchLabels") or {}), **mark}},
            "template": {**template, "metadata": {**meta, "labels": {**(meta.get("labels") or {}), **mark}}},
        },
    }


def template_hash(template: Document) -> str:
    """What tells the ReplicaSets of a Deployment apart."""
    encoded = msgspec.json.encode(template, order="sorted")
    return hashlib.sha256(encoded).hexdigest()[:10]


def _pods(
    pod_set: PodSet,
    root: Place,
    kind: JobKind,
    job: Reference,
    groups: list[Document],
    between: Document | None,
) -> list[Document]:
    meta = mapping(Place(pod_set.path, pod_set.template), "metadata")
    owner, made = _owner(root, job), []
    if between is not None:
        meta = between["spec"]["template"]["metadata"]
        owner = _owner(Place("", between), Reference.read(between))
    own_class = text(root, kind.priority_class) if kind.priority_class else ""
    fixed: dict[str, Any] = {"job": pod_set.owner or job.name, "set": pod_set.word or pod_set.name}
    shared, varying = _labels(pod_set, {**(meta.get("labels") or {})}, fixed)
    for words in pod_words(pod_set, job.name):
        labels = {label: value.format(**words) for label, value in varying}
        spec = dict(pod_set.template["spec"])
        if own_class and not spec.get("priorityClassName"):
            spec["priorityClassName"] = own_class
        if groups:
            group = groups[words["outer"] if kind.gang_per_replica else 0]
            spec["schedulingGroup"] = {"podGroupName": group["metadata"]["name"]}
        made.append(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {
                    **meta,
                    "name": pod_set.rule.pod_name.format(**words),
                    "namespace": job.namespace,
                    "labels": {**shared, **labels},
                    "ownerReferences": [owner],
                },
                "spec": spec,
            }
        )
    return made


def _claims(root: Place, kind: JobKind, job: Reference, pods: list[Document]) -> list[Document]:
    """The claims of each pod, and in its volumes their names; what is there already is used again."""
    templates = raw.items(at(root, kind.claim_templates).value) if kind.claim_templates else []
    if not templates:
        return []
    selected = mapping(root, "spec.selector").get("matchLabels") or {}
    found = []
    for pod in pods:
        name = pod["metadata"]["name"]
        pod["spec"]["volumes"] = replica_volumes(templates, name, raw.items(pod, "spec", "volumes"))
        found += replica_claims(templates, name, job.namespace, selected)
    return found


def _labels(
    pod_set: PodSet, labels: dict[str, str], fixed: dict[str, Any]
) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """Labels that all pods of a set have, and those that tell them apart."""
    varying = []
    for label, value in pod_set.rule.labels.items():
        try:
            labels[label] = value.format(**fixed)
        except KeyError:
            varying.append((label, value))
    return labels, varying


def _owner(root: Place, job: Reference) -> Document:
    reference: dict[str, Any] = {
        "apiVersion": root.value.get("apiVersion"),
        "kind": job.kind,
        "name": job.name,
    }
    return {**reference, "uid": text(root, "metadata.uid"), "controller": True}
