"""Every sentence that plans over manifests say to people.

A function's name is the sentence's code, its arguments are the values in it.
"""

from collections.abc import Iterable, Mapping, Sequence

from reprieve.objects import (
    Ignored,
    Reference,
    counted,
    ignored_sentence,
    nearest,
    some,
    well_known,
)

_NAMED = 3

# --- what was given -----------------------------------------------------------------------------------------


def ignored_objects(found: Sequence[Ignored]) -> str:
    return f"Note: {ignored_sentence(found)}."


def ignored_of_worker(cluster: str, found: Sequence[Ignored]) -> str:
    return f"Note: {cluster}: {ignored_sentence(found)}."


def nothing_can_be_used(found: Sequence[Ignored]) -> str:
    return f"nothing that was given can be used here; {ignored_sentence(found)}"


def fields_nobody_reads(fields: Sequence[str]) -> str:
    return f"Warning: fields that nobody reads: {some(fields, _NAMED)}"


def unknown_field(where: str, problem: str) -> str:
    return f"{where}: {problem}"


def doubtful(found: Sequence[str]) -> str:
    return f"Warning: {some(found, _NAMED)}."


def given_twice(kind: str, key: str) -> str:
    return f"{kind}/{key} is given twice; which one counts?"


# --- why objects of a kind are ignored ----------------------------------------------------------------------

NO_WORKLOAD = "not turned into a Workload: give the Workload"
NOT_PLANNED = "not planned: name it with --for, or give its pods"


def without_pods(groups: str) -> str:
    return (
        f"{groups}: a PodGroup or Workload makes no pods itself. Give the pods that belong to it, or the job "
        "that makes them"
    )


MAKES_PODS = "it makes pods, which are not planned: describe it under jobs.kinds of the configuration"
REPLICAS_COUNT = "the replicas that are written count"
REQUESTS_COUNT = "the requests that are written count"
CONFIGURATION_NAMED = "it is heeded where --config names it"
DAEMON_SET_NOT_COUNTED = "the part of each node that its pods take is not counted: give its pods"
NODE_POOL_NOT_COUNTED = "nodes that could be added are not counted"


def names_no_queue(job_template: str) -> str:
    """`job_template`: where what makes jobs again and again keeps them; empty for a job itself."""
    where = f"{job_template}.metadata" if job_template else "it"
    return f"it names no queue: give {where} the label {well_known.QUEUE_LABEL}, or give its Workload"


# --- questions that have no answer --------------------------------------------------------------------------


def no_such_job(kind: str, key: str, jobs: Sequence[str]) -> str:
    return f"there is no {kind} {key} in the input; jobs there are: {', '.join(jobs) or 'none'}"


def no_such_workload(key: str, workloads: Sequence[str]) -> str:
    known = ", ".join(workloads) or "none"
    return f"there is no Workload {key} (kueue.x-k8s.io) in the input; there are: {known}"


def no_such_cluster_queue(name: str) -> str:
    return f"there is no ClusterQueue {name}"


def not_queued(workload: str, why: str) -> str:
    return f"Workload {workload} is not queued: {why}"


def no_algorithms_for_quota(target: str) -> str:
    return f"{target}: a Workload has a quota plan, which knows one algorithm"


def no_single_gang(job: Reference, gangs: int) -> str:
    return f"{job} is {counted(gangs, 'gang')}, and algorithms are compared for one: name a Pod or a PodGroup"


def job_has_pods_already(job: Reference, one: Reference) -> str:
    return (
        f"{job} has {one} already: ask for that, or leave it out of the input to plan the job anew; "
        f"`reprieve explain {job}` speaks of all that it has"
    )


def no_priority_class(name: str, known: Iterable[str]) -> str:
    """`known`: in case another one was meant; without any, nobody gave classes at all."""
    classes = list(known)
    meant = nearest(name, classes) if classes else "; give it, too: without it the priority is not known"
    return f"there is no PriorityClass {name!r} among the objects{meant}"


