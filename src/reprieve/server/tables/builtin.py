"""The columns of built-in kinds, as data; a kind that is not here shows its name and its age."""

from collections.abc import Callable
from datetime import datetime

from reprieve.admission import is_default
from reprieve.objects import Document, condition_of, has_condition, well_known
from reprieve.server.documents import at, items
from reprieve.server.tables.column import (
    NONE,
    SELECTOR,
    Cell,
    Column,
    columns,
    containers,
    join,
    labels,
    selector_text,
    since,
)
from reprieve.server.tables.workloads import (
    POD_COLUMNS,
    job_completions,
    job_duration,
    job_status,
    last_schedule,
    ready_of_wanted,
)

ROLE_PREFIX = "node-role.kubernetes.io/"
SHORT_MODES = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}


def node_status(doc: Document, _: datetime) -> str:
    ready = condition_of(doc, well_known.READY)
    word = "Unknown" if not ready else ("Ready" if ready.get("status") == "True" else "NotReady")
    return f"{word},SchedulingDisabled" if at(doc, "spec", "unschedulable") else word


def roles(doc: Document, _: datetime) -> str:
    found = set()
    for key, value in at(doc, "metadata", "labels", default={}).items():
        if key.startswith(ROLE_PREFIX) and key != ROLE_PREFIX:
            found.add(key.removeprefix(ROLE_PREFIX))
        elif key == "kubernetes.io/role" and value:
            found.add(value)
    return join(sorted(found)) or NONE


def _address(type: str) -> Cell:
    def cell(doc: Document, _: datetime) -> str:
        addresses = at(doc, "status", "addresses", default=())
        return next((str(a.get("address")) for a in addresses if a.get("type") == type), NONE)

    return cell


def last_seen(doc: Document, now: datetime) -> str:
    stamps = (doc.get(key) for key in ("lastTimestamp", "deprecatedLastTimestamp", "eventTime"))
    seen = at(doc, "series", "lastObservedTime") or next((stamp for stamp in stamps if stamp), None)
    return since(seen or at(doc, "metadata", "creationTimestamp"), now)


def first_seen(doc: Document, now: datetime) -> str:
    first = doc.get("firstTimestamp") or doc.get("deprecatedFirstTimestamp")
    return since(first or doc.get("eventTime"), now)


def event_object(doc: Document, _: datetime) -> str:
    involved = doc.get("involvedObject") or doc.get("regarding") or {}
    kind, name = str(involved.get("kind", "")).lower(), involved.get("name", "")
    return f"{kind}/{name}" if name else kind


def event_source(doc: Document, _: datetime) -> str:
    source = doc.get("source") or doc.get("deprecatedSource") or {}
    reporter = doc.get("reportingComponent") or doc.get("reportingController", "")
    host = source.get("host") or ("" if source.get("component") else doc.get("reportingInstance", ""))
    parts = [source.get("component") or reporter, host]
    return ", ".join(part for part in parts if part)


def event_count(doc: Document, _: datetime) -> int:
    return int(at(doc, "series", "count") or doc.get("count") or doc.get("deprecatedCount") or 1)


def message(doc: Document, _: datetime) -> str:
    return str(doc.get("message") or doc.get("note") or "").strip()


_EVENT = columns(
    "Last Seen=* | Type=.type | Reason=.reason | Object=* | +Subobject=.involvedObject.fieldPath | +Source=*"
    " | Message=* | +First Seen=* | +Count=* | +Name",
    last_seen,
    event_object,
    event_source,
    message,
    first_seen,
    event_count,
)


def served_versions(doc: Document, _: datetime) -> str:
    def one(version: Document) -> str:
        marks = [word for word in ("storage", "deprecated") if version.get(word)]
        return str(version.get("name", "")) + (f"({','.join(marks)})" if marks else "")

    return join(one(each) for each in items(doc, "spec", "versions") if each.get("served"))


def role(doc: Document, _: datetime) -> str:
    return f"{at(doc, 'roleRef', 'kind', default='')}/{at(doc, 'roleRef', 'name', default='')}"


def _subjects(kind: str) -> Cell:
    def cell(doc: Document, _: datetime) -> str:
        found = [s for s in doc.get("subjects") or () if s.get("kind") == kind]
        return ", ".join(
            f"{s.get('namespace', '')}/{s.get('name')}" if kind == "ServiceAccount" else str(s.get("name"))
            for s in found
        )

    return cell


