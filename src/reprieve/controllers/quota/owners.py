"""What asks for quota: jobs of any kind, PodGroups, pods with a queue of their own. Which workload each has,
and whether anything of it runs.

Handlers only take note. A workload whose owner is of a kind that has not been read yet counts as running: its
quota is not given to others before that is known.
"""

from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import TypeVar

from reprieve.controllers.quota.group_shape import crew_owner, group_owner
from reprieve.controllers.quota.groups import group_workload_key, waits_for_quota
from reprieve.controllers.quota.job_shape import job_owner, job_workload_key
from reprieve.controllers.quota.lifecycle import FINISHED, RUNNING, Owner
from reprieve.fleet import key_of
from reprieve.jobs import JobKind, JobKinds, group_names, pod_labels, pod_sets, queue_of, workload_name
from reprieve.kube import Change
from reprieve.objects import Document, InvalidObject, Pod, PodGroup, Workload, well_known

Touch = Callable[[str], None]
"""Called with `kind/namespace/name` of what needs a follow-up."""
_Key = TypeVar("_Key")
_Mark = tuple[str, str, str]
"""How a pod is known to belong to a job: (namespace, label, value), or ("", "uid", UID of its controller)."""


class Owners:
    def __init__(self, kinds: JobKinds, touch: Touch, schedulers: Collection[str] = ()) -> None:
        self.kinds = kinds
        self.schedulers = schedulers
        """Those that place no pod of a group in a queue before it has quota."""
        self.jobs: dict[str, Document] = {}
        """By kind and name: `jobs.batch/ml/train`."""
        self.groups: dict[str, PodGroup] = {}
        self.pods: dict[str, dict[str, Pod]] = {}
        """Pods of PodGroups, by the group's key."""
        self.crews: dict[str, dict[str, Pod]] = {}
        """Pods that name a queue themselves, by the key of their workload."""
        self.makers: dict[str, str] = {}
        """The job whose templates make a crew, by the key of the workload."""
        self._crews: dict[str, list[str]] = {}
        """The workloads of such a job."""
        self.runtimes: dict[str, Document] = {}
        self.unread: set[str] = set()
        """Kinds (`jobsets.jobset.x-k8s.io`) that are served and not read yet."""
        self._by_resource = {kind.resource: kind for kind in kinds}
        self._labels = {label for kind in kinds for label in kind.pods_by}
        self._replica_labels = [kind.replica_label for kind in kinds if kind.replica_label]
        self._owned: dict[str, str] = {}
        """What stands behind a workload, by its key."""
        self._marked: dict[_Mark, dict[str, Pod]] = {}
        """Pods of jobs that are not over, and ..."""
        self._followed: dict[_Mark, str] = {}
        """... the job that wants to know of them."""
        self._touch = touch

    def of(self, workload: str) -> str:
        """What to follow up when the workload changes; empty if nothing known stands behind it."""
        return self._owned.get(workload, "")

    def state(self, key: str, workload: Workload) -> Owner:
        """The state of a workload's owner. Without an owner nothing can run; one that lost its owner (a job
        deleted without what it owned) is over, as in Kueue."""
        kind, _, name = self._owned.get(key, "").partition("/")
        if kind == "job" and name in self.jobs:
            job = self.jobs[name]
            return job_owner(job, self.kinds, self.runtimes.values(), self.pods_of(name).values(), workload)
        if kind == "group" and name in self.groups:
            pods = self.pods.get(name, {}).values()
            return group_owner(pods, self.schedulers, self.groups[name].min_count)
        if kind == "pods":
            crew = self.crews.get(name, {}).values()
            return crew_owner(workload, crew, self.schedulers, made=name in self.makers)
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
        kind, _, name = self._owned.get(key, "").partition("/")
        job = self.jobs.get(name) if kind == "job" else None
        if job is not None and job["metadata"].get("deletionTimestamp"):
            return True
        return self.state(key, workload).state != RUNNING

    # Jobs

    def kind(self, name: str) -> JobKind:
        """Of a job by its key in `jobs`."""
        return self._by_resource[name.partition("/")[0]]

    def follow(self, kind: JobKind) -> Callable[[Change], None]:
        return partial(self.job_changed, kind)

    def job_changed(self, kind: JobKind, change: Change) -> None:
        gone = change.type == "DELETED"
        job = {"apiVersion": kind.api_version, "kind": kind.kind, **change.new}
        name = f"{kind.resource}/{key_of(job)}"
        if gone:
            self.jobs.pop(name, None)
        else:
            self.jobs[name] = job
        for mark in self._marks(kind, job):
            if gone:
                self._followed.pop(mark, None)
            else:
                self._followed[mark] = name
        if kind.asks == "job":
            self._own(f"job/{name}", job_workload_key(kind, job), gone)
            return
        self._touch(f"job/{name}")
        crews = [] if gone else self._crews_of(kind, job)
        for workload in {*self._crews.pop(name, ()), *crews}:
            if workload in crews:
                self.makers[workload] = name
            else:
                self.makers.pop(workload, None)
            self._own(f"pods/{workload}", workload, workload not in crews and workload not in self.crews)
        if crews:
            self._crews[name] = crews

    def forget(self, kind: JobKind) -> None:
        """The kind is not served any more: neither are its jobs."""
        for name in [name for name in self.jobs if name.startswith(f"{kind.resource}/")]:
            self.job_changed(kind, Change("DELETED", None, self.jobs[name]))

    def was_read(self, resource: str) -> None:
        """All jobs of a kind are known: workloads that waited for that are looked at again."""
        self.unread.discard(resource)
        self._touch("unread/")

    def runtime_changed(self, change: Change) -> None:
        """Jobs that could not be read without it, or otherwise, are looked at again."""
        key = f"{change.new.get('kind')}/{key_of(change.new)}"
        if change.type == "DELETED":
            self.runtimes.pop(key, None)
        else:
            self.runtimes[key] = change.new
        for name in self.jobs:
            if self.kind(name).reader == "train_job":
                self._touch(f"job/{name}")

    def pods_of(self, name: str) -> dict[str, Pod]:
        """The pods of a job that have not ended, as far as they can be told by their controller or labels."""
        job = self.jobs[name]
        found: dict[str, Pod] = {}
        for mark in self._marks(self.kind(name), job):
            found |= self._marked.get(mark, {})
        return found

    def _marks(self, kind: JobKind, job: Document) -> Iterator[_Mark]:
        yield "", "uid", job["metadata"].get("uid", "")
        for label, value in pod_labels(job, kind).items():
            yield job["metadata"]["namespace"], label, value

    def _crews_of(self, kind: JobKind, job: Document) -> list[str]:
        if not queue_of(job):
            return []
        try:
            names = group_names(job, kind, pod_sets(job, self.kinds, self.runtimes.values()))
        except InvalidObject:
            return []
        return [f"{job['metadata']['namespace']}/{name}" for name in names]

    # PodGroups and pods

    def group_changed(self, change: Change) -> None:
        group: PodGroup = change.new
        if not waits_for_quota(group):
            return
        if change.type == "DELETED":
            self.groups.pop(group.key, None)
        else:
            self.groups[group.key] = group
        self._own(f"group/{group.key}", group_workload_key(group), change.type == "DELETED")

    def pod_changed(self, change: Change) -> None:
        pod: Pod = change.new
        gone = change.type == "DELETED"
        group = pod.group_key
        if group:
            _keep(self.pods, group, pod, gone)
            if group in self.groups:
                self._own(f"group/{group}", group_workload_key(self.groups[group]), False)
        if crew := self.crew_of(pod):
            _keep(self.crews, crew, pod, gone)
            self._own(f"pods/{crew}", crew, gone and crew not in self.crews and crew not in self.makers)
        ended = gone or pod.status.phase in well_known.TERMINAL_PHASES
        for mark in self._marks_of(pod):
            _keep(self._marked, mark, pod, ended)
            if job := self._followed.get(mark):
                self._touch_job(job)

    def crew_of(self, pod: Pod) -> str:
        """The workload of a pod that asks for itself or with others of its label; empty if it does not."""
        labels = pod.metadata.labels
        if well_known.QUEUE_LABEL not in labels or pod.group_key in self.groups:
            return ""
        for owner in pod.metadata.owner_references:
            kind = self.kinds.of(owner.api_version, owner.kind) if owner.controller else None
            if kind is not None and kind.asks == "job":
                return ""  # its job asks, or nobody does
        name = labels.get(well_known.POD_GROUP_NAME_LABEL, "")
        if not name:
            document = {"metadata": {"name": pod.name, "uid": pod.metadata.uid, "labels": labels}}
            return f"{pod.namespace}/{workload_name('Pod', document)}"
        replica = next((f"-{labels[each]}" for each in self._replica_labels if each in labels), "")
        return f"{pod.namespace}/{name}{replica}"

    def _marks_of(self, pod: Pod) -> Iterator[_Mark]:
        for owner in pod.metadata.owner_references:
            if owner.controller and owner.kind != "Job" and self.kinds.of(owner.api_version, owner.kind):
                yield "", "uid", owner.uid
        for label in self._labels & pod.metadata.labels.keys():
            yield pod.namespace, label, pod.metadata.labels[label]

    def _touch_job(self, name: str) -> None:
        if name in self.jobs:
            self._touch(f"job/{name}")
            if self.kind(name).asks == "job":
                self._touch(f"workload/{job_workload_key(self.kind(name), self.jobs[name])}")

    def _own(self, owner: str, workload: str, gone: bool) -> None:
        if gone:
            self._owned.pop(workload, None)
        else:
            self._owned[workload] = owner
        self._touch(owner)
        self._touch(f"workload/{workload}")


def _keep(pods: dict[_Key, dict[str, Pod]], key: _Key, pod: Pod, gone: bool) -> None:
    members = pods.setdefault(key, {})
    if gone:
        members.pop(pod.key, None)
    else:
        members[pod.key] = pod
    if not members:
        del pods[key]
