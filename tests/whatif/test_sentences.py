"""The text of every sentence that `whatif` says: the only place in its tests where our English stands."""

import pytest

from reprieve.objects import Ignored, Reference
from reprieve.whatif import sentences
from tests.catalogues import without_a_row

JOB = Reference("Job", "ml", "a")
LEFT = (Ignored(api_version="v1", kind="ConfigMap", count=2),)
ROWS = [
    # what was given
    (sentences.ignored_objects(LEFT), "Note: ignored: 2 ConfigMaps."),
    (sentences.ignored_of_worker("east", LEFT), "Note: east: ignored: 2 ConfigMaps."),
    (
        sentences.nothing_can_be_used(LEFT),
        "nothing that was given can be used here; ignored: 2 ConfigMaps",
    ),
    (
        sentences.fields_nobody_reads(["a", "b", "c", "d"]),
        "Warning: fields that nobody reads: a, b, c and 1 more",
    ),
    (
        sentences.unknown_field("m.yaml:2", "spec.x: unknown field"),
        "m.yaml:2: spec.x: unknown field",
    ),
    (sentences.doubtful(["a", "b", "c", "d"]), "Warning: a, b, c and 1 more."),
    (sentences.given_twice("Pod", "ml/p"), "Pod/ml/p is given twice; which one counts?"),
    (
        sentences.names_no_queue(""),
        "it names no queue: give it the label kueue.x-k8s.io/queue-name, or give its Workload",
    ),
    (
        sentences.names_no_queue("spec.jobTemplate"),
        "it names no queue: give spec.jobTemplate.metadata the label kueue.x-k8s.io/queue-name, "
        "or give its Workload",
    ),
    # questions that have no answer
    (
        sentences.no_such_job("Job", "ml/a", []),
        "there is no Job ml/a in the input; jobs there are: none",
    ),
    (
        sentences.no_such_job("Job", "ml/a", ["Job/ml/b", "Job/ml/c"]),
        "there is no Job ml/a in the input; jobs there are: Job/ml/b, Job/ml/c",
    ),
    (
        sentences.no_such_workload("ml/w", []),
        "there is no Workload ml/w (kueue.x-k8s.io) in the input; there are: none",
    ),
    (
        sentences.no_such_workload("ml/w", ["ml/v", "ml/x"]),
        "there is no Workload ml/w (kueue.x-k8s.io) in the input; there are: ml/v, ml/x",
    ),
    (sentences.no_such_cluster_queue("cq"), "there is no ClusterQueue cq"),
    (sentences.not_queued("ml/w", "why"), "Workload ml/w is not queued: why"),
    (
        sentences.no_algorithms_for_quota("Workload/ml/w"),
        "Workload/ml/w: a Workload has a quota plan, which knows one algorithm",
    ),
    (
        sentences.no_single_gang(JOB, 0),
        "Job/ml/a is 0 gangs, and algorithms are compared for one: name a Pod or a PodGroup",
    ),
    (
        sentences.no_single_gang(JOB, 2),
        "Job/ml/a is 2 gangs, and algorithms are compared for one: name a Pod or a PodGroup",
    ),
    (
        sentences.job_has_pods_already(JOB, Reference.parse("Pod/ml/a-x")),
        "Job/ml/a has Pod/ml/a-x already: ask for that, or leave it out of the input to plan the "
        "job anew; `reprieve explain Job/ml/a` speaks of all that it has",
    ),
    (
        sentences.no_priority_class("hihg", ["high", "low"]),
        "there is no PriorityClass 'hihg' among the objects; did you mean 'high'?",
    ),
    (
        sentences.no_priority_class("high", []),
        "there is no PriorityClass 'high' among the objects; give it, too: without it the "
        "priority is not known",
    ),
    (sentences.min_count_too_low(-3), "must be at least 1, is -3"),
    # plans of jobs
    (
        sentences.gets_quota("cq", {"main": {"cpu": "a", "memory": "a"}, "w": {"cpu": "b"}}),
        "Quota: ClusterQueue cq gives cpu, memory from flavor a; cpu from flavor b.",
    ),
    (sentences.preempts_for_quota(["ml/a", "ml/b"]), "Quota: preempted for it: ml/a, ml/b."),
    (
        sentences.starts_smaller(2),
        "Note: it starts without 2 pods: there is quota for fewer, which it allows.",
    ),
    (sentences.job_plan(JOB, [("main", 1, 1)], 0, ""), "Job/ml/a: its pod fits."),
    (
        sentences.job_plan(JOB, [("main", 1, 0)], 0, "0/1 nodes are available"),
        "Job/ml/a: its pod does not fit. 0/1 nodes are available",
    ),
    (
        sentences.job_plan(JOB, [("main", 4, 1)], 1, "0/1 nodes are available"),
        "Job/ml/a: 1 of 4 pods fits, if 1 pod makes way. 0/1 nodes are available",
    ),
    (
        sentences.job_plan(JOB, [("head", 1, 1), ("workers", 8, 8), ("none", 0, 0)], 2, ""),
        "Job/ml/a: head fits, all 8 workers pods fit, if 2 pods make way.",
    ),
    (
        sentences.job_plan(JOB, [("head", 1, 0), ("workers", 8, 0)], 0, ""),
        "Job/ml/a: head does not fit, none of 8 workers pods fit.",
    ),
    (sentences.does_not_start(JOB, ""), "Job/ml/a does not start as things are."),
    (sentences.does_not_start(JOB, "why"), "Job/ml/a does not start as things are: why"),
    (
        sentences.planned_as_gangs(1, 1),
        "Note: planned as a gang: at least 1 pod start together, or none.",
    ),
    (
        sentences.planned_as_gangs(2, 4),
        "Note: planned as 2 gangs; in each at least 4 pods start together, or none.",
    ),
    (
        sentences.waits_for_quota("main", []),
        "Note: it waits for quota in queue main first; `reprieve admit` says whether it gets it.",
    ),
    (
        sentences.waits_for_quota("main", ["a", "b", "c", "d"]),
        "Note: it waits for quota in queue main first; `reprieve admit` says whether it gets it. "
        "a, b, c and 1 more is heeded there, not here.",
    ),
    # what a plan of nodes takes otherwise than it is written
    (
        sentences.other_scheduler("volcano"),
        "Note: its schedulerName is volcano: this is what Reprieve would do, not what that scheduler does.",
    ),
    (
        sentences.gates_to_open(["a", "b", "c", "d"]),
        "Note: whoever set the gate has to open it (spec.schedulingGates): a, b, c and 1 more.",
    ),
    (
        sentences.group_priority_counts(5, ["ml/a", "ml/b"]),
        "Note: the group's priority 5 counts for all its pods; others say: ml/a, ml/b.",
    ),
    (
        sentences.group_counts(Reference.parse("PodGroup/ml/g"), "why"),
        "Note: PodGroup/ml/g: why; what the group says counts.",
    ),
    (
        sentences.gpu_share_not_read("gpu-memory", "KAI", ["ml/p"]),
        "Warning: the annotation gpu-memory asks KAI for a part of a GPU, and is not read here: ml/p.",
    ),
    (
        sentences.gang_not_read("pod-group-name", "KAI", ["ml/p"]),
        "Warning: the annotation pod-group-name asks KAI for places with its gang, and is not "
        "read here: ml/p.",
    ),
    (
        sentences.gang_is_missing("scheduling.k8s.io/group-name", "Volcano", ["ml/p"]),
        "Warning: the annotation scheduling.k8s.io/group-name asks Volcano for places with its "
        "gang, and its PodGroup is not among the objects: ml/p.",
    ),
    (
        sentences.protects_nobody("karpenter.sh/do-not-disrupt", ["ml/p"]),
        "Note: karpenter.sh/do-not-disrupt protects nobody from preemption: ml/p.",
    ),
    (
        sentences.foreign_fields_not_read(["spec.queue"]),
        "Note: of pod groups of other schedulers not read: spec.queue.",
    ),
    (sentences.amounts_above_most(["n"]), "Warning: amounts above 2^53 count as 2^53: n."),
    # what is not among the objects
    (
        sentences.no_node_offers("nvidia.com/gpus", ["nvidia.com/gpu"]),
        "Warning: no node has any nvidia.com/gpus; did you mean 'nvidia.com/gpu'?",
    ),
    (sentences.no_node_offers("nvidia.com/gpus", []), "Warning: no node has any nvidia.com/gpus."),
    (
        sentences.nodes_are_missing([("ml/p", "gone")]),
        "Warning: on a node that is not among the objects, so they count nowhere: ml/p (gone).",
    ),
    (
        sentences.groups_are_missing(["ml/g"]),
        "Warning: pods name groups that do not exist; their own priority counts: ml/g.",
    ),
    (
        sentences.priority_classes_are_missing(["high"]),
        "Warning: priority classes that do not exist count as priority 0: high.",
    ),
    (
        sentences.labels_for_affinity_unknown(["ml"]),
        "Note: labels of ml, by which affinity chooses pods, are not known: the namespaces are "
        "not among the objects.",
    ),
    (
        sentences.labels_for_queues_unknown(["ml"]),
        "Note: labels of ml, by which ClusterQueues choose, are not known: the namespaces are "
        "not among the objects.",
    ),
    # quota
    (sentences.not_heeded(JOB, "why"), "Warning: Job/ml/a: not heeded: why."),
    (
        sentences.held_without_queue(JOB),
        "Warning: Job/ml/a names no queue: it is held until it does (quota.manageJobsWithoutQueueName).",
    ),
    (sentences.gets_quota_but("Job/ml/a", "why"), "Warning: Job/ml/a gets quota, but why."),
    # fleets
    (sentences.has_room("east", []), "east has room without preemption"),
    (
        sentences.has_room("east", ["north", "west"]),
        "east has room without preemption (also: north, west)",
    ),
    (
        sentences.preempts_at_lowest_cost("east", "1 workload"),
        "east preempts at the lowest cost: 1 workload",
    ),
    (
        sentences.preempts_if_first("east"),
        "east may preempt if it signals first: first come, first served",
    ),
    (
        sentences.preemption_cost(1, 10, 3600),
        "1 workload, none with a priority above 10; 1 pod-hour of work lost",
    ),
    (
        sentences.preemption_cost(2, 10, 5400),
        "2 workloads, none with a priority above 10; 1.5 pod-hours of work lost",
    ),
    (sentences.NO_WORKLOAD, "not turned into a Workload: give the Workload"),
    (sentences.NOT_PLANNED, "not planned: name it with --for, or give its pods"),
    (
        sentences.without_pods("PodGroup/ml/a"),
        "PodGroup/ml/a: a PodGroup or Workload makes no pods itself. Give the pods that belong to it, or the "
        "job that makes them",
    ),
    (
        sentences.MAKES_PODS,
        "it makes pods, which are not planned: describe it under jobs.kinds of the configuration",
    ),
    (sentences.REPLICAS_COUNT, "the replicas that are written count"),
    (sentences.REQUESTS_COUNT, "the requests that are written count"),
    (sentences.CONFIGURATION_NAMED, "it is heeded where --config names it"),
    (
        sentences.DAEMON_SET_NOT_COUNTED,
        "the part of each node that its pods take is not counted: give its pods",
    ),
    (sentences.NODE_POOL_NOT_COUNTED, "nodes that could be added are not counted"),
    (sentences.ONCE_STARTED, "Note: this is the plan for the moment when it starts."),
    (sentences.NO_ROOM_WITHOUT_PREEMPTION, "no worker has room without preemption"),
    (sentences.NO_ROOM_AT_ALL, "no worker has room, and none could make it by preemption"),
]


@pytest.mark.parametrize(("said", "text"), ROWS)
def test_the_sentence_reads(said: str, text: str) -> None:
    assert said == text


def test_every_sentence_has_a_row() -> None:
    assert not without_a_row(sentences, __file__)
