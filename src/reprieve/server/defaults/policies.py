"""Network policies and role bindings."""

from reprieve.objects import Document
from reprieve.server.defaults.shape import items, peek, section
from reprieve.server.registry import RBAC


def default_network_policy(document: Document, timestamp: str) -> None:
    """Who says nothing of types means what comes in, and what goes out if there are rules for that."""
    del timestamp
    spec = section(document, "spec")
    for direction in ("ingress", "egress"):
        for rule in items(spec, direction):
            for port in items(rule, "ports"):
                port.setdefault("protocol", "TCP")
    if not spec.get("policyTypes"):
        spec["policyTypes"] = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]


def default_binding(document: Document, timestamp: str) -> None:
    del timestamp
    if isinstance(peek(document, "roleRef"), dict):
        document["roleRef"].setdefault("apiGroup", RBAC)
    for subject in items(document, "subjects"):
        if subject.get("kind") in ("User", "Group"):
            subject.setdefault("apiGroup", RBAC)
