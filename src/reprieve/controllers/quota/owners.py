"""What asks for quota: jobs of any kind, PodGroups, pods with a queue of their own. Which workload each has,
and whether anything of it runs.

A workload belongs to what it names as its owner, whatever its own name: it may be from an older version, or
from Kueue. Only what has none gets one, with the name that Kueue would give it.

Handlers only take note. A workload whose owner is of a kind that has not been read yet counts as running: its
quota is not given to others before that is known.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from reprieve.controllers.quota.group_shape import crew_owner, group_owner
from reprieve.controllers.quota.groups import waits_for_quota
from reprieve.controllers.quota.job_shape import job_owner
from reprieve.controllers.quota.lifecycle import FINISHED, RUNNING, Owner
from reprieve.jobs import (
    JobKind,
    JobKinds,
    asks_itself,
    ending,
    group_label,
    group_name,
    job_name,
    pod_labels,
    pod_sets,
    pods_name,
    prebuilt_workload,
    queue_of,
    replica_names,
)
from reprieve.kube import Change
from reprieve.objects import (
    Document,
    InvalidObject,
    Pod,
    PodGroup,
    Reference,
    Workload,
    split_key,
    well_known,
)
from reprieve.quota import is_true

GROUPS, CREWS = f"podgroups.{well_known.SCHEDULING_API}", "pods"


class OwnerId(NamedTuple):
    """Something that asks for quota, by name."""

    kind: str
    """`jobs.batch`; `GROUPS`, or `CREWS`: pods that ask by their labels."""
    namespace: str
    name: str


class _Mark(NamedTuple):
    """How a pod is known to belong to a job: by a label in its namespace, or by the UID of its controller."""

    namespace: str
    label: str
    value: str


@dataclass(slots=True)
class Asker:
    """What is known of something that asks."""

    id: OwnerId
    uid: str = ""
    """Empty for pods that ask together."""
    names: tuple[str, ...] = ()
    """Keys of workloads: the one that it is to get, then those that older versions gave it. None for a job
    whose pods ask."""
    takes_any: bool = False
    """Any workload that names it as its owner is its own: only one does."""
    job: Document | None = None
    """The job, or the one whose templates make these pods."""
    group: PodGroup | None = None
    pods: dict[str, Pod] = field(default_factory=dict)
    replica: str = ""
    """Its number, of a job of which each replica asks."""
    parts: tuple[OwnerId, ...] = ()
    """Of a job whose pods ask together: what asks in its place."""


Touch = Callable[[str | OwnerId], None]
"""Called with what needs a follow-up: something that asks, or `kind/namespace/name` of anything else."""


class Owners:
    def __init__(self, kinds: JobKinds, touch: Touch, schedulers: Collection[str] = ()) -> None:
        self.kinds = kinds
        self.schedulers = schedulers
        """Those that place no pod of a group in a queue before it has quota."""
        self.runtimes: dict[str, Document] = {}
        self.unread: set[str] = set()
        """Kinds (`jobsets.jobset.x-k8s.io`) that are served and not read yet."""
        self._askers: dict[OwnerId, Asker] = {}
        self._by_uid: dict[str, set[OwnerId]] = {}
        self._by_name: dict[str, OwnerId] = {}
        """By the workload that each is to get."""
        self._workloads: dict[str, dict[str, Workload]] = {}
        """By the UID of an owner: the workloads that name it, by key."""
        self._pods_of_jobs: dict[_Mark, dict[str, Pod]] = {}
        """Those that are not over, and ..."""
        self._followed: dict[_Mark, OwnerId] = {}
        """... the job that wants to know of them."""
        self._by_resource = {kind.resource: kind for kind in kinds}
        self._labels = {label for kind in kinds for label in kind.pods_by}
        self._replica_labels = [kind.replica_label for kind in kinds if kind.replica_label]
        self._touch = touch

    def get(self, id: OwnerId) -> Asker | None:
        return self._askers.get(id)

    def job(self, id: OwnerId) -> Document | None:
        asker = self._askers.get(id)
        return asker.job if asker is not None and id.kind in self._by_resource else None

    def kind(self, id: OwnerId) -> JobKind:
        """Of a job."""
        return self._by_resource[id.kind]

    # Workloads

    def workload_changed(self, key: str, before: Workload | None, now: Workload | None) -> None:
        for each in before.metadata.owner_references if before is not None else ():
            known = self._workloads.get(each.uid, {})
            known.pop(key, None)
            if not known:
                self._workloads.pop(each.uid, None)
        if now is not None:
            for each in now.metadata.owner_references:
                self._workloads.setdefault(each.uid, {})[key] = now

    def key(self, asker: Asker) -> str:
        """The workload that something has, or is to get; empty for a job whose pods ask."""
        found = self._workloads.get(asker.uid, {}) if asker.uid else {}
        known = next((name for name in asker.names if name in found), "")
        if known or not found or not asker.takes_any:
            return known or next(iter(asker.names), "")
        return min(found, key=lambda key: (is_true(found[key], well_known.FINISHED), _age(found[key]), key))

    def behind(self, key: str, workload: Workload) -> Asker | None:
        """What a workload stands for: its owner, or what is to have a workload of that name."""
        return next((each for each in self._may_be(key, workload) if self.key(each) == key), None)

    def touch_behind(self, key: str, workload: Workload) -> None:
        """The workload came, changed or went: that matters to all whose it may be."""
        for each in self._may_be(key, workload):
            self._touch(each.id)

    def _may_be(self, key: str, workload: Workload) -> Iterator[Asker]:
        for owner in workload.metadata.owner_references:
            for id in self._by_uid.get(owner.uid, ()):
                if self._askers[id].takes_any or key in self._askers[id].names:
                    yield self._askers[id]
        if key in self._by_name:
            yield self._askers[self._by_name[key]]

    def state(self, key: str, workload: Workload) -> Owner:
        """The state of a workload's owner. Without an owner nothing can run; one that lost its owner (a job
        deleted without what it owned) is over, as in Kueue."""
        asker = self.behind(key, workload)
        if asker is not None and asker.group is not None:
            return group_owner(asker.pods.values(), self.schedulers, asker.group.min_count)
        if asker is not None and asker.id.kind == CREWS:
            if asker.job is not None and ending(asker.job, self.kinds) is not None:
                return job_owner(asker.job, self.kinds, (), (), workload)
            made = asker.job is not None
            return crew_owner(workload, asker.pods.values(), self.schedulers, made=made)
        if asker is not None and asker.job is not None:
            pods = self.pods_of(asker.id).values()
            return job_owner(asker.job, self.kinds, self.runtimes.values(), pods, workload)
        for reference in workload.metadata.owner_references:
            found = self.kinds.of(reference.api_version, reference.kind)
            if found is not None and found.resource in self.unread:
                return Owner(RUNNING)
        if workload.metadata.owner_references or well_known.JOB_UID_LABEL not in workload.metadata.labels:
            return Owner()
        if self.unread:
            return Owner(RUNNING)  # one of these may be its owner, and take it back
        return Owner(FINISHED, "OwnerNotFound", "The workload's owner no longer exists")

    def is_going(self, key: str, workload: Workload) -> bool:
        """Whether nothing of a workload that is being deleted is to be waited for: its job goes, too, as far
        as there is one, or has stopped."""
        asker = self.behind(key, workload)
        job = self.job(asker.id) if asker is not None else None
        if job is not None and job["metadata"].get("deletionTimestamp"):
            return True
        return self.state(key, workload).state != RUNNING

    # Jobs

    def follow(self, kind: JobKind) -> Callable[[Change], None]:
        return partial(self.job_changed, kind)

    def job_changed(self, kind: JobKind, change: Change) -> None:
        gone = change.type == "DELETED"
        job = {"apiVersion": kind.api_version, "kind": kind.kind, **change.new}
        meta = job["metadata"]
        id = OwnerId(kind.resource, meta["namespace"], meta["name"])
        for mark in self._marks(kind, job):
            if gone:
                self._followed.pop(mark, None)
            else:
                self._followed[mark] = id
        asker, uid = self._asker(id), meta.get("uid", "")
        asker.job = None if gone else job
        if kind.asks == "job":
            names = (f"{id.namespace}/{job_name(job, kind)}",)
            self._put(asker, uid, names, takes_any=not prebuilt_workload(meta))
            return
        before, parts = asker.parts, {} if gone else self._parts_of(kind, job)
        asker.parts = tuple(parts)
        self._put(asker, uid, ())
        for part in dict.fromkeys((*before, *parts)):
            crew, own = self._asker(part), f"{part.namespace}/{part.name}"
            if part not in parts:
                crew.job, crew.replica = None, ""
                self._put(crew, "", (own,))
                continue
            crew.job, (crew.replica, name) = job, parts[part]
            # Before workloads had Kueue's names, a replica's had the one that its pods have in common.
            self._put(crew, uid, (f"{part.namespace}/{name}", own), takes_any=not crew.replica)

    def _parts_of(self, kind: JobKind, job: Document) -> dict[OwnerId, tuple[str, str]]:
        """What asks in the place of a job, by the label of its pods: the number of the replica, if each asks,
        and the name of its workload."""
        namespace, label = job["metadata"]["namespace"], group_label(job, kind)
        if not queue_of(job) or kind.asks == "pod":
            return {}
        if kind.asks == "group":
            return {OwnerId(CREWS, namespace, label): ("", job_name(job, kind))}
        try:
            names = replica_names(job, kind, pod_sets(job, self.kinds, self.runtimes.values()))
        except InvalidObject:
            return {}
        return {
            OwnerId(CREWS, namespace, f"{label}-{number}"): (str(number), name)
            for number, name in enumerate(names)
        }

    def forget(self, kind: JobKind) -> None:
        """The kind is not served any more: neither are its jobs."""
        jobs = [asker.job for id, asker in self._askers.items() if id.kind == kind.resource]
        for job in jobs:
            if job is not None:
                self.job_changed(kind, Change("DELETED", None, job))

    def was_read(self, resource: str) -> None:
        """All jobs of a kind are known: workloads that waited for that are looked at again."""
        self.unread.discard(resource)
        self._touch("unread/")

    def runtime_changed(self, change: Change) -> None:
        """Jobs that could not be read without it, or otherwise, are looked at again."""
        key = str(Reference.read(change.new))
        if change.type == "DELETED":
            self.runtimes.pop(key, None)
        else:
            self.runtimes[key] = change.new
        for id in self._askers:
            if id.kind in self._by_resource and self.kind(id).reader == "train_job":
                self._touch(id)

    def pods_of(self, id: OwnerId) -> dict[str, Pod]:
        """The pods of a job that have not ended, as far as they can be told by their controller or labels."""
        job, found = self._askers[id].job, dict[str, Pod]()
        for mark in self._marks(self.kind(id), job) if job is not None else ():
            found |= self._pods_of_jobs.get(mark, {})
        return found

    def _marks(self, kind: JobKind, job: Document) -> Iterator[_Mark]:
        yield _Mark("", "uid", job["metadata"].get("uid", ""))
        for label, value in pod_labels(job, kind).items():
            yield _Mark(job["metadata"]["namespace"], label, value)

    # PodGroups and pods

    def group_changed(self, change: Change) -> None:
        group: PodGroup = change.new
        if not waits_for_quota(group):
            return
        asker = self._asker(_group_id(group.key))
        gone = change.type == "DELETED"
        pods = [*asker.pods.values()]  # they may have come before it, and may still be there after it
        if asker.group is None and not gone:
            for pod in pods:
                self._crew_changed(pod, gone=True)
        asker.group = None if gone else group
        names = () if gone else (f"{group.namespace}/{group_name(group)}",)
        named = bool(prebuilt_workload(group.metadata))
        self._put(asker, "" if gone else group.metadata.uid, names, takes_any=not named)
        for pod in pods if gone else ():
            self._crew_changed(pod, gone=False)

    def pod_changed(self, change: Change) -> None:
        pod: Pod = change.new
        gone = change.type == "DELETED"
        if pod.group_key:
            group = self._asker(_group_id(pod.group_key))
            _keep(group.pods, pod, gone)
            if group.group is not None:
                self._touch_asker(group)
            elif not group.pods:
                del self._askers[group.id]
        self._crew_changed(pod, gone)
        ended = gone or pod.status.phase in well_known.TERMINAL_PHASES
        for mark in self._marks_of(pod):
            _keep(self._pods_of_jobs.setdefault(mark, {}), pod, ended)
            if not self._pods_of_jobs[mark]:
                del self._pods_of_jobs[mark]
            job = self._askers.get(self._followed.get(mark, _NO_ONE))
            if job is not None:
                self._touch_asker(job)

    def _crew_changed(self, pod: Pod, gone: bool) -> None:
        """A pod that asks for itself, or with others of its label, came, changed or went."""
        if (id := self._crew_of(pod)) is None:
            return
        crew = self._asker(id)
        _keep(crew.pods, pod, gone)
        if crew.job is not None:
            self._put(crew, crew.uid, crew.names, crew.takes_any)
        else:
            alone = not _asks_with_others(pod)
            self._put(crew, pod.metadata.uid if alone else "", (f"{id.namespace}/{id.name}",), alone)

    def _crew_of(self, pod: Pod) -> OwnerId | None:
        """What a pod asks as: by itself, or with others of its label; None if it does not."""
        group = self._askers.get(_group_id(pod.group_key)) if pod.group_key else None
        if (group is not None and group.group is not None) or not asks_itself(pod, self.kinds):
            return None
        name, labels = pods_name(pod.metadata), pod.metadata.labels
        if not prebuilt_workload(pod.metadata) and _asks_with_others(pod):
            name += next((f"-{labels[each]}" for each in self._replica_labels if each in labels), "")
        return OwnerId(CREWS, pod.namespace, name)

    def _marks_of(self, pod: Pod) -> Iterator[_Mark]:
        for owner in pod.metadata.owner_references:
            if owner.controller and owner.kind != "Job" and self.kinds.of(owner.api_version, owner.kind):
                yield _Mark("", "uid", owner.uid)
        for label in self._labels & pod.metadata.labels.keys():
            yield _Mark(pod.namespace, label, pod.metadata.labels[label])

    # The index

    def _asker(self, id: OwnerId) -> Asker:
        return self._askers.setdefault(id, Asker(id))

    def _put(self, asker: Asker, uid: str, names: tuple[str, ...], takes_any: bool = False) -> None:
        """Something that asks came, changed or went: it and its workload, before and now, are followed up."""
        self._touch_asker(asker)
        self._by_uid.get(asker.uid, set()).discard(asker.id)
        if not self._by_uid.get(asker.uid, True):
            del self._by_uid[asker.uid]
        for name in asker.names[:1]:
            if self._by_name.get(name) == asker.id:
                del self._by_name[name]
        if asker.job is None and asker.group is None and not asker.pods:
            del self._askers[asker.id]
            return
        asker.uid, asker.names, asker.takes_any = uid, names, takes_any
        if uid:
            self._by_uid.setdefault(uid, set()).add(asker.id)
        for name in names[:1]:
            self._by_name[name] = asker.id
        self._touch_asker(asker)

    def _touch_asker(self, asker: Asker) -> None:
        self._touch(asker.id)
        if key := self.key(asker):
            self._touch(f"workload/{key}")


_NO_ONE = OwnerId("", "", "")


def _asks_with_others(pod: Pod) -> bool:
    """By a name that other pods may have, too."""
    labels = pod.metadata.labels
    return well_known.POD_GROUP_NAME_LABEL in labels or bool(prebuilt_workload(pod.metadata))


def _group_id(key: str) -> OwnerId:
    return OwnerId(GROUPS, *split_key(key))


def _age(workload: Workload) -> float:
    made = workload.metadata.creation_timestamp
    return made.timestamp() if made is not None else 0.0


def _keep(pods: dict[str, Pod], pod: Pod, gone: bool) -> None:
    if gone:
        pods.pop(pod.key, None)
    else:
        pods[pod.key] = pod
