"""The text of every sentence of this room, once. Other tests name the sentence and its values."""

import pytest

from reprieve.objects import Duration
from reprieve.scheduler import sentences
from tests.catalogues import without_a_row

FIVE_MINUTES = Duration(300)
SEVEN = [f"ns/{number}" for number in range(7)]

ROWS = [
    (sentences.GATED, "Scheduling is blocked due to non-empty scheduling gates"),
    (sentences.assigned("ns/a", "n1"), "Successfully assigned ns/a to n1"),
    (
        sentences.preempting_for("reprieve", "podgroup", "ns/g", 100, "why"),
        "reprieve: preempting to accommodate a higher priority podgroup ns/g (priority 100): why",
    ),
    (
        sentences.releasing_pods_of("reprieve", "ns/g", "why"),
        "reprieve: releasing the pods of podgroup ns/g: why",
    ),
    (
        sentences.preempted_by("pod", "ns/high", "u1", "n1", ""),
        "Preempted by pod ns/high (u1) on node n1",
    ),
    (
        sentences.preempted_by("podgroup", "ns/g", "u1", "n1", "why"),
        "Preempted by podgroup ns/g (u1) on node n1: why",
    ),
    (sentences.preempting(["ns/v"]), "Preempting 1 pod to make room: ns/v"),
    (
        sentences.preempting(SEVEN),
        "Preempting 7 pods to make room: ns/0, ns/1, ns/2, ns/3, ns/4 and 2 more",
    ),
    (sentences.NO_ROOM, "there was no room without preemption"),
    (sentences.FINISHING, "finishing what was begun"),
    (sentences.PREEMPTION_HAD_BEGUN, "its preemption had begun"),
    (sentences.PREEMPTION_DID_NOT_HAPPEN, "the preemption did not take place"),
    (sentences.GANG_IS_INCOMPLETE, "its gang is incomplete"),
    (sentences.GANG_IS_COMPLETE, "its gang is incomplete no more"),
    (sentences.SHARED_VICTIM_STAYS, "another preemption failed to evict a victim of both"),
    (
        sentences.victims_not_evicted(1, 2, "ns/v", "503"),
        "1 of 2 victims could not be evicted (ns/v: 503)",
    ),
    (sentences.pods_not_released(1, 2), "1 of 2 pods of the gang could not be released"),
    (
        sentences.released_from("n1", "its gang is incomplete"),
        "Released from node n1: its gang is incomplete, and its rest has no place",
    ),
    (sentences.releasing("why"), "Releasing its bound pods: why"),
    (sentences.waits_for_victims(0), "waiting for the preempted pods to end"),
    (sentences.waits_for_victims(1), "waiting for 1 preempted pod to end"),
    (sentences.waits_for_victims(2), "waiting for 2 preempted pods to end"),
    (
        sentences.VICTIMS_OF_THE_TREE,
        "waiting for the pods that were preempted for its tree to end",
    ),
    (
        sentences.kept_free("cpu", FIVE_MINUTES),
        "it fits, but the cpu that more important units gave back within the last 5m0s is kept for them",
    ),
    (
        sentences.pauses_until("2026-01-01T00:00:00Z"),
        "it was preempted not long ago and waits before it starts again, until 2026-01-01T00:00:00Z "
        "(preemption.returnPause)",
    ),
    (sentences.binding_failed("n1", "conflict"), "binding to n1 failed: conflict"),
    (
        sentences.claims_given_back(["ns/a", "ns/b", "ns/c", "ns/d"]),
        "An allocation that nobody uses is taken back, to choose anew: ns/a, ns/b, ns/c and 1 more.",
    ),
    (sentences.has_scheduling_gates("ns/a", ["x", "y"]), "ns/a has scheduling gates: x, y"),
    (sentences.waits_for_group("ns/g"), "waiting for the pod group ns/g to appear"),
    (
        sentences.waits_for_pods(2, 3),
        "waiting for minCount pods from a gang to appear: 2 of 3 exist",
    ),
    (sentences.needs_pods(3), "waiting for minCount pods from a gang to appear: 3 must exist"),
    (sentences.waits_for_leaving_pods(2), "waiting for 2 of the gang's pods to end"),
    (sentences.FORMER_PODS_LEAVE, "waiting for the gang's former pods to end"),
    (
        sentences.OLD_LINK,
        "spec.workloadRef is the spelling of Kubernetes 1.35, which nobody reads any more: name a PodGroup "
        "in spec.schedulingGroup.podGroupName",
    ),
    (sentences.lacks_pods(2, 3), "2 of 3 pods are bound and 1 more has no place"),
    (sentences.lacks_pods(2, 4), "2 of 4 pods are bound and 2 more have no place"),
    (
        sentences.bound_pods_stay(2, 3, ["ns/a"]),
        "2 of 3 pods are bound and 1 more has no place; the bound pods stay, because no controller would "
        "make ns/a anew",
    ),
    (
        sentences.bound_pods_are_released(2, 3, FIVE_MINUTES),
        "2 of 3 pods are bound and 1 more has no place; the bound pods are released after 5m0s of this",
    ),
    (sentences.lacks_pods_because("1 of 2 pods are bound", "why"), "1 of 2 pods are bound: why"),
    (sentences.MISSING_PODS_DO_NOT_EXIST, "the missing pods do not exist"),
    (sentences.GROUP_LAPSED, "none of its pods is on a node any more: it is scheduled anew"),
    (sentences.pods_are_bound(3, 3), "3 of 3 pods are bound"),
    (
        sentences.job_not_seen("ns/j"),
        "waiting for its Job ns/j to be seen: it may belong to a queue",
    ),
    (
        sentences.job_names_no_queue("ns/j"),
        "waits for quota: Job ns/j names no queue, and all Jobs need one here "
        "(quota.manageJobsWithoutQueueName); set its label kueue.x-k8s.io/queue-name",
    ),
    (
        sentences.pod_without_workload("main"),
        "waits for quota: it is in LocalQueue main and has no Workload yet; a quota controller makes it: is "
        "one running? (reprieve run --controllers scheduler,quota) If it has a Job or PodGroup, that must "
        "ask: set the label kueue.x-k8s.io/queue-name there",
    ),
    (
        sentences.owner_without_workload("Job ns/j", "main"),
        "waits for quota: Job ns/j is in LocalQueue main and has no Workload yet; a quota controller makes "
        "it: is one running? (reprieve run --controllers scheduler,quota)",
    ),
    (
        sentences.workload_not_admitted("Job ns/j", "main", "ns/w"),
        "waits for quota: Job ns/j is in LocalQueue main, and its Workload ns/w is not admitted; reprieve "
        "explain Workload/ns/w says why",
    ),
    (
        sentences.pod_got_no_quota("PodGroup ns/g"),
        "waits for quota: PodGroup ns/g is admitted, and this pod is not among those that got its quota: "
        "there are more of them, or it is not like them; the events of the PodGroup say more",
    ),
    (
        sentences.too_many_claim_quota("ns/w", 2),
        "waits for quota: more pods say that they got the quota of Workload ns/w than the 2 pods that it "
        "was admitted with",
    ),
    (
        sentences.more_pods_than_admitted("Job ns/j", 1),
        "waits for quota: Job ns/j was admitted with 1 pod and has more; suspend it to have it queued again "
        "with its new size",
    ),
    (
        sentences.QUEUE_IGNORED,
        "Scheduled without quota: this cluster serves no LocalQueues, so the label "
        "kueue.x-k8s.io/queue-name has no effect (reprieve manifests crds)",
    ),
    (
        sentences.annotation_ignored("reprieve.dev/min-runtime", "soon"),
        "The annotation reprieve.dev/min-runtime is ignored: 'soon' is not a duration such as 5m or 1h30m",
    ),
    (sentences.about_group("ns/g", "text"), "PodGroup ns/g: text"),
    (sentences.group_mismatch("reprieve", [], 5, [], ruled=True), ""),
    (
        sentences.group_mismatch("reprieve", ["ns/a"], 5, ["ns/b", "ns/c"], ruled=False),
        "all pods in a single pod group should have the same .spec.schedulerName 'reprieve': ns/a differ; "
        "all pods in a single pod group should have its priority 5: ns/b, ns/c differ",
    ),
    (
        sentences.group_mismatch("reprieve", [], 5, ["ns/b"], ruled=True),
        "pods of the group count with its priority 5, whatever they say: ns/b differ",
    ),
    (sentences.node_not_found("n"), 'failed to get node "n": node "n" not found'),
    (sentences.pod_not_found("p"), 'pod does not exist any more: pod "p" not found'),
    (
        sentences.volume_not_found("pv"),
        'failed to check binding: persistentvolume "pv" not found',
    ),
    (
        sentences.claim_not_found("c"),
        'failed to check binding: persistentvolumeclaim "c" not found',
    ),
    (
        sentences.provisioned_claim_not_found("c"),
        'failed to check provisioning pvc: persistentvolumeclaim "c" not found',
    ),
    (sentences.volume_was_reset("pv"), 'ClaimRef got reset for pv "pv"'),
    (sentences.claim_was_reset("c"), 'selectedNode annotation reset for PVC "c"'),
    (sentences.provisioning_failed("c"), 'provisioning failed for PVC "c"'),
    (
        sentences.volume_out_of_reach("pv", "n"),
        'pv "pv" node affinity doesn\'t match node "n": no matching NodeSelectorTerms',
    ),
    (sentences.device_claim_deleted("ns/c"), "claim ns/c got deleted in the meantime"),
]


@pytest.mark.parametrize(("said", "text"), ROWS)
def test_the_sentence_reads(said: str, text: str) -> None:
    assert said == text


def test_every_sentence_has_a_row() -> None:
    assert not without_a_row(sentences, __file__)
