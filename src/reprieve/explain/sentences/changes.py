"""What to change, each as part of a sentence (`advice.one_change`, `advice.all_changes`)."""

from collections.abc import Mapping, Sequence

from reprieve.explain.sentences.pieces import listed
from reprieve.objects import counted, some, well_known

_NAMED = 3


def _pairs(labels: Mapping[str, str]) -> str:
    return ", ".join(f"{key}={value}" for key, value in labels.items())


def _amounts(amounts: Mapping[str, str], more: str = "") -> str:
    """`2 cpu, 1Gi memory and 1 pod slot`; with `more`, `2 more cpu` and so on."""
    nouns = {r: ("pod slot" if q == "1" else "pod slots") if r == "pods" else r for r, q in amounts.items()}
    return listed([" ".join(filter(None, (q, more, nouns[r]))) for r, q in amounts.items()])


def _whose(unit: str) -> str:
    kind = unit.partition("/")[0]
    return {"Pod": "the pod", "Workload": "its pod template"}.get(kind, "its pods")


def _gates(gates: Sequence[str]) -> str:
    return "gate" if len(gates) == 1 else "gates"


# --- nodes --------------------------------------------------------------------------------------------------


def label_node(node: str, labels: Mapping[str, str], absent: Sequence[str]) -> str:
    parts = [f"label node {node} with {_pairs(labels)}"] if labels else []
    if absent:
        parts.append(f"take the label {', '.join(absent)} off node {node}")
    return listed(parts)


def uncordon(node: str) -> str:
    return f"make node {node} schedulable again (kubectl uncordon {node})"


def remove_taints(node: str, keys: Sequence[str]) -> str:
    return f"bring node {node} back into service (taint {', '.join(keys)})"


def free_on_node(node: str, amounts: Mapping[str, str]) -> str:
    return f"free {_amounts(amounts, 'more')} on node {node}"


def add_nodes(count: int, amounts: Mapping[str, str], labels: Mapping[str, str]) -> str:
    what = "a node" if count == 1 else f"{count} nodes"
    offered = _amounts({r: q for r, q in amounts.items() if r != "pods"}) or "a pod slot"
    labelled = f", labelled {_pairs(labels)}" if labels else ""
    return f"add {what} with {offered} free{' each' if count > 1 else ''}{labelled}"


# --- other pods ---------------------------------------------------------------------------------------------

FORMER_PODS = "a gang is tried again when its former pods are gone"
KEPT_AWAY_FROM = "spec.affinity.podAntiAffinity keeps it away from them"
KEPT_AWAY_BY = "their podAntiAffinity keeps this pod away"
DISK_NOT_SHARED = "a disk cannot be shared with them"
CLAIM_FOR_ONE_POD = "only one pod may use their claim (ReadWriteOncePod)"


def end_pods(pods: Sequence[str], why: str, leaving: bool) -> str:
    """`leaving`: they are on their way out, nobody has to stop them."""
    one = len(pods) == 1
    stop = "" if leaving else f", or stop {'it' if one else 'them'}"
    return f"wait until {some(pods, _NAMED)} {'ends' if one else 'end'}{stop}{f' ({why})' if why else ''}"


def ports_in_use(ports: Sequence[str], node: str) -> str:
    return f"host port {', '.join(ports)} of node {node} is in use there"


def node_kept_for_them(node: str) -> str:
    return f"node {node} is kept for them"


def devices_held(pods: int, node: str) -> str:
    return f"{'it holds' if pods == 1 else 'they hold'} devices that it needs on node {node}"


def no_more_volumes(node: str, drivers: Sequence[str]) -> str:
    return f"node {node} can have no more volumes of {' and '.join(drivers)}"


def start_pod(namespace: str, labels: Mapping[str, str], node: str) -> str:
    labelled = f" labelled {_pairs(labels)}" if labels else ""
    return f"start a pod{labelled} in namespace {namespace} on node {node}"


def end_protection(unit: str) -> str:
    return f"wait until the minimum run time of {unit} is over ({well_known.MIN_RUNTIME_ANNOTATION})"


# --- its own pods -------------------------------------------------------------------------------------------


def tolerate(unit: str, tolerations: Sequence[Mapping[str, str]]) -> str:
    what = "a toleration" if len(tolerations) == 1 else "tolerations"
    return f"add {what} for {listed([_taint(each) for each in tolerations])} to {_whose(unit)}"


def _taint(toleration: Mapping[str, str]) -> str:
    """`key=value:effect`, as kubectl writes taints."""
    value = f"={toleration['value']}" if toleration.get("value") else ""
    return f"{toleration['key']}{value}:{toleration['effect']}"


def drop_host_ports(unit: str) -> str:
    return f"do without hostPort in {_whose(unit)}"


def drop_affinity(unit: str, field: str) -> str:
    return f"do without spec.{field} in {_whose(unit)}"


def drop_keys(unit: str, field: str, keys: Sequence[str]) -> str:
    return f"do without {', '.join(keys) or 'all'} in spec.{field} of {_whose(unit)}"


