"""Every sentence that the kinds of jobs say to people.

A function's name is the sentence's code, its arguments are the values in it.
"""

from typing import Any

from reprieve.objects import shown, well_known

# --- what is wrong with a job -------------------------------------------------------------------------------

TEMPLATE_REQUIRED = "a pod template is required here"
REQUIRED = "is required"


def not_a_job(kind: Any) -> str:
    return f"{kind} is not a kind of job"


def too_many_pods(pods: int, most: int) -> str:
    return f"asks for {pods:,} pods; more than {most:,} are not expanded"


def expected_object(value: Any) -> str:
    return f"expected an object, got {shown(value)}"


def expected_list(value: Any) -> str:
    return f"expected a list, got {shown(value)}"


def expected_string(value: Any) -> str:
    return f"expected a string, got {shown(value)}"


def expected_whole_number(value: Any) -> str:
    return f"expected a whole number, got {shown(value)}"


def out_of_range(value: int, most: int) -> str:
    return f"must be between 0 and {most}, is {value}"


def expected_share(value: Any) -> str:
    return f'expected a share such as "0.1", got {shown(value)}'


def expected_size(value: str) -> str:
    return f"expected a size such as 512m or 4g, got {shown(value)}"


def no_such_runtime(kind: str, name: str) -> str:
    return f"there is no {kind} {name} among the objects: it has the pods of this job, give it too"


def nothing_at(step: str) -> str:
    return f"there is nothing at {shown(step)} in the template"


# --- why it starts no pods ----------------------------------------------------------------------------------

ASKS_FOR_NO_PODS = "it asks for no pods; it starts when its number of pods is raised"


def is_suspended(field: str) -> str:
    return f"it is suspended ({field}: true); it starts when that field is set to false"


# --- what of a job is not read ------------------------------------------------------------------------------

VOLUMES = "volumes that each pod gets"
RESIZES = "which changes the number of pods while it runs"
EXCLUSIVE = "which gives each job or replica a part of the cluster for itself"
STARTS_TOGETHER = "which makes its pods start together"
STARTS_IN_TURN = "which makes jobs start one after the other"
REPLICAS_START_TOGETHER = "whose replicas start together, each by itself: their pods are planned one by one"
TASK_MINIMUM = "which says how many pods of the task must start together"
NEAR_EACH_OTHER = "which keeps its pods near each other"
NUMBER_UNKNOWN = "whose number is known only while it runs: counted as one"
MAY_NOT_RUN = "which may leave it out: counted as if it runs"
PARAMETER = "which has its value only while it runs"
OTHER_TEMPLATE = "whose pods are in another object: counted as none"


def not_looked_at(what: str) -> str:
    """`what`: a field or annotation, and what it does (`unread_field`)."""
    return f"Note: not looked at: {what}."


def unread_field(path: str, what: str) -> str:
    return f"{path}, {what}"


def unread_spark_setting(key: str) -> str:
    return f"spec.sparkConf[{key}], which changes its pods"


def unread_component(path: str, kind: str, api_version: Any) -> str:
    return f"{path}, a {kind} of {api_version}, which may make pods: its podSets would say which"


# --- what a job says to its queue in vain -------------------------------------------------------------------

ONLY_JOBS_START_SMALLER = (
    f"annotation {well_known.MIN_PARALLELISM_ANNOTATION}: only a Job can start with fewer pods"
)


def time_limit_is_no_number(value: Any) -> str:
    return f"label {well_known.MAX_EXEC_TIME_LABEL}: {shown(value)} is no number of seconds above 0"


def not_fewer_pods(value: Any, pods: int) -> str:
    text = f"{shown(value)} is not above 0 and below its {pods} pods"
    return f"annotation {well_known.MIN_PARALLELISM_ANNOTATION}: {text}"


def no_quota_for_more(field: str) -> str:
    return f"{field}: quota is given for the pods that are written; more get none"


def not_resized(shrinks: bool) -> str:
    smaller = "it may become smaller while it runs, but " if shrinks else ""
    text = f"{smaller}it is not resized in place: it is stopped and asks anew"
    return f"annotation {well_known.ELASTIC_JOB_ANNOTATION}: {text}"


# --- what asks for quota ------------------------------------------------------------------------------------


def pod_of_job(job: str, number: int) -> str:
    return f"{job}, pod {number}"


def replica_of_job(job: str, number: int) -> str:
    return f"{job}, replica {number}"


def pod_group_named(group: str) -> str:
    return f"pod group {group}"


def pod_group_is_incomplete(group: str, pods: int, total: int) -> str:
    return f"Note: pod group {group} has {pods} of {total} pods: it asks for quota when all are there."


# --- how a job ended ----------------------------------------------------------------------------------------


def phase_is(path: str, phase: str) -> str:
    return f"{path} is {phase}"
