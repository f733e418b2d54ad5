"""Every sentence of this room: one function for each, or a constant where nothing is filled in.

The name is the sentence's code, the arguments are its values. The texts are in
`tests/preemption/test_sentences.py`, once each.
"""

from collections.abc import Sequence
from functools import lru_cache

from reprieve.objects import counted, domain_word, format_amount, is_or_are, some

# Kubernetes' own words: what kube-scheduler writes into conditions.

GATED = "Scheduling is blocked due to non-empty scheduling gates"
TOO_FEW_PODS = "waiting for minCount pods from a gang to appear in scheduling queue"
NO_VICTIMS = "No preemption victims found for incoming preemptor"
NO_VICTIMS_FOR_POD = "No preemption victims found for incoming pod"
NOT_HELPFUL = "Preemption is not helpful for scheduling"
NEVER_PREEMPTS = "not eligible due to preemptionPolicy=Never."
VICTIM_IS_TERMINATING = "not eligible due to a terminating pod on the nominated node."
ONGOING = "ongoing preemption on nominated nodes"


def group_is_missing(group: str) -> str:
    return f'waiting for pods\'s pod group "{group}" to appear in scheduling queue'


def below_quorum(group: str) -> str:
    return f'waiting for composite pod group "{group}" tree to meet quorum'


def parent_is_missing(parent: str) -> str:
    return f"failed to build hierarchy snapshot: parent composite pod group state not found for {parent}"


def device_filter_failed(error: str) -> str:
    return f'running "DynamicResources" filter plugin: {error}'


def devices_refused(why: str) -> str:
    return f"DynamicResources: {why}"


def preemption_not_reached(message: str) -> str:
    """kube-scheduler says "not found" where it otherwise says how preemption went: it did not get there."""
    return f"{message} not found"


def preemption_refused(message: str, why: str) -> str:
    """`message`: what it said before it considered preemption."""
    return f"{message} preemption: {why}"


def group_preemption_refused(message: str, why: str) -> str:
    return f"{message}, pod group preemption: {why}"


def preempts_for_pod(message: str, node: str, victims: int) -> str:
    found = f"found a potential placement for pod on node {node}, preempting {victims} victims"
    return preemption_refused(message, found).strip()


def preempts_for_group(message: str, victims: int) -> str:
    found = f"found a placement for podgroup, preempting {victims} victims"
    return group_preemption_refused(message, found) if message else f"pod group preemption: {found}"


# Kubernetes' own words: a group that kube-scheduler does not try.


def schedulers_differ(one: str, other: str) -> str:
    return (
        "all pods in a single pod group should have the same .spec.schedulerName set, "
        f'got: "{one}" and "{other}"'
    )


def priority_differs(pod: str, own: int, group: int) -> str:
    return (
        "all pods in a single pod group should have the same priority as the pod group's priority, "
        f"got {own} and {group} ({pod})"
    )


POLICY_DIFFERS_FROM_GROUP = (
    "all pods in a single pod group should have the same preemption policy "
    "as the pod group's preemption policy, got Never and PreemptLowerPriority"
)
POLICIES_DIFFER = (
    "all pods in a single pod group should have the same preemption policy, "
    "got Never and PreemptLowerPriority"
)

# Targets that no plan is made for.


def no_such_pod(pod: str, known: Sequence[str]) -> str:
    return f"there is no pod {pod!r} that could still run; known pods: {_known(known)}"


def no_such_group(group: str, known: Sequence[str]) -> str:
    return f"there is no PodGroup {group!r}; known groups: {_known(known)}"


def no_such_composite(group: str, known: Sequence[str]) -> str:
    return f"there is no CompositePodGroup {group!r}; known ones: {_known(known)}"


def _known(names: Sequence[str]) -> str:
    return ", ".join(sorted(names)[:5]) or "none"


def gate_is_off(target: str, gate: str) -> str:
    return f"cannot plan for {target}: the feature gate {gate} is off"


# Nobody makes way.


def pod_is_on_a_node(target: str) -> str:
    return f"{target} is on a node already."


def group_is_on_nodes(target: str, pods: int) -> str:
    return f"{target} is on nodes already, with {counted(pods, 'pod')}."


def pod_fits(target: str, node: str) -> str:
    return f"{target} fits on {node}; nobody makes way."


def group_fits(target: str, placed: int, pods: int) -> str:
    return f"{target} fits: {placed} of {counted(pods, 'pod')} would find a node; nobody makes way."


DEVICES_COME_FREE = "It fits once claims that nobody uses give their devices back; nobody makes way."
STILL_LEAVING = (
    "Victims of an earlier preemption are still on their way out; "
    "the nominations stand and nobody else makes way."
)

# What is missing before anybody tries to place a group.


def tree_is_incomplete(target: str, missing: str) -> str:
    return f"{target} is part of a tree that is not complete: {missing} does not exist, or is too far up."


