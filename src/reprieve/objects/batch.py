"""batch/v1: Jobs, as far as quota and the embedded job controller read them."""

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


class Job(Object):
    spec: JobSpec = JobSpec()
    status: JobStatus = JobStatus()
