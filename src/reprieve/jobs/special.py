"""Kinds of jobs that paths alone cannot describe."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from reprieve.jobs import sentences
from reprieve.jobs.kinds import JobKinds
from reprieve.jobs.paths import Place, at, entries, mapping, number, text
from reprieve.jobs.pod_sets import PodSet, Written, described
from reprieve.jobs.ray import ray_cluster, ray_job
from reprieve.jobs.rows import JobKind, PodSetRule
from reprieve.jobs.spark import spark_pod_sets
from reprieve.jobs.workflow import workflow_pod_sets
from reprieve.objects import DEFAULT_NAMESPACE, Document, InvalidObject, kind_key, whole_number

Read = Callable[[Place, JobKind, "Surroundings"], list[PodSet]]


class Surroundings(NamedTuple):
    """What a job may refer to."""

    kinds: JobKinds
    others: Iterable[Document]
    read: Read
    """For a job inside a job."""


Reader = Callable[[Place, Surroundings, JobKind, list[PodSet]], list[PodSet]]


# -- LeaderWorkerSet: each replica is a leader and its workers -----------------------------------------------

_LWS = "leaderworkerset.sigs.k8s.io"
_LEADER = PodSetRule(
    name="leader",
    template="leaderTemplate",
    pod_name="{job}-{index}",
    labels={f"{_LWS}/name": "{job}", f"{_LWS}/group-index": "{index}", f"{_LWS}/worker-index": "0"},
)
_WORKER = PodSetRule(
    name="worker",
    template="workerTemplate",
    pod_name="{job}-{outer}-{member}",
    labels={f"{_LWS}/name": "{job}", f"{_LWS}/group-index": "{outer}", f"{_LWS}/worker-index": "{member}"},
)
_ALIKE = PodSetRule(
    template="workerTemplate",
    pod_name="{job}-{place}",
    labels={f"{_LWS}/name": "{job}", f"{_LWS}/group-index": "{outer}", f"{_LWS}/worker-index": "{inner}"},
)


def _leader_worker_set(root: Place, *_: object) -> list[PodSet]:
    return _crew(root, "spec")


def _crew(root: Place, spec: str) -> list[PodSet]:
    """Where leaders have no template of their own, leader and workers are one pod set (Kueue:
    pkg/controller/jobs/leaderworkerset, podSets)."""
    replicas = number(root, f"{spec}.replicas", 1)
    part = at(root, f"{spec}.leaderWorkerTemplate")
    size = number(part, "size", 1)
    if at(part, "leaderTemplate").value is None:
        one = described(part, _ALIKE, replicas, size)
        return [msgspec.structs.replace(one, former=("leader", "worker"))]
    return [described(part, _LEADER, replicas), described(part, _WORKER, replicas, max(0, size - 1))]


# -- DisaggregatedSet: a LeaderWorkerSet for each role -------------------------------------------------------


def _disaggregated_set(root: Place, *_: object) -> list[PodSet]:
    """As lws' pkg/controllers/disaggregatedset makes them (lws_manager.go, Create), each as often as there
    are slices; a hash of the revision that is part of their names is not known here."""
    slices, found = number(root, "spec.slices", 1), []
    for role in entries(root, "spec.roles[]"):
        name = text(role, "name", role.key)
        for each in _crew(role, "spec"):
            word = name if each.name == "main" else f"{name}-{each.name}"
            factors = (each.factors[0] * slices, *each.factors[1:])
            owner = f"{text(root, 'metadata.name')}-{name}"
            found.append(
                msgspec.structs.replace(each, name=word.lower(), word=word, factors=factors, owner=owner)
            )
    return found


# -- Volcano: a scheduler of its own, unless the job names another one ---------------------------------------


def _volcano_job(root: Place, _around: object, _kind: object, found: list[PodSet]) -> list[PodSet]:
    """As Volcano's createJobPod (pkg/controllers/job/job_controller_util.go)."""
    scheduler = {"schedulerName": text(root, "spec.schedulerName", "volcano")}
    return [
        msgspec.structs.replace(
            each, template={**each.template, "spec": {**scheduler, **each.template["spec"]}}
        )
        for each in found
    ]


# -- TrainJob: the pods are in its runtime -------------------------------------------------------------------

_TRAINER_API = "trainer.kubeflow.org"
RUNTIMES = frozenset({(_TRAINER_API, "ClusterTrainingRuntime"), (_TRAINER_API, "TrainingRuntime")})
"""Kinds that hold the pods of a job and are no jobs themselves."""
_OVERRIDES = "spec.podTemplateOverrides"
_PATCHES = "spec.runtimePatches"
"""What took the place of overrides in Kubeflow Trainer 2.2: they are read, patches are read and written."""
_MANAGER = "reprieve.dev/quota"
"""Patches are keyed by who made them."""
_REPLACED = ("affinity", "priorityClassName", "schedulerName", "runtimeClassName")
_APPENDED = ("tolerations", "schedulingGates", "volumes", "resourceClaims")
_STEP_LABEL = f"{_TRAINER_API}/trainjob-ancestor-step"
_STEP = PodSetRule(
    at="spec.template.spec.replicatedJobs[]",
    name="@name",
    template="template.spec.template",
    count=("replicas", "template.spec.parallelism"),
    pod_name="{job}-{set}-{outer}-{inner}",
    labels={"jobset.sigs.k8s.io/jobset-name": "{job}", "jobset.sigs.k8s.io/replicatedjob-name": "{set}"},
)


