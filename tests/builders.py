"""Kubernetes and Kueue objects in one line each: plain documents, as somebody would write them in a manifest.

All builders follow the same rules:

- The name, the number that matters most and the priority may be positional, everything else is named.
- What no parameter stands for is a field of the spec, under its own name: `pod("p", hostNetwork=True)`.
- A `priority` that is a number is `priority`; one that is a word is `priorityClassName`.
- `status` and `metadata` come on top of what the object usually has there: `metadata={"uid": "u"}`.

A folder that always means the same defaults says so once: `pod = partial(builders.pod, namespace="ml")`.
Typed views come from `views`, that is, through the door that every object of Reprieve comes through.
"""

from typing import Any

from reprieve.objects.decode import decode

Document = dict[str, Any]
START = "2026-01-01T00:00:00Z"
API_VERSIONS = {
    "Pod": "v1",
    "Node": "v1",
    "Namespace": "v1",
    "ConfigMap": "v1",
    "Service": "v1",
    "ReplicationController": "v1",
    "ReplicaSet": "apps/v1",
    "StatefulSet": "apps/v1",
    "Job": "batch/v1",
    "PodDisruptionBudget": "policy/v1",
    "PriorityClass": "scheduling.k8s.io/v1",
    "PodGroup": "scheduling.k8s.io/v1beta1",
    "CompositePodGroup": "scheduling.k8s.io/v1alpha3",
}
KUEUE = "kueue.x-k8s.io/v1beta2"
"""Of every kind that is not in the table."""


def document(
    kind: str,
    name: str,
    namespace: str = "",
    *,
    labels: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
    metadata: Document | None = None,
    **parts: Any,
) -> Document:
    """Any object. Parts that are None, and labels and annotations that are empty, are left out."""
    assert "spec" not in (parts.get("spec") or {}), "fields of the spec are named one by one"
    meta = {"name": name, "namespace": namespace, "labels": labels, "annotations": annotations}
    return {
        "apiVersion": API_VERSIONS.get(kind, KUEUE),
        "kind": kind,
        "metadata": {**{key: value for key, value in meta.items() if value}, **(metadata or {})},
        **{part: body for part, body in parts.items() if body is not None},
    }


def views(*documents: Document) -> list[Any]:
    """The typed views of these documents."""
    return [decode(each) for each in documents]


def view(document: Document) -> Any:
    """The typed view of one document."""
    return decode(document)


# Nodes and pods


def node(
    name: str = "n",
    cpu: int | str = 4,
    *,
    memory: int | str | None = "64Gi",
    pods: int | str = 110,
    labels: dict[str, str] | None = None,
    zone: str = "",
    annotations: dict[str, str] | None = None,
    allocatable: dict[str, str] | None = None,
    metadata: Document | None = None,
    status: Document | None = None,
    **spec: Any,
) -> Document:
    """`labels` come on top of the host name's; `allocatable` and `status` on top of what the numbers say."""
    amounts = {**_amounts(cpu=cpu, memory=memory, pods=pods), **(allocatable or {})}
    place = {"topology.kubernetes.io/zone": zone} if zone else {}
    return document(
        "Node",
        name,
        labels={"kubernetes.io/hostname": name, **place, **(labels or {})},
        annotations=annotations,
        metadata=metadata,
        spec=spec or None,
        status={"allocatable": amounts, "capacity": amounts, **(status or {})},
    )


def pod(
    name: str = "p",
    cpu: int | str | None = 1,
    priority: int | str | None = None,
    *,
    memory: int | str | None = None,
    on: str = "",
    group: str = "",
    start: str = START,
    owner: str = "",
    namespace: str = "default",
    labels: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
    image: str = "i",
    metadata: Document | None = None,
    status: Document | None = None,
    **spec: Any,
) -> Document:
    """A pod that runs `on` a node since `start`, or one that waits; `owner` is the Job that made it. Unless
    it is given labels it has the label `app`, its name up to the first dash: `web-0` and `web-1` belong
    together.
    """
    body = {**_priority(priority), "containers": [container(cpu, memory=memory, image=image)]}
    if on:
        body["nodeName"] = on
    if group:
        body["schedulingGroup"] = {"podGroupName": group}
    usual = {"phase": "Running", "startTime": start} if on else {"phase": "Pending"}
    owned = {"ownerReferences": [owned_by("Job", owner)]} if owner else {}
    return document(
        "Pod",
        name,
        namespace,
        labels={"app": name.split("-")[0]} if labels is None else labels,
        annotations=annotations,
        metadata={**owned, **(metadata or {})},
        spec={**body, **spec},
        status={**usual, **(status or {})},
    )


