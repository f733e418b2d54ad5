"""The Workload and the PodGroup of a job that says how it wants to be scheduled (`spec.scheduling`).

As Kubernetes' job controller with the gate WorkloadWithJob: a job without a controller of its own, whose pods
name no group, gets a Workload with one template and a PodGroup made from it; both go with the job. Its pods
join the group. While the job exists only the size of the gang follows it.
"""

from reprieve.objects import Document, well_known
from reprieve.server.api import Api
from reprieve.server.errors import ApiError

WORKLOADS, POD_GROUPS = "workloads.scheduling.k8s.io", "podgroups.scheduling.k8s.io"
TEMPLATE = "pods"
_API_VERSION = f"{well_known.SCHEDULING_API}/v1beta1"


def wants_group(job: Document) -> bool:
    """Whether the job asks for a group, and nobody else makes one."""
    spec = job.get("spec") or {}
    if not spec.get("scheduling") or ((spec.get("template") or {}).get("spec") or {}).get("schedulingGroup"):
        return False
    owners = job["metadata"].get("ownerReferences") or ()
    return not any(owner.get("controller") for owner in owners)


def group_fields(job: Document) -> Document:
    """What the job says about its group, as a template has it; without a policy it is a basic group."""
    spec = job["spec"]
    wanted, pod = spec["scheduling"], (spec.get("template") or {}).get("spec") or {}
    policy = wanted.get("schedulingPolicy") or {"basic": {}}
    if "gang" in policy:
        policy = {"gang": {"minCount": _size(job)}}
    fields: Document = {"schedulingPolicy": policy}
    for name in ("schedulingConstraints", "disruptionMode", "resourceClaims"):
        if wanted.get(name):
            fields[name] = wanted[name]
    if pod.get("priorityClassName"):
        fields["priorityClassName"] = pod["priorityClassName"]
    return fields


def _size(job: Document) -> int:
    """How many pods must start together: what the gang says, or as many as run at once."""
    spec = job["spec"]
    stated = (spec["scheduling"]["schedulingPolicy"]["gang"] or {}).get("minCount")
    parallelism, completions = spec.get("parallelism", 1), spec.get("completions")
    at_once = parallelism if completions is None else min(parallelism, completions)
    return max(1, int(at_once if stated is None else stated))


async def ensure_group(api: Api, job: Document, manager: str) -> str:
    """The name of the group that the job's pods join, made if it is not there; empty for none."""
    if not wants_group(job):
        return ""
    name, fields = job["metadata"]["name"], group_fields(job)
    reference = {"apiGroup": "batch", "kind": "Job", "name": name}
    workload = {"controllerRef": reference, "podGroupTemplates": [{"name": TEMPLATE, **fields}]}
    group = {"workloadRef": {"workloadName": name, "templateName": TEMPLATE}, **fields}
    for resource, kind, spec in ((WORKLOADS, "Workload", workload), (POD_GROUPS, "PodGroup", group)):
        stored = api.peek(resource, name, job["metadata"]["namespace"])
        if stored is None:
            await _create(api, resource, _document(job, kind, spec), manager)
        else:
            await _resize(api, resource, stored, fields, manager)
    return str(name)


async def _create(api: Api, resource: str, document: Document, manager: str) -> None:
    try:
        await api.create(resource, document, manager=manager)
    except ApiError as error:
        if error.reason != "AlreadyExists":
            raise


async def _resize(api: Api, resource: str, stored: Document, fields: Document, manager: str) -> None:
    """Only the size of a gang may change; a group that somebody else made stays as it is."""
    sections = stored["spec"].get("podGroupTemplates") or [stored["spec"]]
    gang, wanted = sections[0]["schedulingPolicy"].get("gang"), fields["schedulingPolicy"].get("gang")
    if gang is None or wanted is None or gang == wanted:
        return
    policy = {"schedulingPolicy": {"gang": wanted}}
    spec = {"podGroupTemplates": [{**sections[0], **policy}]} if resource == WORKLOADS else policy
    meta = stored["metadata"]
    await api.patch(resource, meta["name"], {"spec": spec}, meta["namespace"], manager=manager)


def _document(job: Document, kind: str, spec: Document) -> Document:
    meta = job["metadata"]
    owner = {
        "apiVersion": "batch/v1", "kind": "Job", "name": meta["name"], "uid": meta["uid"],
        "controller": True, "blockOwnerDeletion": True,
    }  # fmt: skip
    named = {"name": meta["name"], "namespace": meta["namespace"], "ownerReferences": [owner]}
    return {"apiVersion": _API_VERSION, "kind": kind, "metadata": named, "spec": spec}
