"""Roles and their bindings: what kube-apiserver refuses. What they mean is in `security.rights`."""

from reprieve.objects import Document
from reprieve.server.documents import at, items
from reprieve.server.errors import Cause, invalid_value, not_supported, required
from reprieve.server.registry import RBAC

_SUBJECTS = ("ServiceAccount", "User", "Group")


def validate_role(new: Document, old: Document | None) -> list[Cause]:
    del old
    causes = []
    for index, rule in enumerate(items(new, "rules")):
        path = f"rules[{index}]"
        if not rule.get("verbs"):
            causes.append(required(f"{path}.verbs", "verbs must contain at least one value"))
        if rule.get("nonResourceURLs"):
            if new.get("kind") == "Role":
                problem = "namespaced rules cannot apply to non-resource URLs"
                causes.append(invalid_value(f"{path}.nonResourceURLs", rule["nonResourceURLs"], problem))
            continue
        causes += [
            required(f"{path}.{field}", f"resource rules must supply at least one of {field}")
            for field in ("apiGroups", "resources")
            if not rule.get(field)
        ]
    return causes


def validate_binding(new: Document, old: Document | None) -> list[Cause]:
    roles = ("Role", "ClusterRole") if new.get("kind") == "RoleBinding" else ("ClusterRole",)
    causes = _validate_reference(new, roles)
    for index, subject in enumerate(items(new, "subjects")):
        causes += _validate_subject(subject, f"subjects[{index}]", new.get("kind") == "RoleBinding")
    if old is not None and new.get("roleRef") != old.get("roleRef"):
        causes.append(invalid_value("roleRef", new.get("roleRef"), "cannot change roleRef"))
    return causes


def _validate_reference(new: Document, roles: tuple[str, ...]) -> list[Cause]:
    causes = []
    if at(new, "roleRef", "apiGroup") != RBAC:
        causes.append(not_supported("roleRef.apiGroup", at(new, "roleRef", "apiGroup"), (RBAC,)))
    if at(new, "roleRef", "kind") not in roles:
        causes.append(not_supported("roleRef.kind", at(new, "roleRef", "kind"), roles))
    if not at(new, "roleRef", "name"):
        causes.append(required("roleRef.name"))
    return causes


def _validate_subject(subject: Document, path: str, in_namespace: bool) -> list[Cause]:
    """An account without a namespace is one of the binding's own, if that has one."""
    causes = []
    if not subject.get("name"):
        causes.append(required(f"{path}.name"))
    if subject.get("kind") not in _SUBJECTS:
        causes.append(not_supported(f"{path}.kind", subject.get("kind"), _SUBJECTS))
    elif subject["kind"] == "ServiceAccount" and not subject.get("namespace") and not in_namespace:
        causes.append(required(f"{path}.namespace"))
    return causes
