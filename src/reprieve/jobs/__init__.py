"""Any job that users have: where its pods are, how many, which of them must run together.

    kinds = JobKinds()                        # the table, and what a configuration adds to it
    kinds.find(document)                      # None if this is no job
    expand(document, kinds)                   # the pods as its controller would make them, and their gangs
    workload_of(document, kinds)              # what its queue is asked for; `asking_jobs`: by whom
    template_problems(document, kinds, context)   # what is wrong with its pods
    progress(document, kind, sets)            # how far it is, by its status; `ending`: is it over?
    started(document, kind, sets, additions)  # as it is to run; `suspended`, `restored`, `held` at creation

One table (`kinds`) describes every kind as data: paths to templates and counts, the names of pods. What a
path cannot say (a runtime that is looked up, a driver that is not written as a pod) is read in `special`.
"""

from reprieve.jobs.asking import Asking, asking_groups, asking_jobs, asking_pods, one_run
from reprieve.jobs.checking import template_problems
from reprieve.jobs.editing import (
    Additions,
    dropped,
    gated,
    merge_patch,
    restored,
    started,
    suspended,
    was_changed,
)
from reprieve.jobs.expansion import Expansion, expand
from reprieve.jobs.gating import (
    gate_additions,
    group_names,
    held,
    held_pod,
    needs_hold,
    replica_sets,
    workload_name,
)
from reprieve.jobs.kinds import JobKinds
from reprieve.jobs.made import made_by
from reprieve.jobs.pod_groups import asked_by, group_pod_sets, group_total, shape, shape_of
from reprieve.jobs.pod_sets import PodSet
from reprieve.jobs.progress import Progress, ending, has_failed, pod_labels, progress
from reprieve.jobs.reading import has_pod_template, pod_sets
from reprieve.jobs.replica_claims import replica_claims, replica_volumes
from reprieve.jobs.rows import JobKind, PodSetRule, StatusRule
from reprieve.jobs.special import RUNTIMES
from reprieve.jobs.workloads import (
    priority_class_of,
    queue_of,
    requested,
    suspended_by,
    time_limit,
    unheeded,
    workload_of,
)

__all__ = [
    "RUNTIMES",
    "Additions",
    "Asking",
    "Expansion",
    "JobKind",
    "JobKinds",
    "PodSet",
    "PodSetRule",
    "Progress",
    "StatusRule",
    "asked_by",
    "asking_groups",
    "asking_jobs",
    "asking_pods",
    "dropped",
    "ending",
    "expand",
    "gate_additions",
    "gated",
    "group_names",
    "group_pod_sets",
    "group_total",
    "has_failed",
    "has_pod_template",
    "held",
    "held_pod",
    "made_by",
    "merge_patch",
    "needs_hold",
    "one_run",
    "pod_labels",
    "pod_sets",
    "priority_class_of",
    "progress",
    "queue_of",
    "replica_claims",
    "replica_sets",
    "replica_volumes",
    "requested",
    "restored",
    "shape",
    "shape_of",
    "started",
    "suspended",
    "suspended_by",
    "template_problems",
    "time_limit",
    "unheeded",
    "was_changed",
    "workload_name",
    "workload_of",
]
