"""Worlds to put to every command: a small cluster, and one thing that somebody is about to create.

Every optional part is a choice of its own, so that a failing world shrinks to the part that matters. The
world is plain documents: what a user would keep in a file.
"""

from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

from reprieve.jobs import JobKinds, workloads_for
from reprieve.objects import read_documents
from tests import builders
from tests.builders import Document
from tests.strategies.choices import Choices

NAMESPACE = "default"
QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
RUN_TIME = {"reprieve.dev/expected-runtime": "10m"}
EXAMPLES = Path(__file__).parents[2] / "examples" / "20-any-job"
KINDS = ("Pod", "Job", "Deployment", "StatefulSet", "PodGroup")
"""Drawn most often: what most people run."""
OTHER_KINDS = tuple(
    sorted(path.stem for path in EXAMPLES.glob("*.yaml") if path.stem not in ("cluster", "job", "deployment"))
)
CREATED = "2026-11-18T11:00:00Z"


class World(NamedTuple):
    cluster: list[Document]
    """What is there."""
    submitted: list[Document]
    """What is created; the last document is the target."""
    target: str
    """`Job/default/x`."""
    parts: list[str]
    """The optional parts that were drawn, for the counts."""

    @property
    def documents(self) -> list[Document]:
        return [*self.cluster, *self.submitted]


class _Drawing:
    def __init__(self, choices: Choices) -> None:
        self.choices = choices
        self.parts: list[str] = []

    def part(self, name: str, percent: int) -> bool:
        """Whether the world has the part."""
        drawn = self.choices.chance(percent)
        if drawn:
            self.parts.append(name)
        return drawn


def draw_world(choices: Choices, kinds: Sequence[str] = ()) -> World:
    """`kinds`: of the target; without any, all that are known."""
    drawing = _Drawing(choices)
    nodes = _nodes(drawing)
    queued = drawing.part("queue", 45)
    cluster = [*nodes, *_classes(drawing), *_running(drawing, nodes), *_namespace_rules(drawing)]
    if queued:
        cluster += _queues(drawing)
    submitted, target = _submitted(drawing, queued, kinds)
    return World(cluster, submitted, target, drawing.parts)


# -- what is there -------------------------------------------------------------------------------------------


def _nodes(drawing: _Drawing) -> list[Document]:
    choices, nodes = drawing.choices, []
    tainted = drawing.part("taint", 15)
    for number in range(choices.number(1, 3)):
        labels = {"pool": choices.one_of(("p", "o"))}
        taints = [{"key": "k", "value": "v", "effect": "NoSchedule"}] if tainted and number == 0 else []
        nodes.append(
            builders.node(
                f"n{number}",
                choices.one_of((4, 2, 8)),
                zone=choices.one_of(("a", "b")),
                labels=labels,
                status={"conditions": [{"type": "Ready", "status": "True"}]},
            )
        )
        if taints:
            nodes[-1]["spec"] = {**nodes[-1].get("spec", {}), "taints": taints}
    return nodes


def _classes(drawing: _Drawing) -> list[Document]:
    found = [builders.priority_class("low", 10), builders.priority_class("high", 1000)]
    if drawing.part("global default class", 10):
        found.append({**builders.priority_class("usual", 100), "globalDefault": True})
    return found


def _running(drawing: _Drawing, nodes: list[Document]) -> list[Document]:
    """Pods that fill a part of the nodes."""
    choices, found = drawing.choices, list[Document]()
    for node in nodes:
        left = int(node["status"]["allocatable"]["cpu"])
        for _ in range(choices.number(0, 3)):
            cpu = choices.number(1, 2)
            if cpu > left:
                break
            left -= cpu
            name, priority = f"v{len(found)}", choices.one_of((10, 1000))
            found.append(
                builders.pod(
                    name,
                    cpu,
                    on=node["metadata"]["name"],
                    start=CREATED,
                    metadata={"uid": f"uid-{name}", "creationTimestamp": CREATED},
                    priorityClassName="low" if priority == 10 else "high",
                    priority=priority,
                    restartPolicy="Never",
                    tolerations=[{"operator": "Exists"}],
                )
            )
    return found


def _namespace_rules(drawing: _Drawing) -> list[Document]:
    found: list[Document] = []
    if drawing.part("LimitRange", 15):
        limit: Document = {"type": "Container"}
        match drawing.choices.one_of(("default", "max", "min")):
            case "default":
                limit["defaultRequest"] = {"cpu": "2"}
            case "max":
                limit |= {"max": {"cpu": "1"}}
            case "min":
                limit |= {"min": {"cpu": "2"}}
        found.append(_core("LimitRange", "limits", NAMESPACE, spec={"limits": [limit]}))
    if drawing.part("ResourceQuota", 8):
        hard = drawing.choices.one_of(({"pods": "1"}, {"requests.cpu": "3"}))
        found.append(_core("ResourceQuota", "quota", NAMESPACE, spec={"hard": hard}))
    if drawing.part("StorageClass", 25):
        default = {"storageclass.kubernetes.io/is-default-class": "true"}
        found.append(
            {
                "apiVersion": "storage.k8s.io/v1",
                "kind": "StorageClass",
                "metadata": {"name": "disk", "annotations": default},
                "provisioner": "reprieve.dev/fake",
                "volumeBindingMode": drawing.choices.one_of(("WaitForFirstConsumer", "Immediate")),
            }
        )
    return found