def allow_skew(unit: str, topology_key: str, max_skew: int) -> str:
    return f"raise maxSkew to {max_skew} in the spread constraint over {topology_key} of {_whose(unit)}"


def ask_for_less(unit: str, resource: str, most: str) -> str:
    if most == "0":
        return f"do without {resource} in {_whose(unit)}"
    return f"ask for at most {most} {resource} in {_whose(unit)}"


def set_priority(priority: int) -> str:
    return f"give it a priority above {priority - 1}"


def allow_preemption(unit: str) -> str:
    return f"set preemptionPolicy: PreemptLowerPriority in {_whose(unit)}"


def use_scheduler(unit: str, name: str) -> str:
    return f"set schedulerName: {name} in {_whose(unit)}"


def remove_gates(gates: Sequence[str]) -> str:
    return f"have the scheduling {_gates(gates)} {', '.join(gates)} removed by whoever put it there"


# --- groups and trees of groups -----------------------------------------------------------------------------


def create_group(group: str) -> str:
    return f"create PodGroup {group}, which spec.schedulingGroup names"


def create_pods(group: str, count: int) -> str:
    return f"create {counted(count, 'more pod')} of PodGroup {group}"


def lower_min_count(group: str, min_count: int) -> str:
    return f"lower minCount of PodGroup {group} to {min_count}"


def same_for_all(group: str, field: str, value: str | int) -> str:
    return f"give all pods of PodGroup {group} the same {field}: {value}"


def lower_min_group_count(group: str, min_group_count: int) -> str:
    return f"lower minGroupCount of CompositePodGroup {group} to {min_group_count}"


def drop_topology(kind: str, group: str, key: str) -> str:
    return f"do without {key} in spec.schedulingConstraints.topology of {kind} {group}"


def create_composite(group: str) -> str:
    return f"create CompositePodGroup {group}, which parentCompositePodGroupName names"


# --- queues -------------------------------------------------------------------------------------------------


def name_queue(queue: str) -> str:
    return f"name the LocalQueue {queue} in the label {well_known.QUEUE_LABEL} of its job"


def create_local_queue(queue: str, cluster_queue: str) -> str:
    return f"create LocalQueue {queue} with clusterQueue: {cluster_queue}"


def create_cluster_queue(queue: str) -> str:
    return f"create ClusterQueue {queue}"


def resume(queue: str) -> str:
    return f"set stopPolicy: None in {queue}"


def create_flavors(flavors: Sequence[str]) -> str:
    return f"create ResourceFlavor {listed(flavors)}"


def create_checks(checks: Sequence[str]) -> str:
    return f"create AdmissionCheck {listed(checks)} and run its controller"


def activate_checks(checks: Sequence[str]) -> str:
    return f"run the controller of AdmissionCheck {listed(checks)}, which is not Active"


def break_cycle(cohort: str) -> str:
    return f"take parentName out of Cohort {cohort}, which ends the circle of parents"


def correct_queue(queue: str, problem: str) -> str:
    return f"correct ClusterQueue {queue} ({problem})"


def raise_quota(queue: str, flavor: str, resource: str, now: str, nominal: str) -> str:
    where = f"{resource} in flavor {flavor} of ClusterQueue {queue}"
    return f"raise nominalQuota of {where} from {now} to {nominal}"


def cover_resource(queue: str, flavor: str, resource: str, nominal: str) -> str:
    return f"cover {resource} in ClusterQueue {queue}: nominalQuota {nominal} in flavor {flavor}"


def label_namespace(namespace: str, labels: Mapping[str, str]) -> str:
    return f"label namespace {namespace} with {_pairs(labels)}"


def select_namespace(queue: str, namespace: str) -> str:
    return f"let namespaceSelector of ClusterQueue {queue} match namespace {namespace}"


# --- workloads ----------------------------------------------------------------------------------------------


def end_workloads(workloads: Sequence[str]) -> str:
    return f"wait until {some(workloads, _NAMED)} {'ends' if len(workloads) == 1 else 'end'}"


def activate(workload: str) -> str:
    return f"set active: true in Workload {workload}"


def open_gates(gates: Sequence[str]) -> str:
    opens = "opens (on a worker, its manager opens it)"
    return f"wait until the preemption {_gates(gates)} {listed(gates)} {opens}"


def ungate(by: str) -> str:
    return f"have {by} take its annotation {well_known.ADMISSION_GATED_BY_ANNOTATION} off"


def pass_checks(checks: Sequence[str]) -> str:
    return f"have the controller of AdmissionCheck {listed(checks)} accept it"


def wait_until(time: str) -> str:
    return f"wait until {time or 'it may be queued again'} (it was evicted, and backs off)"


def add_pod_set(workload: str) -> str:
    return f"give Workload {workload} a pod set"


def fewer_pods(pod_set: str, count: int) -> str:
    return f"run at most {counted(count, 'pod')} of pod set {pod_set} at once (a Job's parallelism)"


def create_priority_class(kind: str, name: str) -> str:
    return f"create {kind} {name}"


def keep_to_limits(problem: str) -> str:
    return f"correct the requests of its pod template ({problem})"
