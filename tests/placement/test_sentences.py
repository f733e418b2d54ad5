"""The text of every sentence of this room, once. Other tests name the sentence and its values."""

from types import ModuleType

import pytest

from reprieve.placement.sentences import devices, filters, groups, volumes
from tests.catalogues import without_a_row

FILTERS = [
    (filters.CORDONED, "node(s) were unschedulable"),
    (filters.TAINTED, "node(s) had untolerated taint(s)"),
    (filters.NOT_SELECTED, "node(s) didn't match Pod's node affinity/selector"),
    (filters.OUTSIDE, "node(s) didn't satisfy plugin(s) [NodeAffinity]"),
    (filters.PORTS_TAKEN, "node(s) didn't have free ports for the requested pod ports"),
    (filters.TOO_MANY_PODS, "Too many pods"),
    (
        filters.SPREAD_LABEL,
        "node(s) didn't match pod topology spread constraints (missing required label)",
    ),
    (filters.SPREAD_SKEW, "node(s) didn't match pod topology spread constraints"),
    (filters.AFFINITY, "node(s) didn't match pod affinity rules"),
    (filters.ANTI_AFFINITY, "node(s) didn't match pod anti-affinity rules"),
    (filters.VETOED, "node(s) didn't satisfy existing pods anti-affinity rules"),
    (filters.attempt_fails("bad selector"), "bad selector"),
    (filters.insufficient("cpu"), "Insufficient cpu"),
    (filters.CONFLICT, "pod affinity terms conflict"),
    (filters.KEPT, "node(s) must leave room for nominated pods"),
    (filters.NO_NODES, "no nodes available to schedule pods"),
    (
        filters.every_node_objects(12, {"Too many pods": 2, "Insufficient cpu": 10, "nobody": 0}),
        "0/12 nodes are available: 10 Insufficient cpu, 2 Too many pods.",
    ),
    (filters.refused_before_nodes(5, "terms conflict"), "0/5 nodes are available: terms conflict."),
]
GROUPS = [
    (groups.UNSCHEDULABLE, "pod group is unschedulable"),
    (groups.NO_PLACEMENTS, "no feasible placements found"),
    (groups.NOTHING_ASSIGNED, "no pods from pod group are assigned to any of the candidate placements"),
    (groups.unschedulable("too few"), "pod group is unschedulable, too few"),
    (
        groups.cannot_reach_minimum(7, 3, 2),
        "minCount (7) cannot be satisfied: 3 scheduled, 2 remaining",
    ),
    (groups.below_minimum(7, 3, 4), "minCount (7) is not yet satisfied: 3 scheduled, 4 remaining"),
    (
        groups.no_domain_available(2, "too few"),
        "0/2 placements are available, first placement status: too few",
    ),
    (
        groups.pod_is_in_no_domain("ml/p"),
        "cannot determine domain for already scheduled pods: no topology domain found for pod ml/p",
    ),
    (
        groups.pods_are_in_several_domains(["r1", "r2"]),
        "cannot determine domain for already scheduled pods: more than 1 domain found for pod group: r1, r2",
    ),
    (
        groups.child_failed("too few"),
        "composite pod group evaluation failed due to child error: too few",
    ),
]
VOLUMES = [
    (volumes.FAR, "node(s) didn't match PersistentVolume's node affinity"),
    (volumes.NOTHING, "node(s) didn't find available persistent volumes to bind"),
    (volumes.FULL, "node(s) did not have enough free storage"),
    (volumes.LOST, "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"),
    (volumes.ZONE, "node(s) had no available volume zone"),
    (volumes.TOO_MANY, "node(s) exceed max volume count"),
    (volumes.DISK, "node(s) had no available disk"),
    (
        volumes.IN_USE,
        "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use "
        "by another pod",
    ),
    (volumes.driver_not_installed("csi.test"), "csi.test CSI driver is not installed on the node"),
    (volumes.IMMEDIATE, "pod has unbound immediate PersistentVolumeClaims"),
    (volumes.volume_not_found("pv"), 'persistentvolume "pv" not found'),
    (volumes.claim_not_found("c"), 'persistentvolumeclaim "c" not found'),
    (
        volumes.claim_not_made_yet("c"),
        'waiting for ephemeral volume controller to create the persistentvolumeclaim "c"',
    ),
    (
        volumes.claim_lost_its_volume("c", "pv"),
        'persistentvolumeclaim "c" bound to non-existent persistentvolume "pv"',
    ),
    (volumes.claim_is_being_deleted("c"), 'persistentvolumeclaim "c" is being deleted'),
    (
        volumes.claim_of_another_pod("ml/c", "ml/p"),
        "PVC ml/c was not created for pod ml/p (pod is not owner)",
    ),
    (
        volumes.no_binding_mode("fast"),
        'running PreFilter plugin "VolumeBinding": VolumeBindingMode not set for StorageClass "fast"',
    ),
    (
        volumes.selector_is_invalid("ml/c"),
        'running "VolumeBinding" filter plugin: error creating internal label selector for claim: ml/c: '
        "not a valid selector",
    ),
    (
        volumes.volumes_cannot_be_counted("claim is gone"),
        'running "NodeVolumeLimits" filter plugin: claim is gone',
    ),
]
DEVICES = [
    (devices.CANNOT_ALLOCATE, "cannot allocate all claims"),
    (devices.INVALID_POOLS, "invalid resource pools were encountered"),
    (devices.UNAVAILABLE, "resourceclaim not available on the node"),
    (devices.STALE_EXTENDED, "cannot schedule extended resource claim"),
    (
        devices.claim_names_nothing("ml/p", "gpu"),
        'pod "ml/p", spec.resourceClaim "gpu": none of the supported fields are set',
    ),
    (devices.claim_not_made_yet("ml/p"), 'pod "ml/p": ResourceClaim not created yet'),
    (devices.claim_not_found("ml/c"), 'could not find ResourceClaim "ml/c"'),
    (devices.claim_is_being_deleted("c"), 'resourceclaim "c" is being deleted'),
    (
        devices.claim_of_another_pod("ml/c", "ml/p"),
        "ResourceClaim ml/c was not created for Pod ml/p (Pod is not owner)",
    ),
    (
        devices.claim_of_another_group("ml/c", "ml/p", "g"),
        "ResourceClaim ml/c was not created for Pod ml/p (neither Pod nor PodGroup g is the owner)",
    ),
    (
        devices.claim_is_being_allocated("ml/c"),
        "resource claim ml/c is in the process of being allocated",
    ),
    (
        devices.unknown_request_type("ml/c", "r"),
        "resource claim ml/c, request r: unknown request type",
    ),
    (devices.no_such_class("r", "gpu"), "request r: device class gpu does not exist"),
    (
        devices.binding_failed("c", "Broken", "it is"),
        'device binding failed: claim=c, reason=Broken, message="it is"',
    ),
    (
        devices.empty_selector("ml/c", "r", 0),
        "claim ml/c, request r, selector #0: CEL expression empty (unsupported selector type?)",
    ),
    (
        devices.no_class_named("ml/c", "r"),
        "claim ml/c, request r: missing device class name (unsupported request type?)",
    ),
    (
        devices.class_not_found("ml/c", "r", "gpu"),
        "claim ml/c, request r: could not retrieve device class gpu: "
        'deviceclass.resource.k8s.io "gpu" not found',
    ),
    (devices.unsupported_mode("ml/c", "r", "Some"), "claim ml/c, request r: unsupported count mode Some"),
    (
        devices.empty_constraint("ml/c", 1),
        "claim ml/c, constraint #1: empty constraint (unsupported constraint type?)",
    ),
    (
        devices.selector_does_not_compile("class", "gpu", 0, "bad"),
        "class gpu: selector #0: CEL compile error: bad",
    ),
    (
        devices.selector_fails("claim", "ml/c", 1, "d/p/g", "bad"),
        "claim ml/c: selector #1 on device d/p/g: CEL runtime error: bad",
    ),
    (
        devices.too_many_devices("ml/c", 33, 32),
        "claim ml/c: number of requested devices 33 exceeds the claim limit of 32",
    ),
    (
        devices.pool_is_incomplete("ml/c", "r", "d/p", invalid=True),
        "claim ml/c, request r: asks for all devices, but resource pool d/p is currently invalid",
    ),
    (
        devices.pool_is_incomplete("ml/c", "r", "d/p", invalid=False),
        "claim ml/c, request r: asks for all devices, but resource pool d/p is currently being updated",
    ),
    (devices.timed_out("n"), "node n: timed out trying to allocate devices"),
    (
        devices.capacity_cannot_be_checked("ml/c", "r", "d/p/g", "bad"),
        "claim ml/c, request r: checking capacity for device d/p/g: bad",
    ),
    (
        devices.constraint_forbids("ml/c", "r", "d/p/g"),
        "claim ml/c, request r: cannot add device d/p/g because a claim constraint would not be satisfied",
    ),
    (devices.negative_capacity("memory"), 'capacity "memory": capacity value is negative'),
    (
        devices.request_is_too_fine("memory", "1n"),
        'capacity "memory": capacity request cannot be represented in the device\'s range arithmetic: '
        "request 1n is not a representable milli value",
    ),
    (
        devices.request_is_too_large("memory", "9E"),
        'capacity "memory": capacity request cannot be represented in the device\'s range arithmetic: '
        "request 9E exceeds MaxInt64",
    ),
    (
        devices.rounded_request_is_too_large("memory", "9E", thousandths=True),
        'capacity "memory": capacity request cannot be represented in the device\'s range arithmetic: '
        "rounding request 9E up to the next step passes the milli-value range",
    ),
    (
        devices.rounded_request_is_too_large("memory", "9E", thousandths=False),
        'capacity "memory": capacity request cannot be represented in the device\'s range arithmetic: '
        "rounding request 9E up to the next step passes MaxInt64",
    ),
    (devices.NO_SUCH_OVERLOAD, "no such overload"),
    (devices.COST_EXCEEDED, "operation cancelled: actual cost limit exceeded"),
    (devices.NO_INTEGER, "cannot convert value to integer"),
    (
        devices.no_bool("string"),
        "CEL result of type string could not be converted to bool: type conversion error",
    ),
    (devices.bad_attribute("v", "bad"), "attribute v: bad"),
    (
        devices.no_such_key("nope"),
        "no such key: nope. consider using CEL optional chaining (.? followed by orValue()) or guarding the "
        "check with has() for optional fields",
    ),
    (devices.expression_too_long(10240), "too long: may not be more than 10240 bytes"),
    (devices.wrong_result_type("string"), "must evaluate to bool or the unknown type, not string"),
    (devices.compilation_failed("bad"), "compilation failed: bad"),
    (devices.no_version("one"), "parse semantic version: 'one' is none"),
    (devices.bad_pattern("bad"), "Illegal regex: bad"),
    (devices.empty_list("min"), "min called on empty list"),
    (
        devices.bad_address("1.2", "bad"),
        "IP Address '1.2' parse error during conversion from string: bad",
    ),
    (devices.bad_network("bad"), "network address parse error during conversion from string: bad"),
    (devices.unusual_address("::1%a"), "'::1%a' is an IPv4 address in IPv6, or has a zone"),
    (
        devices.no_network("1.2.3.4"),
        "'1.2.3.4' is no network: an address, a slash and a length are wanted",
    ),
    (
        devices.CEL_IS_MISSING,
        "selectors of devices need the package cel-expr-python, which is not installed: install reprieve "
        "with its dependencies again (in a checkout: make setup)",
    ),
]


ROWS = [*FILTERS, *GROUPS, *VOLUMES, *DEVICES]


@pytest.mark.parametrize(("said", "text"), ROWS, ids=[text for _, text in ROWS])
def test_the_sentence_reads(said: str, text: str) -> None:
    assert said == text


@pytest.mark.parametrize("catalogue", [filters, groups, volumes, devices])
def test_every_sentence_has_a_row(catalogue: ModuleType) -> None:
    assert not without_a_row(catalogue, __file__)
