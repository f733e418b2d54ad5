"""batch/v1: Jobs, as far as quota and the embedded job controller read them."""

from reprieve.objects import well_known
from reprieve.objects.core import PodTemplateSpec
from reprieve.objects.meta import Condition, Int32, Object, Time, View


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


def must_name_queue(namespace: str, controller: str) -> bool:
    """Whether such a Job needs a queue where all Jobs do (`quota.manageJobsWithoutQueueName`).

    Not one that anything but a CronJob (`controller`: its kind) starts and stops: that needs the queue.
    """
    return controller in ("", "CronJob") and namespace not in well_known.UNMANAGED_NAMESPACES


class JobOwner(Object):
    """A Job as the owner of pods: its name, its labels and its own owner, whatever else it says."""


class Job(JobOwner):
    spec: JobSpec = JobSpec()
    status: JobStatus = JobStatus()
