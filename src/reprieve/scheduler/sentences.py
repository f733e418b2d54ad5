"""Every sentence of this room: one function for each, or a constant where nothing is filled in.

The name is the sentence's code, the arguments are its values. The texts are in
`tests/scheduler/test_sentences.py`, once each. Those that thousands of pods share have no number in them that
changes from pod to pod.
"""

from collections.abc import Sequence

from reprieve.objects import OLD_POD_LINK as _OLD_POD_LINK
from reprieve.objects import Duration, counted, shown, some, well_known

_NAMED = 5
"""How many pods a sentence names."""
_QUEUE = well_known.QUEUE_LABEL
_RUN_IT = "is one running? (reprieve run --controllers scheduler,quota)"

# Kubernetes' own words: conditions and events.

GATED = "Scheduling is blocked due to non-empty scheduling gates"
"""As the API server writes it."""


def assigned(pod: str, node: str) -> str:
    return f"Successfully assigned {pod} to {node}"


# Near Kubernetes' own words: victims. kube-scheduler writes the first half of each.


def preempting_for(scheduler: str, kind: str, preemptor: str, priority: int, why: str) -> str:
    """`kind`: `pod` or `podgroup`. Older schedulers read it back (`marks`)."""
    who = f"{kind} {preemptor} (priority {priority})"
    return f"{scheduler}: preempting to accommodate a higher priority {who}: {why}"


def releasing_pods_of(scheduler: str, group: str, why: str) -> str:
    return f"{scheduler}: releasing the pods of podgroup {group}: {why}"


def preempted_by(kind: str, preemptor: str, uid: str, node: str, why: str) -> str:
    """`why`: empty when the plan does not say."""
    text = f"Preempted by {kind} {preemptor} ({uid}) on node {node}"
    return f"{text}: {why}" if why else text


def preempting(victims: Sequence[str]) -> str:
    return f"Preempting {counted(len(victims), 'pod')} to make room: {some(victims, _NAMED)}"


# Why pods are evicted, or not after all.

NO_ROOM = "there was no room without preemption"
FINISHING = "finishing what was begun"
PREEMPTION_HAD_BEGUN = "its preemption had begun"
PREEMPTION_DID_NOT_HAPPEN = "the preemption did not take place"
GANG_IS_INCOMPLETE = "its gang is incomplete"
GANG_IS_COMPLETE = "its gang is incomplete no more"
SHARED_VICTIM_STAYS = "another preemption failed to evict a victim of both"


def victims_not_evicted(failed: int, victims: int, first: str, why: str) -> str:
    return f"{failed} of {counted(victims, 'victim')} could not be evicted ({first}: {why})"


def pods_not_released(failed: int, pods: int) -> str:
    return f"{failed} of {counted(pods, 'pod')} of the gang could not be released"


def released_from(node: str, why: str) -> str:
    return f"Released from node {node}: {why}, and its rest has no place"


def releasing(why: str) -> str:
    return f"Releasing its bound pods: {why}"


# What a unit waits for that was tried.


def waits_for_victims(victims: int) -> str:
    """`victims`: 0 when nobody has counted them."""
    return f"waiting for {victims or 'the'} preempted {'pod' if victims == 1 else 'pods'} to end"


VICTIMS_OF_THE_TREE = "waiting for the pods that were preempted for its tree to end"


def kept_free(resource: str, window: Duration) -> str:
    return (
        f"it fits, but the {resource} that more important units gave back within the last {window} "
        "is kept for them"
    )


def pauses_until(time: str) -> str:
    return (
        "it was preempted not long ago and waits before it starts again, "
        f"until {time} (preemption.returnPause)"
    )


def binding_failed(node: str, error: str) -> str:
    return f"binding to {node} failed: {error}"


def claims_given_back(claims: Sequence[str]) -> str:
    return f"An allocation that nobody uses is taken back, to choose anew: {some(claims, 3)}."


# What a unit waits for before it is tried.


def has_scheduling_gates(pod: str, gates: Sequence[str]) -> str:
    return f"{pod} has scheduling gates: {', '.join(gates)}"


def waits_for_group(group: str) -> str:
    return f"waiting for the pod group {group} to appear"


def waits_for_pods(known: int, minimum: int) -> str:
    return f"{_TOO_FEW}: {known} of {minimum} exist"


def needs_pods(minimum: int) -> str:
    """The same for every pod of the gang."""
    return f"{_TOO_FEW}: {minimum} must exist"


_TOO_FEW = "waiting for minCount pods from a gang to appear"


def waits_for_leaving_pods(leaving: int) -> str:
    return f"waiting for {leaving} of the gang's pods to end"


FORMER_PODS_LEAVE = "waiting for the gang's former pods to end"
"""The same for every pod of the gang."""
OLD_LINK = f"spec.workloadRef {_OLD_POD_LINK}"


# Gangs that are bound in part.


def lacks_pods(bound: int, wanted: int) -> str:
    missing = wanted - bound
    verb = "has" if missing == 1 else "have"
    return f"{bound} of {wanted} pods are bound and {missing} more {verb} no place"