def terminating(pod: Document, since: str = "2026-01-02T00:00:00Z") -> Document:
    """The same pod, deleted and not yet gone."""
    return {**pod, "metadata": {**pod["metadata"], "deletionTimestamp": since}}


def container(
    cpu: int | str | None = 1, *, name: str = "c", image: str = "i", memory: int | str | None = None
) -> Document:
    requests = _amounts(cpu=cpu, memory=memory)
    body: Document = {"name": name, "image": image}
    return {**body, "resources": {"requests": requests}} if requests else body


def pod_group(
    name: str = "g",
    minimum: int | None = 1,
    priority: int | str | None = None,
    *,
    mode: str = "",
    namespace: str = "default",
    metadata: Document | None = None,
    labels: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
    status: Document | None = None,
    **spec: Any,
) -> Document:
    """A gang of at least `minimum` pods; without one (None) a basic group. `mode`: single or all."""
    policy: Document = {"basic": {}} if minimum is None else {"gang": {"minCount": minimum}}
    body = {"schedulingPolicy": policy, **_priority(priority)}
    if mode:
        body["disruptionMode"] = {mode: {}}
    return document(
        "PodGroup",
        name,
        namespace,
        labels=labels,
        annotations=annotations,
        metadata=metadata,
        spec={**body, **spec},
        status=status,
    )


def composite(
    name: str = "tree",
    minimum: int | None = 1,
    priority: int | str | None = None,
    *,
    parent: str = "",
    key: str = "",
    mode: str = "",
    namespace: str = "default",
    metadata: Document | None = None,
    annotations: dict[str, str] | None = None,
) -> Document:
    """A composite group of at least `minimum` children; without one (None) a basic one. `key`: of a label."""
    policy: Document = {"basic": {}} if minimum is None else {"gang": {"minGroupCount": minimum}}
    body = {
        "schedulingPolicy": policy,
        "workloadRef": {"workloadName": "w", "templateName": name},
        **_priority(priority),
        **below(parent, name),
        **in_one(key),
    }
    if mode:
        body["disruptionMode"] = {mode: {}}
    return document(
        "CompositePodGroup", name, namespace, metadata=metadata, annotations=annotations, spec=body
    )


def below(parent: str, template: str = "t") -> Document:
    """The fields of a group in a tree; none for a group on its own."""
    if not parent:
        return {}
    reference = {"workloadName": "w", "templateName": template}
    return {"parentCompositePodGroupName": parent, "workloadRef": reference}


def in_one(key: str) -> Document:
    """The field of a group that stays in one domain of a label; none without a label."""
    return {"schedulingConstraints": {"topology": [{"key": key}]}} if key else {}


def gang(
    size: int,
    cpu: int | str = 2,
    priority: int | str | None = None,
    *,
    name: str = "gang",
    minimum: int | None = None,
    namespace: str = "default",
    group: Document | None = None,
    **each: Any,
) -> list[Document]:
    """A group that needs all of its pods (or `minimum`), and the pods: `gang-0`, `gang-1` and so on. `group`
    has more of the group's spec; the rest goes to each pod.
    """
    common: Document = {"priority": priority, "namespace": namespace}
    return [
        pod_group(name, size if minimum is None else minimum, **common, **(group or {})),
        *(pod(f"{name}-{i}", cpu, group=name, **common, **each) for i in range(size)),
    ]


def budget(
    name: str = "b",
    allowed: int | None = None,
    *,
    match: dict[str, str] | None = None,
    namespace: str = "default",
    **spec: Any,
) -> Document:
    """For the pods whose label `app` is the budget's name, unless `match` says which."""
    selector = {"matchLabels": {"app": name} if match is None else match}
    status = None if allowed is None else {"disruptionsAllowed": allowed}
    return document(
        "PodDisruptionBudget", name, namespace, spec={"selector": selector, **spec}, status=status
    )


