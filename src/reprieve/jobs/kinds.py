"""The table of job kinds: data, not classes.

A path is fields with dots between them. `spec.replicatedJobs[]` means each item of that list, and
`spec.tfReplicaSpecs{}` each value of that map; what follows in the same rule is relative to the item. A kind
that is not here is added in the configuration, under `jobs.kinds`, with the same fields.
"""

from collections.abc import Iterable, Iterator

import msgspec

from reprieve.jobs import sentences
from reprieve.jobs.rows import JobKind, PodSetRule, StatusRule
from reprieve.objects import Document, kind_key


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
        unread={"spec.elasticPolicy": sentences.RESIZES},
    )


def _ray(
    kind: str, plural: str, spec: str, suspend: str, *makes: str, job: bool = False, cluster: str = ""
) -> JobKind:
    """Something with a Ray cluster in it. Ray starts with its head and takes workers as they come."""
    labels = {"ray.io/cluster": "{job}", "ray.io/group": "{set}"}
    head = PodSetRule(
        at=f"{spec}.headGroupSpec", name="head", count=(), pod_name="{job}-head", optional=job,
        labels={**labels, "ray.io/group": "headgroup", "ray.io/node-type": "head"},
    )  # fmt: skip
    workers = PodSetRule(
        at=f"{spec}.workerGroupSpecs[]", name="@groupName", count=("replicas", "numOfHosts"),
        between=("minReplicas", "maxReplicas"),
        pod_name="{job}-{set}-worker-{index}", skip_if="suspend",
        labels={**labels, "ray.io/node-type": "worker"},
    )  # fmt: skip
    return JobKind(
        group="ray.io", versions=("v1", "v1alpha1"), kind=kind, plural=plural,
        pod_sets=(head, workers), suspend=suspend, makes=makes,
        reader="ray_job" if job else "ray_cluster",
        status=_RAY_JOB_STATUS if job else StatusRule(), pods_by={"ray.io/cluster": cluster},
        ended="Complete" if job else "", ended_by="submitter" if job else "",
        autoscaling=f"{spec}.enableInTreeAutoscaling",
        unread={"ray.io/gang-scheduling-enabled": sentences.STARTS_TOGETHER},
    )  # fmt: skip


_RAY_JOB_STATUS = StatusRule(
    phase="status.jobDeploymentStatus", succeeded_phases=("Complete",), failed_phases=("Failed",)
)


def _set_of_pods(
    kind: str,
    plural: str,
    *short: str,
    makes: tuple[str, ...] = (),
    together: bool = False,
    group: str = "apps",
) -> JobKind:
    """Something of Kubernetes itself that keeps a number of equal pods."""
    return JobKind(
        group=group, versions=("v1",), kind=kind, plural=plural, short_names=short,
        pod_sets=(PodSetRule(at="spec", pod_name="{job}-{index}"),),
        makes=makes, quota="group" if together else "pod",
        claim_templates="spec.volumeClaimTemplates",
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
        shrinks_too="spec.completions",
        status=StatusRule(
            pods=("status.active", "status.terminating"),
            ready="status.ready",
            succeeded="status.succeeded",
            indexes=("status.completedIndexes", "status.failedIndexes"),
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
        job_template="spec.jobTemplate",
        quota="none",
    ),
    _set_of_pods("Deployment", "deployments", "deploy", makes=("ReplicaSet",)),
    _set_of_pods("ReplicaSet", "replicasets", "rs"),
    _set_of_pods("ReplicationController", "replicationcontrollers", "rc", group=""),
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
        unread={
            "alpha.jobset.sigs.k8s.io/exclusive-topology": sentences.EXCLUSIVE,
            "spec.replicatedJobs[].dependsOn": sentences.STARTS_IN_TURN,
        },
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
        unread={
            "leaderworkerset.sigs.k8s.io/exclusive-topology": sentences.EXCLUSIVE,
            "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology": sentences.EXCLUSIVE,
        },
        claim_templates="spec.leaderWorkerTemplate.volumeClaimTemplates",
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
        job=True,
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
    msgspec.structs.replace(
        _ray(
            "RayCronJob", "raycronjobs", "spec.jobTemplate.rayClusterSpec", "spec.suspend", "RayJob", job=True
        ),
        versions=("v1",),
        job_template="spec.jobTemplate",
        job_spec="",
        quota="none",
        status=StatusRule(),
        ended="",
        ended_by="",
        pods_by={},
    ),
    JobKind(
        group="batch.volcano.sh",
        versions=("v1alpha1",),
        kind="Job",
        ended="Completed",
        plural="jobs",
        short_names=("vcjob", "vj"),
        pod_sets=(
            PodSetRule(
                at="spec.tasks[]",
                name="@name",
                labels={
                    "volcano.sh/job-name": "{job}",
                    "volcano.sh/task-spec": "{set}",
                    "volcano.sh/task-index": "{index}",
                },
                index_label="volcano.sh/task-index",
            ),
        ),
        reader="volcano_job",
        gang=True,
        min_available="spec.minAvailable",
        priority_class="spec.priorityClassName",
        status=StatusRule(
            phase="status.state.phase",
            succeeded_phases=("Completed",),
            failed_phases=("Failed", "Terminated"),
        ),
        pods_by={"volcano.sh/job-name": "metadata.name"},
        unread={
            "spec.tasks[].minAvailable": sentences.TASK_MINIMUM,
            "spec.tasks[].dependsOn": sentences.STARTS_IN_TURN,
            "spec.networkTopology": sentences.NEAR_EACH_OTHER,
            "spec.volumes": sentences.VOLUMES,
        },
    ),
    JobKind(
        group="disaggregatedset.x-k8s.io",
        versions=("v1",),
        kind="DisaggregatedSet",
        plural="disaggregatedsets",
        makes=("LeaderWorkerSet",),
        reader="disaggregated_set",
        quota="none",
        unread={
            "spec.roles": sentences.REPLICAS_START_TOGETHER,
            "spec.roles[].scaling": sentences.RESIZES,
            "spec.placementPolicy": sentences.EXCLUSIVE,
        },
    ),
    JobKind(
        group="argoproj.io",
        versions=("v1alpha1",),
        kind="Workflow",
        plural="workflows",
        short_names=("wf",),
        reader="workflow",
        suspend="spec.suspend",
        quota="none",
        priority_class="spec.podPriorityClassName",
        status=StatusRule(
            phase="status.phase", succeeded_phases=("Succeeded",), failed_phases=("Failed", "Error")
        ),
        pods_by={"workflows.argoproj.io/workflow": "metadata.name"},
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
        autoscaling="spec.dynamicAllocation.enabled",
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
        """The kind and all kinds that may stand between it and its pods. Of two with one name it is the first
        in the table: what makes a Job makes that of Kubernetes."""
        first = {each.kind: each for each in reversed([*self])}
        found: dict[str, JobKind] = {}
        to_do = [kind]
        while to_do:
            name = to_do.pop()
            if name in first and name not in found:
                found[name] = first[name]
                to_do += first[name].makes
        return [each for each in self if each is found.get(each.kind)]

    def words(self) -> dict[str, str]:
        """What people may type for a kind, as for kubectl."""
        return {
            word.lower(): each.kind for each in self for word in (each.kind, each.plural, *each.short_names)
        }
