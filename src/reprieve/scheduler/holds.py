"""Pods that wait for quota: nobody is placed, and nobody preempts, on quota that was not given.

A pod belongs to a queue if its Job, its PodGroup or the pod itself has the label `kueue.x-k8s.io/queue-name`,
or if its Job needs one (`quota.manageJobsWithoutQueueName`). It is held until

1. its Job is known: before that nobody can say whether it is in a queue;
2. a Workload of that owner is admitted (`Workload.may_run`);
3. no more pods of the owner are placed than quota was given for; and
4. for a pod of a group, until the quota controller has given quota to this very pod: a pod made anew after an
   eviction must not be placed because the eviction has not been seen yet. Whoever makes pods can write that
   they got quota, too: such a pod counts for the workload that it names, which must be of its namespace and
   gives no more than it was admitted with.

Nothing is held, and nothing kept, before `on`: where no Workloads are served there is no quota.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from reprieve.objects import (
    JobOwner,
    OwnerReference,
    Pod,
    PodGroup,
    Workload,
    must_name_queue,
    well_known,
)
from reprieve.scheduler import sentences
from reprieve.scheduler.crowds import Crowd

QUEUE = well_known.QUEUE_LABEL


@dataclass(slots=True)
class _Owner:
    """What gets quota: a Job, a PodGroup or a pod. Known by its UID, even before it was seen."""

    pods: Crowd = field(default_factory=Crowd)
    """Its pods that are neither done nor on their way out."""
    workloads: dict[str, Workload] = field(default_factory=dict)

    @property
    def most(self) -> int | None:
        """How many pods quota was given for."""
        return max((each.admitted_pods for each in self.workloads.values() if each.may_run), default=None)


class Holds:
    def __init__(self, all_jobs: bool = False, makers: Collection[tuple[str, str]] = ()) -> None:
        """`makers`: groups and kinds whose pods get the quota of their Workload one by one."""
        self.on = False
        self._all_jobs = all_jobs
        self._makers = {("", "Pod"), *makers}
        self._jobs: dict[str, JobOwner] = {}
        self._groups: dict[str, str] = {}
        """Keys of the PodGroups in queues."""
        self._owners: dict[str, _Owner] = {}
        self._claims: dict[str, Crowd] = {}
        """Pods that say they got the quota of a workload, by its UID."""
        self._claimed: dict[str, str] = {}
        """The UID that each of those pods names."""
        self._owned: dict[str, set[str]] = {}
        """The owners of each workload, by its key, and the workload itself for pods that got its quota."""

    # --- what is seen: the UIDs of owners whose pods must be looked at again ------------------------------

    def see_job(self, job: JobOwner, gone: bool) -> set[str]:
        if gone:
            self._jobs.pop(job.metadata.uid, None)
        else:
            self._jobs[job.metadata.uid] = job
        return {job.metadata.uid}

    def see_workload(self, workload: Workload, gone: bool) -> set[str]:
        before = self._owned.pop(workload.key, set())
        owners = (*(each.uid for each in workload.metadata.owner_references), workload.metadata.uid)
        now = set() if gone else {uid for uid in owners if uid}
        if now:
            self._owned[workload.key] = now
        for uid in now:
            self._owner(uid).workloads[workload.key] = workload
        for uid in before - now:
            self._owner(uid).workloads.pop(workload.key, None)
            self._forget_if_empty(uid)
        return before | now

    def see_group(self, group: PodGroup, gone: bool) -> bool:
        """Whether it is in a queue or was: then its waiting pods must be looked at again."""
        uid, known = group.metadata.uid, group.metadata.uid in self._groups
        if gone or QUEUE not in group.metadata.labels:
            self._groups.pop(uid, None)
        else:
            self._groups[uid] = group.key
        return known or uid in self._groups

    # --- what is seen of pods: the keys of those that must be looked at again ------------------------------

    def see_pod(self, pod: Pod, leaves: bool) -> set[str]:
        """A pod, placed or waiting; `leaves`: it is gone, done or on its way out."""
        again = self._see_claim(pod, leaves)
        uid = _owner_of(pod)
        if not uid:
            return again
        if uid != pod.metadata.uid and QUEUE in pod.metadata.labels:
            self._forget_alone(pod)  # it has got quota since
        owner = self._owner(uid)
        again |= owner.pods.change(pod.key, _state(pod, leaves, owner.pods), owner.most)
        self._forget_if_empty(uid)
        return again

    def _see_claim(self, pod: Pod, leaves: bool) -> set[str]:
        """Note whose quota a pod says it got."""
        uid = "" if leaves else pod.metadata.annotations.get(well_known.QUOTA_GIVEN_ANNOTATION, "")
        before = self._claimed.pop(pod.key, "")
        again = set()
        if before and before != uid:
            again = self._claims[before].change(pod.key, None, self._given(before))
            if not self._claims[before]:
                del self._claims[before]
        if uid:
            self._claimed[pod.key] = uid
            claims = self._claims.setdefault(uid, Crowd())
            again |= claims.change(pod.key, _state(pod, leaves, claims), self._given(uid))
        return again

    def _given(self, uid: str) -> int | None:
        """How many pods a workload was admitted with; None while it is not, or not known."""
        owner = self._owners.get(uid)
        known = () if owner is None else owner.workloads.values()
        return next((each.admitted_pods for each in known if each.may_run and each.metadata.uid == uid), None)

    def place(self, pod: Pod, placed: bool) -> set[str]:
        """The scheduler has decided to bind the pod, or the binding failed: then its turn may be over."""
        if not self.on:
            return set()
        again = set() if placed else {pod.key}
        owner = self._owners.get(_owner_of(pod))
        if owner is not None and pod.key in owner.pods:
            again |= owner.pods.change(pod.key, placed, owner.most)
        if claimed := self._claimed.get(pod.key):
            again |= self._claims[claimed].change(pod.key, placed, self._given(claimed))
        return again

    def pods_of(self, owners: Iterable[str]) -> set[str]:
        """Keys of the pods of these Jobs, and of those that name these Workloads."""
        uids = tuple(owners)
        found = {key for uid in uids if uid in self._owners for key in self._owners[uid].pods}
        return found.union(*(self._claims.get(uid, ()) for uid in uids))

    def groups_of(self, owners: Iterable[str]) -> set[str]:
        """Keys of the PodGroups among these owners."""
        return {self._groups[uid] for uid in owners if uid in self._groups}

    # --- why a pod is held ----------------------------------------------------------------------------------

    def why(self, pod: Pod, group: PodGroup | None) -> str:
        """Why a waiting pod may not be placed yet; empty when it may, or belongs to no queue."""
        in_queue = False
        if group is not None and QUEUE in group.metadata.labels:
            in_queue = True
            if why := self._group(pod, group):
                return why
        reference = _job_of(pod)
        if reference is not None:
            job = self._jobs.get(reference.uid)
            if job is None:
                return sentences.job_not_seen(f"{pod.namespace}/{reference.name}")
            if QUEUE in job.metadata.labels or self._needs_queue(job):
                in_queue = True
                if why := self._job(pod, job):
                    return why
        if not in_queue and QUEUE in pod.metadata.labels:
            return self._alone(pod)
        return ""

    def _needs_queue(self, job: JobOwner) -> bool:
        kinds = (each.kind for each in job.metadata.owner_references if each.controller)
        return self._all_jobs and must_name_queue(job.namespace, next(kinds, ""))

    def _job(self, pod: Pod, job: JobOwner) -> str:
        queue = job.metadata.labels.get(QUEUE)
        if queue is None:
            return sentences.job_names_no_queue(job.key)
        found = self._workloads_of(job.metadata.uid)
        return _not_admitted(f"Job {job.key}", queue, found) or self._crowd(pod, f"Job {job.key}", found)

    def _group(self, pod: Pod, group: PodGroup) -> str:
        name, queue = f"PodGroup {group.key}", group.metadata.labels[QUEUE]
        found = self._workloads_of(group.metadata.uid)
        if why := _not_admitted(name, queue, found):
            return why
        return self._claim(pod, name, found)

    def _claim(self, pod: Pod, name: str, found: list[Workload]) -> str:
        """Whether a pod is among those that got quota, of an admitted owner."""
        given = pod.metadata.annotations.get(well_known.QUOTA_GIVEN_ANNOTATION, "")
        named = [each for each in found if each.may_run and each.metadata.uid == given]
        if not named:
            return sentences.pod_got_no_quota(name)
        most = named[0].admitted_pods
        if given not in self._claims or self._claims[given].gets(pod.key, most):
            return ""
        return sentences.too_many_claim_quota(named[0].key, most)

    def _alone(self, pod: Pod) -> str:
        """A pod that asks for itself, with others of its label, or for what made it."""
        known = [*self._workloads_of(_owner_of(pod)), *self._workloads_of(pod.metadata.uid)]
        found = [each for each in known if each.namespace == pod.namespace and self._is_for_pods(each)]
        queue = pod.metadata.labels[QUEUE]
        if found:
            name = f"Pod {pod.key}"
            return _not_admitted(name, queue, found) or self._claim(pod, name, found)
        return sentences.pod_without_workload(queue)

    def _is_for_pods(self, workload: Workload) -> bool:
        """Not for those of a job, which asks for them as a whole."""
        owners = workload.metadata.owner_references
        return all((each.api_version.rpartition("/")[0], each.kind) in self._makers for each in owners)

    def _workloads_of(self, uid: str) -> list[Workload]:
        owner = self._owners.get(uid)
        return [] if owner is None else [owner.workloads[key] for key in sorted(owner.workloads)]

    def _crowd(self, pod: Pod, name: str, found: list[Workload]) -> str:
        given = max(each.admitted_pods for each in found if each.may_run)
        if self._owners[_owner_of(pod)].pods.gets(pod.key, given):
            return ""
        return sentences.more_pods_than_admitted(name, given)

    # --- bookkeeping ----------------------------------------------------------------------------------------

    def _owner(self, uid: str) -> _Owner:
        return self._owners.setdefault(uid, _Owner())

    def _forget_alone(self, pod: Pod) -> None:
        owner = self._owners.get(pod.metadata.uid)
        if owner is not None:
            owner.pods.change(pod.key, None, None)
            self._forget_if_empty(pod.metadata.uid)

    def _forget_if_empty(self, uid: str) -> None:
        owner = self._owners.get(uid)
        if owner is not None and not owner.pods and not owner.workloads:
            del self._owners[uid]


def _state(pod: Pod, leaves: bool, crowd: Crowd) -> bool | None:
    """In a crowd: placed, waiting, or gone. Once decided, a placement counts until its binding fails."""
    return None if leaves else bool(pod.spec.node_name) or crowd.is_placed(pod.key)


def _not_admitted(name: str, queue: str, found: list[Workload]) -> str:
    if any(each.may_run for each in found):
        return ""
    if not found:
        return sentences.owner_without_workload(name, queue)
    return sentences.workload_not_admitted(name, queue, found[0].key)


def _job_of(pod: Pod) -> OwnerReference | None:
    for each in pod.metadata.owner_references:
        if each.controller and each.kind == "Job" and each.api_version.startswith("batch/"):
            return each
    return None


def _owner_of(pod: Pod) -> str:
    """The UID of what a pod counts for, groups aside: its Job; if it names a queue itself, the workload whose
    quota it got, before that itself; else empty."""
    job = _job_of(pod)
    if job is not None:
        return job.uid
    if QUEUE not in pod.metadata.labels:
        return ""
    return pod.metadata.annotations.get(well_known.QUOTA_GIVEN_ANNOTATION) or pod.metadata.uid
