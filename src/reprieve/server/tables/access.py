"""Columns of roles, their bindings, and network policies."""

from datetime import datetime

from reprieve.server.registry import RBAC
from reprieve.server.tables.column import (
    AGE,
    CREATED_AT,
    NAME,
    Column,
    Document,
    at,
    selector_text,
)


def role(doc: Document, _: datetime) -> str:
    return f"{at(doc, 'roleRef', 'kind', default='')}/{at(doc, 'roleRef', 'name', default='')}"


def _subjects(name: str, kind: str) -> Column:
    def cell(doc: Document, _: datetime) -> str:
        found = [s for s in doc.get("subjects") or () if s.get("kind") == kind]
        return ", ".join(
            f"{s.get('namespace')}/{s.get('name')}" if kind == "ServiceAccount" else str(s.get("name"))
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

ACCESS_COLUMNS: dict[tuple[str, str], tuple[Column, ...]] = {
    (RBAC, "Role"): (NAME, CREATED_AT),
    (RBAC, "ClusterRole"): (NAME, CREATED_AT),
    (RBAC, "RoleBinding"): BINDING_COLUMNS,
    (RBAC, "ClusterRoleBinding"): BINDING_COLUMNS,
    ("networking.k8s.io", "NetworkPolicy"): (
        NAME,
        Column("Pod-Selector", lambda doc, _: selector_text(at(doc, "spec", "podSelector"))),
        AGE,
    ),
}
