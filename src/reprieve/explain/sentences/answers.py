"""How something is, what it waits for, who preempted it."""

from collections.abc import Mapping, Sequence

from reprieve.objects import counted, is_or_are, some

_NAMED = 5

# --- any object ---------------------------------------------------------------------------------------------


def there_is_no(kind: str, key: str) -> str:
    return f"There is no {kind} {key}."


def did_you_mean(names: Sequence[str]) -> str:
    return f"Did you mean {' or '.join(names)}?"


def about(name: str, sentence: str) -> str:
    """A sentence about one of several."""
    return f"{name}: {sentence}"


# --- pods ---------------------------------------------------------------------------------------------------

NO_SCHEDULER_LOOKED = "no scheduler has looked at it yet"


def no_such_pod(pod: str) -> str:
    return f"There is no pod {pod}, and no record or event tells of it."


def pod_was_preempted(pod: str, by: str, reason: str) -> str:
    return f"Pod {pod} is gone: it was preempted{_by(by, reason)}."


def pod_has_ended(pod: str, phase: str) -> str:
    return f"Pod {pod} has ended: {phase}."


def pod_leaves_preempted(pod: str, by: str, reason: str) -> str:
    return f"Pod {pod} is leaving: it was preempted{_by(by, reason)}."


def pod_leaves_deleted(pod: str) -> str:
    return f"Pod {pod} is leaving: somebody deleted it; it was not preempted."


def pod_runs(pod: str, node: str) -> str:
    return f"Pod {pod} runs on node {node}."


def pod_waits(pod: str, cause: str) -> str:
    return f"Pod {pod} waits: {cause}"


def held_by_gates(gates: Sequence[str]) -> str:
    return f"it is held by the scheduling {'gate' if len(gates) == 1 else 'gates'} {', '.join(gates)}."


def pod_waits_for_victims(pod: str, node: str) -> str:
    return f"Pod {pod} waits for its place on node {node}: victims there are still leaving."


def belongs_to_group(group: str) -> str:
    return f"It belongs to PodGroup {group}."


def earlier_pod_preempted(by: str, reason: str) -> str:
    return f"An earlier pod of this name was preempted{_by(by, reason)}."


def waits_for_missing_group(group: str) -> str:
    return f"PodGroup {group}, which does not exist or may not be seen"


def waits_for_other_scheduler(name: str) -> str:
    return f"the scheduler {name}, which is not Reprieve's: whether it will place the pod cannot be said here"


def waits_for_pod_to_leave(pod: str, node: str, since: str) -> str:
    return f"{pod} to leave {node} (asked at {since})"


def waits_for_more_pods(pods: int) -> str:
    return f"{counted(pods, 'more pod')} to leave"


def _by(by: str, reason: str) -> str:
    """` by PodGroup/ml/train (why)`, as far as it is known."""
    if by:
        return f" by {by}" + (f" ({reason})" if reason else "")
    return f": {reason}" if reason else ""


# --- groups and trees of groups -----------------------------------------------------------------------------

GROUP_OBJECT_MISSING = "Pods name this group, but the PodGroup object does not exist (or may not be seen)."


def no_such_group(group: str) -> str:
    return f"There is no pod group {group}, and no pod names it."


def group_was_preempted(group: str, by: str, reason: str) -> str:
    return f"PodGroup {group} is gone: it was preempted{_by(by, reason)}."


def group_waits(group: str, waiting: int, pods: int, at_once: int, leaving: int) -> str:
    needed = _at_once(at_once) + _more_leaving(leaving)
    return f"PodGroup {group} waits with {waiting} of {counted(pods, 'pod')}{needed}."


def group_runs(group: str, running: int, at_once: int, leaving: int) -> str:
    return f"PodGroup {group} runs with {counted(running, 'pod')}{_at_once(at_once)}{_more_leaving(leaving)}."


