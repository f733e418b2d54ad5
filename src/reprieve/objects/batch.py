"""batch/v1: Jobs, as far as quota and the embedded job controller read them."""

from datetime import datetime

from reprieve.objects.core import PodTemplateSpec
from reprieve.objects.meta import Condition, Object, View


class JobSpec(View):
    parallelism: int = 1
    completions: int | None = None
    suspend: bool = False
    backoff_limit: int = 6
    template: PodTemplateSpec = PodTemplateSpec()


class JobStatus(View):
    active: int = 0
    succeeded: int = 0
    failed: int = 0
    start_time: datetime | None = None
    completion_time: datetime | None = None
    conditions: tuple[Condition, ...] = ()


class Job(Object):
    spec: JobSpec = JobSpec()
    status: JobStatus = JobStatus()
