"""The table of job kinds: data, not classes.

A path is fields with dots between them. `spec.replicatedJobs[]` means each item of that list, and
`spec.tfReplicaSpecs{}` each value of that map; what follows in the same rule is relative to the item. A kind
that is not here is added in the configuration, under `jobs.kinds`, with the same fields.
"""

from collections.abc import Iterable, Iterator
from typing import Literal, dataclass_transform

import msgspec

from reprieve.objects import Document, kind_key


@dataclass_transform(frozen_default=True, kw_only_default=True)
class _Row(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Data as people write it in a configuration."""


class PodSetRule(_Row):
    """Where pods of one shape are described."""

    at: str = ""
    """The part that describes them; one pod set for each item of a list `[]` or map `{}`."""
    name: str = "main"
    """Of the pod set. `@field` is read from the part, `@key` is the part's key in its map, in lower case."""
    template: str = "template"
    """The pod template, below `at`."""
    count: tuple[str, ...] = ("replicas",)
    """Numbers below `at` that are multiplied; each is 1 where it is missing."""
    at_most: str = ""
    """A number below `at` that the last factor of `count` is not to exceed: completions of a Job."""
    pod_name: str = "{job}-{set}-{index}"
    """`{job}`, `{set}`, `{index}` among all pods of the set; of two counts `{outer}` and `{inner}`, or
    `{member}`, which is `{inner}` counted from 1."""
    labels: dict[str, str] = {}
    """On top of those of the template, with the same words in braces."""
    skip_if: str = ""
    """A truth value below `at`: these pods are not wanted now."""
    optional: bool = False
    """Without `at` there are no such pods; else that is an error."""
    index_label: str = ""
    """The label with a pod's number among the innermost count, for places in a topology."""
    index_if: str = ""
    """`field=value` below `at`: only then do pods carry that label."""
    group_label: str = ""
    """Of two counts, the label with the number of the outer one."""


class StatusRule(_Row):
    """Where the status of a job says how it is doing."""

    pods: tuple[str, ...] = ()
    """Numbers of pods that are still there."""
    succeeded: str = ""
    """The number of pods that are done, of a job with one pod set."""
    pod_sets: str = ""
    """A list `[]` or map `{}` with a part for each pod set that has the numbers `active` and `succeeded`: of
    pods, or where pods are counted twice of what the first number counts."""
    name: str = "@name"
    """The pod set that a part is about, as in a pod set rule."""
    phase: str = ""
    """A word for how it is, where that is no condition."""
    succeeded_phases: tuple[str, ...] = ()
    failed_phases: tuple[str, ...] = ()
    started: str = ""
    """When it began. Where there is such a field, the condition `Suspended` must confirm that it stopped."""


class JobKind(_Row):
    """One kind of job."""

    group: str
    versions: tuple[str, ...]
    """Preferred one first."""
    kind: str
    plural: str
    short_names: tuple[str, ...] = ()
    pod_sets: tuple[PodSetRule, ...] = ()
    """In the order in which the job's controller makes the pods."""
    order: tuple[str, ...] = ()
    """Of the keys of a map, those that come first."""
    reader: str = ""
    """What paths cannot say: a function of `special`."""
    makes: tuple[str, ...] = ()
    """Kinds of jobs that stand between it and its pods."""
    suspend: str = ""
    """The truth value that keeps the job from starting; a kind without one is held by scheduling gates."""
    gang: bool = False
    """Its pods can only work together: all of them start, or none."""
    gang_per_replica: bool = False
    """Not one gang but several: one for each value of the first count of its pod sets."""
    scheduling: str = ""
    """Where the job itself says how its pods are scheduled (batch/v1: `spec.scheduling`)."""
    min_available: str = ""
    """How many pods are enough for the gang, where the kind has a field for it."""
    ended: str = ""
    """The condition that says that it is over; a service has none."""
    ended_by: str = ""
    """The pod set whose success ends it; empty: all of them."""
    priority_class: str = ""
    """Its own field for a priority class, where that is not the one of its pods."""
    status: StatusRule = StatusRule()
    pods_by: dict[str, str] = {}
    """Labels of its pods, and where in the job their values are; pods that it controls itself are known."""
    shrinks: str = ""
    """The number that may be lowered to start it with fewer pods."""
    quota: Literal["", "job", "pod", "group", "replica", "none"] = ""
    """What asks its queue for quota: the job, each pod by itself, all of its pods together, each replica, or
    what it makes. If empty, the job if it can be suspended, else what must start together."""
    replica_label: str = ""
    """The label of a pod with the number of its replica, where each replica asks."""

    @property
    def asks(self) -> str:
        """What asks for quota: job, pod, group, replica or none."""
        if self.quota:
            return self.quota
        if self.suspend:
            return "job"
        return "replica" if self.gang_per_replica else "group" if self.gang else "pod"

    @property
    def resource(self) -> str:
        """`jobs.batch`: the name that no other kind has."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.versions[0]}" if self.group else self.versions[0]


def _training(
    kind: str, field: str, *order: str, version: str = "v1", makes: tuple[str, ...] = ()
) -> JobKind:
    """A job of Kubeflow's training operator: a map of roles, each with replicas and a template."""
    return JobKind(
        group="kubeflow.org",
        versions=(version,),
        kind=kind,
        plural=f"{kind.lower()}s",
        pod_sets=(
            PodSetRule(
                at=f"spec.{field}{{}}",
                name="@key",
                labels={
                    "training.kubeflow.org/job-name": "{job}",
                    "training.kubeflow.org/replica-type": "{set}",
                    "training.kubeflow.org/replica-index": "{index}",
                },
                index_label="training.kubeflow.org/replica-index",
            ),
        ),
        order=order,
        makes=makes,
        status=StatusRule(pod_sets="status.replicaStatuses{}", name="@key"),
        pods_by={"training.kubeflow.org/job-name": "metadata.name"},
        ended="Succeeded",
        ended_by="launcher" if kind == "MPIJob" else "",
        suspend="spec.runPolicy.suspend",
        gang=True,
        min_available="spec.runPolicy.schedulingPolicy.minAvailable",
        priority_class="spec.runPolicy.schedulingPolicy.priorityClass",
    )


def _ray(
    kind: str, plural: str, spec: str, suspend: str, *makes: str, reader: str = "", cluster: str = ""
) -> JobKind:
    """Something with a Ray cluster in it. Ray starts with its head and takes workers as they come."""
    labels = {"ray.io/cluster": "{job}", "ray.io/group": "{set}"}
    head = PodSetRule(
        at=f"{spec}.headGroupSpec", name="head", count=(), pod_name="{job}-head", optional=bool(reader),
        labels={**labels, "ray.io/group": "headgroup", "ray.io/node-type": "head"},
    )  # fmt: skip
    workers = PodSetRule(
        at=f"{spec}.workerGroupSpecs[]", name="@groupName", count=("replicas", "numOfHosts"),
        pod_name="{job}-{set}-worker-{index}", skip_if="suspend",
        labels={**labels, "ray.io/node-type": "worker"},
    )  # fmt: skip
    return JobKind(
        group="ray.io", versions=("v1", "v1alpha1"), kind=kind, plural=plural,
        pod_sets=(head, workers), suspend=suspend, makes=makes, reader=reader,
        status=_RAY_JOB_STATUS if reader else StatusRule(), pods_by={"ray.io/cluster": cluster},
        ended="Complete" if reader else "", ended_by="submitter" if reader else "",
    )  # fmt: skip


_RAY_JOB_STATUS = StatusRule(
    phase="status.jobDeploymentStatus", succeeded_phases=("Complete",), failed_phases=("Failed",)
)


def _set_of_pods(
    kind: str, plural: str, *short: str, makes: tuple[str, ...] = (), together: bool = False
) -> JobKind:
    """Something of apps/v1 that keeps a number of equal pods."""
    return JobKind(
        group="apps", versions=("v1",), kind=kind, plural=plural, short_names=short,
        pod_sets=(PodSetRule(at="spec", pod_name="{job}-{index}"),),
        makes=makes, quota="group" if together else "pod",
    )  # fmt: skip


_JOB_LABELS = {"batch.kubernetes.io/job-name": "{job}", "job-name": "{job}"}

TABLE: tuple[JobKind, ...] = (
    JobKind(
        group="batch",
        versions=("v1",),
        kind="Job",
        plural="jobs",
        pod_sets=(
            PodSetRule(
                at="spec",
                count=("parallelism",),
                at_most="completions",
                pod_name="{job}-{index}",
                labels=_JOB_LABELS,
                index_label="batch.kubernetes.io/job-completion-index",
                index_if="completionMode=Indexed",
            ),
        ),
        suspend="spec.suspend",
        scheduling="spec.scheduling",
        shrinks="spec.parallelism",
        status=StatusRule(
            pods=("status.active", "status.terminating"),
            succeeded="status.succeeded",
            started="status.startTime",
        ),
    ),
    JobKind(
        group="batch",
        versions=("v1",),
        kind="CronJob",
        makes=("Job",),
        plural="cronjobs",
        short_names=("cj",),
        pod_sets=(
            PodSetRule(
                at="spec.jobTemplate.spec",
                count=("parallelism",),
                at_most="completions",
                pod_name="{job}-{index}",
                labels=_JOB_LABELS,
            ),
        ),
        suspend="spec.suspend",
        scheduling="spec.jobTemplate.spec.scheduling",
        quota="none",
    ),
    _set_of_pods("Deployment", "deployments", "deploy", makes=("ReplicaSet",)),
    _set_of_pods("ReplicaSet", "replicasets", "rs"),
    _set_of_pods("StatefulSet", "statefulsets", "sts", together=True),
    JobKind(
        group="jobset.x-k8s.io",
        versions=("v1alpha2",),
        kind="JobSet",
        makes=("Job",),
        ended="Completed",
        plural="jobsets",
        pod_sets=(
            PodSetRule(
                at="spec.replicatedJobs[]",
                name="@name",
                template="template.spec.template",
                count=("replicas", "template.spec.parallelism"),
                at_most="template.spec.completions",
                pod_name="{job}-{set}-{outer}-{inner}",
                labels={
                    "jobset.sigs.k8s.io/jobset-name": "{job}",
                    "jobset.sigs.k8s.io/replicatedjob-name": "{set}",
                    "jobset.sigs.k8s.io/job-index": "{outer}",
                    "batch.kubernetes.io/job-completion-index": "{inner}",
                },
                index_label="batch.kubernetes.io/job-completion-index",
                group_label="jobset.sigs.k8s.io/job-index",
            ),
        ),
        suspend="spec.suspend",
        gang=True,
        status=StatusRule(pod_sets="status.replicatedJobsStatus[]"),
        pods_by={"jobset.sigs.k8s.io/jobset-name": "metadata.name"},
    ),
    JobKind(
        group="leaderworkerset.x-k8s.io",
        versions=("v1",),
        kind="LeaderWorkerSet",
        makes=("StatefulSet",),
        plural="leaderworkersets",
        short_names=("lws",),
        reader="leader_worker_set",
        gang=True,
        gang_per_replica=True,
        replica_label="leaderworkerset.sigs.k8s.io/group-index",
    ),
    _training("PyTorchJob", "pytorchReplicaSpecs", "Master", "Worker"),
    _training("TFJob", "tfReplicaSpecs", "Chief", "Master", "PS", "Worker", "Evaluator"),
    _training("XGBoostJob", "xgbReplicaSpecs", "Master", "Worker"),
    _training("PaddleJob", "paddleReplicaSpecs", "Master", "Worker"),
    _training("JAXJob", "jaxReplicaSpecs", "Worker"),
    _training("MPIJob", "mpiReplicaSpecs", "Launcher", "Worker", version="v2beta1", makes=("Job",)),
    JobKind(
        group="trainer.kubeflow.org",
        versions=("v1alpha1",),
        kind="TrainJob",
        makes=("JobSet",),
        ended="Complete",
        plural="trainjobs",
        reader="train_job",
        suspend="spec.suspend",
        gang=True,
        status=StatusRule(pod_sets="status.jobsStatus[]"),
        pods_by={"jobset.sigs.k8s.io/jobset-name": "metadata.name"},
    ),
    _ray("RayCluster", "rayclusters", "spec", "spec.suspend", cluster="metadata.name"),
    _ray(
        "RayJob",
        "rayjobs",
        "spec.rayClusterSpec",
        "spec.suspend",
        "RayCluster",
        "Job",
        reader="ray_submitter",
        cluster="status.rayClusterName",
    ),
    _ray(
        "RayService",
        "rayservices",
        "spec.rayClusterConfig",
        "spec.rayClusterConfig.suspend",
        "RayCluster",
        cluster="status.activeServiceStatus.rayClusterName",
    ),
    JobKind(
        group="workload.codeflare.dev",
        versions=("v1beta2",),
        kind="AppWrapper",
        ended="Succeeded",
        plural="appwrappers",
        makes=("Job", "JobSet", "Deployment", "StatefulSet", "PyTorchJob", "MPIJob", "RayJob", "RayCluster"),
        reader="app_wrapper",
        suspend="spec.suspend",
        gang=True,
        status=StatusRule(phase="status.phase", succeeded_phases=("Succeeded",), failed_phases=("Failed",)),
        pods_by={"workload.codeflare.dev/appwrapper": "metadata.name"},
    ),
    JobKind(
        group="sparkoperator.k8s.io",
        versions=("v1beta2",),
        kind="SparkApplication",
        ended="Complete",
        ended_by="driver",
        plural="sparkapplications",
        short_names=("sparkapp",),
        reader="spark",
        suspend="spec.suspend",
        status=StatusRule(
            phase="status.applicationState.state",
            succeeded_phases=("COMPLETED",),
            failed_phases=("FAILED",),
        ),
        pods_by={"sparkoperator.k8s.io/app-name": "metadata.name"},
    ),
)


class JobKinds:
    """The table with what a configuration adds; an added kind goes before the one of the same name."""

    def __init__(self, added: Iterable[JobKind] = ()) -> None:
        self._kinds = {(each.group, each.kind): each for each in (*TABLE, *added)}

    def __iter__(self) -> Iterator[JobKind]:
        return iter(self._kinds.values())

    def __contains__(self, key: tuple[str, str]) -> bool:
        return key in self._kinds

    def find(self, document: Document) -> JobKind | None:
        return self._kinds.get(kind_key(document))

    def of(self, api_version: str, kind: str) -> JobKind | None:
        """The kind that an owner reference names."""
        return self._kinds.get((api_version.rpartition("/")[0], kind))

    def below(self, kind: str) -> list[JobKind]:
        """The kind and all kinds that may stand between it and its pods."""
        found: dict[str, None] = {}
        to_do = [kind]
        while to_do:
            name = to_do.pop()
            if name not in found:
                found[name] = None
                to_do += [made for each in self if each.kind == name for made in each.makes]
        return [each for each in self if each.kind in found]

    def words(self) -> dict[str, str]:
        """What people may type for a kind, as for kubectl."""
        return {
            word.lower(): each.kind for each in self for word in (each.kind, each.plural, *each.short_names)
        }