def group_leaves_preempted(group: str, pods: int, by: str, reason: str) -> str:
    return f"PodGroup {group} is leaving with {counted(pods, 'pod')}: it was preempted{_by(by, reason)}."


def group_leaves_deleted(group: str, pods: int) -> str:
    return (
        f"PodGroup {group} is leaving with {counted(pods, 'pod')}: somebody deleted it; it was not preempted."
    )


def group_has_ended(group: str, pods: int) -> str:
    return f"PodGroup {group} has ended: {counted(pods, 'pod')} {is_or_are(pods)} done."


def group_has_no_pods(group: str, at_once: int) -> str:
    return f"PodGroup {group} has no pods{_at_once(at_once)}."


def it_was_preempted(by: str, reason: str) -> str:
    return f"It was preempted{_by(by, reason)}."


def placed_with_tree(tree: str) -> str:
    return f"It waits and is placed with the tree of CompositePodGroup {tree}."


def tree_has_nodes_for(tree: str, running: int, pods: int, groups: int) -> str:
    below = f"{counted(groups, 'group')} below it"
    return f"{tree}: {running} of {counted(pods, 'pod')} in {below} have a node."


def no_such_tree(tree: str) -> str:
    return f"{tree} does not exist, or may not be seen."


def _at_once(minimum: int) -> str:
    return f", {minimum} at once needed" if minimum else ""


def _more_leaving(pods: int) -> str:
    return f"; {pods} more {is_or_are(pods)} leaving" if pods else ""


# --- what creates pods --------------------------------------------------------------------------------------


def owner_has_pods(
    kind: str, key: str, *, running: int, wanted: int, waiting: int, leaving: int, done: int
) -> str:
    missing = f"{running} of " if wanted > running else ""
    parts = [f"{missing}{counted(wanted, 'pod')} {'runs' if wanted == 1 else 'run'}"]
    if waiting:
        parts.append(f"{waiting} {'waits' if waiting == 1 else 'wait'}")
    if leaving:
        parts.append(f"{leaving} {is_or_are(leaving)} leaving")
    if done:
        parts.append(f"{done} {is_or_are(done)} done")
    return f"{kind} {key}: {', '.join(parts)}."


def owner_has_ended(kind: str, key: str, how: str, message: str) -> str:
    return f"{kind} {key} has ended: {how}. {message}".strip()


def owner_without_workload(kind: str, key: str, queue: str) -> str:
    return (
        f"{kind} {key} waits for quota in LocalQueue {queue}, but has no Workload: no quota controller has "
        "seen it. Is one running (reprieve run --controllers quota)?"
    )


def owner_is_suspended(kind: str, key: str, field: str) -> str:
    return f"{kind} {key} is suspended ({field}: true), and nothing but a change of that field starts it."


def owner_is_scheduled(kind: str, key: str, schedule: str) -> str:
    return f"{kind} {key} has no pods now; its schedule is {schedule or 'missing'}."


def owner_wants_no_pods(kind: str, key: str) -> str:
    return f"{kind} {key} wants no pods (replicas or parallelism is 0)."


def owner_has_no_pods(kind: str, key: str) -> str:
    return f"{kind} {key} has no pods here: no controller has created any, or they are not among the objects."


def pods_wait_for(pods: Sequence[str], cause: str) -> str:
    return f"{counted(len(pods), 'pod')} ({some(pods, _NAMED)}): {cause}"


def causes_not_shown(causes: int) -> str:
    return f"{counted(causes, 'more cause')} not shown."


# --- workloads ----------------------------------------------------------------------------------------------
# `named` is what a workload is called: `workload_named`, or `owner_with_workload` where its owner answers.

NO_CYCLE_LOOKED = "it has not been looked at yet"


def workload_named(workload: str) -> str:
    return f"Workload {workload}"


def owner_with_workload(kind: str, key: str, workload: str) -> str:
    return f"{kind} {key} (Workload {workload})"


def no_such_workload(workload: str) -> str:
    return f"There is no workload {workload}."


