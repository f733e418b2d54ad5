"""For every reason that the filters, the scheduler and quota can give there is advice, and it helps.

The reasons are read from the code. One that is new fails here until there is a case in which it is given.
"""

import ast
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest

import reprieve
from reprieve.config import Configuration
from reprieve.explain import Evidence, Explanation, carried_out, explain
from reprieve.explain.advice.changes import Change
from reprieve.explain.advice.draft import Draft
from reprieve.explain.advice.fixes import FIXES, NO_FIX
from reprieve.explain.advice.quota_changes import CoverResource
from reprieve.explain.advice.quota_holds import ENDS, NO_END
from reprieve.explain.advice.quota_scene import Own, QuotaScene
from reprieve.explain.advice.scene import Scene, Views
from reprieve.explain.advice.workloads import NOT_USABLE, USABLE
from reprieve.explain.reading import Said, read
from reprieve.explain.sentences import advice, changes
from reprieve.objects import Reference
from reprieve.placement import Code, filter_texts, group_texts
from reprieve.preemption import preemption_texts as kube
from reprieve.quota import Cause, Mismatch, Shortage, TooLarge, quota_texts
from reprieve.scheduler import scheduler_texts as ours
from tests import builders
from tests.builders import Document, cluster_queue, document, flavor, gang, local_queue, node, reserved
from tests.strategies.quota import NOW

SOURCE = Path(reprieve.__file__).parent
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
ZONE = "topology.kubernetes.io/zone"
pod = partial(builders.pod, namespace="ml")
workload = partial(builders.workload, namespace="jobs")
Case = list[Document]
TARGET = "pod/ml/p"


