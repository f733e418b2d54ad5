"""Columns of what a cluster is made of: nodes, events, access, configuration, services, volumes."""

from datetime import datetime

from reprieve.objects import Document, condition_of, well_known
from reprieve.server.documents import at, items
from reprieve.server.tables.column import (
    AGE,
    CREATED_AT,
    NAME,
    NONE,
    UNKNOWN,
    Column,
    field,
    join,
    labels,
    selector_text,
    since,
    text,
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


def _address(type: str) -> Column:
    def cell(doc: Document, _: datetime) -> str:
        addresses = at(doc, "status", "addresses", default=())
        return next((str(a.get("address")) for a in addresses if a.get("type") == type), NONE)

    return Column(type.replace("IP", "-IP"), cell, wide=True)


def _info(name: str, key: str, wide: bool = True, default: str = UNKNOWN) -> Column:
    return Column(name, text("status", "nodeInfo", key, default=default), wide=wide)


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


EVENT_COLUMNS = (
    Column("Last Seen", last_seen, description="Time since it was seen last."),
    Column("Type", field("type"), description="Normal or Warning."),
    Column("Reason", field("reason"), description="One word for what happened."),
    Column("Object", event_object, description="What it happened to."),
    Column("Subobject", field("involvedObject", "fieldPath"), wide=True),
    Column("Source", event_source, wide=True),
    Column("Message", message, description="The event in a sentence."),
    Column("First Seen", first_seen, wide=True),
    Column("Count", event_count, wide=True),
    Column("Name", field("metadata", "name"), format="name", wide=True),
)

NODE_COLUMNS = (
    NAME,
    Column("Status", node_status, description="Whether the node takes pods."),
    Column("Roles", roles, description="What the node is for."),
    AGE,
    _info("Version", "kubeletVersion", wide=False, default=""),
    _address("InternalIP"),
    _address("ExternalIP"),
    _info("OS-Image", "osImage"),
    _info("Kernel-Version", "kernelVersion"),
    _info("Container-Runtime", "containerRuntimeVersion"),
)


def served_versions(doc: Document, _: datetime) -> str:
    def one(version: Document) -> str:
        marks = [
            word for word, on in (("storage", "storage"), ("deprecated", "deprecated")) if version.get(on)
        ]
        return str(version.get("name", "")) + (f"({','.join(marks)})" if marks else "")

    return join(one(each) for each in items(doc, "spec", "versions") if each.get("served"))


def short_names(doc: Document, _: datetime) -> str:
    return join(at(doc, "spec", "names", "shortNames", default=()))


def established(doc: Document, _: datetime) -> bool:
    return bool(condition_of(doc, "Established").get("status") == "True")


DEFINITION_COLUMNS = (
    NAME,
    Column("Scope", field("spec", "scope"), description="Whether objects live in namespaces."),
    Column("Versions", served_versions, description="The versions that are served."),
    CREATED_AT,
    Column("Group", field("spec", "group"), wide=True),
    Column("Kind", field("spec", "names", "kind"), wide=True),
    Column("ShortNames", short_names, wide=True),
    Column("Established", established, type="boolean", wide=True),
)


# -- access --------------------------------------------------------------------------------------------------


def role(doc: Document, _: datetime) -> str:
    return f"{at(doc, 'roleRef', 'kind', default='')}/{at(doc, 'roleRef', 'name', default='')}"


def _subjects(name: str, kind: str) -> Column:
    def cell(doc: Document, _: datetime) -> str:
        found = [s for s in doc.get("subjects") or () if s.get("kind") == kind]
        return ", ".join(
            f"{s.get('namespace', '')}/{s.get('name')}" if kind == "ServiceAccount" else str(s.get("name"))
            for s in found
        )

    return Column(name, cell, wide=True)


BINDING_COLUMNS = (
    NAME,
    Column("Role", role, description="The role whose rights are given."),
    AGE,
    _subjects("Users", "User"),
    _subjects("Groups", "Group"),
    _subjects("ServiceAccounts", "ServiceAccount"),
)


# -- configuration, services and volumes ---------------------------------------------------------------------


def data_count(doc: Document, _: datetime) -> int:
    return len(doc.get("data") or ()) + len(doc.get("binaryData") or ())


def ports(doc: Document, _: datetime) -> str:
    def one(port: Document) -> str:
        number = f"{port.get('port')}:{port['nodePort']}" if port.get("nodePort") else str(port.get("port"))
        return f"{number}/{port.get('protocol', 'TCP')}"

    return join(one(p) for p in at(doc, "spec", "ports", default=())) or NONE


def external_ip(doc: Document, _: datetime) -> str:
    ingress = at(doc, "status", "loadBalancer", "ingress", default=())
    addresses = [
        *at(doc, "spec", "externalIPs", default=()),
        *(i.get("ip") or i.get("hostname") for i in ingress),
    ]
    pending = at(doc, "spec", "type") == "LoadBalancer"
    return join(addresses) or ("<pending>" if pending else NONE)


def endpoints(doc: Document, _: datetime) -> str:
    pairs = [
        f"{address.get('ip')}:{port.get('port')}"
        for subset in doc.get("subsets") or ()
        for port in subset.get("ports") or ()
        for address in subset.get("addresses") or ()
    ]
    return join(pairs) or NONE


def quota(doc: Document, limits: bool) -> str:
    """`cpu: 1/10, pods: 3/20`: used of what there is; limits have a column of their own."""
    hard = at(doc, "status", "hard") or at(doc, "spec", "hard", default={})
    used = at(doc, "status", "used", default={})
    names = [name for name in sorted(hard) if name.startswith("limits") is limits]
    return ", ".join(f"{name}: {used.get(name, 0)}/{hard[name]}" for name in names)


def access_modes(doc: Document, _: datetime) -> str:
    modes = at(doc, "status", "accessModes") or at(doc, "spec", "accessModes", default=())
    return join(SHORT_MODES.get(mode, mode) for mode in modes)


def claimed_modes(doc: Document, now: datetime) -> str:
    """What a claim has got, not what it asks for."""
    return access_modes(doc, now) if at(doc, "spec", "volumeName") else ""


def claim(doc: Document, _: datetime) -> str:
    reference = at(doc, "spec", "claimRef")
    return f"{reference.get('namespace', '')}/{reference.get('name', '')}" if reference else ""


CLUSTER_COLUMNS: dict[tuple[str, str], tuple[Column, ...]] = {
    ("", "Node"): NODE_COLUMNS,
    ("", "Namespace"): (NAME, Column("Status", text("status", "phase", default="")), AGE),
    ("", "Event"): EVENT_COLUMNS,
    ("events.k8s.io", "Event"): EVENT_COLUMNS,
    ("", "ServiceAccount"): (NAME, AGE),
    ("coordination.k8s.io", "Lease"): (NAME, Column("Holder", field("spec", "holderIdentity")), AGE),
    ("scheduling.k8s.io", "PriorityClass"): (
        NAME,
        Column("Value", field("value", default=0), type="integer"),
        Column("Global-Default", field("globalDefault", default=False), type="boolean"),
        AGE,
        Column("PreemptionPolicy", text("preemptionPolicy", default="PreemptLowerPriority")),
    ),
    ("apiextensions.k8s.io", "CustomResourceDefinition"): DEFINITION_COLUMNS,
    ("", "LimitRange"): (NAME, CREATED_AT),
    (well_known.RBAC_API, "Role"): (NAME, CREATED_AT),
    (well_known.RBAC_API, "ClusterRole"): (NAME, CREATED_AT),
    (well_known.RBAC_API, "RoleBinding"): BINDING_COLUMNS,
    (well_known.RBAC_API, "ClusterRoleBinding"): BINDING_COLUMNS,
    ("networking.k8s.io", "NetworkPolicy"): (
        NAME,
        Column("Pod-Selector", lambda doc, _: selector_text(at(doc, "spec", "podSelector"))),
        AGE,
    ),
    ("", "ConfigMap"): (NAME, Column("Data", data_count, type="string"), AGE),
    ("", "Secret"): (NAME, Column("Type", field("type")), Column("Data", data_count, type="string"), AGE),
    ("", "Service"): (
        NAME,
        Column("Type", text("spec", "type", default="ClusterIP")),
        Column("Cluster-IP", text("spec", "clusterIP")),
        Column("External-IP", external_ip),
        Column("Port(s)", ports),
        AGE,
        Column("Selector", lambda doc, _: labels(at(doc, "spec", "selector")), wide=True),
    ),
    ("", "ResourceQuota"): (
        NAME,
        Column("Request", lambda doc, _: quota(doc, limits=False)),
        Column("Limit", lambda doc, _: quota(doc, limits=True)),
        AGE,
    ),
    ("", "Endpoints"): (NAME, Column("Endpoints", endpoints), AGE),
    ("", "PersistentVolumeClaim"): (
        NAME,
        Column("Status", field("status", "phase")),
        Column("Volume", field("spec", "volumeName")),
        Column("Capacity", field("status", "capacity", "storage")),
        Column("Access Modes", claimed_modes),
        Column("StorageClass", field("spec", "storageClassName")),
        Column("VolumeAttributesClass", text("spec", "volumeAttributesClassName", default="<unset>")),
        AGE,
        Column("VolumeMode", text("spec", "volumeMode", default="<unset>"), wide=True),
    ),
    ("", "PersistentVolume"): (
        NAME,
        Column("Capacity", field("spec", "capacity", "storage")),
        Column("Access Modes", access_modes),
        Column("Reclaim Policy", field("spec", "persistentVolumeReclaimPolicy")),
        Column("Status", field("status", "phase")),
        Column("Claim", claim),
        Column("StorageClass", field("spec", "storageClassName")),
        Column("VolumeAttributesClass", text("spec", "volumeAttributesClassName", default="<unset>")),
        Column("Reason", field("status", "reason")),
        AGE,
        Column("VolumeMode", text("spec", "volumeMode", default="<unset>"), wide=True),
    ),
}