def workload_is_gone(workload: str) -> str:
    return f"Workload {workload} is gone."


def workload_has_finished(named: str, why: str) -> str:
    return f"{named} has finished: {why}"


def workload_is_evicted(named: str, why: str) -> str:
    return f"{named} is being evicted: {why}"


def workload_is_admitted(named: str, queue: str, worker: str) -> str:
    return f"{named} is admitted in ClusterQueue {queue}{f' and runs on worker {worker}' * bool(worker)}."


def workload_waits_for_checks(named: str, queue: str) -> str:
    return f"{named} has its quota in ClusterQueue {queue} and waits for its admission checks."


def workload_is_inactive(named: str) -> str:
    return f"{named} is deactivated (spec.active: false)."


def workload_waits_for_quota(named: str, reason: str) -> str:
    return f"{named} waits for quota: {reason}"


def waits_for_gate(message: str) -> str:
    return f"its preemption gate: {message}"


def waits_for_check(name: str, state: str, message: str) -> str:
    return f"admission check {name}: {state}{f' ({message})' if message else ''}"


def has_quota_but(message: str) -> str:
    return f"It has quota, but {message}."


def given_to_worker(worker: str) -> str:
    return f"It was given to worker {worker}: its pods are in that cluster, and so is the rest of the answer."


def offered_to_workers(workers: Sequence[str]) -> str:
    return f"It was offered to {', '.join(workers)}; the first worker with quota for it gets it."


# --- queues -------------------------------------------------------------------------------------------------

NOT_LOOKED_AT = "not looked at yet"
CONDITION_IS_FALSE = "its condition Active is False"


def queue_is_active(kind: str, key: str, holding: int, waiting: int) -> str:
    return f"{kind} {key} is active; {_quota_held(holding, waiting)}"


def queue_is_stopped(kind: str, key: str, why: str, holding: int, waiting: int) -> str:
    return f"{kind} {key} admits nothing: {why}; {_quota_held(holding, waiting)}"


def stop_policy_is(policy: str) -> str:
    return f"stopPolicy is {policy}"


def no_cluster_queue(queue: str) -> str:
    return f"ClusterQueue {queue} does not exist"


def cluster_queue_stopped(queue: str, why: str) -> str:
    return f"its ClusterQueue {queue}: {why}"


def more_wait_behind(workloads: int) -> str:
    return f"Behind these {_workloads(workloads, 'wait')}."


def usage_unknown(error: str) -> str:
    return f"Its usage cannot be worked out: {error}"


def quota_used(resource: str, flavor: str, used: str, nominal: str, borrowed: str, lent: str) -> str:
    extra = [
        f", {amount} {word}" for amount, word in ((borrowed, "borrowed"), (lent, "lent")) if amount != "0"
    ]
    return f"{resource} in flavor {flavor}: {used} of {nominal} used{''.join(extra)}"


def _quota_held(holding: int, waiting: int) -> str:
    return f"{_workloads(holding, 'hold')} quota, {_workloads(waiting, 'wait')}."


def _workloads(number: int, verb: str) -> str:
    """`1 workload waits`, `2 workloads wait`."""
    what = counted(number, "workload") if number else "no workload"
    return f"{what} {verb}{'' if number > 1 else 's'}"


# --- nodes --------------------------------------------------------------------------------------------------

NODE_IS_CORDONED = "It is cordoned: nothing new is placed here (kubectl uncordon takes that back)."


def no_such_node(node: str) -> str:
    return f"There is no node {node}."


def node_runs(node: str, pods: int, leaving: int, nominated: int) -> str:
    text = f"Node {node} runs {counted(pods, 'pod') if pods else 'no pod'}"
    if leaving:
        text += f", {leaving} of which {is_or_are(leaving)} leaving"
    if nominated:
        text += f"; {nominated} more {is_or_are(nominated)} nominated to it"
    return f"{text}."


def node_is_not_ready(message: str) -> str:
    return f"It is not ready: {message or 'no reason given'}"