def min_count_too_low(min_count: int) -> str:
    return f"must be at least 1, is {min_count}"


# --- plans of jobs ------------------------------------------------------------------------------------------

ONCE_STARTED = "Note: this is the plan for the moment when it starts."


def does_not_start(name: Reference, why: str) -> str:
    return f"{name} does not start as things are{f': {why}' if why else '.'}"


def job_plan(job: Reference, fits: Sequence[tuple[str, int, int]], victims: int, message: str) -> str:
    """`RayJob/ml/tune: head fits, 6 of 8 workers fit if 2 pods make way; the next one: 0/3 nodes …`

    `fits`: of each pod set its name, how many pods it has and how many of them find a node.
    """
    alone = len(fits) == 1
    parts = [_fit("" if alone else f"{name} ", count, placed) for name, count, placed in fits if count]
    text = f"{job}: {', '.join(parts)}"
    if victims:
        text += f", if {counted(victims, 'pod')} {'makes' if victims == 1 else 'make'} way"
    return f"{text}. {message}" if message else f"{text}."


def _fit(name: str, count: int, placed: int) -> str:
    if count == 1:
        return f"{name or 'its pod '}{'fits' if placed else 'does not fit'}"
    if placed == count:
        return f"all {count} {name}pods fit"
    return f"{placed or 'none'} of {count} {name}pods {'fits' if placed == 1 else 'fit'}"


def planned_as_gangs(gangs: int, least: int) -> str:
    several = "a gang:" if gangs == 1 else f"{gangs} gangs; in each"
    return f"Note: planned as {several} at least {counted(least, 'pod')} start together, or none."


def gets_quota(queue: str, flavors: Mapping[str, Mapping[str, str]]) -> str:
    """`flavors`: by pod set and resource."""
    together: dict[str, list[str]] = {}
    for resource, flavor in {pair for of_set in flavors.values() for pair in of_set.items()}:
        together.setdefault(flavor, []).append(resource)
    parts = [f"{', '.join(sorted(names))} from flavor {flavor}" for flavor, names in sorted(together.items())]
    return f"Quota: ClusterQueue {queue} gives {'; '.join(parts)}."


def preempts_for_quota(pods: Sequence[str]) -> str:
    return f"Quota: preempted for it: {some(pods, _NAMED)}."


def starts_smaller(pods: int) -> str:
    return f"Note: it starts without {counted(pods, 'pod')}: there is quota for fewer, which it allows."


def waits_for_quota(queue: str, annotations: Sequence[str]) -> str:
    """Of a job or pod that a plan of nodes is made for; `annotations` mean something to its queue only."""
    text = f"Note: it waits for quota in queue {queue} first; `reprieve admit` says whether it gets it."
    return f"{text} {some(annotations, _NAMED)} is heeded there, not here." if annotations else text


# --- what a plan of nodes takes otherwise than it is written ------------------------------------------------


def other_scheduler(name: str) -> str:
    return f"Note: its schedulerName is {name}: this is what Reprieve would do, not what that scheduler does."


def gates_to_open(gates: Sequence[str]) -> str:
    return f"Note: whoever set the gate has to open it (spec.schedulingGates): {some(gates, _NAMED)}."


def group_priority_counts(priority: int, pods: Sequence[str]) -> str:
    return f"Note: the group's priority {priority} counts for all its pods; others say: {some(pods, _NAMED)}."


def group_counts(group: Reference, problem: str) -> str:
    return f"Note: {group}: {problem}; what the group says counts."


def gpu_share_not_read(annotation: str, scheduler: str, pods: Sequence[str]) -> str:
    asks = f"the annotation {annotation} asks {scheduler} for a part of a GPU"
    return f"Warning: {asks}, and is not read here: {some(pods, _NAMED)}."


def gang_not_read(annotation: str, scheduler: str, pods: Sequence[str]) -> str:
    return f"Warning: {_asks_for_gang(annotation, scheduler)}, and is not read here: {some(pods, _NAMED)}."