def bound_pods_stay(bound: int, wanted: int, bare: Sequence[str]) -> str:
    """`bare`: pods without a controller."""
    stay = f"the bound pods stay, because no controller would make {some(bare, _NAMED)} anew"
    return f"{lacks_pods(bound, wanted)}; {stay}"


def bound_pods_are_released(bound: int, wanted: int, timeout: Duration) -> str:
    return f"{lacks_pods(bound, wanted)}; the bound pods are released after {timeout} of this"


def lacks_pods_because(shortfall: str, why: str) -> str:
    return f"{shortfall}: {why}"


MISSING_PODS_DO_NOT_EXIST = "the missing pods do not exist"
GROUP_LAPSED = "none of its pods is on a node any more: it is scheduled anew"


def pods_are_bound(bound: int, minimum: int) -> str:
    return f"{bound} of {minimum} pods are bound"


# Waiting for quota. `owner`: `Job a/b`, `PodGroup a/b` or `Pod a/b`.


def job_not_seen(job: str) -> str:
    return f"waiting for its Job {job} to be seen: it may belong to a queue"


def job_names_no_queue(job: str) -> str:
    return (
        f"waits for quota: Job {job} names no queue, and all Jobs need one here "
        f"(quota.manageJobsWithoutQueueName); set its label {_QUEUE}"
    )


def pod_without_workload(queue: str) -> str:
    return (
        f"waits for quota: it is in LocalQueue {queue} and has no Workload yet; a quota controller makes "
        f"it: {_RUN_IT} If it has a Job or PodGroup, that must ask: set the label {_QUEUE} there"
    )


def owner_without_workload(owner: str, queue: str) -> str:
    return (
        f"waits for quota: {owner} is in LocalQueue {queue} and has no Workload yet; a quota controller "
        f"makes it: {_RUN_IT}"
    )


def workload_not_admitted(owner: str, queue: str, workload: str) -> str:
    return (
        f"waits for quota: {owner} is in LocalQueue {queue}, and its Workload {workload} is not admitted; "
        f"reprieve explain Workload/{workload} says why"
    )


def pod_got_no_quota(owner: str) -> str:
    return (
        f"waits for quota: {owner} is admitted, and this pod is not among those that got its quota: "
        "there are more of them, or it is not like them; the events of the PodGroup say more"
    )


def too_many_claim_quota(workload: str, admitted: int) -> str:
    return (
        f"waits for quota: more pods say that they got the quota of Workload {workload} than the "
        f"{counted(admitted, 'pod')} that it was admitted with"
    )


def more_pods_than_admitted(owner: str, admitted: int) -> str:
    """No number of pods that exist: it would have to be written anew for all when one more comes."""
    return (
        f"waits for quota: {owner} was admitted with {counted(admitted, 'pod')} and has more; "
        "suspend it to have it queued again with its new size"
    )


QUEUE_IGNORED = (
    f"Scheduled without quota: this cluster serves no LocalQueues, so the label {_QUEUE} "
    "has no effect (reprieve manifests crds)"
)

# Pods and groups that contradict each other.


def annotation_ignored(name: str, value: str) -> str:
    return f"The annotation {name} is ignored: {shown(value)} is not a duration such as 5m or 1h30m"


def about_group(group: str, text: str) -> str:
    return f"PodGroup {group}: {text}"


def group_mismatch(
    scheduler: str, strangers: Sequence[str], priority: int, unequal: Sequence[str], *, ruled: bool
) -> str:
    """Pods of other schedulers, and of other priorities. `ruled`: the group's priority counts for all.

    Without such pods there is nothing to say.
    """
    parts = []
    if strangers:
        what = f"all pods in a single pod group should have the same .spec.schedulerName {scheduler!r}"
        parts.append(f"{what}: {some(strangers, _NAMED)} differ")
    if unequal:
        what = f"all pods in a single pod group should have its priority {priority}"
        if ruled:
            what = f"pods of the group count with its priority {priority}, whatever they say"
        parts.append(f"{what}: {some(unequal, _NAMED)} differ")
    return "; ".join(parts)


# Kubernetes' own words: volumes and devices that cannot be bound.


def node_not_found(node: str) -> str:
    return f'failed to get node "{node}": node "{node}" not found'


def pod_not_found(pod: str) -> str:
    return f'pod does not exist any more: pod "{pod}" not found'


def volume_not_found(volume: str) -> str:
    return f'failed to check binding: persistentvolume "{volume}" not found'


def claim_not_found(claim: str) -> str:
    return f'failed to check binding: persistentvolumeclaim "{claim}" not found'


def provisioned_claim_not_found(claim: str) -> str:
    return f'failed to check provisioning pvc: persistentvolumeclaim "{claim}" not found'


def volume_was_reset(volume: str) -> str:
    return f'ClaimRef got reset for pv "{volume}"'


def claim_was_reset(claim: str) -> str:
    return f'selectedNode annotation reset for PVC "{claim}"'


def provisioning_failed(claim: str) -> str:
    return f'provisioning failed for PVC "{claim}"'


def volume_out_of_reach(volume: str, node: str) -> str:
    return f'pv "{volume}" node affinity doesn\'t match node "{node}": no matching NodeSelectorTerms'


def device_claim_deleted(claim: str) -> str:
    return f"claim {claim} got deleted in the meantime"
