"""Any job that users have: where its pods are, how many, which of them must run together.

    kinds = JobKinds()                        # the table, and what a configuration adds to it
    kinds.find(document)                      # None if this is no job
    expand(document, kinds)                   # the pods as its controller would make them, and their gangs
    workload_of(document, kinds)              # what its queue is asked for
    template_problems(document, kinds, context)   # what is wrong with its pods

One table (`kinds`) describes every kind as data: paths to templates and counts, the names of pods. What a
path cannot say (a runtime that is looked up, a driver that is not written as a pod) is read in `special`.
"""

from reprieve.jobs.checking import template_problems
from reprieve.jobs.expansion import Expansion, expand
from reprieve.jobs.kinds import JobKind, JobKinds, PodSetRule
from reprieve.jobs.pod_sets import PodSet
from reprieve.jobs.reading import pod_sets
from reprieve.jobs.special import RUNTIMES
from reprieve.jobs.workloads import ending, queue_of, suspended_by, workload_of

__all__ = [
    "RUNTIMES",
    "Expansion",
    "JobKind",
    "JobKinds",
    "PodSet",
    "PodSetRule",
    "ending",
    "expand",
    "pod_sets",
    "queue_of",
    "suspended_by",
    "template_problems",
    "workload_of",
]
