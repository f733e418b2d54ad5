"""Network policies, ingresses and role bindings."""

from reprieve.objects.meta import Document
from reprieve.objects.raw import at, items, section
from reprieve.objects.well_known import RBAC_API


def default_network_policy(document: Document) -> None:
    """Without policy types a policy is for ingress, and for egress if it has rules for that."""
    spec = section(document, "spec")
    for direction in ("ingress", "egress"):
        for rule in items(spec, direction):
            for port in items(rule, "ports"):
                port.setdefault("protocol", "TCP")
    if not spec.get("policyTypes"):
        spec["policyTypes"] = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]


def default_ingress(document: Document) -> None:
    section(document, "status", "loadBalancer")


def default_binding(document: Document) -> None:
    if isinstance(at(document, "roleRef"), dict):
        document["roleRef"].setdefault("apiGroup", RBAC_API)
    for subject in items(document, "subjects"):
        if subject.get("kind") in ("User", "Group"):
            subject.setdefault("apiGroup", RBAC_API)
