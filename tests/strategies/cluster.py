"""Small clusters with every kind of constraint, and somebody who wants in. Documents, as a user would write
them.
"""

from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

from tests import builders
from tests.builders import Document
from tests.strategies.choices import Choices

Scene = tuple[list[Document], str]
"""A cluster, and the pod or pod group that waits in it."""
EPOCH = datetime(2026, 3, 1, tzinfo=UTC)
ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
PRIORITIES = (-10, 0, 10, 100)


@st.composite
def scenes(draw: st.DrawFn) -> Scene:
    """(documents, target): a cluster and a pod or pod group that waits."""
    return scene(Choices(draw))


def scene(choices: Choices) -> Scene:
    nodes = [_node(choices, i) for i in range(choices.number(1, 6))]
    groups = [_group(choices, i) for i in range(choices.number(0, 3))]
    budgets = [_budget(choices, i) for i in range(choices.one_of((0, 0, 1, 2)))]
    running = _running(choices, nodes, groups)
    waiting, target = _waiting(choices)
    namespaces = [builders.document("Namespace", name, labels={"team": name}) for name in ("a", "b")]
    return [*namespaces, *nodes, *groups, *budgets, *running, *waiting], target


@st.composite
def crowded_scenes(draw: st.DrawFn) -> Scene:
    """Many pods, distinct starts, and mostly somebody whose only concern is room: what the quick paths are
    for.
    """
    return crowded_scene(Choices(draw))


def crowded_scene(choices: Choices) -> Scene:
    documents, target = scene(choices)
    nodes = [each for each in documents if each["kind"] == "Node"]
    for node in nodes:
        node["status"]["allocatable"] |= {"cpu": str(choices.number(4, 10)), "memory": "64Gi"}
    groups = [each for each in documents if each["kind"] == "PodGroup" and each["metadata"]["name"] != "gang"]
    waiting = [each for each in documents if each["kind"] == "Pod" and "nodeName" not in each["spec"]]
    crowd: list[Document] = []
    for _ in range(choices.number(1, 6)):
        for pod in _running(choices, nodes, groups):
            number = len(crowd)
            pod["metadata"]["name"] = f"crowd-{number:03}"
            pod["status"]["startTime"] = f"2026-03-02T00:{number // 60:02}:{number % 60:02}Z"
            if not choices.chance(20):
                pod["spec"].pop("affinity", None)
            crowd.append(pod)
    if not choices.chance(30):
        for pod in waiting:
            container = {"name": "c", "resources": {"requests": {"cpu": str(choices.one_of((2, 3, 5)))}}}
            pod["spec"] = {k: v for k, v in pod["spec"].items() if k in ("priority", "schedulingGroup")}
            pod["spec"]["containers"] = [container]
    if target.startswith("PodGroup/") and choices.chance(50):
        waiting = _larger(choices, waiting)
    rest = [each for each in documents if each["kind"] != "Pod"]
    return [*rest, *crowd, *waiting], target


def _larger(choices: Choices, gang: list[Document]) -> list[Document]:
    """A gang of up to a dozen more pods, most of them next to one that is equal."""
    models = [choices.one_of(gang) for _ in range(choices.number(1, 3))]
    more = [choices.one_of(models[:1] * 4 + models) for _ in range(choices.number(2, 12))]
    names = (f"want-{len(gang) + number:02}" for number in range(len(more)))
    return [
        *gang,
        *(
            {**pod, "metadata": {**pod["metadata"], "name": name}}
            for pod, name in zip(more, names, strict=True)
        ),
    ]


def _node(choices: Choices, number: int) -> Document:
    name = f"node-{number}"
    labels = {"pool": choices.one_of("xy")}
    if choices.chance(80):
        labels[ZONE] = f"z{choices.number(0, 2)}"
    allocatable = {"cpu": str(choices.number(1, 6)), "memory": f"{choices.number(4, 16)}Gi", "pods": "20"}
    if choices.chance(30):
        allocatable["example.test/gpu"] = str(choices.number(1, 4))
    if choices.chance(10):
        allocatable["pods"] = str(choices.number(1, 4))
    spec: Document = {}
    if choices.chance(20):
        effect = choices.one_of(("NoSchedule", "PreferNoSchedule", "NoExecute"))
        spec = {"taints": [{"key": "dedicated", "value": choices.one_of("pq"), "effect": effect}]}
    elif choices.chance(5):
        spec = {"unschedulable": True}
    return builders.node(name, labels=labels, allocatable=allocatable, **spec)


def _group(choices: Choices, number: int) -> Document:
    mode = choices.one_of(("all", "single", ""))
    return builders.pod_group(
        f"group-{number}", priority=choices.one_of(PRIORITIES), mode=mode, namespace="a"
    )


def _budget(choices: Choices, number: int) -> Document:
    namespace, app = choices.one_of("ab"), choices.one_of(("one", "two"))
    allowed = choices.one_of((0, 0, 1, 2))
    return builders.budget(f"budget-{number}", allowed, match={"app": app}, namespace=namespace)