_CREATED = columns("Name | Created At=.metadata.creationTimestamp@date")
_BINDING = columns(
    "Name | Role=* | Age | +Users=* | +Groups=* | +ServiceAccounts=*",
    role,
    _subjects("User"),
    _subjects("Group"),
    _subjects("ServiceAccount"),
)


def data_count(doc: Document, _: datetime) -> int:
    return len(doc.get("data") or ()) + len(doc.get("binaryData") or ())


def ports(doc: Document, _: datetime) -> str:
    def one(port: Document) -> str:
        number = f"{port.get('port')}:{port['nodePort']}" if port.get("nodePort") else str(port.get("port"))
        return f"{number}/{port.get('protocol', 'TCP')}"

    return join(one(p) for p in at(doc, "spec", "ports", default=())) or NONE


def external_ip(doc: Document, _: datetime) -> str:
    found = at(doc, "spec", "externalIPs", default=())
    return join(found) or ("<pending>" if at(doc, "spec", "type") == "LoadBalancer" else NONE)


def _quota(limits: bool) -> Cell:
    """`cpu: 1/10, pods: 3/20`: used of what there is; limits have a column of their own."""

    def cell(doc: Document, _: datetime) -> str:
        hard = at(doc, "status", "hard") or at(doc, "spec", "hard", default={})
        used = at(doc, "status", "used", default={})
        names = [name for name in sorted(hard) if name.startswith("limits") is limits]
        return ", ".join(f"{name}: {used.get(name, 0)}/{hard[name]}" for name in names)

    return cell


def class_name(doc: Document, _: datetime) -> str:
    return str(at(doc, "metadata", "name", default="")) + (" (default)" if is_default(doc) else "")


def access_modes(doc: Document, _: datetime) -> str:
    modes = at(doc, "status", "accessModes") or at(doc, "spec", "accessModes", default=())
    return join(SHORT_MODES.get(mode, mode) for mode in modes)


def claimed_modes(doc: Document, now: datetime) -> str:
    """What a claim has got, not what it asks for."""
    return access_modes(doc, now) if at(doc, "spec", "volumeName") else ""


def claim(doc: Document, _: datetime) -> str:
    reference = at(doc, "spec", "claimRef")
    return f"{reference.get('namespace', '')}/{reference.get('name', '')}" if reference else ""


def _labels(*path: str) -> Cell:
    return lambda doc, _: labels(at(doc, *path))


_TEMPLATE = containers("spec", "template", "spec")
_REPLICATED = (
    *columns(
        "Name | Desired=.spec.replicas:0 | Current=.status.replicas:0 | Ready=.status.readyReplicas:0 | Age"
    ),
    *_TEMPLATE,
)


def policy(doc: Document, _: datetime) -> str:
    gang = at(doc, "spec", "schedulingPolicy", "gang")
    return f"Gang({gang.get('minCount', 1)})" if gang is not None else "Basic"


def disruption(doc: Document, _: datetime) -> str:
    return "All" if at(doc, "spec", "disruptionMode", "all") is not None else "Single"


Placed = Callable[[str, str], int]
"""Namespace and name of a group to the number of its pods that have a node, or have succeeded."""


def _group_status(placed: Placed | None) -> Cell:
    """`Scheduled` while enough pods have a node; the condition only tells that they had one once."""

    def cell(doc: Document, _: datetime) -> str:
        found = condition_of(doc, well_known.POD_GROUP_SCHEDULED)
        if not found:
            return "Pending"
        if found.get("status") != "True":
            return str(found.get("reason", "Pending"))
        if placed is None:
            return "Scheduled"
        meta = doc.get("metadata") or {}
        has = placed(meta.get("namespace", ""), meta.get("name", ""))
        wanted = at(doc, "spec", "schedulingPolicy", "gang", "minCount", default=1)
        return "Scheduled" if has >= wanted else f"{has}/{wanted} placed"

    return cell


def group_columns(placed: Placed | None) -> tuple[Column, ...]:
    return columns(
        "Name | Policy=* | Disruption=* | Priority=.spec.priority:0 | Status=* | Age"
        " | +Priority Class=.spec.priorityClassName?<none> | +Workload=.spec.workloadRef.workloadName?<none>",
        policy,
        disruption,
        _group_status(placed),
    )