def has_too_few_pods(group: str, pods: int, needed: int) -> str:
    return f"{group} has {counted(pods, 'pod')} and needs {needed} at once."


def has_too_few_ready_groups(group: str, below: int, needed: int) -> str:
    return f"{group} has {counted(below, 'group')} below it, and {needed} must have the pods they need."


# A plan that preempts: the answer.


def fits_without_evictions(target: str) -> str:
    return f"{target} finds room without evicting anybody, if its pods go where the plan puts them."


def fits_once_others_made_way(target: str, units: int, pods: int, nodes: int) -> str:
    return (
        f"{target} fits once {counted(units, 'unit')} ({counted(pods, 'pod')}) on "
        f"{counted(nodes, 'node')} made way."
    )


def nobody_above_is_touched(priority: int) -> str:
    return f"Nobody with a priority above {priority} is touched."


def without_preemption(message: str) -> str:
    return f"Without preemption: {message}"


def without_preemption_in_tree(status: str) -> str:
    return f"Without preemption: {status}."


def short_without_preemption(placed: int, pods: int, running: int, needed: int) -> str:
    beside = f", next to {running} that {is_or_are(running)} there already" if running else ""
    return (
        f"Without preemption {placed} of {counted(pods, 'pod')} would find a node before one finds "
        f"none{beside}; {needed} must run at once."
    )


def least_cost_search(optimality: str) -> str:
    return f"The search for the least cost: {optimality}."


# Why a unit is evicted: a cause, and what goes with it.


def evicted(cause: str, pods: int, beyond_budgets: int, last_to_go: bool) -> str:
    """`last_to_go`: everything more important on its nodes was put back before it; the search for the least
    cost does not go by importance."""
    text = f"{cause}; its {pods} pods go together" if pods > 1 else cause
    if last_to_go:
        text += "; everything more important there was put back first"
    if beyond_budgets:
        text += f"; {counted(beyond_budgets, 'pod')} beyond a disruption budget, for want of a way around it"
    return text


def node_would_be_short(node: str, resource: str, short: int, pod: str, others: int) -> str:
    """`pod` and `others`: one of the preemptor's pods on the node, and how many more there are. Said of
    hundreds of victims."""
    text = f"if it stayed, {node} would be {_amount(resource, short)} short for {pod}"
    return f"{text} and {others} more" if others else text


@lru_cache(maxsize=1024)
def _amount(resource: str, number: int) -> str:
    return "a pod slot" if resource == "pods" else f"{format_amount(resource, number)} {resource}"


def filters_would_refuse(node: str) -> str:
    """`node`: empty for a victim that is not on one of the preemptor's nodes."""
    where = f" on {node}" if node else ""
    return f"next to it the preemptor's pods would not pass the filters{where}"


def holds_devices(devices: Sequence[str]) -> str:
    return f"it holds {some(devices, 3)}, which the preemptor gets"


def holds_devices_of_the_pool(devices: Sequence[str]) -> str:
    return f"it holds {some(devices, 3)} of the pool that serves the preemptor"


def uses_claim_for_one_pod(claim: str, pod: str) -> str:
    return f"it uses the claim {claim}, which only one pod may use (ReadWriteOncePod), for {pod}"


def holds_disk(disk: str, pod: str, node: str) -> str:
    return f"it holds the disk {disk}, which {pod} cannot share with it on {node}"


def frees_volume_slots(slots: int, driver: str, node: str, pod: str) -> str:
    return f"evicting it frees {counted(slots, 'slot')} of {driver} on {node} for {pod}"


# Why a unit stays, and what budgets say.


def reprieved(node: str, *, breaks_budget: bool) -> str:
    text = f"fits on {node} next to the preemptor's pods"
    if breaks_budget:
        text += "; evicting it would break a disruption budget, so it was put back first"
    return text


def budget_use(budget: str, allowed: int, taken: int, kept: int) -> str:
    text = f"{budget} allows {allowed} of its pods to be disrupted; the plan takes {taken}"
    if taken > allowed:
        text += f", {taken - max(allowed, 0)} too many"
    if kept:
        text += f" and spares {kept}"
    return f"{text}."


# No eviction helps: what is missing.


def gang_lacks_nodes(lower: int, placed: int, pods: int, short: int, needed: int) -> str:
    """`lower`: units of lower priority; `short`: how many pods more must find a node."""
    return (
        f"{_even_without(lower)}{placed} of {counted(pods, 'pod')} would find a node; "
        f"{short} more must, to run {needed} at once."
    )


def tree_lacks_nodes(lower: int, placed: int, pods: int) -> str:
    return (
        f"{_even_without(lower)}{placed} of {counted(pods, 'pod')} would find a node, "
        "too few for the groups above them to be complete."
    )