def _queues(drawing: _Drawing) -> list[Document]:
    choices = drawing.choices
    flavor: Document = {}
    if drawing.part("flavor labels", 35):
        flavor["nodeLabels"] = {"pool": choices.one_of(("p", "o", "nowhere"))}
    if drawing.part("flavor toleration", 15):
        flavor["tolerations"] = [{"key": "k", "operator": "Exists"}]
    found = [builders.flavor("f", **flavor)]
    flavors = ["f"]
    if drawing.part("second flavor", 20):
        found.append(builders.flavor("g", nodeLabels={"pool": "o"}))
        flavors.append("g")
    preemption = {"withinClusterQueue": choices.one_of(("LowerPriority", "Never"))}
    queue = builders.cluster_queue(
        "cq", str(choices.one_of((4, 2, 8, 1))), flavors=tuple(flavors), preemption=preemption
    )
    if drawing.part("stopped queue", 5):
        queue["spec"]["stopPolicy"] = "Hold"
    found += [queue, builders.local_queue("q", "cq", namespace=NAMESPACE)]
    if drawing.part("workload with quota", 30):
        found += _admitted(drawing)
    return found


def _admitted(drawing: _Drawing) -> list[Document]:
    """A Job that runs on quota, with its workload; its pod holds a cpu of the first node."""
    job = builders.job("held", 1, queue="q", namespace=NAMESPACE)
    job["metadata"] |= {"uid": "uid-held", "creationTimestamp": CREATED}
    job["spec"]["suspend"] = False
    job["spec"]["template"]["spec"] |= {"priorityClassName": "low", "restartPolicy": "Never"}
    owner = {
        "apiVersion": "batch/v1", "kind": "Job", "name": "held", "uid": "uid-held", "controller": True,
    }  # fmt: skip
    pod = builders.pod(
        "held-0",
        1,
        on="n0",
        start=CREATED,
        metadata={"uid": "uid-held-0", "creationTimestamp": CREATED, "ownerReferences": [owner]},
        priorityClassName="low",
        priority=10,
        restartPolicy="Never",
        tolerations=[{"operator": "Exists"}],
    )
    (asking,) = workloads_for([job], JobKinds()).asking
    workload = asking.workload
    workload["metadata"] |= {"uid": "uid-w-held", "creationTimestamp": CREATED}
    workload["spec"] |= {"priority": 10}
    times = {"lastTransitionTime": CREATED, "message": "", "reason": "QuotaReserved", "status": "True"}
    workload["status"] = {
        "admission": {
            "clusterQueue": "cq",
            "podSetAssignments": [
                {"name": "main", "count": 1, "flavors": {"cpu": "f"}, "resourceUsage": {"cpu": "1"}}
            ],
        },
        "conditions": [
            {"type": "QuotaReserved", **times},
            {"type": "Admitted", **times, "reason": "Admitted"},
        ],
    }
    drawing.parts.append("running job")
    return [job, pod, workload]


# -- what is created -----------------------------------------------------------------------------------------


def _submitted(drawing: _Drawing, queued: bool, kinds: Sequence[str]) -> tuple[list[Document], str]:
    choices = drawing.choices
    usual = kinds or choices.chance(75)
    kind = choices.one_of(kinds or KINDS) if usual else choices.one_of(OTHER_KINDS)
    drawing.parts.append(f"kind {kind}")
    spec, others = _pod_spec(drawing)
    match kind:
        case "Pod":
            made = [_core("Pod", "x", NAMESPACE, spec=spec)]
        case "Job":
            made = [_job(drawing, spec, queued)]
        case "Deployment" | "StatefulSet":
            made = [_replicas(drawing, kind, spec)]
        case "PodGroup":
            made = _gang(drawing, spec)
        case _:
            made = _example(kind, spec)
    target = made[-1]
    meta = target["metadata"]
    meta["annotations"] = {**(meta.get("annotations") or {}), **RUN_TIME}
    if queued:
        for each in made:
            each["metadata"]["labels"] = {**(each["metadata"].get("labels") or {}), QUEUE_LABEL: "q"}
    return [*others, *made], f"{target['kind']}/{NAMESPACE}/{meta['name']}"