def _running(choices: Choices, nodes: list[Document], groups: list[Document]) -> list[Document]:
    pods = []
    for number in range(choices.number(2, 12)):
        node = choices.one_of(nodes)
        pod = _pod(choices, f"run-{number:02}", choices.one_of("aab"), choices.one_of(PRIORITIES))
        pod["spec"]["nodeName"] = node["metadata"]["name"]
        pod["spec"]["tolerations"] = [{"operator": "Exists"}]
        start = EPOCH + timedelta(seconds=choices.number(0, 6) if choices.chance(30) else 100 + number)
        pod["status"] = {"phase": "Running", "startTime": start.isoformat().replace("+00:00", "Z")}
        if groups and pod["metadata"]["namespace"] == "a" and choices.chance(40):
            name = choices.one_of(groups)["metadata"]["name"]
            pod["spec"]["schedulingGroup"] = {"podGroupName": "missing" if choices.chance(10) else name}
        if choices.chance(10):
            pod["metadata"]["deletionTimestamp"] = "2026-04-01T00:00:00Z"
        pods.append(pod)
    return pods


def _waiting(choices: Choices) -> tuple[list[Document], str]:
    priority = choices.one_of((10, 100, 1000, 1000, 1000))
    if not choices.chance(50):
        pod = _pod(choices, "want", "a", priority, demanding=True)
        return [pod], "Pod/a/want"
    size = choices.number(1, 4)
    first = _pod(choices, "want-0", "a", priority, demanding=True)
    second = _pod(choices, "want-0", "a", priority, demanding=True)
    pods = []
    for number in range(size):
        pod = {
            **choices.one_of((first, first, second)),
            "metadata": dict(first["metadata"], name=f"want-{number}"),
        }
        pod["spec"] = dict(pod["spec"], schedulingGroup={"podGroupName": "gang"})
        pods.append(pod)
    minimum = choices.one_of((size, size, max(1, size - 1), 1))
    basic = choices.chance(10)
    group = builders.pod_group("gang", None if basic else minimum, priority=priority, namespace="a")
    return [group, *pods], "PodGroup/a/gang"


def _pod(choices: Choices, name: str, namespace: str, priority: int, demanding: bool = False) -> Document:
    requests: Document = {}
    if choices.chance(90):
        requests["cpu"] = f"{choices.one_of((250, 500, 1000, 1500, 3000))}m"
    if choices.chance(70):
        requests["memory"] = f"{choices.one_of((512, 1024, 3072))}Mi"
    if choices.chance(15):
        requests["example.test/gpu"] = "1"
    container: Document = {"name": "c", "image": "i", "resources": {"requests": requests}}
    if choices.chance(10):
        container["ports"] = [{"containerPort": 80, "hostPort": choices.one_of((80, 81)), "protocol": "TCP"}]
    spec: Document = {"containers": [container]}
    labels = {"app": choices.one_of(("one", "two", "three"))}
    affinity = _affinity(choices, demanding)
    if affinity:
        spec["affinity"] = affinity
    if demanding:
        _demand(choices, spec)
    return builders.pod(name, priority=priority, namespace=namespace, labels=labels, **spec)


def _demand(choices: Choices, spec: Document) -> None:
    if choices.chance(20):
        spec["nodeSelector"] = {"pool": choices.one_of("xy")}
    if choices.chance(30):
        spec["tolerations"] = [{"key": "dedicated", "operator": "Equal", "value": choices.one_of("pq")}]
    if choices.chance(5):
        spec["preemptionPolicy"] = "Never"
    if choices.chance(30):
        spec["topologySpreadConstraints"] = [
            {
                "topologyKey": choices.one_of((ZONE, HOST)),
                "maxSkew": choices.one_of((1, 2)),
                "whenUnsatisfiable": choices.one_of(("DoNotSchedule", "ScheduleAnyway")),
                "labelSelector": choices.one_of(
                    ({"matchLabels": {"app": "one"}}, {"matchLabels": {"app": "two"}}, {})
                ),
                **choices.one_of(({}, {"nodeTaintsPolicy": "Honor"}, {"nodeAffinityPolicy": "Ignore"})),
            }
            for _ in range(choices.one_of((1, 1, 2)))
        ]


def _affinity(choices: Choices, demanding: bool) -> Document:
    affinity: Document = {}
    if demanding and choices.chance(30):
        expression = {"key": "pool", "operator": choices.one_of(("In", "NotIn")), "values": ["x"]}
        node: Document = {
            PREFERRED: [{"weight": choices.number(1, 100), "preference": {"matchExpressions": [expression]}}]
        }
        if choices.chance(40):
            node[REQUIRED] = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
        affinity["nodeAffinity"] = node
    for side, percent in (("podAntiAffinity", 20), ("podAffinity", 10)):
        if choices.chance(percent):
            part: Document = {}
            if choices.chance(70):
                part[REQUIRED] = [_term(choices)]
            if choices.chance(50):
                part[PREFERRED] = [{"weight": choices.number(1, 100), "podAffinityTerm": _term(choices)}]
            affinity[side] = part
    return affinity


def _term(choices: Choices) -> Document:
    term: Document = {
        "topologyKey": choices.one_of((HOST, ZONE)),
        "labelSelector": {"matchLabels": {"app": choices.one_of(("one", "two", "three"))}},
    }
    return {**term, **choices.one_of(({}, {}, {"namespaces": ["a", "b"]}, {"namespaceSelector": {}}))}
