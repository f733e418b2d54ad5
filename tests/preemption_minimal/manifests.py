"""Small clusters as manifests: what the tests of this folder are written in."""

from typing import Any

import numpy as np

Manifest = dict[str, Any]
NOW = "2026-06-01T12:00:00Z"


def node(name: str, cpu: int = 4, memory: int = 16, **labels: str) -> Manifest:
    labels = {"kubernetes.io/hostname": name, **{k.replace("_", "/"): v for k, v in labels.items()}}
    status = {"allocatable": {"cpu": str(cpu), "memory": f"{memory}Gi", "pods": "20"}}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": status,
    }


def pod(
    name: str,
    on: str = "",
    cpu: int = 1,
    memory: int = 1,
    priority: int = 0,
    group: str = "",
    labels: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
    start: str = "2026-06-01T00:00:00Z",
    terminating: bool = False,
    **spec: Any,
) -> Manifest:
    meta: Manifest = {"name": name, "namespace": "default", "labels": labels or {"app": "a"}}
    if annotations:
        meta["annotations"] = {f"reprieve.dev/{key}": value for key, value in annotations.items()}
    if terminating:
        meta["deletionTimestamp"] = "2026-06-01T11:59:50Z"
    requests = {"cpu": str(cpu), "memory": f"{memory}Gi"}
    body: Manifest = {
        "priority": priority,
        "containers": [{"name": "c", "resources": {"requests": requests}}],
        **spec,
    }
    if on:
        body["nodeName"] = on
    if group:
        body["schedulingGroup"] = {"podGroupName": group}
    status = {"phase": "Running", "startTime": start} if on else {"phase": "Pending"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": body, "status": status}


def group(name: str, priority: int = 0, minimum: int = 1, mode: str = "single", **rest: Any) -> Manifest:
    spec = {
        "priority": priority,
        "schedulingPolicy": {"gang": {"minCount": minimum}},
        "disruptionMode": {mode: {}},
        **rest,
    }
    meta = {"name": name, "namespace": "default"}
    return {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "metadata": meta, "spec": spec}


def budget(name: str, allowed: int, **labels: str) -> Manifest:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"selector": {"matchLabels": labels}},
        "status": {"disruptionsAllowed": allowed},
    }


def gang(size: int, minimum: int, cpu: int = 2, priority: int = 1000, **spec: Any) -> list[Manifest]:
    """The preemptor `PodGroup/default/gang` and its waiting pods."""
    members = [pod(f"gang-{i}", cpu=cpu, priority=priority, group="gang", **spec) for i in range(size)]
    return [group("gang", priority, minimum), *members]


def random_cluster(seed: int) -> list[Manifest]:
    """A full cluster with a bit of everything, and a gang that wants in."""
    rng = np.random.default_rng(seed)
    nodes = int(rng.integers(2, 7))
    objects = [
        node(f"node-{i}", int(rng.integers(3, 9)), topology_zone=f"zone-{i % 2}") for i in range(nodes)
    ]
    teams = int(rng.integers(0, 4))
    for number in range(teams):
        mode = str(rng.choice(["all", "single"]))
        objects.append(group(f"team-{number}", int(rng.choice([0, 10, 100])), 1, mode))
    free = {each["metadata"]["name"]: int(each["status"]["allocatable"]["cpu"]) for each in objects[:nodes]}
    for number in range(int(rng.integers(4, 24))):
        where, cpu = f"node-{rng.integers(nodes)}", int(rng.integers(1, 4))
        if free[where] < cpu:
            continue
        free[where] -= cpu
        objects.append(_resident(rng, number, where, cpu, teams))
    objects += [
        budget(f"budget-{number}", int(rng.integers(0, 3)), app=str(rng.choice(["a", "b"])))
        for number in range(int(rng.integers(0, 3)))
    ]
    size = int(rng.integers(1, 5))
    spec = _constraints(rng)
    return [
        *objects,
        *gang(size, int(rng.integers(1, size + 1)), int(rng.integers(1, 4)), labels={"app": "gang"}, **spec),
    ]


def _resident(rng: np.random.Generator, number: int, where: str, cpu: int, groups: int) -> Manifest:
    spec: Manifest = {}
    if rng.random() < 0.1:
        term = {"labelSelector": {"matchLabels": {"app": "gang"}}, "topologyKey": "kubernetes.io/hostname"}
        spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    member = f"team-{rng.integers(groups)}" if groups and rng.random() < 0.4 else ""
    return pod(
        f"run-{number}",
        where,
        cpu,
        priority=int(rng.choice([0, 0, 10, 100])),
        group=member,
        labels={"app": str(rng.choice(["a", "b", "c"]))},
        start=f"2026-05-{1 + number % 28:02}T00:00:00Z",
        **spec,
    )


def _constraints(rng: np.random.Generator) -> Manifest:
    """What the gang's pods ask for besides room."""
    kind = rng.random()
    selector = {"labelSelector": {"matchLabels": {"app": "gang"}}}
    if kind < 0.2:
        term = {**selector, "topologyKey": str(rng.choice(["kubernetes.io/hostname", "topology/zone"]))}
        return {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}
    if kind < 0.35:
        rule = {
            **selector,
            "topologyKey": "topology/zone",
            "maxSkew": 1,
            "whenUnsatisfiable": "DoNotSchedule",
        }
        return {"topologySpreadConstraints": [rule]}
    return {}