def gang_is_missing(annotation: str, scheduler: str, pods: Sequence[str]) -> str:
    missing = "and its PodGroup is not among the objects"
    return f"Warning: {_asks_for_gang(annotation, scheduler)}, {missing}: {some(pods, _NAMED)}."


def _asks_for_gang(annotation: str, scheduler: str) -> str:
    return f"the annotation {annotation} asks {scheduler} for places with its gang"


def protects_nobody(annotation: str, pods: Sequence[str]) -> str:
    return f"Note: {annotation} protects nobody from preemption: {some(pods, _NAMED)}."


def foreign_fields_not_read(fields: Sequence[str]) -> str:
    return f"Note: of pod groups of other schedulers not read: {some(fields, _NAMED)}."


def amounts_above_most(names: Sequence[str]) -> str:
    return f"Warning: amounts above 2^53 count as 2^53: {some(names, _NAMED)}."


# --- what is not among the objects --------------------------------------------------------------------------


def no_node_offers(resource: str, offered: Iterable[str]) -> str:
    """`offered`: what nodes do have, in case another name was meant."""
    return f"Warning: no node has any {resource}{nearest(resource, offered) or '.'}"


def nodes_are_missing(pods: Sequence[tuple[str, str]]) -> str:
    """Of each: the pod, and its node."""
    names = some([f"{pod} ({node})" for pod, node in pods], _NAMED)
    return f"Warning: on a node that is not among the objects, so they count nowhere: {names}."


def groups_are_missing(groups: Sequence[str]) -> str:
    return f"Warning: pods name groups that do not exist; their own priority counts: {some(groups, _NAMED)}."


def priority_classes_are_missing(names: Sequence[str]) -> str:
    return f"Warning: priority classes that do not exist count as priority 0: {some(names, _NAMED)}."


def labels_for_affinity_unknown(namespaces: Sequence[str]) -> str:
    return f"Note: labels of {some(namespaces, _NAMED)}, by which affinity chooses pods, {_UNKNOWN_LABELS}."


def labels_for_queues_unknown(namespaces: Sequence[str]) -> str:
    return f"Note: labels of {some(namespaces, _NAMED)}, by which ClusterQueues choose, {_UNKNOWN_LABELS}."


_UNKNOWN_LABELS = "are not known: the namespaces are not among the objects"

# --- quota --------------------------------------------------------------------------------------------------


def not_heeded(job: Reference, what: str) -> str:
    return f"Warning: {job}: not heeded: {what}."


def held_without_queue(job: Reference) -> str:
    why = "it is held until it does (quota.manageJobsWithoutQueueName)"
    return f"Warning: {job} names no queue: {why}."


def gets_quota_but(name: str, why: str) -> str:
    return f"Warning: {name} gets quota, but {why}."


# --- fleets -------------------------------------------------------------------------------------------------

NO_ROOM_WITHOUT_PREEMPTION = "no worker has room without preemption"
NO_ROOM_AT_ALL = "no worker has room, and none could make it by preemption"


def has_room(cluster: str, others: Sequence[str]) -> str:
    also = f" (also: {', '.join(others)})" if others else ""
    return f"{cluster} has room without preemption{also}"


def preempts_at_lowest_cost(cluster: str, cost: str) -> str:
    return f"{cluster} preempts at the lowest cost: {cost}"


def preempts_if_first(cluster: str) -> str:
    return f"{cluster} may preempt if it signals first: first come, first served"


def preemption_cost(workloads: int, highest_priority: int, lost_pod_seconds: int) -> str:
    hours = f"{lost_pod_seconds / 3600:,.1f}".removesuffix(".0")
    lost = f"{hours} {'pod-hour' if hours == '1' else 'pod-hours'} of work lost"
    return f"{counted(workloads, 'workload')}, none with a priority above {highest_priority}; {lost}"
