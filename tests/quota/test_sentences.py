"""The text of every sentence of this room, once. Other tests name the sentence and its values."""

import pytest

from reprieve.quota import sentences
from tests.catalogues import without_a_row

RACK = "topology.kubernetes.io/rack"
CLAIM = "resourceClaims[0]"

ROWS = [
    (sentences.FAILED_CHECKS, "The workload has failed admission checks"),
    (sentences.NAMESPACE_MISMATCH, "workload namespace doesn't match ClusterQueue selector"),
    (sentences.no_such_local_queue("main"), "LocalQueue main doesn't exist"),
    (sentences.local_queue_is_inactive("main"), "LocalQueue main is inactive"),
    (sentences.no_such_cluster_queue("cq"), "ClusterQueue cq doesn't exist"),
    (sentences.limits_exceeded(["a", "b"]), "resources validation failed: a, b"),
    (sentences.outside_limit_ranges(["a", "b"]), "resources didn't satisfy LimitRange constraints: a, b"),
    (
        sentences.requests_above_limits("containers[0]", ["cpu", "memory"]),
        'containers[0]: Invalid value: ["cpu", "memory"]: requests must not exceed its limits',
    ),
    (
        sentences.requests_above_range("containers[0]", ["cpu"]),
        'containers[0]: Invalid value: ["cpu"]: requests must not be above the limitRange max',
    ),
    (
        sentences.requests_below_range("containers[0]", ["cpu"]),
        'containers[0]: Invalid value: ["cpu"]: requests must not be below the limitRange min',
    ),
    (sentences.NO_POD_SETS, "the workload has no pod sets"),
    (sentences.NO_QUEUE_NAMED, "spec.queueName names no LocalQueue"),
    (
        sentences.no_such_priority_class("WorkloadPriorityClass", "high"),
        "WorkloadPriorityClass high doesn't exist",
    ),
    (sentences.decision_failed(repr(ValueError("oops"))), "internal error: ValueError('oops')"),
    (sentences.request_is_unreadable("'much' is no quantity"), "'much' is no quantity"),
    (
        sentences.lets_pass("ml/train"),
        "Workload lets ml/train pass, for which it was preempted again and again",
    ),
    (sentences.not_tried_yet("cq"), "Not tried yet: others are before it in ClusterQueue cq"),
    (sentences.devices_uncountable("bad"), "devices cannot be counted: bad"),
    (
        sentences.claim_without_template(CLAIM, "mine"),
        "resourceClaims[0]: mine is a ResourceClaim; quota counts the devices of ResourceClaimTemplates only",
    ),
    (
        sentences.no_such_template(CLAIM, "t"),
        "resourceClaims[0]: the ResourceClaimTemplate t does not exist",
    ),
    (
        sentences.device_class_is_not_mapped(CLAIM, "gpu", "t"),
        "resourceClaims[0]: the DeviceClass gpu of the ResourceClaimTemplate t is not mapped to a resource "
        "(resources.deviceClassMappings)",
    ),
    (
        sentences.request_has_alternatives(CLAIM, "r", "t"),
        "resourceClaims[0]: the request r of the ResourceClaimTemplate t has alternatives (firstAvailable), "
        "which quota cannot count",
    ),
    (
        sentences.request_has_no_count(CLAIM, "r", "t", "All"),
        "resourceClaims[0]: the request r of the ResourceClaimTemplate t asks for All devices "
        "(allocationMode), which quota cannot count",
    ),
    (
        sentences.resource_unavailable("example.com/card"),
        "resource example.com/card unavailable in ClusterQueue",
    ),
    (
        sentences.flavor_not_nominated("spot", "cpu"),
        "skipping flavor spot as it is not found in the nomination mapping for resource cpu",
    ),
    (
        sentences.flavor_differs("spot", "default"),
        "could not assign spot flavor since the original workload is assigned: default",
    ),
    (sentences.flavor_not_found("spot"), "flavor spot not found"),
    (
        sentences.untolerated_taint("key", "value", "NoSchedule", "spot"),
        "untolerated taint {key value NoSchedule <nil>} in flavor spot",
    ),
    (sentences.flavor_does_not_match("spot"), "flavor spot doesn't match node affinity"),
    (
        sentences.more_than_quota("spot", "cpu", 1000, 1500, 2000),
        "insufficient quota for cpu in flavor spot, previously considered podsets requests (1) + current "
        "podset request (1500m) > maximum capacity (2)",
    ),
    (
        sentences.quota_is_used("spot", "cpu", 1500),
        "insufficient unused quota for cpu in flavor spot, 1500m more needed",
    ),
    (sentences.flavors_failed("main", "bad"), "failed to assign flavors to pod set main: bad"),
    (
        sentences.no_flavors([("a", ["x", "y"]), ("b", ["z"])]),
        "couldn't assign flavors to pod set a: x, y; couldn't assign flavors to pod set b: z",
    ),
    (
        sentences.flavor_considered("spot", "Fit", preempts=False, borrowing=0, obstacles=[]),
        "spot(Fit)",
    ),
    (
        sentences.flavor_considered("spot", "Preempt", preempts=True, borrowing=2, obstacles=["x", "y"]),
        "spot(preemptionMode=Preempt;borrow=2;x;y)",
    ),
    (sentences.flavors_considered([("a", ["x", "y"]), ("b", ["z"])]), "a: x, y; b: z"),
    (sentences.in_pod_set("main", "flavor spot not found"), "pod set main: flavor spot not found"),
    (
        sentences.replaced_by("ml/new"),
        "Its place is taken by ml/new, which replaces it; nothing is evicted",
    ),
    (sentences.NO_SLICE_SIZE, "slice topology requested, but slice size not provided"),
    (sentences.NO_LEVEL, "topology level not specified"),
    (
        sentences.REQUIRED_AND_ELASTIC,
        "required topology is not supported with ElasticJobsViaWorkloadSlices",
    ),
    (
        sentences.PREFERRED_AND_ELASTIC,
        "preferred topology is not supported with ElasticJobsViaWorkloadSlices",
    ),
    (sentences.NO_TOPOLOGY_KNOWN, "workload requires Topology, but there is no TAS cache information"),
    (sentences.NO_TOPOLOGY_FLAVOR, "no TAS flavor assigned"),
    (sentences.several_topology_flavors(["a", "b"]), "more than one TAS flavor assigned: a, b"),
    (sentences.flavor_needs_topology("spot"), 'Flavor "spot" supports only TopologyAwareScheduling'),
    (sentences.flavor_has_no_topology("spot"), 'Flavor "spot" does not support TopologyAwareScheduling'),
    (sentences.flavor_topology_unknown("spot"), 'Flavor "spot" information missing in TAS cache'),
    (sentences.flavor_lacks_level("spot"), 'Flavor "spot" does not contain the requested level'),
    (sentences.no_such_level("rack"), "no requested topology level: rack"),
    (sentences.no_such_slice_level("rack"), "no requested topology level for slices: rack"),
    (
        sentences.slice_is_above("block", "rack"),
        "podset slice topology block is above the podset topology rack",
    ),
    (
        sentences.no_such_layer_level("rack"),
        "no requested topology level for additional slice layer: rack",
    ),
    (
        sentences.layer_is_too_high("block", "rack"),
        "additional slice layer topology block must be at a lower level than rack",
    ),
    (
        sentences.layer_does_not_divide(3, 4),
        "additional slice layer size 3 must evenly divide parent layer size 4",
    ),
    (
        sentences.invalid_update("main", "zone", "a"),
        "invalid podSetUpdate for PodSet main, error: nodeSelector zone is a already",
    ),
    (
        sentences.stale_domain("n1"),
        "Cannot replace the node, because the existing topologyAssignment is invalid, as it contains the "
        "stale domain n1",
    ),
    (
        sentences.no_replacement_found("n1"),
        "cannot find replacement assignment for unhealthy node: n1",
    ),
    (sentences.no_domains("rack"), "no topology domains at level: rack"),
    (
        sentences.topology_is_full("racks", 1, 2, slices=False),
        'topology "racks" allows to fit only 1 out of 2 pod(s)',
    ),
    (
        sentences.topology_is_full("racks", 0, 2, slices=True),
        'topology "racks" doesn\'t allow to fit any of 2 slice(s)',
    ),
    (
        sentences.layers_do_not_fit("racks", [("rack", 1, 2), ("host", 3, 4)]),
        'topology "racks" doesn\'t allow to fit; 1/2 slice(s) fit on level rack; 3/4 slice(s) fit on level '
        "host",
    ),
    (
        sentences.with_excluded_nodes("too full", 5, ["affinity: 1", "nodeSelector: 2"]),
        "too full. Total nodes: 5; excluded: affinity: 1, nodeSelector: 2",
    ),
    (sentences.excluded_by_taint("k:NoSchedule", 1), 'taint "k:NoSchedule": 1'),
    (sentences.excluded_by_selector(1), "nodeSelector: 1"),
    (sentences.excluded_by_affinity(1), "affinity: 1"),
    (sentences.excluded_by_domain(1), "topologyDomain: 1"),
    (sentences.excluded_by_resource("cpu", 1), 'resource "cpu": 1'),
    (
        sentences.no_domain_could_hold("default", RACK, "r2", 2, 3),
        "Even without any other workload in flavor default, no rack could hold 3 pods: the largest, r2, "
        "holds 2. To wait is in vain: ask for fewer or smaller pods or a higher level of the topology, or "
        "add nodes.",
    ),
    (
        sentences.topology_could_hold_only("default", 2, 3),
        "Even without any other workload in flavor default, its domains together could hold only 2 of 3 "
        "pods. To wait is in vain: ask for fewer or smaller pods or a higher level of the topology, or add "
        "nodes.",
    ),
    (
        sentences.no_node_could_hold("main", 2),
        "no node could ever hold a pod of pod set main: none of the 2 nodes has the labels that it selects, "
        "taints that it tolerates and is as large as one pod, even if nothing else ran there",
    ),
    (sentences.STOPPED, "is stopped"),
    (sentences.flavors_missing(["a", "b"]), "references missing ResourceFlavor(s): a,b"),
    (sentences.checks_missing(["a", "b"]), "references missing AdmissionCheck(s): a,b"),
    (sentences.checks_inactive(["a", "b"]), "references inactive AdmissionCheck(s): a,b"),
    (sentences.topology_missing("racks", "spot"), 'there is no Topology "racks" for TAS flavor "spot"'),
    (sentences.cannot_admit(["a", "b"]), "Can't admit new workloads: a, b."),
    (sentences.cycle_of_cohorts("team"), "cohort team is part of a cycle of parents"),
    (
        sentences.flavor_in_two_groups("spec", "spot", 0),
        "spec: flavor spot is in resource group 0 already",
    ),
    (
        sentences.resource_not_covered("spec", "cpu"),
        "spec: cpu is not among the covered resources of the group",
    ),
    (sentences.negative_amount("spec", "-5"), "spec: must not be negative, got -5"),
    (sentences.unreadable_amount("spec", "'x' is not a quantity"), "spec: 'x' is not a quantity"),
    (sentences.GATED, "Workload requires preemption, but it's gated"),
    (sentences.OVERLAPPING, "Workload has overlapping preemption targets with another workload"),
    (
        sentences.DEFERRED,
        "Workload has overlapping preemption targets with another workload, but will fit after these "
        "preemptions complete",
    ),
    (sentences.NO_LONGER_FITS, "Workload no longer fits after processing another workload"),
    (
        sentences.pending_preemption("too little", 2),
        "too little. Pending the preemption of 2 workload(s)",
    ),
    (
        sentences.no_replacement_node(["n1", "n2"]),
        "Workload was evicted as there was no replacement for unhealthy node(s): n1,n2",
    ),
    (sentences.IN_QUEUE, "prioritization in the ClusterQueue"),
    (sentences.RECLAIMED, "reclamation within the cohort"),
    (sentences.FAIR_SHARING, "Fair Sharing within the cohort"),
    (sentences.RECLAIMED_WHILE_BORROWING, "reclamation within the cohort while borrowing"),
    (
        sentences.preempted("u1", "j1", "reclamation within the cohort", "/a/cq", "/a/other"),
        "Preempted to accommodate a workload (UID: u1, JobUID: j1) due to reclamation within the cohort; "
        "preemptor path: /a/cq; preemptee path: /a/other",
    ),
    (
        sentences.preempted("", "", "reclamation within the cohort", "/a/cq", "/a/other"),
        "Preempted to accommodate a workload (UID: UNKNOWN, JobUID: UNKNOWN) due to reclamation within the "
        "cohort; preemptor path: /a/cq; preemptee path: /a/other",
    ),
    (
        sentences.preempted_workload("ml/low", "u2", "cq"),
        "Preempted workload ml/low (UID: u2) in ClusterQueue cq",
    ),
    (
        sentences.with_priorities("Preempted", (12, 10), (5, 5)),
        "Preempted; preemptor effective priority: 12 (base: 10, boost: 2); preemptee effective priority: 5 "
        "(base: 5, boost: 0)",
    ),
    (sentences.ADMITTED, "The workload is admitted"),
    (sentences.CHECKS_NOT_READY, "The workload has not all checks ready"),
    (sentences.TOPOLOGY_PENDING, "There are pending delayed topology requests"),
    (sentences.NO_RESERVATION, "The workload has no reservation"),
    (sentences.quota_reserved("cq"), "Quota reserved in ClusterQueue cq"),
    (
        sentences.quota_reserved_after("cq", 3, ""),
        "Quota reserved in ClusterQueue cq, wait time since queued was 3s",
    ),
    (
        sentences.quota_reserved_after("cq", 3, "main: spot(Fit)"),
        "Quota reserved in ClusterQueue cq, wait time since queued was 3s; Flavors considered: main: "
        "spot(Fit)",
    ),
    (
        sentences.admitted_at_once("cq"),
        "Admitted by ClusterQueue cq, wait time since reservation was 0s",
    ),
    (sentences.check_was_reset("Ready"), "Reset to Pending after eviction. Previously: Ready"),
    (
        sentences.slice_was_replaced("ml/new"),
        "Replaced to accommodate a workload (ml/new) that takes its place",
    ),
    (sentences.previously("Evicted"), "Previously: Evicted"),
]


@pytest.mark.parametrize(("said", "text"), ROWS)
def test_the_sentence_reads(said: str, text: str) -> None:
    assert said == text


def test_every_sentence_has_a_row() -> None:
    assert not without_a_row(sentences, __file__)