def _pod_spec(drawing: _Drawing) -> tuple[Document, list[Document]]:
    """The spec of the pods, and what it refers to."""
    choices, others = drawing.choices, []
    cpu = choices.one_of((1, 2, 3, 4, None))
    spec: Document = {"restartPolicy": "Always", "containers": [builders.container(cpu)]}
    name = choices.one_of(("", "low", "high"))
    if drawing.part("unknown class", 4):
        name = "nobody-knows"
    if name:
        spec["priorityClassName"] = name
    if drawing.part("sidecar", 10):
        spec["initContainers"] = [{**builders.container(1, name="side"), "restartPolicy": "Always"}]
    elif drawing.part("init container", 10):
        spec["initContainers"] = [builders.container(3, name="init")]
    if drawing.part("pod-level resources", 8):
        spec["resources"] = {choices.one_of(("requests", "limits")): {"cpu": "3"}}
    if drawing.part("RuntimeClass", 10):
        spec["runtimeClassName"] = "kata"
        others.append(
            {
                "apiVersion": "node.k8s.io/v1",
                "kind": "RuntimeClass",
                "metadata": {"name": "kata"},
                "handler": "kata",
                "overhead": {"podFixed": {"cpu": "1"}},
            }
        )
    if drawing.part("node selector", 12):
        spec["nodeSelector"] = {"pool": choices.one_of(("p", "o"))}
    if drawing.part("toleration", 10):
        spec["tolerations"] = [{"key": "k", "operator": "Exists"}]
    if drawing.part("anti-affinity", 8):
        term = {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "kubernetes.io/hostname"}
        spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    if drawing.part("spread", 8):
        spec["topologySpreadConstraints"] = [
            {
                "maxSkew": 1,
                "topologyKey": "kubernetes.io/hostname",
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"app": "x"}},
            }
        ]
    if drawing.part("ephemeral claim", 8):
        spec["volumes"] = [{"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": _claim()}}}]
    elif drawing.part("claim", 8):
        others.append(_core("PersistentVolumeClaim", "data", NAMESPACE, spec=_claim()))
        spec["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    return spec, others


def _claim() -> Document:
    return {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}}


def _template(spec: Document) -> Document:
    return {"metadata": {"labels": {"app": "x"}}, "spec": spec}


def _job(drawing: _Drawing, spec: Document, queued: bool) -> Document:
    count = drawing.choices.number(1, 4)
    body: Document = {"template": _template({**spec, "restartPolicy": "Never"}), "parallelism": count}
    if drawing.part("no parallelism", 3):
        body["parallelism"] = 0
    if drawing.part("suspended", 4):
        body["suspend"] = True
    made: Document = {"apiVersion": "batch/v1", "kind": "Job", "metadata": _meta("x"), "spec": body}
    if queued and count > 1 and drawing.part("partial admission", 15):
        made["metadata"]["annotations"] = {"kueue.x-k8s.io/job-min-parallelism": "1"}
    return made


def _replicas(drawing: _Drawing, kind: str, spec: Document) -> Document:
    body: Document = {
        "replicas": drawing.choices.number(1, 4),
        "selector": {"matchLabels": {"app": "x"}},
        "template": _template(spec),
    }
    if kind == "StatefulSet":
        body["podManagementPolicy"] = "Parallel"
        body["serviceName"] = "x"
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": _meta("x"), "spec": body}


def _gang(drawing: _Drawing, spec: Document) -> list[Document]:
    count = drawing.choices.number(1, 4)
    least = drawing.choices.number(1, count)
    group = builders.pod_group("x", least, namespace=NAMESPACE)
    if name := spec.get("priorityClassName"):
        group["spec"]["priorityClassName"] = name
    member = {**spec, "schedulingGroup": {"podGroupName": "x"}}
    pods = [_core("Pod", f"x-{number}", NAMESPACE, spec=deepcopy(member)) for number in range(count)]
    return [*pods, group]


def _example(kind: str, spec: Document) -> list[Document]:
    """The example of the kind, small, and with these pods."""
    found = [deepcopy(source.document) for source in read_documents(EXAMPLES / f"{kind}.yaml")]
    for each in found:
        if each["metadata"].get("namespace"):
            each["metadata"]["namespace"] = NAMESPACE
    found[-1]["spec"] = _small(found[-1]["spec"], spec)
    return found


def _small(value: Any, spec: Document) -> Any:
    """With at most two replicas of everything; where a pod is described, the drawn resources."""
    if isinstance(value, list):
        return [_small(each, spec) for each in value]
    if not isinstance(value, dict):
        return value
    found = {key: _small(each, spec) for key, each in value.items()}
    for key in ("replicas", "parallelism", "completions", "size", "numNodes", "instances", "minReplicas"):
        if isinstance(found.get(key), int):
            found[key] = min(found[key], 2)
    if "containers" in found:
        found["containers"] = [
            {**each, "resources": spec["containers"][0].get("resources", {})} for each in found["containers"]
        ]
        found.pop("priorityClassName", None)
        rest = ("containers", "restartPolicy", "initContainers", "volumes")
        found |= {key: each for key, each in deepcopy(spec).items() if key not in rest}
    return found


def _meta(name: str) -> Document:
    return {"name": name, "namespace": NAMESPACE}


def _core(kind: str, name: str, namespace: str, **parts: Any) -> Document:
    labels = {"labels": {"app": "x"}} if kind == "Pod" else {}
    return {"apiVersion": "v1", "kind": kind, "metadata": {**_meta(name), **labels}, **parts}
