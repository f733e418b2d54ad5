"""Who a request comes from.

Tokens are compared in constant time by their digest. A client certificate of our authority names a user (CN)
and groups (O). A service account is known by a token that `kubectl create token` made. What each of them may
do is in `rights`.
"""

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from reprieve.server.backend import Backend
from reprieve.server.errors import unauthorized
from reprieve.server.security.kubeconfig import write_private
from reprieve.server.security.tokens import ISSUER, ServiceAccountTokens
from reprieve.server.storage import DataDirectoryUnusable

MASTERS = "system:masters"
READERS = "reprieve:readers"
AUTHENTICATED = "system:authenticated"
SHORTEST_TOKEN = 16
_MOST_SEEN = 64


class Identity(msgspec.Struct, frozen=True):
    user: str
    groups: tuple[str, ...]
    uid: str = ""
    extra: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def is_admin(self) -> bool:
        return MASTERS in self.groups

    def to_user_info(self) -> dict[str, Any]:
        """As reviews show it."""
        info: dict[str, Any] = {"username": self.user}
        if self.uid:
            info["uid"] = self.uid
        info["groups"] = list(self.groups)
        if self.extra:
            info["extra"] = {key: list(values) for key, values in self.extra}
        return info


def service_account(namespace: str, name: str, uid: str = "") -> Identity:
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", AUTHENTICATED)
    return Identity(f"system:serviceaccount:{namespace}:{name}", groups, uid)


ADMIN = Identity("reprieve-admin", (MASTERS, AUTHENTICATED))
READER = Identity("reprieve-reader", (READERS, AUTHENTICATED))


class Authenticator:
    """Identifies clients by two tokens, made once for a data directory, by the token of a service account, or
    by their certificate."""

    def __init__(self, directory: Path, backend: Backend) -> None:
        self.admin_token = _token(directory / "admin.token")
        self.reader_token = _token(directory / "reader.token")
        self.service_accounts = ServiceAccountTokens(directory, backend)
        self._known = {
            hashlib.sha256(self.admin_token.encode()).digest(): ADMIN,
            hashlib.sha256(self.reader_token.encode()).digest(): READER,
        }
        self._seen: dict[str, Identity] = {}
        """Headers with one of the two tokens that were accepted before, few: a token has many spellings."""

    def identify(self, authorization: str, certificate: Mapping[str, Any] | None) -> Identity:
        known = self._seen.get(authorization)
        if known is not None:
            return known
        if authorization:
            return self._by_header(authorization)
        if certificate:
            return _from_certificate(certificate)
        raise unauthorized()

    def _by_header(self, authorization: str) -> Identity:
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() != "bearer":
            raise unauthorized()
        token = token.strip()
        lasting = self._by_lasting_token(token)
        if lasting is not None and len(self._seen) < _MOST_SEEN:
            self._seen[authorization] = lasting
        return lasting or self.by_token(token, ISSUER)[0]

    def _by_lasting_token(self, token: str) -> Identity | None:
        digest = hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
        return next((who for known, who in self._known.items() if hmac.compare_digest(known, digest)), None)

    def by_token(self, token: str, audience: str = "") -> tuple[Identity, tuple[str, ...]]:
        """Whose token it is, and for which audiences; 401 for one that is not, or no longer, good."""
        lasting = self._by_lasting_token(token)
        if lasting is not None:
            return lasting, (ISSUER,)
        account = self.service_accounts.verify(token)
        if account is None or (audience and audience not in account.audiences):
            raise unauthorized()
        return service_account(account.namespace, account.name, account.uid), account.audiences


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
    return Identity(user, (*groups, AUTHENTICATED))
