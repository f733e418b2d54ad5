"""Every sentence of this room: one function for each, or a constant where nothing is filled in.

The name is the sentence's code, the arguments are its values. The texts are in
`tests/quota/test_sentences.py`, once each. Most of them are Kueue's own words: conditions and events show
them, and people and tools recognise them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from reprieve.objects import counted, domain_word, format_amount

# Kueue's own words: why a workload is not even tried.

FAILED_CHECKS = "The workload has failed admission checks"
NAMESPACE_MISMATCH = "workload namespace doesn't match ClusterQueue selector"


def no_such_local_queue(name: str) -> str:
    return f"LocalQueue {name} doesn't exist"


def local_queue_is_inactive(name: str) -> str:
    return f"LocalQueue {name} is inactive"


def no_such_cluster_queue(name: str) -> str:
    return f"ClusterQueue {name} doesn't exist"


def limits_exceeded(problems: Iterable[str]) -> str:
    return f"resources validation failed: {', '.join(problems)}"


def outside_limit_ranges(problems: Iterable[str]) -> str:
    return f"resources didn't satisfy LimitRange constraints: {', '.join(problems)}"


def requests_above_limits(path: str, resources: Sequence[str]) -> str:
    return _invalid(path, resources, "requests must not exceed its limits")


def requests_above_range(path: str, resources: Sequence[str]) -> str:
    return _invalid(path, resources, "requests must not be above the limitRange max")


def requests_below_range(path: str, resources: Sequence[str]) -> str:
    return _invalid(path, resources, "requests must not be below the limitRange min")


def _invalid(path: str, resources: Sequence[str], why: str) -> str:
    quoted = ", ".join(f'"{name}"' for name in resources)
    return f"{path}: Invalid value: [{quoted}]: {why}"


# Ours: the same, where Kueue has no words or an API server would have refused the object.

NO_POD_SETS = "the workload has no pod sets"
NO_QUEUE_NAMED = "spec.queueName names no LocalQueue"


def no_such_priority_class(kind: str, name: str) -> str:
    return f"{kind} {name} doesn't exist"


def decision_failed(error: str) -> str:
    return f"internal error: {error}"


def request_is_unreadable(error: str) -> str:
    return error


def lets_pass(preemptor: str) -> str:
    return f"Workload lets {preemptor} pass, for which it was preempted again and again"


def not_tried_yet(queue: str) -> str:
    return f"Not tried yet: others are before it in ClusterQueue {queue}"


# Ours: devices that quota cannot count. `path` names the claim in the workload.


def devices_uncountable(problem: str) -> str:
    return f"devices cannot be counted: {problem}"


def claim_without_template(path: str, claim: str) -> str:
    return f"{path}: {claim} is a ResourceClaim; quota counts the devices of ResourceClaimTemplates only"


def no_such_template(path: str, template: str) -> str:
    return f"{path}: the ResourceClaimTemplate {template} does not exist"


def device_class_is_not_mapped(path: str, device_class: str, template: str) -> str:
    return (
        f"{path}: the DeviceClass {device_class} of the ResourceClaimTemplate {template} is not mapped to "
        "a resource (resources.deviceClassMappings)"
    )


def request_has_alternatives(path: str, request: str, template: str) -> str:
    return f"{_request(path, request, template)} has alternatives (firstAvailable), which quota cannot count"


def request_has_no_count(path: str, request: str, template: str, mode: str) -> str:
    return (
        f"{_request(path, request, template)} asks for {mode} devices (allocationMode), "
        "which quota cannot count"
    )


def _request(path: str, request: str, template: str) -> str:
    return f"{path}: the request {request} of the ResourceClaimTemplate {template}"


# Kueue's own words: why a flavor is not assigned.


def resource_unavailable(resource: str) -> str:
    return f"resource {resource} unavailable in ClusterQueue"


def flavor_not_nominated(flavor: str, resource: str) -> str:
    return f"skipping flavor {flavor} as it is not found in the nomination mapping for resource {resource}"


def flavor_differs(flavor: str, before: str) -> str:
    return f"could not assign {flavor} flavor since the original workload is assigned: {before}"


def flavor_not_found(flavor: str) -> str:
    return f"flavor {flavor} not found"


def untolerated_taint(key: str, value: str, effect: str, flavor: str) -> str:
    return f"untolerated taint {{{key} {value} {effect} <nil>}} in flavor {flavor}"


def flavor_does_not_match(flavor: str) -> str:
    return f"flavor {flavor} doesn't match node affinity"


def more_than_quota(flavor: str, resource: str, before: int, request: int, most: int) -> str:
    """`before`: what earlier pod sets of the workload ask for; `most`: what the queue could ever get."""
    earlier, own, limit = (format_amount(resource, number) for number in (before, request, most))
    return (
        f"insufficient quota for {resource} in flavor {flavor}, previously considered podsets requests "
        f"({earlier}) + current podset request ({own}) > maximum capacity ({limit})"
    )


def quota_is_used(flavor: str, resource: str, missing: int) -> str:
    lacking = format_amount(resource, missing)
    return f"insufficient unused quota for {resource} in flavor {flavor}, {lacking} more needed"


def flavors_failed(pod_set: str, error: str) -> str:
    return f"failed to assign flavors to pod set {pod_set}: {error}"


def no_flavors(obstacles: Iterable[tuple[str, Sequence[str]]]) -> str:
    """`obstacles`: for each pod set its name and what is in the way."""
    return "; ".join(
        f"couldn't assign flavors to pod set {pod_set}: {', '.join(found)}" for pod_set, found in obstacles
    )


def flavor_considered(
    flavor: str, mode: str, *, preempts: bool, borrowing: int, obstacles: Iterable[str]
) -> str:
    shown = f"preemptionMode={mode}" if preempts else mode
    parts = [shown, *([f"borrow={borrowing}"] if borrowing else []), *obstacles]
    return f"{flavor}({';'.join(parts)})"


def flavors_considered(attempts: Iterable[tuple[str, Sequence[str]]]) -> str:
    """`attempts`: for each pod set its name and the flavors worth mentioning."""
    return "; ".join(f"{pod_set}: {', '.join(found)}" for pod_set, found in attempts)


# Ours: a plan.


def in_pod_set(pod_set: str, reason: str) -> str:
    return f"pod set {pod_set}: {reason}"


def replaced_by(workload: str) -> str:
    return f"Its place is taken by {workload}, which replaces it; nothing is evicted"


# Kueue's own words: topologies.

NO_SLICE_SIZE = "slice topology requested, but slice size not provided"
NO_LEVEL = "topology level not specified"
REQUIRED_AND_ELASTIC = "required topology is not supported with ElasticJobsViaWorkloadSlices"
PREFERRED_AND_ELASTIC = "preferred topology is not supported with ElasticJobsViaWorkloadSlices"
NO_TOPOLOGY_KNOWN = "workload requires Topology, but there is no TAS cache information"
NO_TOPOLOGY_FLAVOR = "no TAS flavor assigned"


def several_topology_flavors(flavors: Iterable[str]) -> str:
    return f"more than one TAS flavor assigned: {', '.join(flavors)}"


def flavor_needs_topology(flavor: str) -> str:
    return f'Flavor "{flavor}" supports only TopologyAwareScheduling'


def flavor_has_no_topology(flavor: str) -> str:
    return f'Flavor "{flavor}" does not support TopologyAwareScheduling'


def flavor_topology_unknown(flavor: str) -> str:
    return f'Flavor "{flavor}" information missing in TAS cache'


def flavor_lacks_level(flavor: str) -> str:
    return f'Flavor "{flavor}" does not contain the requested level'


def no_such_level(level: str) -> str:
    return f"no requested topology level: {level}"


def no_such_slice_level(level: str) -> str:
    return f"no requested topology level for slices: {level}"


def slice_is_above(slice_level: str, level: str) -> str:
    return f"podset slice topology {slice_level} is above the podset topology {level}"


def no_such_layer_level(level: str) -> str:
    return f"no requested topology level for additional slice layer: {level}"


def layer_is_too_high(level: str, above: str) -> str:
    return f"additional slice layer topology {level} must be at a lower level than {above}"


def layer_does_not_divide(size: int, outer: int) -> str:
    return f"additional slice layer size {size} must evenly divide parent layer size {outer}"


def invalid_update(pod_set: str, key: str, value: str) -> str:
    return f"invalid podSetUpdate for PodSet {pod_set}, error: nodeSelector {key} is {value} already"


def stale_domain(domain: str) -> str:
    return (
        "Cannot replace the node, because the existing topologyAssignment is invalid, as it contains "
        f"the stale domain {domain}"
    )


def no_replacement_found(node: str) -> str:
    return f"cannot find replacement assignment for unhealthy node: {node}"


# Kueue's own words: pods that have no place in a topology.


def no_domains(level: str) -> str:
    return f"no topology domains at level: {level}"


def topology_is_full(topology: str, fit: int, needed: int, *, slices: bool) -> str:
    unit = "slice(s)" if slices else "pod(s)"
    if fit:
        return f'topology "{topology}" allows to fit only {fit} out of {needed} {unit}'
    return f'topology "{topology}" doesn\'t allow to fit any of {needed} {unit}'


def layers_do_not_fit(topology: str, layers: Iterable[tuple[str, int, int]]) -> str:
    """`layers`: of each layer of slices its level, how many fit, and how many are needed."""
    parts = (f"; {fit}/{needed} slice(s) fit on level {level}" for level, fit, needed in layers)
    return f'topology "{topology}" doesn\'t allow to fit{"".join(parts)}'


def with_excluded_nodes(text: str, nodes: int, excluded: Iterable[str]) -> str:
    return f"{text}. Total nodes: {nodes}; excluded: {', '.join(excluded)}"


def excluded_by_taint(taint: str, nodes: int) -> str:
    return f'taint "{taint}": {nodes}'


def excluded_by_selector(nodes: int) -> str:
    return f"nodeSelector: {nodes}"


def excluded_by_affinity(nodes: int) -> str:
    return f"affinity: {nodes}"


def excluded_by_domain(nodes: int) -> str:
    return f"topologyDomain: {nodes}"


def excluded_by_resource(resource: str, nodes: int) -> str:
    return f'resource "{resource}": {nodes}'


# Ours: waiting is in vain.


def no_domain_could_hold(flavor: str, level: str, largest: str, pods: int, wanted: int) -> str:
    """`level`: the label of the level; `pods`: what the largest domain holds."""
    most = (
        f"no {domain_word(level)} could hold {counted(wanted, 'pod')}: the largest, {largest}, holds {pods}"
    )
    return _in_vain(flavor, most)


def topology_could_hold_only(flavor: str, pods: int, wanted: int) -> str:
    return _in_vain(flavor, f"its domains together could hold only {pods} of {counted(wanted, 'pod')}")


def _in_vain(flavor: str, most: str) -> str:
    return (
        f"Even without any other workload in flavor {flavor}, {most}. To wait is in vain: "
        "ask for fewer or smaller pods or a higher level of the topology, or add nodes."
    )


def no_node_could_hold(pod_set: str, nodes: int) -> str:
    return (
        f"no node could ever hold a pod of pod set {pod_set}: none of the "
        f"{counted(nodes, 'node')} has the labels that it selects, taints that it tolerates and "
        "is as large as one pod, even if nothing else ran there"
    )


# Kueue's own words: a ClusterQueue that admits nothing.

STOPPED = "is stopped"


def flavors_missing(names: Iterable[str]) -> str:
    return f"references missing ResourceFlavor(s): {','.join(names)}"


def checks_missing(names: Iterable[str]) -> str:
    return f"references missing AdmissionCheck(s): {','.join(names)}"


def checks_inactive(names: Iterable[str]) -> str:
    return f"references inactive AdmissionCheck(s): {','.join(names)}"


def topology_missing(topology: str, flavor: str) -> str:
    return f'there is no Topology "{topology}" for TAS flavor "{flavor}"'


def cannot_admit(reasons: Iterable[str]) -> str:
    return f"Can't admit new workloads: {', '.join(reasons)}."


# Ours: a ClusterQueue that an API server would have refused. `path` names the field.


def cycle_of_cohorts(cohort: str) -> str:
    return f"cohort {cohort} is part of a cycle of parents"


def flavor_in_two_groups(path: str, flavor: str, other: int) -> str:
    return f"{path}: flavor {flavor} is in resource group {other} already"


def resource_not_covered(path: str, resource: str) -> str:
    return f"{path}: {resource} is not among the covered resources of the group"


def negative_amount(path: str, quantity: str) -> str:
    return f"{path}: must not be negative, got {quantity}"


def unreadable_amount(path: str, error: str) -> str:
    return f"{path}: {error}"


# Kueue's own words: how a cycle ended for a workload.

GATED = "Workload requires preemption, but it's gated"
OVERLAPPING = "Workload has overlapping preemption targets with another workload"
DEFERRED = f"{OVERLAPPING}, but will fit after these preemptions complete"
NO_LONGER_FITS = "Workload no longer fits after processing another workload"


def pending_preemption(assignment: str, victims: int) -> str:
    return f"{assignment}. Pending the preemption of {victims} workload(s)"


def no_replacement_node(nodes: Iterable[str]) -> str:
    return f"Workload was evicted as there was no replacement for unhealthy node(s): {','.join(nodes)}"


IN_QUEUE = "prioritization in the ClusterQueue"
RECLAIMED = "reclamation within the cohort"
FAIR_SHARING = "Fair Sharing within the cohort"
RECLAIMED_WHILE_BORROWING = "reclamation within the cohort while borrowing"


def preempted(uid: str, job: str, due_to: str, preemptor: str, preemptee: str) -> str:
    """`uid` and `job`: of the preemptor, if known; `preemptor` and `preemptee`: paths of the queues."""
    return (
        f"Preempted to accommodate a workload (UID: {uid or 'UNKNOWN'}, JobUID: {job or 'UNKNOWN'}) "
        f"due to {due_to}; preemptor path: {preemptor}; preemptee path: {preemptee}"
    )


def preempted_workload(workload: str, uid: str, queue: str) -> str:
    return f"Preempted workload {workload} (UID: {uid}) in ClusterQueue {queue}"


def with_priorities(text: str, preemptor: tuple[int, int], preemptee: tuple[int, int]) -> str:
    """Pairs of effective and base priority."""
    return (
        f"{text}; preemptor effective priority: {_priority(*preemptor)}"
        f"; preemptee effective priority: {_priority(*preemptee)}"
    )


def _priority(effective: int, base: int) -> str:
    return f"{effective} (base: {base}, boost: {effective - base})"


# Kueue's own words: conditions and events of a workload.

ADMITTED = "The workload is admitted"
CHECKS_NOT_READY = "The workload has not all checks ready"
TOPOLOGY_PENDING = "There are pending delayed topology requests"
NO_RESERVATION = "The workload has no reservation"


def quota_reserved(queue: str) -> str:
    return f"Quota reserved in ClusterQueue {queue}"


def quota_reserved_after(queue: str, seconds: int, considered: str) -> str:
    """`considered`: flavors worth mentioning, or nothing."""
    tail = f"; Flavors considered: {considered}" if considered else ""
    return f"Quota reserved in ClusterQueue {queue}, wait time since queued was {seconds}s{tail}"


def admitted_at_once(queue: str) -> str:
    return f"Admitted by ClusterQueue {queue}, wait time since reservation was 0s"


def check_was_reset(state: str) -> str:
    return f"Reset to Pending after eviction. Previously: {state}"


def slice_was_replaced(by: str) -> str:
    return f"Replaced to accommodate a workload ({by}) that takes its place"


def previously(message: str) -> str:
    return f"Previously: {message}"
