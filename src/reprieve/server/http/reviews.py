"""Questions about oneself that are answered and not stored: may I, and who am I."""

from collections.abc import Callable

from reprieve.server.errors import bad_request
from reprieve.server.registry import Document
from reprieve.server.security.identity import Identity


def _access(document: Document, identity: Identity) -> Document:
    spec = document.get("spec")
    if not isinstance(spec, dict):
        raise bad_request("SelfSubjectAccessReview: spec is required")
    attributes = spec.get("resourceAttributes") or spec.get("nonResourceAttributes")
    if not isinstance(attributes, dict):
        raise bad_request(
            "SelfSubjectAccessReview: exactly one of resourceAttributes and nonResourceAttributes is required"
        )
    verb, group, resource = (str(attributes.get(key, "")) for key in ("verb", "group", "resource"))
    allowed = identity.may(verb, group, resource)
    status: Document = {"allowed": allowed}
    status["reason"] = f"groups {', '.join(identity.groups)}" if allowed else "read-only access"
    return {**document, "metadata": {}, "status": status}


def _myself(document: Document, identity: Identity) -> Document:
    user = {"username": identity.user, "groups": list(identity.groups)}
    return {**document, "metadata": {}, "status": {"userInfo": user}}


REVIEWS: dict[str, Callable[[Document, Identity], Document]] = {
    "selfsubjectaccessreviews": _access,
    "selfsubjectreviews": _myself,
}