def controller(doc: Document, _: datetime) -> str:
    owner = at(doc, "spec", "controllerRef", default={})
    return f"{owner.get('kind', '')}/{owner.get('name', '')}" if owner else NONE


def templates(doc: Document, _: datetime) -> int:
    return len(at(doc, "spec", "podGroupTemplates", default=()))


def _condition(type: str, unknown: str = "") -> Cell:
    return lambda doc, _: condition_of(doc, type).get("status", unknown)


_RBAC, _KUEUE = well_known.RBAC_API, well_known.KUEUE_API
COLUMNS: dict[tuple[str, str], tuple[Column, ...]] = {
    ("", "Pod"): POD_COLUMNS,
    ("", "Node"): columns(
        "Name | Status=* | Roles=* | Age | Version=.status.nodeInfo.kubeletVersion | +Internal-IP=*"
        " | +External-IP=* | +OS-Image=.status.nodeInfo.osImage?<unknown>"
        " | +Kernel-Version=.status.nodeInfo.kernelVersion?<unknown>"
        " | +Container-Runtime=.status.nodeInfo.containerRuntimeVersion?<unknown>",
        node_status,
        roles,
        _address("InternalIP"),
        _address("ExternalIP"),
    ),
    ("", "Namespace"): columns("Name | Status=.status.phase | Age"),
    ("", "Event"): _EVENT,
    ("events.k8s.io", "Event"): _EVENT,
    ("coordination.k8s.io", "Lease"): columns("Name | Holder=.spec.holderIdentity | Age"),
    ("scheduling.k8s.io", "PriorityClass"): columns(
        "Name | Value=.value:0 | Global-Default=.globalDefault:false | Age"
        " | PreemptionPolicy=.preemptionPolicy?PreemptLowerPriority"
    ),
    ("apiextensions.k8s.io", "CustomResourceDefinition"): columns(
        "Name | Scope=.spec.scope | Versions=* | Created At=.metadata.creationTimestamp@date"
        " | +Group=.spec.group | +Kind=.spec.names.kind | +ShortNames=* | +Established=*@boolean",
        served_versions,
        lambda doc, _: join(at(doc, "spec", "names", "shortNames", default=())),
        lambda doc, _: has_condition(doc, "Established"),
    ),
    ("", "LimitRange"): _CREATED,
    (_RBAC, "Role"): _CREATED,
    (_RBAC, "ClusterRole"): _CREATED,
    (_RBAC, "RoleBinding"): _BINDING,
    (_RBAC, "ClusterRoleBinding"): _BINDING,
    ("", "ConfigMap"): columns("Name | Data=* | Age", data_count),
    ("", "Secret"): columns("Name | Type=.type | Data=* | Age", data_count),
    ("", "Service"): columns(
        "Name | Type=.spec.type?ClusterIP | Cluster-IP=.spec.clusterIP?<none> | External-IP=* | Port(s)=*"
        " | Age | +Selector=*",
        external_ip,
        ports,
        _labels("spec", "selector"),
    ),
    ("", "ResourceQuota"): columns("Name | Request=* | Limit=* | Age", _quota(False), _quota(True)),
    ("", "PersistentVolumeClaim"): columns(
        "Name | Status=.status.phase | Volume=.spec.volumeName | Capacity=.status.capacity.storage"
        " | Access Modes=* | StorageClass=.spec.storageClassName"
        " | VolumeAttributesClass=.spec.volumeAttributesClassName?<unset> | Age"
        " | +VolumeMode=.spec.volumeMode?<unset>",
        claimed_modes,
    ),
    ("", "PersistentVolume"): columns(
        "Name | Capacity=.spec.capacity.storage | Access Modes=*"
        " | Reclaim Policy=.spec.persistentVolumeReclaimPolicy | Status=.status.phase | Claim=*"
        " | StorageClass=.spec.storageClassName"
        " | VolumeAttributesClass=.spec.volumeAttributesClassName?<unset> | Reason=.status.reason | Age"
        " | +VolumeMode=.spec.volumeMode?<unset>",
        access_modes,
        claim,
    ),
    ("storage.k8s.io", "StorageClass"): columns(
        "Name=* | Provisioner=.provisioner | ReclaimPolicy=.reclaimPolicy?Delete"
        " | VolumeBindingMode=.volumeBindingMode?Immediate"
        " | AllowVolumeExpansion=.allowVolumeExpansion:false@string | Age",
        class_name,
    ),
    ("node.k8s.io", "RuntimeClass"): columns("Name | Handler=.handler | Age"),
    ("apps", "Deployment"): (
        *columns(
            "Name | Ready=* | Up-to-date=.status.updatedReplicas:0@string"
            " | Available=.status.availableReplicas:0@string | Age",
            ready_of_wanted,
        ),
        *_TEMPLATE,
        SELECTOR,
    ),
    ("apps", "ReplicaSet"): (*_REPLICATED, SELECTOR),
    ("", "ReplicationController"): (*_REPLICATED, *columns("+Selector=*", _labels("spec", "selector"))),
    ("apps", "StatefulSet"): (*columns("Name | Ready=* | Age", ready_of_wanted), *_TEMPLATE),
    ("apps", "DaemonSet"): (
        *columns(
            "Name | Desired=.status.desiredNumberScheduled:0 | Current=.status.currentNumberScheduled:0"
            " | Ready=.status.numberReady:0 | Up-to-date=.status.updatedNumberScheduled:0"
            " | Available=.status.numberAvailable:0 | Node Selector=* | Age",
            _labels("spec", "template", "spec", "nodeSelector"),
        ),
        *_TEMPLATE,
        SELECTOR,
    ),
    ("batch", "Job"): (
        *columns(
            "Name | Status=* | Completions=* | Duration=* | Age", job_status, job_completions, job_duration
        ),
        *_TEMPLATE,
        SELECTOR,
    ),
    ("batch", "CronJob"): (
        *columns(
            "Name | Schedule=.spec.schedule | Timezone=.spec.timeZone?<none> | Suspend=*@boolean"
            " | Active=*@integer | Last Schedule=* | Age",
            lambda doc, _: str(at(doc, "spec", "suspend", default=False)),
            lambda doc, _: len(at(doc, "status", "active", default=())),
            last_schedule,
        ),
        *containers("spec", "jobTemplate", "spec", "template", "spec"),
        *columns(
            "+Selector=*", lambda doc, _: selector_text(at(doc, "spec", "jobTemplate", "spec", "selector"))
        ),
    ),
    ("policy", "PodDisruptionBudget"): columns(
        "Name | Min Available=.spec.minAvailable?N/A | Max Unavailable=.spec.maxUnavailable?N/A"
        " | Allowed Disruptions=.status.disruptionsAllowed:0 | Age"
    ),
    ("scheduling.k8s.io", "Workload"): columns(
        "Name | Controller=* | Templates=*@integer | Age", controller, templates
    ),
    (_KUEUE, "ClusterQueue"): columns(
        "Name | Cohort=.spec.cohortName | +Strategy=.spec.queueingStrategy"
        " | Pending Workloads=.status.pendingWorkloads:0 | +Admitted Workloads=.status.admittedWorkloads:0"
    ),
    (_KUEUE, "LocalQueue"): columns(
        "Name | ClusterQueue=.spec.clusterQueue | Pending Workloads=.status.pendingWorkloads:0"
        " | Admitted Workloads=.status.admittedWorkloads:0"
    ),
    (_KUEUE, "Workload"): columns(
        "Name | Queue=.spec.queueName | Reserved in=.status.admission.clusterQueue | Admitted=* | Finished=*"
        " | Age | +Priority=.spec.priority:0",
        _condition("Admitted"),
        _condition("Finished"),
    ),
    (_KUEUE, "Cohort"): columns("Name | Parent=.spec.parentName | Age"),
    (_KUEUE, "WorkloadPriorityClass"): columns("Name | Value=.value:0 | Age"),
    (_KUEUE, "AdmissionCheck"): columns(
        "Name | Controller=.spec.controllerName | Active=* | Age", _condition("Active")
    ),
    (_KUEUE, "MultiKueueConfig"): columns(
        "Name | Clusters=* | Age", lambda doc, _: join(at(doc, "spec", "clusters", default=()))
    ),
    (_KUEUE, "MultiKueueCluster"): columns("Name | Connected=* | Age", _condition("Active", "Unknown")),
}
