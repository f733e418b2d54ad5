"""Columns of configuration, services and volumes."""

from datetime import datetime

from reprieve.server.tables.column import AGE, NAME, NONE, Column, Document, at, field, join, labels, text

SHORT_MODES = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}


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


def access_modes(doc: Document, _: datetime) -> str:
    modes = at(doc, "status", "accessModes") or at(doc, "spec", "accessModes", default=())
    return join(SHORT_MODES.get(mode, mode) for mode in modes)


def claim(doc: Document, _: datetime) -> str:
    reference = at(doc, "spec", "claimRef")
    return f"{reference.get('namespace', '')}/{reference.get('name', '')}" if reference else ""


STORAGE_COLUMNS: dict[tuple[str, str], tuple[Column, ...]] = {
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
    ("", "Endpoints"): (NAME, Column("Endpoints", endpoints), AGE),
    ("", "PersistentVolumeClaim"): (
        NAME,
        Column("Status", field("status", "phase")),
        Column("Volume", field("spec", "volumeName")),
        Column("Capacity", field("status", "capacity", "storage")),
        Column("Access Modes", access_modes),
        Column("StorageClass", field("spec", "storageClassName")),
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
        Column("Reason", field("status", "reason")),
        AGE,
        Column("VolumeMode", text("spec", "volumeMode", default="<unset>"), wide=True),
    ),
}