def nominated_to_node(pod: str) -> str:
    return f"{pod} is nominated to it."


# --- evictions ----------------------------------------------------------------------------------------------


def evicted_by(by: str, time: str, nodes: Sequence[str], reason: str) -> str:
    return _evicted(by or _SOMEBODY, time, nodes, reason)


def evicted(victims: Sequence[str], time: str, nodes: Sequence[str], reason: str) -> str:
    return _evicted(some(victims, _NAMED, "pods"), time, nodes, reason)


def evicted_for(victims: Sequence[str], by: str, time: str, nodes: Sequence[str], reason: str) -> str:
    return _evicted(f"{some(victims, _NAMED, 'pods')} for {by or _SOMEBODY}", time, nodes, reason)


_SOMEBODY = "somebody"


def _evicted(who: str, time: str, nodes: Sequence[str], reason: str) -> str:
    when = f" at {time}" if time else ""
    where = f" on {some(nodes, _NAMED, 'nodes')}" if nodes else ""
    return f"{who}{when}{where}".strip() + (f": {reason}" if reason else "")


def eviction_cost(cost: Mapping[str, float]) -> str:
    """Of what a plan's cost counts, all that is not 0; empty where nothing is."""
    parts = [_cost(name, value) for name, value in cost.items() if name in _COSTS and value]
    return f"cost: {', '.join(parts)}" if parts else ""


_COSTS = {
    "budgetViolations": "broken budget",
    "units": "unit",
    "pods": "pod",
    "groups": "disrupted group",
    "highestPriority": "",
    "lostPodSeconds": "lost pod second",
}


def _cost(name: str, value: float) -> str:
    if name == "highestPriority":
        return f"highest priority {value:g}"
    return f"{value:g} {_COSTS[name]}{'' if value == 1 else 's'}"


def instead(alternative: str) -> str:
    return f"instead: {alternative}"


def alternative(title: str, victims: Sequence[str]) -> str:
    """An alternative of a plan or a decision."""
    who = f"{', '.join(victims)} would make way" if victims else "nobody would have to go"
    return f"{title or 'otherwise'}: {who}"


def evicted_due_to(cause: str) -> str:
    return f"due to {cause}"


def reason_and_message(reason: str, message: str) -> str:
    return f"{reason}: {message}".strip(": ")


# --- kube-scheduler's messages in plain words ---------------------------------------------------------------


def not_understood(text: str) -> str:
    """`text`: what a condition says that is in no catalogue of sentences."""
    return f'Reprieve does not know the message "{text}": what would help comes from the objects alone.'


EVEN_WITH_PREEMPTION = "; even with preemption, "


def too_few_at_once(least: int, placed: int, untried: int) -> str:
    """kube-scheduler stops at the pod with which the rest becomes too few, and does not try the others."""
    left = f", and {counted(untried, 'pod')} {'was' if untried == 1 else 'were'} not tried any more"
    found = f"{counted(placed, 'pod') if placed else 'no pod'} found a node before one found none"
    return f"{counted(least, 'pod')} must run at once (minCount), but {found}{left if untried else ''}"


# --- when it starts -----------------------------------------------------------------------------------------


def start_cannot_be_said(error: str) -> str:
    return f"When it starts cannot be said: {error}."


def ask_when_it_starts(target: str) -> str:
    return f"When it starts: ask `reprieve when {target}`."


# --- what the reader may not see ----------------------------------------------------------------------------

HIDDEN = "something you may not see"


def may_not_list(plural: str, namespace: str) -> str:
    where = f"in namespace {namespace}" if namespace else "of the whole cluster"
    return f"{plural} {where}: you may not list them"


def may_not_list_jobs(plurals: Sequence[str]) -> str:
    return f"{', '.join(plurals)} of the whole cluster: you may not list them, nor know how long they run"


def may_not_read_decisions(namespaces: int) -> str:
    return f"decisions about pods in {counted(namespaces, 'namespace')}: you may not read pods there"
