"""Any job that users have: where its pods are, how many, which of them must run together.

    kinds = JobKinds()                        # the table, and what a configuration adds to it
    kinds.find(document)                      # None if this is no job
    expand(document, kinds)                   # the pods as its controller would make them, and their gangs
    workloads_for(documents, kinds)           # what their queues are asked for, and by whom
    template_problems(document, kinds, context)   # what is wrong with its pods
    progress(document, kind, sets)            # how far it is, by its status; `ending`: is it over?
    started(document, kind, sets, additions)  # as it is to run; `suspended`, `restored`, `held` at creation

One table (`kinds`) describes every kind as data: paths to templates and counts, the names of pods. What a
path cannot say (a runtime that is looked up, a driver that is not written as a pod) is read in `special`.
"""

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
from reprieve.jobs.expansion import HASH_LABEL, Expansion, expand, template_hash
from reprieve.jobs.gating import (
    gate_additions,
    group_label,
    held,
    held_pod,
    needs_hold,
)
from reprieve.jobs.kinds import JobKinds
from reprieve.jobs.names import (
    group_name,
    job_name,
    pods_name,
    prebuilt_workload,
    replica_names,
    workload_name,
)
from reprieve.jobs.pod_groups import asked_by, group_pod_sets, group_total, shape, shape_of
from reprieve.jobs.pod_sets import PodSet
from reprieve.jobs.progress import Progress, ending, has_failed, pod_labels, progress
from reprieve.jobs.queueing import (
    Asking,
    Queueing,
    asks_itself,
    controller_reference,
    group_workload,
    job_workloads,
    names_queue,
    one_run,
    pod_reference,
    pods_workload,
    workloads_for,
)
from reprieve.jobs.reading import has_pod_template, pod_sets
from reprieve.jobs.replica_claims import replica_claims, replica_volumes
from reprieve.jobs.rows import JobKind, PodSetRule, StatusRule
from reprieve.jobs.special import RUNTIMES
from reprieve.jobs.workloads import (
    GENERATED_LABELS,
    plain_template,
    priority_class_of,
    queue_of,
    requested,
    requested_before,
    suspended_by,
    unheeded,
)

__all__ = [
    "GENERATED_LABELS",
    "HASH_LABEL",
    "RUNTIMES",
    "Additions",
    "Asking",
    "Expansion",
    "JobKind",
    "JobKinds",
    "PodSet",
    "PodSetRule",
    "Progress",
    "Queueing",
    "StatusRule",
    "asked_by",
    "asks_itself",
    "controller_reference",
    "dropped",
    "ending",
    "expand",
    "gate_additions",
    "gated",
    "group_label",
    "group_name",
    "group_pod_sets",
    "group_total",
    "group_workload",
    "has_failed",
    "has_pod_template",
    "held",
    "held_pod",
    "job_name",
    "job_workloads",
    "merge_patch",
    "names_queue",
    "needs_hold",
    "one_run",
    "plain_template",
    "pod_labels",
    "pod_reference",
    "pod_sets",
    "pods_name",
    "pods_workload",
    "prebuilt_workload",
    "priority_class_of",
    "progress",
    "queue_of",
    "replica_claims",
    "replica_names",
    "replica_volumes",
    "requested",
    "requested_before",
    "restored",
    "shape",
    "shape_of",
    "started",
    "suspended",
    "suspended_by",
    "template_hash",
    "template_problems",
    "unheeded",
    "was_changed",
    "workload_name",
    "workloads_for",
]
