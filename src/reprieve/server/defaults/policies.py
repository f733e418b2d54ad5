"""Network policies and role bindings."""

from reprieve.objects import Document
from reprieve.server.documents import at, items, section
from reprieve.server.registry import RBAC


def default_network_policy(document: Document, timestamp: str) -> None:
    """Without policy types a policy is for ingress, and for egress if it has rules for that."""
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
    if isinstance(at(document, "roleRef"), dict):
        document["roleRef"].setdefault("apiGroup", RBAC)
    for subject in items(document, "subjects"):
        if subject.get("kind") in ("User", "Group"):
            subject.setdefault("apiGroup", RBAC)
