"""What the table says of a kind of job: the fields that a configuration may use, too."""

from typing import Literal, dataclass_transform

import msgspec


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
    between: tuple[str, str] | None = None
    """Numbers below `at` that the first factor of `count` is kept between; where that factor is missing, the
    lower one, or none."""
    pod_name: str = "{job}-{set}-{index}"
    """`{job}`, `{set}`, `{index}` among all pods of the set; of two counts `{outer}` and `{inner}`, or
    `{member}`, which is `{inner}` counted from 1, or `{place}`: `{outer}-{inner}`, of the first `{outer}`."""
    labels: dict[str, str] = {}
    """On top of those of the template, with the same words in braces."""
    skip_if: str = ""
    """A truth value below `at`: these pods are not wanted now, though quota is asked for them."""
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
    ready: str = ""
    """The number of pods that are ready, of a job whose pods are not followed themselves."""
    succeeded: str = ""
    """The number of pods that are done, of a job with one pod set."""
    indexes: tuple[str, ...] = ()
    """Of pods that have numbers, those that are not run again, as `0,2-4`; they count in its place."""
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
    job_template: str = ""
    """Where the job is written, with labels of its own, that it makes in each run."""
    job_spec: str = "spec"
    """Where the spec of that job is, below `job_template`; empty: that is the spec, without labels."""
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
    shrinks_too: str = ""
    """The number that is lowered with it, where an annotation of the job says so (completions of a Job)."""
    autoscaling: str = ""
    """The truth value that lets its own controller change the number of its pods while it runs."""
    claim_templates: str = ""
    """Where claims for volumes are written that each of its pods gets."""
    unread: dict[str, str] = {}
    """Fields and annotations that change where pods go and that plans do not look at, and what they do."""
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
