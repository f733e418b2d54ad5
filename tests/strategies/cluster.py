"""Small clusters with every kind of constraint, and somebody who wants in. Documents, as a user would write
them.
"""

from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from hypothesis import strategies as st

Document = dict[str, Any]
EPOCH = datetime(2026, 3, 1, tzinfo=UTC)
ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
PRIORITIES = (-10, 0, 10, 100)


@st.composite
def scenes(draw: st.DrawFn) -> tuple[list[Document], str]:
    """(documents, target): a cluster and a pod or pod group that waits."""
    return scene(Random(draw(st.integers(0, 2**48))))


def scene(random: Random) -> tuple[list[Document], str]:
    nodes = [_node(random, i) for i in range(random.randint(1, 6))]
    groups = [_group(random, i) for i in range(random.randint(0, 3))]
    budgets = [_budget(random, i) for i in range(random.choice((0, 0, 1, 2)))]
    running = _running(random, nodes, groups)
    waiting, target = _waiting(random)
    namespaces = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {"team": name}}}
        for name in ("a", "b")
    ]
    return [*namespaces, *nodes, *groups, *budgets, *running, *waiting], target


@st.composite
def crowded_scenes(draw: st.DrawFn) -> tuple[list[Document], str]:
    """Many pods, distinct starts, and mostly somebody whose only concern is room: what the quick paths are
    for.
    """
    return crowded_scene(Random(draw(st.integers(0, 2**48))))


def crowded_scene(random: Random) -> tuple[list[Document], str]:
    documents, target = scene(random)
    nodes = [each for each in documents if each["kind"] == "Node"]
    for node in nodes:
        node["status"]["allocatable"] |= {"cpu": str(random.randint(6, 16)), "memory": "64Gi"}
    groups = [each for each in documents if each["kind"] == "PodGroup" and each["metadata"]["name"] != "gang"]
    waiting = [each for each in documents if each["kind"] == "Pod" and "nodeName" not in each["spec"]]
    crowd: list[Document] = []
    for _ in range(random.randint(1, 6)):
        for pod in _running(random, nodes, groups):
            number = len(crowd)
            pod["metadata"]["name"] = f"crowd-{number:03}"
            pod["status"]["startTime"] = f"2026-03-02T00:{number // 60:02}:{number % 60:02}Z"
            if random.random() < 0.8:
                pod["spec"].pop("affinity", None)
            crowd.append(pod)
    if random.random() < 0.7:
        for pod in waiting:
            container = {"name": "c", "resources": {"requests": {"cpu": str(random.choice((2, 3, 5)))}}}
            pod["spec"] = {k: v for k, v in pod["spec"].items() if k in ("priority", "schedulingGroup")}
            pod["spec"]["containers"] = [container]
    if target.startswith("PodGroup/") and random.random() < 0.5:
        waiting = _larger(random, waiting)
    rest = [each for each in documents if each["kind"] != "Pod"]
    return [*rest, *crowd, *waiting], target


def _larger(random: Random, gang: list[Document]) -> list[Document]:
    """A gang of up to a dozen more pods, most of them next to one that is equal."""
    models = [random.choice(gang) for _ in range(random.randint(1, 3))]
    more = [random.choice(models[:1] * 4 + models) for _ in range(random.randint(2, 12))]
    names = (f"want-{len(gang) + number:02}" for number in range(len(more)))
    return [
        *gang,
        *(
            {**pod, "metadata": {**pod["metadata"], "name": name}}
            for pod, name in zip(more, names, strict=True)
        ),
    ]


def _node(random: Random, number: int) -> Document:
    name = f"node-{number}"
    labels = {HOST: name, "pool": random.choice("xy")}
    if random.random() < 0.8:
        labels[ZONE] = f"z{random.randint(0, 2)}"
    allocatable = {"cpu": str(random.randint(2, 8)), "memory": f"{random.randint(4, 16)}Gi", "pods": "20"}
    if random.random() < 0.3:
        allocatable["example.test/gpu"] = str(random.randint(1, 4))
    if random.random() < 0.1:
        allocatable["pods"] = str(random.randint(1, 4))
    node: Document = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {"allocatable": allocatable},
    }
    if random.random() < 0.2:
        effect = random.choice(("NoSchedule", "PreferNoSchedule", "NoExecute"))
        node["spec"] = {"taints": [{"key": "dedicated", "value": random.choice("pq"), "effect": effect}]}
    elif random.random() < 0.05:
        node["spec"] = {"unschedulable": True}
    return node


def _group(random: Random, number: int) -> Document:
    mode = random.choice(({"all": {}}, {"single": {}}, None))
    spec: Document = {"schedulingPolicy": {"gang": {"minCount": 1}}, "priority": random.choice(PRIORITIES)}
    if mode is not None:
        spec["disruptionMode"] = mode
    return {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": f"group-{number}", "namespace": "a"},
        "spec": spec,
    }


def _budget(random: Random, number: int) -> Document:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": f"budget-{number}", "namespace": random.choice("ab")},
        "spec": {"selector": {"matchLabels": {"app": random.choice(("one", "two"))}}},
        "status": {"disruptionsAllowed": random.choice((0, 0, 1, 2))},
    }


