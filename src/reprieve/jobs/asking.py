"""Who asks a queue for what, of manifests as users have them: workloads like those of the quota controller.

A job asks as a whole, or each replica or each pod of it for itself, as its kind does (`JobKind.asks`); of a
CronJob one run asks. Pods ask one by one, or together by the label with the name of their group.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from reprieve.jobs import sentences
from reprieve.jobs.gating import replica_sets, workload_name
from reprieve.jobs.kinds import JobKinds
from reprieve.jobs.paths import Place, at, mapping
from reprieve.jobs.pod_groups import group_pod_sets, group_total
from reprieve.jobs.pod_sets import PodSet
from reprieve.jobs.reading import pod_sets
from reprieve.jobs.rows import JobKind
from reprieve.jobs.workloads import priority_class_of, queue_of, requested, workload_with
from reprieve.objects import Document, Pod, PodGroup, Reference, well_known


class Asking(NamedTuple):
    """Something that asks."""

    who: str
    """`Job/ml/train`, `Deployment/ml/web, pod 2`."""
    workload: Document


def asking_jobs(document: Document, kinds: JobKinds, others: Iterable[Document] = ()) -> list[Asking]:
    """The workloads of a job; none if it is in no queue."""
    kind, job = kinds.find(document), Reference.read(document)
    assert kind is not None
    if (run := one_run(document, kinds)) is not None:
        return [Asking(str(job), each.workload) for each in asking_jobs(run, kinds, others)]
    if not queue_of(document):
        return []
    sets = pod_sets(document, kinds, others)
    if kind.asks == "pod":
        alone = [msgspec.structs.replace(each, factors=(1,)) for each in sets for _ in range(each.count)]
        return [
            _asking(document, kind, [each], sentences.pod_of_job(str(job), number), f"-pod-{number}")
            for number, each in enumerate(alone)
        ]
    if kind.asks == "replica":
        replicas, part = max((each.factors[0] for each in sets), default=0), replica_sets(kind, sets)
        return [
            _asking(document, kind, part, sentences.replica_of_job(str(job), number), f"-replica-{number}")
            for number in range(replicas)
        ]
    return [_asking(document, kind, sets, str(job))]


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
        "spec": mapping(template, "spec"),
    }


def asking_groups(groups: Iterable[PodGroup], pods: Sequence[Pod]) -> list[Asking]:
    """The workloads of PodGroups that name a queue."""
    found = []
    for group in groups:
        members = [pod for pod in pods if pod.group_key == group.key and _waits(pod)]
        if well_known.QUEUE_LABEL in group.metadata.labels and members:
            owner = _owner("PodGroup", group.name, group.namespace, group.metadata.labels)
            of_pods = group.spec.priority_class_name or members[0].spec.priority_class_name or ""
            made = workload_with(owner, group_pod_sets(group.min_count, members), of_pods)
            found.append(Asking(f"PodGroup/{group.key}", made))
    return found


def asking_pods(pods: Iterable[Pod], kinds: JobKinds) -> tuple[list[Asking], list[str]]:
    """The workloads of pods that wait and name a queue themselves, and sentences about those that do not ask
    yet."""
    alone: list[list[Pod]] = []
    together: dict[str, list[Pod]] = {}
    for pod in pods:
        if not _asks_itself(pod, kinds):
            continue
        if name := pod.metadata.labels.get(well_known.POD_GROUP_NAME_LABEL, ""):
            together.setdefault(f"{pod.namespace}/{name}", []).append(pod)
        else:
            alone.append([pod])
    found = [_asking_pods(pod, f"Pod/{pod[0].key}") for pod in alone]
    notes = []
    for key, crew in together.items():
        if len(crew) < (total := group_total(crew)):
            notes.append(sentences.pod_group_is_incomplete(key, len(crew), total))
        else:
            found.append(_asking_pods(crew, sentences.pod_group_named(key), key.partition("/")[2]))
    return found, notes


def _asking(document: Document, kind: JobKind, sets: Sequence[PodSet], who: str, suffix: str = "") -> Asking:
    """`suffix`: of the workload's name, where only a part of the job asks."""
    made = workload_with(document, requested(document, kind, sets), priority_class_of(document, kind, sets))
    made["metadata"]["name"] += suffix
    return Asking(who, made)


def _asking_pods(pods: Sequence[Pod], who: str, name: str = "") -> Asking:
    first = min(pods, key=lambda pod: pod.name)
    owner = _owner("Pod", first.name, first.namespace, first.metadata.labels)
    sets = group_pod_sets(group_total(pods), pods)
    made = workload_with(owner, sets, first.spec.priority_class_name or "")
    made["metadata"]["name"] = name or workload_name("Pod", owner)
    return Asking(who, made)


def _owner(kind: str, name: str, namespace: str, labels: dict[str, str]) -> Document:
    return {"kind": kind, "metadata": {"name": name, "namespace": namespace, "labels": labels}}


def _asks_itself(pod: Pod, kinds: JobKinds) -> bool:
    """It waits, names a queue, and belongs to no group or job that asks in its place."""
    if well_known.QUEUE_LABEL not in pod.metadata.labels or pod.group_key or not _waits(pod):
        return False
    owners = (each for each in pod.metadata.owner_references if each.controller)
    above = next((kinds.of(each.api_version, each.kind) for each in owners), None)
    return above is None or above.asks != "job"


def _waits(pod: Pod) -> bool:
    return not pod.spec.node_name and pod.status.phase not in well_known.TERMINAL_PHASES