def _even_without(lower: int) -> str:
    return f"Even with {counted(lower, 'unit')} of lower priority gone, " if lower else ""


def first_pod_without_a_node(pod: str) -> str:
    return f"The first pod without a node is {pod}."


NO_NODE_ADMITS_ITS_PODS = "No node admits its pods, however empty it is."


def asks_for_more_than_can_be_free(resource: str, wanted: int, free: int, nodes: int) -> str:
    return (
        f"Together its pods ask for {format_amount(resource, wanted)} {resource}; "
        f"at most {format_amount(resource, free)} can be free "
        f"on {counted(nodes, 'node')} that would take them."
    )


ROOM_ONLY_WHERE_A_LEADER_RUNS = (
    "There is room only where a leader runs, "
    "and a member of its group may not go yet (reprieve.dev/min-runtime)."
)
CLAIMS_ARE_THE_PROBLEM = "That is about its claims: no eviction would help."


def volume_is_out_of_reach(nodes: int) -> str:
    return _no_eviction_helps(nodes, "a volume of one of its claims cannot be reached from there")


def no_volume_fits(nodes: int) -> str:
    return _no_eviction_helps(nodes, "no free volume fits its claims, and none can be made there")


def storage_is_too_small(nodes: int) -> str:
    return _no_eviction_helps(nodes, "the storage that the driver reports there is too small for its claims")


def volume_does_not_exist(nodes: int) -> str:
    return _no_eviction_helps(nodes, "one of its claims is bound to a volume that does not exist")


def volume_is_in_another_zone(nodes: int) -> str:
    return _no_eviction_helps(nodes, "a volume of one of its claims is in another zone")


def _no_eviction_helps(nodes: int, why: str) -> str:
    return f"On {counted(nodes, 'node')} {why}: no eviction would help there."


# Domains of a topology; `key` is the label that makes them.


def no_domain_is_enough(key: str, domains: int, closest: str, slots: int, needed: int) -> str:
    word = domain_word(key)
    return (
        f"None of the {domains} {word}s is enough: {word} {closest} comes closest, with "
        f"{slots} of {counted(needed, 'slot')}."
    )


def goes_to_domain(key: str, domain: str) -> str:
    return f"It goes to {domain_word(key)} {domain}."


def next_best_domain(key: str, domain: str, more: int, priority: int | None) -> str:
    """`more`: evictions beyond those of the plan; `priority`: of the most important victim there, where it is
    above the plan's."""
    dearer = "" if priority is None else f", up to priority {priority}"
    return f"The {domain_word(key)} {domain} is next best: it would need {_evictions(more)}{dearer}."


def domain_needs_as_many(key: str, domain: str) -> str:
    return f"The {domain_word(key)} {domain} would need {_evictions(0)}."


def domain_is_cheaper_but_too_small(key: str, domain: str, fewer: int, slots: int, needed: int) -> str:
    return (
        f"The {domain_word(key)} {domain} would need {_evictions(-fewer)} but has {slots} of {needed} slots."
    )


def _evictions(more: int) -> str:
    if more == 0:
        return "as many evictions"
    return counted(abs(more), "more eviction" if more > 0 else "fewer eviction")


# Titles of alternatives.

AS_KUBE_SCHEDULER = "as kube-scheduler 1.37 decides"
AS_KEP_5710 = "as KEP-5710 decides"
AT_THE_LEAST_COST = "at the least cost (minimal-cost)"


def with_only_the_pods_it_needs(pods: int) -> str:
    return f"with only the {counted(pods, 'pod')} it needs to start"


def on_node(node: str) -> str:
    return f"on node {node}"


# How far from the cheapest plan this one can be.

CHEAPEST = "no plan is cheaper"
NOT_PROVEN_FOR_DEVICES = (
    "not proven: the search does not reach into devices, and the victims are those of kep-5710"
)


def fewer_violations_possible(fewer: int, own: int, *, relaxed: bool) -> str:
    """`relaxed`: the bound ignores rules that reach beyond a node, so the true distance may be smaller."""
    return f"a plan with {fewer} instead of {own} budget violations is not ruled out{_relaxed(relaxed)}"


def no_victims_possible(*, relaxed: bool) -> str:
    return f"a plan without victims is not ruled out{_relaxed(relaxed)}"


def lower_victims_possible(priority: int, *, relaxed: bool) -> str:
    return f"a plan with no victim above priority {priority} is not ruled out{_relaxed(relaxed)}"


def at_most_from_the_optimum(hundredths: int, *, relaxed: bool) -> str:
    """`hundredths`: of a per cent."""
    return f"at most {hundredths / 100:.2f} % from the optimum{_relaxed(relaxed)}"


def _relaxed(relaxed: bool) -> str:
    return "; the bound leaves rules between pods on different nodes out" if relaxed else ""
