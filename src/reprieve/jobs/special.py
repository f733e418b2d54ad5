"""Kinds of jobs that paths alone cannot describe."""

import math
import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import msgspec

from reprieve.jobs.kinds import JobKinds
from reprieve.jobs.paths import Place, at, entries, mapping, number, text
from reprieve.jobs.pod_sets import Places, PodSet, Written, described
from reprieve.jobs.rows import JobKind, PodSetRule
from reprieve.objects import DEFAULT_NAMESPACE, Document, InvalidObject, kind_key, shown

Read = Callable[[Place, JobKind, "Surroundings"], list[PodSet]]


class Surroundings(NamedTuple):
    """What a job may refer to."""

    kinds: JobKinds
    others: Iterable[Document]
    read: Read
    """For a job inside a job."""


# -- LeaderWorkerSet: each replica is a leader and its workers -----------------------------------------------

_LEADER = PodSetRule(
    name="leader",
    pod_name="{job}-{index}",
    labels={
        "leaderworkerset.sigs.k8s.io/name": "{job}",
        "leaderworkerset.sigs.k8s.io/group-index": "{index}",
        "leaderworkerset.sigs.k8s.io/worker-index": "0",
    },
)
_WORKER = PodSetRule(
    name="worker",
    template="workerTemplate",
    pod_name="{job}-{outer}-{member}",
    labels={
        "leaderworkerset.sigs.k8s.io/name": "{job}",
        "leaderworkerset.sigs.k8s.io/group-index": "{outer}",
        "leaderworkerset.sigs.k8s.io/worker-index": "{member}",
    },
)


def _leader_worker_set(root: Place, around: Surroundings) -> list[PodSet]:
    del around
    replicas = number(root, "spec.replicas", 1)
    part = at(root, "spec.leaderWorkerTemplate")
    size = number(part, "size", 1)
    own = at(part, "leaderTemplate").value is not None
    leader = msgspec.structs.replace(_LEADER, template="leaderTemplate" if own else "workerTemplate")
    found = [described(part, leader, replicas)]
    return [*found, described(part, _WORKER, replicas, size - 1)] if size > 1 else found


# -- RayJob: the pod that submits it -------------------------------------------------------------------------

_SUBMITTER = PodSetRule(
    at="spec", name="submitter", template="submitterPodTemplate", pod_name="{job}-submitter"
)
_SUBMITTER_RESOURCES: Document = {
    "requests": {"cpu": "500m", "memory": "200Mi"},
    "limits": {"cpu": "1", "memory": "1Gi"},
}
"""What KubeRay gives it where the job says nothing; it runs the image of the head."""


def _ray_submitter(root: Place, around: Surroundings) -> list[PodSet]:
    del around
    spec = at(root, "spec")
    if text(spec, "submissionMode", "K8sJobMode") != "K8sJobMode":
        return []
    if at(spec, "submitterPodTemplate").value is not None:
        return [described(spec, _SUBMITTER, 1)]
    head = mapping(spec, "rayClusterSpec.headGroupSpec.template.spec").get("containers") or [{}]
    container = {
        "name": "ray-job-submitter",
        "resources": _SUBMITTER_RESOURCES,
        "image": head[0].get("image", ""),
    }
    pod = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    written = Written("spec.submitterPodTemplate", whole=True)
    return [
        PodSet(name="submitter", template=pod, path="spec", factors=(1,), rule=_SUBMITTER, written=written)
    ]


# -- TrainJob: the pods are in its runtime -------------------------------------------------------------------

_TRAINER_API = "trainer.kubeflow.org"
RUNTIMES = frozenset({(_TRAINER_API, "ClusterTrainingRuntime"), (_TRAINER_API, "TrainingRuntime")})
"""Kinds that hold the pods of a job and are no jobs themselves."""
_OVERRIDES = "spec.podTemplateOverrides"
_STEP_LABEL = f"{_TRAINER_API}/trainjob-ancestor-step"
_STEP = PodSetRule(
    at="spec.template.spec.replicatedJobs[]",
    name="@name",
    template="template.spec.template",
    count=("replicas", "template.spec.parallelism"),
    pod_name="{job}-{set}-{outer}-{inner}",
    labels={"jobset.sigs.k8s.io/jobset-name": "{job}", "jobset.sigs.k8s.io/replicatedjob-name": "{set}"},
)


def _train_job(root: Place, around: Surroundings) -> list[PodSet]:
    runtime = _runtime(root, around)
    nodes = number(root, "spec.trainer.numNodes", number(runtime, "spec.mlPolicy.numNodes", 1))
    found = []
    for part in entries(runtime, _STEP.at):
        step = described(part, _STEP)
        if _trains(part, step):
            template = _with_trainer(step.template, mapping(root, "spec.trainer"))
            step = msgspec.structs.replace(step, factors=(step.factors[0], nodes), template=template)
        written = Written(_OVERRIDES, item={"targetJobs": [{"name": step.name}]})
        template = _overridden(step.template, step.name, root)
        found.append(msgspec.structs.replace(step, template=template, written=written))
    return found


