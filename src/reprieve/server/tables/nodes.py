"""Columns of the cluster's own kinds: nodes, namespaces, events, leases, priority classes, definitions."""

from datetime import datetime

from reprieve.server.tables.column import (
    AGE,
    CREATED_AT,
    NAME,
    NONE,
    UNKNOWN,
    Column,
    Document,
    at,
    condition,
    field,
    join,
    since,
    text,
)

ROLE_PREFIX = "node-role.kubernetes.io/"


def node_status(doc: Document, _: datetime) -> str:
    ready = condition(doc, "Ready")
    word = "Unknown" if ready is None else ("Ready" if ready.get("status") == "True" else "NotReady")
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
    parts = [source.get("component") or reporter, source.get("host", "")]
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
    Column("Count", event_count, type="integer", wide=True),
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

CLUSTER_COLUMNS: dict[tuple[str, str], tuple[Column, ...]] = {
    ("", "Node"): NODE_COLUMNS,
    ("", "Namespace"): (NAME, Column("Status", text("status", "phase", default="")), AGE),
    ("", "Event"): EVENT_COLUMNS,
    ("events.k8s.io", "Event"): EVENT_COLUMNS,
    ("", "ServiceAccount"): (
        NAME,
        Column("Secrets", lambda doc, _: len(doc.get("secrets") or ()), type="integer"),
        AGE,
    ),
    ("coordination.k8s.io", "Lease"): (NAME, Column("Holder", field("spec", "holderIdentity")), AGE),
    ("scheduling.k8s.io", "PriorityClass"): (
        NAME,
        Column("Value", field("value", default=0), type="integer"),
        Column("Global-Default", field("globalDefault", default=False), type="boolean"),
        AGE,
        Column("PreemptionPolicy", text("preemptionPolicy", default="PreemptLowerPriority")),
    ),
    ("apiextensions.k8s.io", "CustomResourceDefinition"): (NAME, CREATED_AT),
    ("", "LimitRange"): (NAME, CREATED_AT),
}
