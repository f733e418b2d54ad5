"""Hypothesis strategies for raw Kubernetes documents: sound ones, and ones in which anything may be
anything.
"""

from typing import Any

from hypothesis import strategies as st

from reprieve.objects.kinds import KINDS, TABLE

NAMES = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,8}[a-z0-9])?", fullmatch=True)
LABELS = st.dictionaries(st.sampled_from(["app", "team", "zone", "example.com/tier"]), NAMES, max_size=3)
CPU = st.sampled_from(["1", "500m", "250m", "2", "1.5", "100m", 3])
MEMORY = st.sampled_from(["1Gi", "512Mi", "1.5Gi", "1e9", "64M", 1073741824])
TIMES = st.sampled_from(["2026-08-23T10:00:00Z", "2026-08-23T12:30:15.25+02:00"])


def metadata(namespaced: bool = True) -> st.SearchStrategy[dict[str, Any]]:
    parts: dict[str, st.SearchStrategy[Any]] = {"name": NAMES}
    if namespaced:
        parts["namespace"] = NAMES
    return st.fixed_dictionaries(parts, optional={"labels": LABELS, "creationTimestamp": TIMES, "uid": NAMES})


def containers(least: int = 1) -> st.SearchStrategy[list[dict[str, Any]]]:
    requests = st.fixed_dictionaries({}, optional={"cpu": CPU, "memory": MEMORY})
    devices = st.fixed_dictionaries({}, optional={"nvidia.com/gpu": st.just("1")})
    resources = st.fixed_dictionaries({"requests": requests, "limits": devices})
    one = st.fixed_dictionaries({"name": NAMES, "resources": resources})
    return st.lists(one, min_size=least, max_size=3, unique_by=lambda each: each["name"])


@st.composite
def pods(draw: st.DrawFn) -> dict[str, Any]:
    """Pods that every check accepts."""
    spec = draw(
        st.fixed_dictionaries(
            {"containers": containers()},
            optional={
                "priority": st.integers(-1000, 1_000_000),
                "preemptionPolicy": st.sampled_from(["PreemptLowerPriority", "Never"]),
                "nodeName": NAMES,
                "schedulingGroup": st.fixed_dictionaries({"podGroupName": NAMES}),
                "nodeSelector": LABELS,
                "tolerations": st.just([{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}]),
                "overhead": st.fixed_dictionaries({"cpu": CPU}),
            },
        )
    )
    return {"apiVersion": "v1", "kind": "Pod", "metadata": draw(metadata()), "spec": spec}


@st.composite
def pod_groups(draw: st.DrawFn) -> dict[str, Any]:
    """PodGroups that every check accepts, in all spellings."""
    gang = draw(st.booleans())
    policy = {"gang": {"minCount": draw(st.integers(1, 50))}} if gang else {"basic": {}}
    modes: list[Any] = [{"single": {}}, "Pod", None]
    modes += [{"all": {}}, "PodGroup"] if gang else []
    field = draw(st.sampled_from(["disruptionMode", "preemptionMode"]))
    spec = {"schedulingPolicy": policy, field: draw(st.sampled_from(modes))}
    if draw(st.booleans()):
        spec["priority"] = draw(st.integers(-1000, 1_000_000_000))
    api = draw(st.sampled_from(["scheduling.k8s.io/v1beta1", "scheduling.k8s.io/v1alpha3"]))
    return {"apiVersion": api, "kind": "PodGroup", "metadata": draw(metadata()), "spec": spec}


def anything(leaves: int = 12) -> st.SearchStrategy[Any]:
    """Any value a parser could hand over."""
    scalars = st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**70), 2**70),
        st.floats(),
        st.text(max_size=8),
        st.sampled_from(
            ["1", "500m", "-1Gi", "1e999", "Never", "True", "2026-08-23T10:00:00Z", "5m", "a/b/c"]
        ),
    )
    return st.recursive(
        scalars,
        lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(FIELD_NAMES, inner, max_size=5)),
        max_leaves=leaves,
    )


FIELD_NAMES = st.sampled_from(
    [
        "admission",
        "admissionChecks",
        "admissionChecksStrategy",
        "affinity",
        "all",
        "allocatable",
        "annotations",
        "basic",
        "borrowWithinCohort",
        "borrowingLimit",
        "clusterQueue",
        "clusterSource",
        "clusters",
        "cohort",
        "cohortName",
        "conditions",
        "containers",
        "count",
        "coveredResources",
        "cpu",
        "disruptionMode",
        "effect",
        "fairSharing",
        "flavorFungibility",
        "flavors",
        "gang",
        "globalDefault",
        "group",
        "initContainers",
        "items",
        "key",
        "kind",
        "kubeConfig",
        "labels",
        "lendingLimit",
        "limits",
        "location",
        "matchExpressions",
        "maxUnavailable",
        "memory",
        "metadata",
        "minAvailable",
        "minCount",
        "name",
        "namespace",
        "nodeAffinity",
        "nodeLabels",
        "nodeSelectorTerms",
        "nodeTaints",
        "nominalQuota",
        "onFlavors",
        "operator",
        "parentName",
        "podAffinity",
        "podGroupName",
        "podGroupTemplates",
        "podSetAssignments",
        "podSets",
        "policy",
        "preemption",
        "preemptionGates",
        "preemptionMode",
        "preemptionPolicy",
        "priority",
        "priorityClassName",
        "priorityClassRef",
        "queueName",
        "reclaimablePods",
        "requests",
        "requiredDuringSchedulingIgnoredDuringExecution",
        "resourceGroups",
        "resourceUsage",
        "resources",
        "schedulingConstraints",
        "schedulingGroup",
        "schedulingPolicy",
        "selector",
        "single",
        "spec",
        "status",
        "taints",
        "template",
        "tolerations",
        "topology",
        "type",
        "value",
        "values",
        "weight",
        "whenCanBorrow",
        "workloadRef",
    ]
) | st.text(max_size=4)

KIND_HEADERS = st.sampled_from(
    [
        {"apiVersion": f"{group}/{version}" if group else version, "kind": kind}
        for group, kind in KINDS
        for version in TABLE[group, kind].versions
    ]
)


@st.composite
def wild_documents(draw: st.DrawFn) -> dict[str, Any]:
    """A known kind whose every part may be anything."""
    document: dict[str, Any] = dict(draw(KIND_HEADERS))
    document["metadata"] = draw(st.one_of(metadata(), anything(4)))
    document["spec"] = draw(anything())
    if draw(st.booleans()):
        document["status"] = draw(anything())
    if draw(st.booleans()):
        document |= draw(st.dictionaries(FIELD_NAMES, anything(3), max_size=3))
    return document