def priority_class(name: str, value: int, **more: Any) -> Document:
    return document("PriorityClass", name, value=value, **more)


def job(
    name: str = "j",
    cpu: int | str | None = 1,
    *,
    count: int | None = None,
    queue: str = "",
    namespace: str = "default",
    labels: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
    metadata: Document | None = None,
    pod: Document | None = None,
    **spec: Any,
) -> Document:
    """`count` pods, all at once; in a `queue` it begins suspended. `pod` has more of the pods' spec, and
    `annotations` are theirs.
    """
    body: Document = {"restartPolicy": "Never", "containers": [container(cpu)], **(pod or {})}
    template = {**({"metadata": {"annotations": annotations}} if annotations else {}), "spec": body}
    counts = {} if count is None else {"parallelism": count, "completions": count}
    queued = {"kueue.x-k8s.io/queue-name": queue} if queue else {}
    suspended = {"suspend": True} if queue else {}
    return document(
        "Job",
        name,
        namespace,
        labels={**queued, **(labels or {})},
        metadata=metadata,
        spec={**suspended, **counts, "template": template, **spec},
    )


# Kueue


def kueue(kind: str, name: str, spec: Document | None = None, **metadata: Any) -> Document:
    """Any object of Kueue."""
    return document(kind, name, metadata=metadata, spec=spec)


def flavor(name: str = "default", **spec: Any) -> Document:
    return document("ResourceFlavor", name, spec=spec or None)


def cluster_queue(
    name: str = "cq",
    nominal: int | str = 4,
    *,
    flavors: tuple[str, ...] = ("default",),
    cohort: str = "",
    **spec: Any,
) -> Document:
    """So much cpu in each of the flavors, open to every namespace."""
    quota = {"resources": [{"name": "cpu", "nominalQuota": str(nominal)}]}
    groups = [{"coveredResources": ["cpu"], "flavors": [{"name": each, **quota} for each in flavors]}]
    body: Document = {"namespaceSelector": {}, "resourceGroups": groups}
    if cohort:
        body["cohortName"] = cohort
    return document("ClusterQueue", name, spec={**body, **spec})


def local_queue(name: str = "main", cluster_queue: str = "cq", *, namespace: str = "default") -> Document:
    return document("LocalQueue", name, namespace, spec={"clusterQueue": cluster_queue})


def workload(
    name: str = "w",
    cpu: int | str | None = 1,
    priority: int | None = None,
    *,
    count: int = 1,
    queue: str = "main",
    namespace: str = "default",
    metadata: Document | None = None,
    status: Document | None = None,
    **spec: Any,
) -> Document:
    """One set of pods, `main`, each of which needs so much cpu."""
    template = {"spec": {"restartPolicy": "Never", "containers": [container(cpu)]}}
    sets = [{"name": "main", "count": count, "template": template}]
    body = {"queueName": queue, **_priority(priority), "podSets": sets}
    return document("Workload", name, namespace, metadata=metadata, spec={**body, **spec}, status=status)


def reserved(workload: Document, cluster_queue: str = "cq", flavor: str = "default") -> Document:
    """The same workload with quota for all of its pods."""
    (pods,) = workload["spec"]["podSets"]
    requests = pods["template"]["spec"]["containers"][0]["resources"]["requests"]
    usage = {name: str(int(amount) * pods["count"]) for name, amount in requests.items()}
    assigned = {"name": "main", "count": pods["count"], "flavors": dict.fromkeys(usage, flavor)}
    holds = {"type": "QuotaReserved", "status": "True", "reason": "QuotaReserved", "message": ""}
    admission = {"clusterQueue": cluster_queue, "podSetAssignments": [{**assigned, "resourceUsage": usage}]}
    return {**workload, "status": {"conditions": [holds], "admission": admission}}


# Parts


def owned_by(kind: str, name: str, uid: str = "u") -> Document:
    """The reference to the controller that made an object."""
    return {"apiVersion": API_VERSIONS[kind], "kind": kind, "name": name, "uid": uid, "controller": True}


def _amounts(**amounts: int | str | None) -> dict[str, str]:
    return {name: str(amount) for name, amount in amounts.items() if amount is not None}


def _priority(priority: int | str | None) -> Document:
    if priority is None:
        return {}
    return {"priorityClassName" if isinstance(priority, str) else "priority": priority}
