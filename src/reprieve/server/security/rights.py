"""What an identity may do: everything, reading, or what the stored roles and bindings give it.

`system:masters` may do everything. `reprieve:readers` may read what Kubernetes' role `view` may read: neither
secrets nor RBAC. Everybody else, service accounts and impersonated users among them, has exactly the rights
that Roles and ClusterRoles give through bindings, as RBAC in Kubernetes; the rules of a ClusterRole with an
`aggregationRule` are collected when they are needed. Everybody may use discovery and ask about themselves.

Only `system:masters` may change roles and bindings: so nobody can give away rights that they do not have.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from reprieve.objects import Document, LabelSelector, matches, well_known
from reprieve.server.backend import Backend
from reprieve.server.documents import at, items
from reprieve.server.errors import ApiError, forbidden
from reprieve.server.http.paths import READING, Target
from reprieve.server.security.identity import AUTHENTICATED, READERS, Identity

SELF_REVIEWS = {
    "authorization.k8s.io": ("selfsubjectaccessreviews", "selfsubjectrulesreviews"),
    "authentication.k8s.io": ("selfsubjectreviews",),
}
_SECRETS = ("", "secrets")
_EVERYTHING = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
_EVERYWHERE = {"verbs": ["*"], "nonResourceURLs": ["*"]}
_ONLY_ADMINISTRATORS = "on this server only members of system:masters may change roles and bindings"
DISCOVERY = ("/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez", "/openapi", "/openapi/*", "/readyz",
             "/version", "/version/")  # fmt: skip


class Attributes(msgspec.Struct, frozen=True):
    """What somebody wants to do: a verb on a resource, or on a path that is none."""

    verb: str
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""

    @classmethod
    def of(cls, target: Target) -> "Attributes":
        return cls(
            target.verb, target.group, target.resource, target.subresource, target.namespace, target.name
        )


class Rights:
    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def authorize(self, identity: Identity, target: Target) -> None:
        """Raises 403, in RBAC's wording."""
        if identity.is_admin:
            return
        wanted = Attributes.of(target)
        if not self.allows(identity, wanted):
            raise refusal(identity, wanted)
        if target.group == well_known.RBAC_API and target.verb not in READING:
            raise forbidden(target.group, target.resource, target.name, _ONLY_ADMINISTRATORS)

    def allows(self, identity: Identity, wanted: Attributes) -> bool:
        """In a review `*` stands for all of them."""
        if identity.is_admin:
            return True
        if READERS in identity.groups and wanted.resource and _may_read(wanted):
            return True
        return any(_covers(rule, wanted) for rule in self.rules(identity, wanted.namespace))

    def rules(self, identity: Identity, namespace: str) -> Iterator[Document]:
        """The rules that apply to somebody in a namespace; without one, in the whole cluster."""
        if identity.is_admin:
            yield _EVERYTHING
            yield _EVERYWHERE
            return
        if AUTHENTICATED in identity.groups:
            yield {"verbs": ["get"], "nonResourceURLs": list(DISCOVERY)}
            for group, plurals in SELF_REVIEWS.items():
                yield {"verbs": ["create"], "apiGroups": [group], "resources": list(plurals)}
        if READERS in identity.groups:
            yield from self._readable()
        for binding in self._bindings("clusterrolebindings", ""):
            if _is_bound(binding, identity):
                yield from self._role(binding, "")
        for binding in self._bindings("rolebindings", namespace) if namespace else ():
            if _is_bound(binding, identity):
                yield from self._role(binding, namespace)

    def _readable(self) -> Iterator[Document]:
        for group in ("", *self._backend.registry.groups()):
            served = {r.plural for r in self._backend.registry if r.group == group and "list" in r.verbs}
            plurals = sorted(p for p in served if _may_read(Attributes("get", group, p)))
            if plurals:
                yield {"verbs": sorted(READING), "apiGroups": [group], "resources": plurals}

    def _bindings(self, plural: str, namespace: str) -> Iterator[Document]:
        for record in self._backend.store.collection(f"{plural}.{well_known.RBAC_API}").scan(namespace):
            yield record.object

    def _role(self, binding: Document, namespace: str) -> list[Document]:
        name = str(at(binding, "roleRef", "name", default=""))
        if at(binding, "roleRef", "kind") == "Role":
            record = self._backend.store.get(f"roles.{well_known.RBAC_API}", namespace, name)
        else:
            record = self._backend.store.get(f"clusterroles.{well_known.RBAC_API}", "", name)
        return self._collected(record.object) if record is not None else []

    def _collected(self, role: Document) -> list[Document]:
        """The rules of a role, with those of the roles that it aggregates."""
        found, seen, waiting = [], set(), [role]
        while waiting:
            role = waiting.pop()
            name = at(role, "metadata", "name")
            if name in seen:
                continue
            seen.add(name)
            found += items(role, "rules")
            for selector in items(role, "aggregationRule", "clusterRoleSelectors"):
                wanted = msgspec.convert(selector, LabelSelector)
                roles = self._backend.store.collection(f"clusterroles.{well_known.RBAC_API}").scan("")
                waiting += [r.object for r in roles if matches(wanted, r.labels or {})]
        return found


def refusal(identity: Identity, wanted: Attributes) -> ApiError:
    resource = wanted.resource + (f"/{wanted.subresource}" if wanted.subresource else "")
    scope = f' in the namespace "{wanted.namespace}"' if wanted.namespace else " at the cluster scope"
    message = (
        f'User "{identity.user}" cannot {wanted.verb} resource "{resource}" '
        f'in API group "{wanted.group}"{scope}'
    )
    return forbidden(wanted.group, wanted.resource, wanted.name, message)


def _may_read(wanted: Attributes) -> bool:
    group, resource = wanted.group, wanted.resource
    hidden = group == well_known.RBAC_API or (group, resource) == _SECRETS or "*" in (group, resource)
    return wanted.verb in READING and not hidden


def _is_bound(binding: Document, identity: Identity) -> bool:
    namespace = at(binding, "metadata", "namespace", default="")
    return any(_is(subject, identity, namespace) for subject in items(binding, "subjects"))


def _is(subject: Document, identity: Identity, namespace: str) -> bool:
    kind, name = subject.get("kind"), subject.get("name")
    if kind == "User":
        return bool(name == identity.user)
    if kind == "Group":
        return name in identity.groups
    home = subject.get("namespace") or namespace
    return kind == "ServiceAccount" and identity.user == f"system:serviceaccount:{home}:{name}"


def _covers(rule: Document, wanted: Attributes) -> bool:
    if not _has(rule, "verbs", wanted.verb):
        return False
    if wanted.path:
        return any(_path_matches(p, wanted.path) for p in rule.get("nonResourceURLs") or ())
    names = rule.get("resourceNames") or ()
    return (
        _has(rule, "apiGroups", wanted.group)
        and _has_resource(rule, wanted)
        and (not names or wanted.name in names)
    )


def _has(rule: Document, field: str, value: str) -> bool:
    listed: Any = rule.get(field) or ()
    return "*" in listed or value in listed


def _has_resource(rule: Document, wanted: Attributes) -> bool:
    listed = rule.get("resources") or ()
    if "*" in listed:
        return True
    if not wanted.subresource:
        return wanted.resource in listed
    return f"{wanted.resource}/{wanted.subresource}" in listed or f"*/{wanted.subresource}" in listed


def _path_matches(pattern: str, path: str) -> bool:
    return pattern == path or (pattern.endswith("*") and path.startswith(pattern[:-1]))
