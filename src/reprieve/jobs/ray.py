"""Ray: what KubeRay adds to the head that a cluster describes, and the pod that submits a RayJob."""

from contextlib import suppress
from typing import Final

import msgspec

from reprieve.jobs.paths import Place, at, mapping, text
from reprieve.jobs.pod_sets import PodSet, Written, described
from reprieve.jobs.rows import JobKind, PodSetRule
from reprieve.objects import Document, QuantityError, exact, raw

_SUBMITTER = PodSetRule(name="submitter", template="submitterPodTemplate", pod_name="{job}-submitter")
_SUBMITTER_NAME: Final = "ray-job-submitter"
_SUBMITTER_RESOURCES: Document = {
    "requests": {"cpu": "500m", "memory": "200Mi"},
    "limits": {"cpu": "1", "memory": "1Gi"},
}
"""What KubeRay gives it where the job says nothing; it runs the image of the head."""
_AUTOSCALER: Document = {"cpu": "500m", "memory": "512Mi"}
_REDIS_CLEANUP: Document = {"cpu": "200m", "memory": "256Mi"}


def ray_cluster(root: Place, _around: object, kind: JobKind, found: list[PodSet]) -> list[PodSet]:
    """The head has a container more for autoscaling. When Ray keeps its state in Redis a Job cleans that up
    once the head is gone: quota is asked for the larger of the two. As in Kueue's
    pkg/controller/jobs/raycluster/common.go, BuildPodSets."""
    if not found or found[0].name != "head":
        return found
    cluster, [head, *workers] = _cluster(root, kind), found
    if at(cluster, "enableInTreeAutoscaling").value:
        options = mapping(cluster, "autoscalerOptions")
        resources = options.get("resources")
        if resources is None:
            resources = {"requests": _AUTOSCALER, "limits": _AUTOSCALER}
        image = options.get("image") or _image(head.template)
        head = _with_container(head, {"name": "autoscaler", "image": image, "resources": resources})
    annotations = mapping(root, "metadata.annotations")
    fault_tolerant = str(annotations.get("ray.io/ft-enabled") or "").lower() == "true"
    if fault_tolerant or at(cluster, "gcsFaultToleranceOptions").value is not None:
        head = msgspec.structs.replace(head, counted=_at_least(head.template, _REDIS_CLEANUP))
    return [head, *workers]


def ray_job(root: Place, around: object, kind: JobKind, found: list[PodSet]) -> list[PodSet]:
    """A pod submits the job, or a container of the head (`SidecarMode`), or neither. As in Kueue's
    pkg/controller/jobs/rayjob/rayjob_controller.go: PodSets, addSidecarSubmitterToHeadPodSet."""
    sets, cluster = ray_cluster(root, around, kind, found), _cluster(root, kind)
    spec = at(root, kind.pod_sets[0].at.rpartition(".")[0].rpartition(".")[0])
    mode = text(spec, "submissionMode", "K8sJobMode")
    if mode == "SidecarMode" and sets:
        container = _submitter(_image(sets[0].template))
        return [_with_container(sets[0], container), *sets[1:]]
    if mode != "K8sJobMode":
        return sets
    if at(spec, "submitterPodTemplate").value is not None:
        return [*sets, described(spec, _SUBMITTER, 1)]
    image = _image(mapping(cluster, "headGroupSpec.template"))
    pod = {"spec": {"restartPolicy": "Never", "containers": [_submitter(image)]}}
    written = Written(f"{spec.path}.submitterPodTemplate", whole=True)
    submitter = PodSet(
        name="submitter", template=pod, path=spec.path, factors=(1,), rule=_SUBMITTER, written=written
    )
    return [*sets, submitter]


def _cluster(root: Place, kind: JobKind) -> Place:
    return at(root, kind.pod_sets[0].at.rpartition(".")[0])


def _submitter(image: str) -> Document:
    return {"name": _SUBMITTER_NAME, "resources": _SUBMITTER_RESOURCES, "image": image}


def _image(template: Document) -> str:
    first = raw.items(template, "spec", "containers")[:1]
    return str(raw.at(first[0], "image", default="")) if first else ""


def _with_container(pod_set: PodSet, container: Document) -> PodSet:
    """The same pods with one container more. Quota counts it too."""

    def added(template: Document) -> Document:
        spec = template["spec"]
        return {**template, "spec": {**spec, "containers": [*(spec.get("containers") or ()), container]}}

    counted = added(pod_set.counted) if pod_set.counted is not None else None
    own = pod_set.written_template or pod_set.template
    return msgspec.structs.replace(
        pod_set, template=added(pod_set.template), counted=counted, written_template=own
    )


def _at_least(template: Document, least: Document) -> Document:
    """The template whose first container requests no less of anything."""
    first, *others = template["spec"].get("containers") or [{}]
    requests = dict(raw.mapping(first, "resources", "requests"))
    for name, amount in least.items():
        with suppress(QuantityError):  # whoever checks the template says so
            if name not in requests or exact(requests[name]) < exact(amount):
                requests[name] = amount
    resources = {**raw.mapping(first, "resources"), "requests": requests}
    containers = [{**first, "resources": resources}, *others]
    return {**template, "spec": {**template["spec"], "containers": containers}}