def _train_job(root: Place, around: Surroundings, *_: object) -> list[PodSet]:
    runtime = _runtime(root, around)
    nodes = number(root, "spec.trainer.numNodes", number(runtime, "spec.mlPolicy.numNodes", 1))
    found = []
    for part in entries(runtime, _STEP.at):
        step = described(part, _STEP)
        if _trains(part, step):
            template = _with_trainer(step.template, mapping(root, "spec.trainer"))
            step = msgspec.structs.replace(step, factors=(step.factors[0], nodes), template=template)
        template = _overridden(step.template, step.name, root)
        found.append(
            msgspec.structs.replace(step, template=template, written=_patch(step.name, template["spec"]))
        )
    return found


def _patch(step: str, spec: Document) -> Written:
    """Where quota adds to the pods of a step. Its tolerations are the whole list: they replace the others."""
    pod = {"spec": {"tolerations": [*spec["tolerations"]]}} if spec.get("tolerations") else {"spec": {}}
    job = {"name": step, "template": {"spec": {"template": pod}}}
    item = {"manager": _MANAGER, "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": [job]}}}}
    inside = "trainingRuntimeSpec.template.spec.replicatedJobs[0].template.spec.template"
    return Written(_PATCHES, item=item, inside=inside)


def _overridden(template: Document, step: str, root: Place) -> Document:
    """The template with what the job itself adds to it, and quota through the job."""
    spec, meta = dict(template["spec"]), dict(template.get("metadata") or {})
    for part, is_patch in _changes(step, root):
        own = mapping(part, "spec")
        spec |= {field: own[field] for field in _REPLACED if own.get(field) is not None}
        spec["nodeSelector"] = {**(spec.get("nodeSelector") or {}), **mapping(part, "spec.nodeSelector")}
        if is_patch and own.get("tolerations"):
            spec["tolerations"] = []
        for field in _APPENDED:
            spec[field] = [*(spec.get(field) or ()), *(own.get(field) or ())]
        for field in ("labels", "annotations"):
            meta[field] = {**(meta.get(field) or {}), **mapping(part, f"metadata.{field}")}
    return {**template, "metadata": meta, "spec": spec}


def _changes(step: str, root: Place) -> Iterator[tuple[Place, bool]]:
    """What the job says about the pods of a step, each part with `metadata` and `spec`; and whether it is a
    patch."""
    for part in entries(root, f"{_OVERRIDES}[]"):
        if any(mapping(target, "").get("name") == step for target in entries(part, "targetJobs[]")):
            yield part, False
    for patch in entries(root, f"{_PATCHES}[]"):
        for job in entries(patch, "trainingRuntimeSpec.template.spec.replicatedJobs[]"):
            if mapping(job, "").get("name") == step:
                yield at(job, "template.spec.template"), True


def _runtime(root: Place, around: Surroundings) -> Place:
    kind = text(root, "spec.runtimeRef.kind", "ClusterTrainingRuntime")
    name = text(root, "spec.runtimeRef.name")
    namespace = text(root, "metadata.namespace", DEFAULT_NAMESPACE)
    for each in around.others:
        meta = each.get("metadata") or {}
        near = kind == "ClusterTrainingRuntime" or (meta.get("namespace") or DEFAULT_NAMESPACE) == namespace
        if kind_key(each) == (_TRAINER_API, kind) and meta.get("name") == name and near:
            return Place(f"{kind}/{name}: ", each)
    message = sentences.no_such_runtime(kind, name)
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


def _app_wrapper(root: Place, around: Surroundings, *_: object) -> list[PodSet]:
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
    wrapper, words = text(root, "metadata.name"), _distinct(found)
    return [
        msgspec.structs.replace(each, name=f"{wrapper}-{number}", word=word, former=())
        for number, (each, word) in enumerate(zip(found, words, strict=True))
    ]


def _declared(component: Place, part: Place) -> PodSet:
    """A pod set that the wrapper points to: `template.spec.workers[0].template`."""
    path = re.sub(r"\[(\d+)\]", r".\1", text(part, "path"))
    template = component
    for step in path.split("."):
        value: Any = template.value
        index = whole_number(step)
        if isinstance(value, list) and index is not None and index < len(value):
            template = Place(f"{template.path}[{step}]", value[index])
        elif isinstance(value, dict) and step in value:
            template = Place(f"{template.path}.{step}", value[step])
        else:
            raise InvalidObject(f"{part.path}.path", path, sentences.nothing_at(step))
    rule = PodSetRule(name=f"pods-{part.key}", template="", pod_name="{job}-{set}-{index}")
    return described(template, rule, number(part, "replicas", 1))


def _distinct(found: list[PodSet]) -> list[str]:
    """Words for the pods of each pod set; two components may well use the same."""
    words = [each.word or each.name for each in found]
    return [
        word if words.count(word) == 1 else f"{each.owner}-{word}"
        for each, word in zip(found, words, strict=True)
    ]


READERS: dict[str, Reader] = {
    "disaggregated_set": _disaggregated_set,
    "leader_worker_set": _leader_worker_set,
    "ray_cluster": ray_cluster,
    "ray_job": ray_job,
    "train_job": _train_job,
    "app_wrapper": _app_wrapper,
    "volcano_job": _volcano_job,
    "workflow": lambda root, *_: workflow_pod_sets(root),
    "spark": lambda root, *_: spark_pod_sets(root),
}
"""What completes or makes the pod sets that the rules of the table find."""
