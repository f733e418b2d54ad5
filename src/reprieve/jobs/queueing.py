"""Which Workload a job becomes: who asks its queue, for what, under which name.

A job asks as a whole, or each replica or each pod of it for itself, as its kind does (`JobKind.asks`); of a
CronJob one run asks. Pods ask one by one, or together by the label with the name of their group. The quota
controller writes these Workloads; what-ifs and forecasts add them to their documents.

Names and owner references are Kueue's: what one of the two has made, the other finds.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

import msgspec

from reprieve.jobs import sentences
from reprieve.jobs.editing import restored
from reprieve.jobs.gating import group_label, replica_sets
from reprieve.jobs.kinds import JobKinds
from reprieve.jobs.names import (
    group_name,
    job_name,
    pods_name,
    prebuilt_workload,
    replica_names,
    workload_name,
)
from reprieve.jobs.paths import Place, at, mapping
from reprieve.jobs.pod_groups import group_pod_sets, group_total
from reprieve.jobs.pod_sets import pod_words
from reprieve.jobs.progress import ending
from reprieve.jobs.reading import pod_sets
from reprieve.jobs.workloads import priority_class_of, queue_of, requested, time_limit
from reprieve.objects import (
    Document,
    InvalidObject,
    Pod,
    PodGroup,
    Reference,
    Source,
    chain,
    decode_all,
    document_of,
    group_key,
    kind_key,
    owners_of,
    well_known,
)

_POD, _GROUP = ("", "Pod"), (well_known.SCHEDULING_API, "PodGroup")
_WORKLOAD, _WORKLOAD_API = (well_known.KUEUE_API, "Workload"), f"{well_known.KUEUE_API}/v1beta2"


class Asking(NamedTuple):
    """Something that asks."""

    who: str
    """`Job/ml/train`, `Deployment/ml/web, pod 2`."""
    workload: Document
    owner: Reference
    """The job, the group or the first of the pods, as it was written."""
    replica: str = ""
    """The number of the replica that asks, where each does for itself."""


class Queueing(NamedTuple):
    """Who asks, among documents, and who does not."""

    asking: list[Asking]
    """In the order of their jobs, then groups and pods."""
    standing: dict[Reference, str]
    """What has a Workload already, and which."""
    queued: set[Reference]
    """Jobs that name a queue and no Workload stands for: they ask, or their pods do."""
    silent: list[Document | Source]
    """Jobs that could ask and name no queue."""
    refused: dict[Reference, tuple[Document | Source, InvalidObject]]
    """Jobs whose pods cannot be read."""
    notes: list[str]
    """Pods that do not ask yet."""


# --- one owner ----------------------------------------------------------------------------------------------


def job_workloads(job: Document, kinds: JobKinds, others: Sequence[Document] = ()) -> list[Asking]:
    """The Workloads of a job, as its user wrote it; none if it names no queue, or is scaled to nothing."""
    kind, written = kinds.find(job), Reference.read(job)
    assert kind is not None
    who, owner = str(written), job
    if (run := one_run(job, kinds)) is not None:
        job, kind = run, kinds.find(run)
        assert kind is not None
    if not queue_of(job) or kind.asks == "none":
        return []
    sets = pod_sets(job, kinds, others)
    plain = restored(job, sets)
    if plain is not job:
        job, sets = plain, pod_sets(plain, kinds, others)
    of_pods = priority_class_of(job, kind, sets)
    if kind.asks == "pod":
        names = [
            (each.rule.pod_name.format(**words), each)
            for each in sets
            for words in pod_words(each, written.name)
        ]
        meta = job.get("metadata") or {}
        found = []
        for number, (name, pod_set) in enumerate(names):
            pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {**meta, "name": name, "uid": ""}}
            asked = requested(job, kind, [msgspec.structs.replace(pod_set, factors=(1,))])
            made = _workload(workload_name(*_POD, name), pod, asked, of_pods, [controller_reference(pod)])
            found.append(Asking(sentences.pod_of_job(who, number), made, written))
        return found
    asked = requested(job, kind, replica_sets(kind, sets))
    if not asked or (kind.asks != "job" and not any(each["count"] for each in asked)):
        return []
    if kind.asks == "replica":
        return [
            Asking(
                sentences.replica_of_job(who, number),
                _replica(_workload(name, job, asked, of_pods, [_reference(owner)]), number),
                written,
                str(number),
            )
            for number, name in enumerate(replica_names(job, kind, sets))
        ]
    # As in Kueue, what makes pods with a queue of their own does not control their Workload.
    reference = controller_reference(owner) if kind.asks == "job" else _reference(owner)
    return [Asking(who, _workload(job_name(job, kind), job, asked, of_pods, [reference]), written)]


def one_run(document: Document, kinds: JobKinds) -> Document | None:
    """The job that something makes again and again (a CronJob); None for what is a job itself."""
    kind = kinds.find(document)
    if kind is None or not kind.job_template:
        return None
    made = next(each for each in kinds if each.kind in kind.makes)
    template, job = at(Place("", document), kind.job_template), Reference.read(document)
    meta = {**mapping(template, "metadata"), "name": job.name, "namespace": job.namespace}
    return {
        "apiVersion": made.api_version,
        "kind": made.kind,
        "metadata": meta,
        "spec": mapping(template, kind.job_spec),
    }


def names_queue(document: Document, kinds: JobKinds) -> bool:
    """Whether a job, pod or group asks a queue for quota, by itself or with what it makes."""
    return bool(queue_of(one_run(document, kinds) or document))


def group_workload(group: PodGroup, pods: Sequence[Pod], api_version: str = "") -> Document:
    """The Workload of a PodGroup with these pods."""
    owner = msgspec.to_builtins(group)
    owner |= {"apiVersion": api_version or group.api_version, "kind": "PodGroup"}
    of_pods = group.spec.priority_class_name or _class_of(pods)
    sets = group_pod_sets(group.min_count, pods)
    return _workload(group_name(group), owner, sets, of_pods, [controller_reference(owner)])


def pods_workload(pods: Sequence[Pod]) -> Document:
    """The Workload of a pod that asks for itself, or of the pods of one group."""
    first = min(pods, key=lambda pod: pod.name)
    owners = [pod_reference(pod) for pod in pods]
    if well_known.POD_GROUP_NAME_LABEL not in first.metadata.labels:
        owners[0] |= {"controller": True, "blockOwnerDeletion": True}
    owner = msgspec.to_builtins(first)
    sets = group_pod_sets(group_total(pods), pods)
    return _workload(pods_name(first.metadata), owner, sets, _class_of(pods), owners)


def _class_of(pods: Iterable[Pod]) -> str:
    named = (pod.spec.priority_class_name for pod in sorted(pods, key=lambda pod: pod.name))
    return next(filter(None, named), "")


def pod_reference(pod: Pod) -> Document:
    return {"apiVersion": "v1", "kind": "Pod", "name": pod.name, "uid": pod.metadata.uid}


def asks_itself(pod: Pod, kinds: JobKinds) -> bool:
    """It names a queue, and no job asks in its place."""
    if well_known.QUEUE_LABEL not in pod.metadata.labels:
        return False
    owners = (each for each in pod.metadata.owner_references if each.controller)
    above = next((kinds.of(each.api_version, each.kind) for each in owners), None)
    return above is None or above.asks != "job"


def _workload(
    name: str, owner: Document, sets: list[Document], of_pods: str, references: list[Document]
) -> Document:
    """`owner` names the queue, `of_pods` is the PriorityClass of the pods."""
    labels = mapping(Place("", owner), "metadata.labels")
    spec: Document = {"queueName": queue_of(owner), "podSets": sets, **time_limit(labels)}
    if named := labels.get(well_known.WORKLOAD_PRIORITY_CLASS_LABEL):
        spec["priorityClassRef"] = _class(well_known.KUEUE_API, str(named))
    elif of_pods:
        spec["priorityClassRef"] = _class(well_known.SCHEDULING_API, of_pods)
    meta: Document = {
        "name": name,
        "namespace": Reference.read(owner).namespace,
        "ownerReferences": references,
    }
    if uid := owner["metadata"].get("uid"):
        meta["labels"] = {well_known.JOB_UID_LABEL: uid}
    return {
        "apiVersion": f"{well_known.KUEUE_API}/v1beta2",
        "kind": "Workload",
        "metadata": meta,
        "spec": spec,
    }


def _replica(workload: Document, number: int) -> Document:
    """All replicas have one owner: an annotation says which one it is, as in Kueue."""
    workload["metadata"]["annotations"] = {well_known.COMPONENT_INDEX_ANNOTATION: str(number)}
    return workload


def _class(group: str, name: str) -> Document:
    return {"group": group, "kind": well_known.PRIORITY_CLASS_KINDS[group], "name": name}


def controller_reference(owner: Document) -> Document:
    return {**_reference(owner), "controller": True, "blockOwnerDeletion": True}


def _reference(owner: Document) -> Document:
    meta = owner.get("metadata") or {}
    return {
        "apiVersion": owner.get("apiVersion"),
        "kind": owner.get("kind"),
        "name": meta.get("name"),
        "uid": meta.get("uid") or "",
    }


# --- all of them --------------------------------------------------------------------------------------------


def workloads_for(documents: Iterable[Document | Source], kinds: JobKinds) -> Queueing:
    """The Workloads that these jobs, groups and pods ask with and that are not among the documents.

    `kinds`: those that are managed.
    """
    given = list(documents)
    asked, rows = _Asked([document_of(each) for each in given], kinds), {each.kind for each in kinds}
    for each in given:
        if document_of(each).get("kind") in rows and kinds.find(document_of(each)) is not None:
            asked.add_job(each)
    asked.add_pods(given)
    return asked.found


class _Asked:
    def __init__(self, documents: list[Document], kinds: JobKinds) -> None:
        self.found = Queueing([], {}, set(), [], {}, [])
        self._documents = documents
        self._kinds = kinds
        names = {each.kind for each in kinds}
        self._jobs = {
            Reference.read(each): each
            for each in documents
            if each.get("kind") in names and kinds.find(each) is not None
        }
        workloads = [
            each for each in documents if each.get("kind") == "Workload" and kind_key(each) == _WORKLOAD
        ]
        self._named = {Reference.read(each).key for each in workloads}
        self._makers: set[Reference] = set()
        """Jobs in a queue that ask in the place of their pods, and ..."""
        self._parts: set[tuple[str, str]] = set()
        """... the namespaces and names by which these pods know that they belong together."""
        for each in workloads:
            for owner in (*owners_of(each), *self._above(each)):
                self.found.standing.setdefault(owner, Reference.read(each).key)

    def _above(self, document: Document) -> list[Reference]:
        """What made an object, up to the job that a person wrote. Each run of a CronJob is a job itself."""
        found = []
        for reference, owner in chain(document, self._jobs):
            kind = self._kinds.of(str(owner.get("apiVersion")), str(owner.get("kind")))
            if kind is not None and kind.asks == "none":
                break
            found.append(reference)
        return found

    def add_job(self, given: Document | Source) -> None:
        job = document_of(given)
        kind, written = self._kinds.find(job), Reference.read(job)
        assert kind is not None
        if queue_of(job) and kind.asks in ("group", "replica"):
            self._makers.add(written)
            self._parts.add((written.namespace, group_label(job, kind)))
        if written in self.found.standing:
            return
        if ending(job, self._kinds) is not None or self._another_asks(job):
            return
        run = one_run(job, self._kinds) or job
        if not queue_of(run):
            self.found.silent.append(given)
            return
        named = prebuilt_workload(run.get("metadata") or {})
        if named and f"{written.namespace}/{named}" in self._named:
            self.found.standing[written] = f"{written.namespace}/{named}"
            return
        self.found.queued.add(written)
        if kind.asks != "pod" or written not in self._with_pods:
            try:
                self.found.asking.extend(job_workloads(job, self._kinds, self._documents))
            except InvalidObject as error:
                self.found.refused[written] = given, error

    def _another_asks(self, job: Document) -> bool:
        """A job above it asks, or may, where it is not shown."""
        for reference, owner in chain(job, self._jobs):
            kind = self._kinds.of(str(owner.get("apiVersion")), str(owner.get("kind")))
            if kind is None:
                return False
            above = self._jobs.get(reference)
            if kind.asks != "none" and (above is None or queue_of(above)):
                return True
        return False

    @cached_property
    def _with_pods(self) -> set[Reference]:
        """What has pods. Where each pod asks for itself, these say for how many."""
        pods = (each for each in self._documents if kind_key(each) == _POD)
        return {above for each in pods for above in self._above(each)}

    def add_pods(self, given: Iterable[Document | Source]) -> None:
        """Groups and pods that name a queue themselves; decoded only if some do."""
        made = [each for each in given if kind_key(document_of(each)) in (_POD, _GROUP)]
        if not any(queue_of(document_of(each)) for each in made):
            return
        groups = {
            Reference.read(document_of(each)).key
            for each in made
            if kind_key(document_of(each)) == _GROUP and queue_of(document_of(each))
        }
        wanted = [each for each in made if self._may_ask(document_of(each), groups)]
        views = decode_all(wanted)
        pods = [view for view in views if isinstance(view, Pod) and _waits(view)]
        for group in (view for view in views if isinstance(view, PodGroup)):
            if members := [pod for pod in pods if pod.group_key == group.key]:
                written = Reference("PodGroup", group.namespace, group.name)
                self.found.asking.append(Asking(str(written), group_workload(group, members), written))
        crews: dict[tuple[str, str], list[Pod]] = {}
        for pod in pods:
            if pod.group_key not in groups and asks_itself(pod, self._kinds):
                crews.setdefault((pod.namespace, pods_name(pod.metadata)), []).append(pod)
        for (namespace, name), crew in crews.items():
            if len(crew) < (total := group_total(crew)):
                key = f"{namespace}/{name}"
                self.found.notes.append(sentences.pod_group_is_incomplete(key, len(crew), total))
                continue
            together = well_known.POD_GROUP_NAME_LABEL in crew[0].metadata.labels
            first = Reference("Pod", namespace, min(pod.name for pod in crew))
            who = sentences.pod_group_named(f"{namespace}/{name}") if together else str(first)
            self.found.asking.append(Asking(who, pods_workload(crew), first))

    def _may_ask(self, document: Document, groups: set[str]) -> bool:
        """A group or pod in a queue, with no Workload and no job that asks in its place."""
        written, labels = Reference.read(document), mapping(Place("", document), "metadata.labels")
        above = self._above(document)
        if not self.found.standing.keys().isdisjoint((written, *above)) or not self._makers.isdisjoint(above):
            return False
        together = labels.get(well_known.POD_GROUP_NAME_LABEL)
        if (written.namespace, together) in self._parts:
            return False
        if f"{written.namespace}/{prebuilt_workload(document['metadata']) or together}" in self._named:
            return False
        return bool(queue_of(document)) or group_key(document) in groups


def _waits(pod: Pod) -> bool:
    return not pod.spec.node_name and pod.status.phase not in well_known.TERMINAL_PHASES