def _running(random: Random, nodes: list[Document], groups: list[Document]) -> list[Document]:
    pods = []
    for number in range(random.randint(2, 12)):
        node = random.choice(nodes)
        pod = _pod(random, f"run-{number:02}", random.choice("aab"), random.choice(PRIORITIES))
        pod["spec"]["nodeName"] = node["metadata"]["name"]
        pod["spec"]["tolerations"] = [{"operator": "Exists"}]
        start = EPOCH + timedelta(seconds=random.randint(0, 6) if random.random() < 0.3 else 100 + number)
        pod["status"] = {"phase": "Running", "startTime": start.isoformat().replace("+00:00", "Z")}
        if groups and pod["metadata"]["namespace"] == "a" and random.random() < 0.4:
            name = random.choice(groups)["metadata"]["name"]
            pod["spec"]["schedulingGroup"] = {"podGroupName": name if random.random() < 0.9 else "missing"}
        if random.random() < 0.1:
            pod["metadata"]["deletionTimestamp"] = "2026-04-01T00:00:00Z"
        pods.append(pod)
    return pods


def _waiting(random: Random) -> tuple[list[Document], str]:
    priority = random.choice((10, 100, 1000, 1000, 1000))
    if random.random() < 0.5:
        pod = _pod(random, "want", "a", priority, demanding=True)
        return [pod], "Pod/a/want"
    size = random.randint(1, 4)
    first = _pod(random, "want-0", "a", priority, demanding=True)
    second = _pod(random, "want-0", "a", priority, demanding=True)
    pods = []
    for number in range(size):
        pod = {
            **random.choice((first, first, second)),
            "metadata": dict(first["metadata"], name=f"want-{number}"),
        }
        pod["spec"] = dict(pod["spec"], schedulingGroup={"podGroupName": "gang"})
        pods.append(pod)
    minimum = random.choice((size, size, max(1, size - 1), 1))
    policy: Document = {"gang": {"minCount": minimum}} if random.random() < 0.9 else {"basic": {}}
    group = {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": "gang", "namespace": "a"},
        "spec": {"schedulingPolicy": policy, "priority": priority},
    }
    return [group, *pods], "PodGroup/a/gang"


def _pod(random: Random, name: str, namespace: str, priority: int, demanding: bool = False) -> Document:
    requests: Document = {}
    if random.random() < 0.9:
        requests["cpu"] = f"{random.choice((250, 500, 1000, 1500, 3000))}m"
    if random.random() < 0.7:
        requests["memory"] = f"{random.choice((512, 1024, 3072))}Mi"
    if random.random() < 0.15:
        requests["example.test/gpu"] = "1"
    container: Document = {"name": "c", "image": "i", "resources": {"requests": requests}}
    if random.random() < 0.1:
        container["ports"] = [{"containerPort": 80, "hostPort": random.choice((80, 81)), "protocol": "TCP"}]
    spec: Document = {"priority": priority, "containers": [container]}
    labels = {"app": random.choice(("one", "two", "three"))}
    affinity = _affinity(random, demanding)
    if affinity:
        spec["affinity"] = affinity
    if demanding:
        _demand(random, spec)
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": spec,
    }


def _demand(random: Random, spec: Document) -> None:
    if random.random() < 0.2:
        spec["nodeSelector"] = {"pool": random.choice("xy")}
    if random.random() < 0.3:
        spec["tolerations"] = [{"key": "dedicated", "operator": "Equal", "value": random.choice("pq")}]
    if random.random() < 0.05:
        spec["preemptionPolicy"] = "Never"
    if random.random() < 0.3:
        spec["topologySpreadConstraints"] = [
            {
                "topologyKey": random.choice((ZONE, HOST)),
                "maxSkew": random.choice((1, 2)),
                "whenUnsatisfiable": random.choice(("DoNotSchedule", "ScheduleAnyway")),
                "labelSelector": random.choice(
                    ({"matchLabels": {"app": "one"}}, {"matchLabels": {"app": "two"}}, {})
                ),
                **random.choice(({}, {"nodeTaintsPolicy": "Honor"}, {"nodeAffinityPolicy": "Ignore"})),
            }
            for _ in range(random.choice((1, 1, 2)))
        ]


def _affinity(random: Random, demanding: bool) -> Document:
    affinity: Document = {}
    if demanding and random.random() < 0.3:
        expression = {"key": "pool", "operator": random.choice(("In", "NotIn")), "values": ["x"]}
        node: Document = {
            PREFERRED: [{"weight": random.randint(1, 100), "preference": {"matchExpressions": [expression]}}]
        }
        if random.random() < 0.4:
            node[REQUIRED] = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
        affinity["nodeAffinity"] = node
    for side, chance in (("podAntiAffinity", 0.2), ("podAffinity", 0.1)):
        if random.random() < chance:
            part: Document = {}
            if random.random() < 0.7:
                part[REQUIRED] = [_term(random)]
            if random.random() < 0.5:
                part[PREFERRED] = [{"weight": random.randint(1, 100), "podAffinityTerm": _term(random)}]
            affinity[side] = part
    return affinity


def _term(random: Random) -> Document:
    term: Document = {
        "topologyKey": random.choice((HOST, ZONE)),
        "labelSelector": {"matchLabels": {"app": random.choice(("one", "two", "three"))}},
    }
    return {**term, **random.choice(({}, {}, {"namespaces": ["a", "b"]}, {"namespaceSelector": {}}))}
