"""Authentication and the three levels of access: everything, reading, nothing.

Tokens are compared in constant time by their digest. A client certificate of our authority names a user (CN)
and groups (O): `system:masters` may do everything, `reprieve:readers` may read what Kubernetes' role `view`
may read: neither secrets nor RBAC. Every other authenticated user may only use discovery and reviews.
"""

import hashlib
import hmac
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from reprieve.objects import Document
from reprieve.server.errors import ApiError, bad_request, forbidden, unauthorized
from reprieve.server.http.paths import READING, Target
from reprieve.server.registry import RBAC
from reprieve.server.security.kubeconfig import write_private
from reprieve.server.storage import DataDirectoryUnusable

MASTERS = "system:masters"
READERS = "reprieve:readers"
SHORTEST_TOKEN = 16
_SECRETS = ("", "secrets")
_MOST_SEEN = 64


class Identity(msgspec.Struct, frozen=True):
    user: str
    groups: tuple[str, ...]

    def may(self, verb: str, group: str, resource: str) -> bool:
        """In an access review `*` stands for all of them."""
        if MASTERS in self.groups:
            return True
        hidden = group == RBAC or (group, resource) == _SECRETS or "*" in (group, resource)
        return READERS in self.groups and verb in READING and not hidden

    def authorize(self, target: Target) -> None:
        """Raises 403, in RBAC's wording."""
        if self.may(target.verb, target.group, target.resource) or target.resource in REVIEWS:
            return
        raise self._refusal(target)

    def _refusal(self, target: Target) -> ApiError:
        resource = target.resource + (f"/{target.subresource}" if target.subresource else "")
        scope = f' in the namespace "{target.namespace}"' if target.namespace else " at the cluster scope"
        message = (
            f'User "{self.user}" cannot {target.verb} resource "{resource}" '
            f'in API group "{target.group}"{scope}'
        )
        return forbidden(target.group, target.resource, target.name, message)


ADMIN = Identity("reprieve-admin", (MASTERS, "system:authenticated"))
READER = Identity("reprieve-reader", (READERS, "system:authenticated"))


class Authenticator:
    """Identifies clients by two tokens, made once for a data directory, or by their certificate."""

    def __init__(self, directory: Path) -> None:
        self.admin_token = _token(directory / "admin.token")
        self.reader_token = _token(directory / "reader.token")
        self._known = {
            hashlib.sha256(self.admin_token.encode()).digest(): ADMIN,
            hashlib.sha256(self.reader_token.encode()).digest(): READER,
        }
        self._seen: dict[str, Identity] = {}
        """Authorization headers that were accepted before, few: there are many spellings of one token."""

    def identify(self, authorization: str, certificate: Mapping[str, Any] | None) -> Identity:
        known = self._seen.get(authorization)
        if known is not None:
            return known
        if authorization:
            identity = self._by_token(authorization)
            if len(self._seen) < _MOST_SEEN:
                self._seen[authorization] = identity
            return identity
        if certificate:
            return _from_certificate(certificate)
        raise unauthorized()

    def _by_token(self, authorization: str) -> Identity:
        scheme, _, token = authorization.partition(" ")
        digest = hashlib.sha256(token.strip().encode("utf-8", "surrogatepass")).digest()
        for known, identity in self._known.items():
            if scheme.lower() == "bearer" and hmac.compare_digest(known, digest):
                return identity
        raise unauthorized()


def _token(path: Path) -> str:
    """The file's token; made where there is no file. A file without one opens the server to nobody."""
    if not path.exists():
        token = secrets.token_urlsafe(32)
        write_private(path, token.encode() + b"\n")
        return token
    try:
        token = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not ASCII text"
        raise DataDirectoryUnusable(f"{path} cannot be read: {reason}") from error
    if len(token) < SHORTEST_TOKEN or len(token.split()) != 1:
        raise DataDirectoryUnusable(
            f"{path} holds no token (one word of at least {SHORTEST_TOKEN} characters); put the old one "
            "back, or delete the file: the next start makes one, and clients need the new kubeconfig"
        )
    return token


def _from_certificate(certificate: Mapping[str, Any]) -> Identity:
    """From what the TLS layer verified: `subject` is a tuple of relative names."""
    pairs = [pair for name in certificate.get("subject", ()) for pair in name]
    user = next((value for key, value in pairs if key == "commonName"), "")
    if not user:
        raise unauthorized()
    groups = tuple(value for key, value in pairs if key == "organizationName")
    return Identity(user, (*groups, "system:authenticated"))


# -- reviews: questions that are answered and not stored -----------------------------------------------------


def _access_review(document: Document, identity: Identity) -> Document:
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


def _subject_review(document: Document, identity: Identity) -> Document:
    user = {"username": identity.user, "groups": list(identity.groups)}
    return {**document, "metadata": {}, "status": {"userInfo": user}}


REVIEWS: dict[str, Callable[[Document, Identity], Document]] = {
    "selfsubjectaccessreviews": _access_review,
    "selfsubjectreviews": _subject_review,
}