def _overridden(template: Document, step: str, root: Place) -> Document:
    """The template with what the job itself adds to it, and quota through the job."""
    spec, meta = dict(template["spec"]), dict(template.get("metadata") or {})
    for part in entries(root, f"{_OVERRIDES}[]"):
        if not any(mapping(target, "").get("name") == step for target in entries(part, "targetJobs[]")):
            continue
        own = mapping(part, "spec")
        spec["nodeSelector"] = {**(spec.get("nodeSelector") or {}), **mapping(part, "spec.nodeSelector")}
        for field in ("tolerations", "schedulingGates"):
            spec[field] = [*(spec.get(field) or ()), *(own.get(field) or ())]
        for field in ("labels", "annotations"):
            meta[field] = {**(meta.get(field) or {}), **mapping(part, f"metadata.{field}")}
    return {**template, "metadata": meta, "spec": spec}


def _runtime(root: Place, around: Surroundings) -> Place:
    kind = text(root, "spec.runtimeRef.kind", "ClusterTrainingRuntime")
    name = text(root, "spec.runtimeRef.name")
    namespace = text(root, "metadata.namespace", DEFAULT_NAMESPACE)
    for each in around.others:
        meta = each.get("metadata") or {}
        near = kind == "ClusterTrainingRuntime" or (meta.get("namespace") or DEFAULT_NAMESPACE) == namespace
        if kind_key(each) == (_TRAINER_API, kind) and meta.get("name") == name and near:
            return Place(f"{kind}/{name}: ", each)
    message = f"there is no {kind} {name} among the objects: it has the pods of this job, give it too"
    raise InvalidObject("spec.runtimeRef.name", name, message)


def _trains(part: Place, step: PodSet) -> bool:
    labels = mapping(part, "template.metadata.labels")
    return labels.get(_STEP_LABEL) == "trainer" if _STEP_LABEL in labels else step.name == "node"


def _with_trainer(template: Document, trainer: Document) -> Document:
    """What the job says about its trainer in place of what the runtime says."""
    own = {key: trainer[key] for key in ("image", "command", "args") if trainer.get(key)}
    if trainer.get("resourcesPerNode"):
        own["resources"] = trainer["resourcesPerNode"]
    spec = template["spec"]
    containers = [dict(each) for each in spec.get("containers") or ()]
    chosen = next(
        (each for each in containers if each.get("name") == "node"), containers[0] if containers else {}
    )
    chosen.update(own)
    return {**template, "spec": {**spec, "containers": containers}}


# -- AppWrapper: anything, in a wrapper ----------------------------------------------------------------------


def _app_wrapper(root: Place, around: Surroundings) -> list[PodSet]:
    found: list[PodSet] = []
    for component in entries(root, "spec.components[]"):
        inner = at(component, "template")
        document = mapping(component, "template")
        name = text(inner, "metadata.name", f"component-{component.key}")
        kind = around.kinds.find(document)
        if at(component, "podSets").value is not None:
            sets = [_declared(component, part) for part in entries(component, "podSets[]")]
        elif kind_key(document) == ("", "Pod"):
            rule = PodSetRule(name=name, template="", pod_name="{job}")
            sets = [described(inner, rule, 1)]
        elif kind is not None and kind.kind != "AppWrapper":
            sets = around.read(inner, kind, around)
        else:
            sets = []  # a Service, a ConfigMap: nothing that runs
        found += [msgspec.structs.replace(each, owner=each.owner or name) for each in sets]
    return _distinct(found)


def _declared(component: Place, part: Place) -> PodSet:
    """A pod set that the wrapper points to: `template.spec.workers[0].template`."""
    path = re.sub(r"\[(\d+)\]", r".\1", text(part, "path"))
    template = component
    for step in path.split("."):
        value: Any = template.value
        if isinstance(value, list) and step.isdigit() and int(step) < len(value):
            template = Place(f"{template.path}[{step}]", value[int(step)])
        elif isinstance(value, dict) and step in value:
            template = Place(f"{template.path}.{step}", value[step])
        else:
            raise InvalidObject(
                f"{part.path}.path", path, f"there is nothing at {shown(step)} in the template"
            )
    rule = PodSetRule(name=f"pods-{part.key}", template="", pod_name="{job}-{set}-{index}")
    return described(template, rule, number(part, "replicas", 1))


def _distinct(found: list[PodSet]) -> list[PodSet]:
    """Names of pod sets are unique in a workload; two components may well call theirs the same."""
    names = [each.name for each in found]
    return [
        each
        if names.count(each.name) == 1
        else msgspec.structs.replace(each, name=f"{each.owner}-{each.name}")
        for each in found
    ]


