"""Claims, volumes and pods that use them, for a live cluster."""

from typing import Any

from tests.builders import Document
from tests.scheduler.live import pod


def claim(name: str, storage_class: str = "fake-wait", size: str = "1Gi", **spec: Any) -> Document:
    body = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": storage_class,
        "resources": {"requests": {"storage": size}},
        **spec,
    }
    return {"metadata": {"name": name, "namespace": "ns"}, "spec": body}


def claiming(name: str, *claims: str, **more: Any) -> Document:
    volumes = [{"name": each, "persistentVolumeClaim": {"claimName": each}} for each in claims]
    return pod(name, volumes=volumes, **more)


def free_volume(name: str, size: str, storage_class: str = "fake-wait") -> Document:
    spec = {
        "capacity": {"storage": size},
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": storage_class,
        "hostPath": {"path": "/x"},
    }
    return {"metadata": {"name": name}, "spec": spec}


def local_volume(name: str, host: str, size: str = "10Gi") -> Document:
    hosts = [{"key": "kubernetes.io/hostname", "operator": "In", "values": [host]}]
    return {
        "metadata": {"name": name},
        "spec": {
            "capacity": {"storage": size},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "local",
            "local": {"path": "/x"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": hosts}]}},
        },
    }