def term(app: str, key: str = "kubernetes.io/hostname") -> list[Document]:
    return [{"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}]


def affinity(side: str, app: str, key: str = "kubernetes.io/hostname") -> Document:
    return {side: {REQUIRED: term(app, key)}}


def pinned(*names: str) -> Document:
    fields = [{"key": "metadata.name", "operator": "In", "values": [name]} for name in names]
    return {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchFields": fields}]}}}


def spread(key: str = ZONE) -> list[Document]:
    return [{"topologyKey": key, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": SELECT}]


SELECT = {"matchLabels": {"app": "p"}}
TAINT = {"key": "dedicated", "value": "team", "effect": "NoSchedule"}
PORT = [{"name": "c", "ports": [{"containerPort": 80, "hostPort": 80}]}]

BY_NODES: dict[Code, Case] = {
    Code.CONFLICT: [node("n"), pod("p", affinity=pinned("n", "m"))],
    Code.CORDONED: [node("n", unschedulable=True), pod("p")],
    Code.TAINTED: [node("n", taints=[TAINT]), pod("p")],
    Code.NOT_SELECTED: [node("n"), pod("p", nodeSelector={"gpu": "a100"})],
    Code.OUTSIDE: [node("n"), pod("p", affinity=pinned("m"))],
    Code.PORTS_TAKEN: [node("n"), pod("a", on="n", containers=PORT), pod("p", containers=PORT)],
    Code.TOO_MANY_PODS: [node("n", pods=1), pod("a", on="n"), pod("p")],
    Code.INSUFFICIENT: [node("n", 2), pod("a", 2, on="n"), pod("p", 1)],
    Code.SPREAD_LABEL: [node("n"), pod("p", topologySpreadConstraints=spread())],
    Code.SPREAD_SKEW: [
        node("n", zone="a"),
        node("m", 0, zone="b"),
        pod("p-0", on="n"),
        pod("p", topologySpreadConstraints=spread()),
    ],
    Code.AFFINITY: [node("n"), pod("p", affinity=affinity("podAffinity", "cache"))],
    Code.ANTI_AFFINITY: [
        node("n"),
        pod("web", on="n"),
        pod("p", affinity=affinity("podAntiAffinity", "web")),
    ],
    Code.VETOED: [node("n"), pod("web", on="n", affinity=affinity("podAntiAffinity", "p")), pod("p")],
    Code.KEPT: [node("n", 1), pod("first", 1, 5, status={"nominatedNodeName": "n"}), pod("p", 1)],
}
"""A cluster for each code of the filters that there is advice for; `p` waits in it."""


ELSEWHERE = {
    Code.TOO_MANY_VOLUMES: "test_volumes.py",
    Code.DISK_IN_USE: "test_volumes.py",
    Code.CLAIM_IN_USE: "test_volumes.py",
    Code.CANNOT_ALLOCATE: "test_device_advice.py",
    Code.CLAIM_UNAVAILABLE: "test_device_advice.py",
}
"""Codes whose cases need more objects than fit here."""


def given_reasons(documents: Case, target: str = TARGET) -> set[Code]:
    """All that the filters say about it."""
    scene = Scene(Draft(documents), Reference.parse(target), Configuration.load(None), NOW)
    found = scene.objections()
    assert found is not None
    return {reason.code for each in found.by_node.values() for reason in each}


@pytest.mark.parametrize("code", Code, ids=lambda code: code.name)
def test_every_reason_of_the_filters_has_advice_or_an_entry_that_there_is_none(code: Code) -> None:
    assert (code in FIXES) != (code in NO_FIX)


def test_every_reason_with_advice_has_a_case() -> None:
    assert BY_NODES.keys() | ELSEWHERE.keys() == FIXES.keys()


@pytest.mark.parametrize("code", BY_NODES, ids=lambda code: code.name)
def test_advice_for_a_reason_of_the_filters_helps(code: Code) -> None:
    documents = BY_NODES[code]
    assert code in given_reasons(documents)
    helps(documents, TARGET, honour_nominations=code == Code.KEPT)


def test_advice_for_a_cluster_without_nodes_helps() -> None:
    assert reprieve.plan([pod("p")], TARGET, now=NOW).to_dict()["message"] == filter_texts.NO_NODES
    helps([pod("p")], TARGET)


def helps(
    documents: Case, target: str, honour_nominations: bool = False, config: dict[str, Any] | None = None
) -> None:
    """There is advice, and each piece of it, carried out, lets the target run."""
    answer = explain(target, Evidence(documents), NOW, config)
    assert answer.remedies
    assert [each.sentence for each in answer.remedies] == answer.would_help
    for remedy in answer.remedies:
        after = carried_out(documents, remedy.changes)
        scene = Scene(Draft(after), Reference.parse(target), Configuration.load(config), NOW)
        planned = reprieve.plan(after, target, now=NOW, config=config)
        outcome = scene.plan.outcome if honour_nominations else planned.outcome
        assert outcome in ("scheduled", "preempts"), remedy.sentence
        assert not explain(target, Evidence(after), NOW, config).remedies, remedy.sentence


# --- the scheduler ------------------------------------------------------------------------------------------


def said(path: str, call: str | None = None, function: str | None = None) -> set[str]:
    """The sentences that a module takes from its room's catalogue: in the arguments of a call, or in what a
    function returns."""
    tree: ast.AST = ast.parse((SOURCE / path).read_text())
    if function is not None:
        tree = next(n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == function)
    parts: list[ast.expr] = []
    for found in ast.walk(tree):
        if call is not None and isinstance(found, ast.Call) and getattr(found.func, "id", "") == call:
            parts += [*found.args, *(keyword.value for keyword in found.keywords)]
        elif call is None and isinstance(found, ast.Return) and found.value is not None:
            parts.append(found.value)
    names = {
        found.attr
        for part in parts
        for found in ast.walk(part)
        if isinstance(found, ast.Attribute) and getattr(found.value, "id", "") == "sentences"
    }
    assert names, f"{path} says nothing where it did: has it moved?"
    return names


def codes_of(message: str) -> set[object]:
    return {each.code for each in read(message)}


def group(count: int = 2, minimum: int | None = None, **each: Any) -> Case:
    return gang(count, name="g", minimum=minimum, namespace="ml", **each)


def tree(name: str = "t", minimum: int = 1, parent: str = "", **more: Any) -> Document:
    return builders.composite(name, minimum, parent=parent, namespace="ml", **more)


def leaf(name: str, pods: int, minimum: int | None = None, parent: str = "t", **each: Any) -> Case:
    return gang(pods, name=name, minimum=minimum, namespace="ml", group=builders.below(parent), **each)


GATES = [{"name": "example.test/hold"}]
BY_SCHEDULER: dict[Said, tuple[Case, str]] = {
    kube.GATED: ([node("n"), pod("p", schedulingGates=GATES)], TARGET),
    kube.TOO_FEW_PODS: ([node("n"), *group(2, 3)], "podgroup/ml/g"),
    kube.group_is_missing: ([node("n"), pod("p", group="lost")], TARGET),
    kube.NO_VICTIMS: ([node("n", 2), *group(3, cpu=1)], "podgroup/ml/g"),
    kube.NEVER_PREEMPTS: (
        [node("n", 1), pod("low", 1, 0, on="n"), pod("p", 1, 9, preemptionPolicy="Never")],
        TARGET,
    ),
    group_texts.cannot_reach_minimum: ([node("n", 1), *group(2, cpu=1)], "podgroup/ml/g"),
    kube.below_quorum: ([node("n"), tree(), *leaf("a", 1, 2)], "cpg/ml/t"),
    kube.parent_is_missing: ([node("n"), *leaf("a", 1, parent="lost")], "podgroup/ml/a"),
}
"""What the scheduler says before and after the filters."""


@pytest.mark.parametrize("reason", BY_SCHEDULER)
def test_advice_for_a_reason_of_the_scheduler_helps(reason: Said) -> None:
    documents, target = BY_SCHEDULER[reason]
    assert reason in codes_of(reprieve.plan(documents, target, now=NOW).to_dict()["message"])
    helps(documents, target)


def mixed(**other: Any) -> Case:
    """A gang whose first pod is not like the others."""
    documents = [node("n"), *group(2)]
    first = next(each for each in documents if each["kind"] == "Pod")
    first["spec"] = {**first["spec"], **other}
    return documents


UNEQUAL: dict[Said, Case] = {
    kube.schedulers_differ: mixed(schedulerName="volcano"),
    kube.priority_differs: mixed(priority=7),
    kube.POLICY_DIFFERS_FROM_GROUP: mixed(preemptionPolicy="Never"),
}


@pytest.mark.parametrize("reason", UNEQUAL)
def test_advice_for_pods_that_do_not_fit_their_group_helps(reason: Said) -> None:
    """Only kube-scheduler minds the priority and the policy: KEP-5710 takes the group's."""
    documents, config = UNEQUAL[reason], {"preemption": {"algorithm": "kubernetes"}}
    plan = reprieve.plan(documents, "podgroup/ml/g", now=NOW, config=config)
    assert reason in codes_of(plan.to_dict()["message"])
    helps(documents, "podgroup/ml/g", config=config)


def names(entries: Iterable[Said], catalogue: ModuleType) -> set[str]:
    return {name for name, each in vars(catalogue).items() if each in list(entries)}


def test_every_reason_of_the_scheduler_has_a_case() -> None:
    """Where victims are leaving, explain says which. A filter that fails quotes the expression that is wrong;
    devices that are given back soon need only time. Pods that differ from each other get the advice of those
    that differ from their group.
    """
    without = {"VICTIM_IS_TERMINATING", "device_filter_failed", "DEVICES_COME_FREE", "POLICIES_DIFFER"}
    found = {
        *said("preemption/decide.py", "_refused"),
        *said("preemption/preemptor.py", function="why_invalid"),
        *said("preemption/preemptor.py", function="pod_refusal"),
    }
    assert found - names([*BY_SCHEDULER, *UNEQUAL], kube) == without


LEAVING: dict[str, Any] = {"metadata": {"deletionTimestamp": "2026-08-23T11:00:00Z"}}
GATED_UNITS: dict[Said, tuple[Case, str]] = {
    ours.has_scheduling_gates: ([node("n"), pod("p", schedulingGates=GATES)], TARGET),
    ours.waits_for_group: ([node("n"), pod("p", group="lost")], TARGET),
    ours.waits_for_pods: ([node("n"), *group(2, 3)], "podgroup/ml/g"),
    ours.waits_for_leaving_pods: (
        [node("n"), *group(2), pod("g-9", on="n", group="g", **LEAVING)],
        "podgroup/ml/g",
    ),
}
"""Why the live scheduler does not try a unit yet."""


@pytest.mark.parametrize("reason", GATED_UNITS)
def test_advice_for_a_unit_that_is_not_tried_yet_helps(reason: Said) -> None:
    helps(*GATED_UNITS[reason])


def test_every_reason_not_to_try_a_unit_has_a_case() -> None:
    """Those about quota are in `BY_QUOTA`: the advice is that for the unit's workload. A link in an old
    spelling says by itself what to write instead; two sentences say the same for every pod of a gang."""
    without = {"OLD_LINK", "needs_pods", "FORMER_PODS_LEAVE"}
    assert said("scheduler/waiting.py", "Gate") - names(GATED_UNITS, ours) == without


def test_a_gang_whose_former_pods_are_leaving_is_not_told_that_it_fits_now() -> None:
    documents, target = GATED_UNITS[ours.waits_for_leaving_pods]
    lines = explain(target, Evidence(documents), NOW).would_help
    ending = changes.end_pods(["ml/g-9"], changes.FORMER_PODS, leaving=True)
    assert lines == [advice.remedy([ending], advice.its_pods_fit(["n"], []))]


def test_who_is_protected_from_preemption_is_waited_for() -> None:
    kept = {"reprieve.dev/min-runtime": "24h"}
    start = "2026-08-23T11:00:00Z"
    documents = [node("n", 1), pod("low", 1, 0, on="n", annotations=kept, start=start), pod("p", 1, 9)]
    helps(documents, TARGET)
    ending, fits = changes.end_protection("Pod/ml/low"), advice.it_fits(["n"], ["Pod/ml/low"])
    assert explain(TARGET, Evidence(documents), NOW).would_help[0] == advice.remedy([ending], fits)


def test_a_schema_of_the_answer_knows_every_change() -> None:
    schema = msgspec.json.schema(Explanation)
    assert {kind.__name__ for kind in Change.__subclasses__()} <= schema["$defs"].keys()


# --- quota --------------------------------------------------------------------------------------------------

QUEUES = [flavor(), cluster_queue("cq", 4), local_queue("main", "cq", namespace="jobs")]
CHECKED = {"admissionChecksStrategy": {"admissionChecks": [{"name": "check"}]}}
CHECK = document("AdmissionCheck", "check", spec={"controllerName": "c"})
LIMITS = {"name": "c", "resources": {"requests": {"cpu": "3"}, "limits": {"cpu": "2"}}}
RANGE = document(
    "LimitRange",
    "r",
    "jobs",
    spec={"limits": [{"type": "Container", "max": {"cpu": "1"}, "min": {"cpu": "1"}}]},
) | {"apiVersion": "v1"}


def queued(**spec: Any) -> Case:
    """The ClusterQueue with these fields, and a workload that fits it."""
    return [flavor(), cluster_queue("cq", 4, **spec), QUEUES[2], workload("w", 1)]


def in_pods(**spec: Any) -> Document:
    found = workload("w", 1)
    found["spec"]["podSets"][0]["template"]["spec"].update(spec)
    return found


def quota(amount: str) -> Document:
    return {
        "resourceGroups": [
            {
                "coveredResources": ["cpu"],
                "flavors": [{"name": "default", "resources": [{"name": "cpu", "nominalQuota": amount}]}],
            }
        ]
    }


BY_QUOTA: dict[Cause | Own | type, Case] = {
    Cause.NO_QUEUE_NAMED: [*QUEUES, workload("w", queue="")],
    Cause.NO_LOCAL_QUEUE: [*QUEUES, workload("w", queue="mian")],
    Cause.LOCAL_QUEUE_INACTIVE: [
        *QUEUES[:2],
        document("LocalQueue", "main", "jobs", spec={"clusterQueue": "cq", "stopPolicy": "Hold"}),
        workload("w"),
    ],
    Cause.NO_CLUSTER_QUEUE: [flavor(), QUEUES[2], workload("w")],
    Cause.NO_PRIORITY_CLASS: [
        *QUEUES,
        workload("w", priorityClassRef={"kind": "WorkloadPriorityClass", "name": "high"}),
    ],
    Cause.STOPPED: queued(stopPolicy="Hold"),
    Cause.FLAVORS_MISSING: queued()[1:],
    Cause.CHECKS_MISSING: queued(**CHECKED),
    Cause.CHECKS_INACTIVE: [*queued(**CHECKED), CHECK],
    Cause.COHORT_CYCLE: [
        *queued(cohort="a"),
        document("Cohort", "a", spec={"parentName": "b"}),
        document("Cohort", "b", spec={"parentName": "a"}),
    ],
    Cause.NEGATIVE_AMOUNT: queued(**quota("-1")),
    Cause.UNREADABLE_AMOUNT: queued(**quota("much")),
    Cause.FLAVOR_IN_TWO_GROUPS: queued(
        resourceGroups=[quota("4")["resourceGroups"][0], {**quota("4")["resourceGroups"][0]}]
    ),
    Cause.RESOURCE_NOT_COVERED: queued(
        resourceGroups=[{**quota("4")["resourceGroups"][0], "coveredResources": ["memory"]}]
    ),
    Own.INACTIVE: [*QUEUES, workload("w", active=False)],
    Own.HELD: [
        *QUEUES,
        {
            **workload("w"),
            "metadata": {
                "name": "w",
                "namespace": "jobs",
                "annotations": {"kueue.x-k8s.io/admission-gated-by": "example.test"},
            },
        },
    ],
    Own.BACKOFF: [
        *QUEUES,
        workload("w", status={"requeueState": {"count": 1, "requeueAt": "2026-08-23T13:00:00Z"}}),
    ],
    Cause.NO_POD_SETS: [*QUEUES, workload("w", podSets=[])],
    Cause.FAILED_CHECKS: [
        *QUEUES,
        workload("w", status={"admissionChecks": [{"name": "check", "state": "Rejected"}]}),
    ],
    Cause.NAMESPACE_MISMATCH: queued(namespaceSelector={"matchLabels": {"team": "a"}}),
    Cause.ABOVE_LIMITS: [*QUEUES, in_pods(containers=[LIMITS])],
    Cause.OUTSIDE_LIMIT_RANGES: [*QUEUES, RANGE, workload("w", 2)],
    Cause.RESOURCE_UNAVAILABLE: [
        *QUEUES,
        in_pods(containers=[{"name": "c", "resources": {"requests": {"cpu": "1", "example.test/gpu": "1"}}}]),
    ],
    Cause.FLAVOR_TAINTED: [flavor(nodeTaints=[TAINT]), *QUEUES[1:], workload("w")],
    Cause.FLAVOR_NOT_SELECTED: [
        flavor(nodeLabels={"pool": "a"}),
        *QUEUES[1:],
        in_pods(nodeSelector={"pool": "b"}),
    ],
    TooLarge: [*QUEUES, workload("w", 16)],
    Shortage: [*QUEUES, reserved(workload("x", 4, 9), "cq"), workload("w", 1)],
}
"""A case for each cause of quota, and for each obstacle in a flavor; `w` waits in it."""
NEVER_ALONE = {
    Cause.FLAVOR_NOT_FOUND: "a queue with a missing flavor is inactive before that",
}


def quota_reasons(documents: Case) -> set[Cause | Own | type]:
    target = Reference("Workload", "jobs", "w")
    scene = QuotaScene(Draft(documents), target, Configuration.load(None), NOW, Views())
    holds = scene.holds()
    if holds:
        return {hold.cause for hold in holds}
    obstacles = [each for result in scene.assignment[0].pod_sets for each in result.obstacles]
    return {each.cause if isinstance(each, Mismatch) else type(each) for each in obstacles}


@pytest.mark.parametrize("reason", BY_QUOTA)
def test_advice_for_a_reason_of_quota_helps(reason: Cause | Own | type) -> None:
    documents = BY_QUOTA[reason]
    assert reason in quota_reasons(documents)
    answer = explain("workload/jobs/w", Evidence(documents), NOW)
    assert answer.remedies
    for remedy in answer.remedies:
        after = carried_out(documents, remedy.changes)
        cycles = reprieve.admit(after, now=NOW).to_dict()["cycles"]
        assert any("jobs/w" in cycle["admitted"] for cycle in cycles), remedy.sentence


@pytest.mark.parametrize("cause", [*Cause, *Own], ids=lambda cause: cause.name)
def test_every_cause_of_quota_has_advice_or_an_entry_that_there_is_none(cause: Cause | Own) -> None:
    advised = ENDS.keys() | USABLE.keys() | {Cause.RESOURCE_UNAVAILABLE}
    assert (cause in advised) != (cause in NO_END | NOT_USABLE)


def test_every_cause_of_quota_with_advice_has_a_case() -> None:
    advised = {Cause.RESOURCE_UNAVAILABLE, *ENDS, *USABLE, TooLarge, Shortage}
    assert BY_QUOTA.keys() == advised - NEVER_ALONE.keys()


def claiming() -> Document:
    return in_pods(resourceClaims=[{"name": "c", "resourceClaimTemplateName": "t"}])


DEVICES = {"resources": {"deviceClassMappings": [{"name": "gpus", "deviceClassNames": ["gpu"]}]}}


def test_a_workload_whose_devices_cannot_be_counted_is_not_told_that_it_gets_its_quota() -> None:
    answer = explain("workload/jobs/w", Evidence([*QUEUES, claiming()]), NOW, DEVICES)
    assert advice.QUOTA_IS_FREE not in answer.would_help
    path = "spec.podSets[0].template.spec.resourceClaims[0]"
    assert quota_texts.devices_uncountable(quota_texts.no_such_template(path, "t")) in answer.details


def test_devices_count_when_explain_looks_for_quota() -> None:
    request = {"name": "r", "exactly": {"deviceClassName": "gpu", "count": 2}}
    template = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "t", "namespace": "jobs"},
        "spec": {"spec": {"devices": {"requests": [request]}}},
    }
    answer = explain("workload/jobs/w", Evidence([*QUEUES, template, claiming()]), NOW, DEVICES)
    assert [type(each) for remedy in answer.remedies for each in remedy.changes] == [CoverResource]
