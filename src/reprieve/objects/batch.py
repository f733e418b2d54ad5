"""batch/v1: Jobs, as far as quota and the embedded job controller read them."""

from collections.abc import Mapping

from reprieve.objects import well_known
from reprieve.objects.core import PodTemplateSpec
from reprieve.objects.meta import Condition, Int32, LabelSelector, Object, Time, View
from reprieve.objects.selectors import matches, namespace_labels


class JobSpec(View):
    parallelism: Int32 = 1
    completions: Int32 | None = None
    suspend: bool = False
    backoff_limit: Int32 = 6
    template: PodTemplateSpec = PodTemplateSpec()


class JobStatus(View):
    active: Int32 = 0
    succeeded: Int32 = 0
    failed: Int32 = 0
    start_time: Time | None = None
    completion_time: Time | None = None
    conditions: tuple[Condition, ...] = ()


def must_name_queue(
    namespace: str,
    controller: str,
    selector: LabelSelector | None = None,
    labels: Mapping[str, str] | None = None,
) -> bool:
    """Whether such a job needs a queue where all jobs do (`quota.manageJobsWithoutQueueName`).

    Not one that anything but a CronJob (`controller`: its kind) starts and stops: that needs the queue. Of
    namespaces, those with the labels that the selector wants; without a selector all but the system's own.
    """
    if controller not in ("", "CronJob"):
        return False
    if selector is None:
        return namespace not in well_known.UNMANAGED_NAMESPACES
    return matches(selector, namespace_labels(namespace, labels))


class JobOwner(Object):
    """A Job as the owner of pods: its name, its labels and its own owner, whatever else it says."""


class Job(JobOwner):
    spec: JobSpec = JobSpec()
    status: JobStatus = JobStatus()