# -- SparkApplication: a driver and executors that are not written as pods -----------------------------------

_MIB = 1024**2
_JVM_SIZES = {"": 1 / _MIB, "b": 1 / _MIB, "k": 1 / 1024, "m": 1, "g": 1024, "t": 1024**2, "p": 1024**3}
_JVM_SIZE = re.compile(r"(\d+)\s*([bkmgtp]?)b?", re.IGNORECASE)
_LEAST_OVERHEAD = 384
_POD_FIELDS = ("nodeSelector", "affinity", "tolerations", "schedulerName", "priorityClassName", "volumes")


_SPARK_PLACES = Places(
    node_selector="nodeSelector",
    tolerations="tolerations",
    gates="template.spec.schedulingGates",
    labels="labels",
    annotations="annotations",
)


def _spark(root: Place, around: Surroundings) -> list[PodSet]:
    del around
    spec = at(root, "spec")
    dynamic = at(spec, "dynamicAllocation")
    executors = number(spec, "executor.instances", 1)
    if at(dynamic, "enabled").value:
        executors = number(dynamic, "initialExecutors", number(dynamic, "minExecutors", executors))
    return [
        _spark_pods(spec, "driver", "{job}-driver", 1),
        _spark_pods(spec, "executor", "{job}-exec-{member}", executors),
    ]


def _spark_pods(spec: Place, role: str, pod_name: str, count: int) -> PodSet:
    part = at(spec, role)
    requests: Document = {
        "cpu": text(part, "coreRequest") or str(number(part, "cores", 1)),
        "memory": f"{_memory(spec, part)}Mi",
    }
    limits: Document = {"memory": requests["memory"]}
    if core_limit := text(part, "coreLimit"):
        limits["cpu"] = core_limit
    if device := text(part, "gpu.name"):
        limits[device] = requests[device] = str(number(part, "gpu.quantity", 0))
    base = mapping(part, "template")
    pod = dict(base.get("spec") or {})
    pod |= {
        field: part.value[field]
        for field in _POD_FIELDS
        if isinstance(part.value, dict) and field in part.value
    }
    for field in ("nodeSelector", "tolerations"):
        if at(spec, field).value is not None:
            pod.setdefault(field, at(spec, field).value)
    if name := text(spec, "batchSchedulerOptions.priorityClassName"):
        pod.setdefault("priorityClassName", name)
    container = {
        "name": f"spark-kubernetes-{role}",
        "image": text(part, "image") or text(spec, "image"),
        "resources": {"requests": requests, "limits": limits},
    }
    others = [each for each in pod.get("containers") or () if each.get("name") != container["name"]]
    template = {
        "metadata": {"labels": mapping(part, "labels"), "annotations": mapping(part, "annotations")},
        "spec": {**pod, "containers": [container, *others]},
    }
    rule = PodSetRule(name=role, pod_name=pod_name, labels={"spark-role": role, "spark-app-name": "{job}"})
    return PodSet(
        name=role,
        template=template,
        path=part.path,
        factors=(count,),
        rule=rule,
        written=Written(part.path, places=_SPARK_PLACES),
    )


def _memory(spec: Place, part: Place) -> int:
    """MiB that the pod asks for: the heap and what Spark adds to it."""
    heap = _jvm_size(part, "memory", "1g")
    if at(part, "memoryOverhead").value is not None:
        return heap + _jvm_size(part, "memoryOverhead", "0")
    compiled = text(spec, "type", "Scala") in ("Java", "Scala")
    return heap + max(math.ceil(heap * _share(spec, 0.1 if compiled else 0.4)), _LEAST_OVERHEAD)


def _share(spec: Place, default: float) -> float:
    found = at(spec, "memoryOverheadFactor")
    if found.value is None:
        return default
    try:
        share = float(found.value)
    except (TypeError, ValueError):
        share = -1.0
    if not 0 <= share <= 100:
        raise InvalidObject(
            found.path, found.value, f'expected a share such as "0.1", got {shown(found.value)}'
        )
    return share


def _jvm_size(part: Place, path: str, default: str) -> int:
    found = at(part, path)
    written = text(part, path, default)
    match = _JVM_SIZE.fullmatch(written.strip())
    if match is None:
        raise InvalidObject(found.path, written, f"expected a size such as 512m or 4g, got {shown(written)}")
    return math.ceil(int(match[1]) * _JVM_SIZES[match[2].lower()])


READERS: dict[str, Callable[[Place, Surroundings], list[PodSet]]] = {
    "leader_worker_set": _leader_worker_set,
    "ray_submitter": _ray_submitter,
    "train_job": _train_job,
    "app_wrapper": _app_wrapper,
    "spark": _spark,
}
