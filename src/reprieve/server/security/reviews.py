"""Reviews: questions about identities and rights, answered and not stored."""

from collections.abc import Callable
from typing import Any

from reprieve.objects import Document
from reprieve.server.documents import at
from reprieve.server.errors import ApiError, bad_request, invalid, invalid_value
from reprieve.server.security.identity import READERS, Authenticator, Identity
from reprieve.server.security.rights import Attributes, Rights
from reprieve.server.security.tokens import ISSUER

_RESOURCE_RULE = ("verbs", "apiGroups", "resources", "resourceNames")


class Reviews:
    """Answers to reviews, by the plural of their kind."""

    def __init__(self, rights: Rights, authenticator: Authenticator) -> None:
        self._rights = rights
        self._authenticator = authenticator
        self._answers: dict[str, Callable[[Document, Identity], Document]] = {
            "selfsubjectaccessreviews": self._own_access,
            "subjectaccessreviews": self._access,
            "localsubjectaccessreviews": self._access,
            "selfsubjectrulesreviews": self._own_rules,
            "selfsubjectreviews": self._myself,
            "tokenreviews": self._token,
        }

    def __contains__(self, plural: str) -> bool:
        return plural in self._answers

    def answer(self, plural: str, document: Document, identity: Identity, namespace: str) -> Document:
        if not isinstance(document.get("spec", {}), dict):
            raise bad_request(f"{document['kind']}: spec: expected an object")
        if plural == "localsubjectaccessreviews":
            _check_namespace(document, namespace)
        status = self._answers[plural](document, identity)
        return {**document, "metadata": document.get("metadata") or {}, "status": status}

    def _own_access(self, document: Document, identity: Identity) -> Document:
        return self._decide(document, identity)

    def _access(self, document: Document, identity: Identity) -> Document:
        del identity
        spec = document.get("spec") or {}
        user, groups = str(spec.get("user") or ""), _strings(document, "groups")
        if not user and not groups:
            raise bad_request(f"{document['kind']}: spec: at least one of user and groups is required")
        return self._decide(document, Identity(user, tuple(groups)))

    def _decide(self, document: Document, identity: Identity) -> Document:
        wanted = _attributes(document)
        allowed = self._rights.allows(identity, wanted)
        status: Document = {"allowed": allowed}
        if allowed:
            status["reason"] = f"groups {', '.join(identity.groups)}"
        elif READERS in identity.groups:
            status["reason"] = "read-only access"
        else:
            status["reason"] = "no role that is bound to this user or its groups gives this right"
        return status

    def _own_rules(self, document: Document, identity: Identity) -> Document:
        namespace = str(at(document, "spec", "namespace", default=""))
        if not namespace:
            raise bad_request("SelfSubjectRulesReview: spec.namespace is required")
        rules = list(self._rights.rules(identity, namespace))
        return {
            "resourceRules": [
                {key: rule[key] for key in _RESOURCE_RULE if rule.get(key)}
                for rule in rules
                if rule.get("resources")
            ],
            "nonResourceRules": [
                {"verbs": rule["verbs"], "nonResourceURLs": rule["nonResourceURLs"]}
                for rule in rules
                if rule.get("nonResourceURLs")
            ],
            "incomplete": False,
        }

    def _myself(self, document: Document, identity: Identity) -> Document:
        del document
        return {"userInfo": identity.to_user_info()}

    def _token(self, document: Document, identity: Identity) -> Document:
        del identity
        wanted = _strings(document, "audiences")
        try:
            found, audiences = self._authenticator.by_token(str(at(document, "spec", "token", default="")))
        except ApiError:
            return {"user": {}, "error": "invalid bearer token"}
        common = [audience for audience in wanted or [ISSUER] if audience in audiences]
        if not common:
            return {"user": {}, "error": f"token audiences {list(audiences)} are not among those asked for"}
        return {"authenticated": True, "user": found.to_user_info(), "audiences": common}


def _strings(document: Document, field: str) -> list[str]:
    """A list of the review's spec."""
    found = at(document, "spec", field, default=None) or []
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise bad_request(f"{document['kind']}: spec.{field}: expected a list of strings")
    return found


def _check_namespace(document: Document, namespace: str) -> None:
    asked = at(document, "spec", "resourceAttributes", "namespace", default="")
    if asked != namespace:
        raise bad_request(
            "LocalSubjectAccessReview: spec.resourceAttributes.namespace must be the namespace of the request"
        )


def _attributes(document: Document) -> Attributes:
    spec: Any = document.get("spec") or {}
    resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if isinstance(resource, dict) and path is None:
        keys = ("verb", "group", "resource", "subresource", "namespace", "name")
        return Attributes(*(str(resource.get(key) or "") for key in keys))
    if isinstance(path, dict) and resource is None:
        return Attributes(str(path.get("verb") or ""), path=str(path.get("path") or ""))
    message = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
    raise invalid("authorization.k8s.io", "", "", [invalid_value("spec", "", message)])
