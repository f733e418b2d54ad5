"""Tokens of service accounts (`kubectl create token`): signed, with an end, bound to what they were made for.

JSON web tokens with the claims that Kubernetes' own have. The key lives with the data, so that a token
outlives a restart; a token ends when its time is up, and when the account or the object it is bound to goes.
"""

import base64
import binascii
import hashlib
import hmac
import secrets
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

from reprieve.objects import Document, format_time
from reprieve.server.backend import Backend
from reprieve.server.documents import at
from reprieve.server.errors import bad_request, conflict, invalid, invalid_value, not_found
from reprieve.server.metadata import new_uid
from reprieve.server.security.kubeconfig import write_private
from reprieve.server.storage import DataDirectoryUnusable

ISSUER = "https://kubernetes.default.svc.cluster.local"
_SHORTEST, _LONGEST, _USUAL = 600, 1 << 32, 3600
_BOUND = {"Pod": "pods", "Secret": "secrets", "Node": "nodes"}
_KEY = 32
_HEADER = {"alg": "HS256", "typ": "JWT"}


class Account(msgspec.Struct, frozen=True):
    """The service account that a token speaks for."""

    namespace: str
    name: str
    uid: str
    audiences: tuple[str, ...]


class ServiceAccountTokens:
    def __init__(self, directory: Path, backend: Backend) -> None:
        path = directory / "service-accounts.key"
        if not path.exists():
            write_private(path, secrets.token_bytes(_KEY))
        try:
            self._key = path.read_bytes()
        except OSError as error:
            raise DataDirectoryUnusable(f"{path} cannot be read: {error.strerror}") from error
        if len(self._key) != _KEY:
            raise DataDirectoryUnusable(
                f"{path} holds no key ({_KEY} bytes); put the old one back, or delete the file: the next "
                "start makes one, and service accounts need new tokens"
            )
        self._backend = backend

    def issue(self, namespace: str, name: str, request: Document) -> Document:
        """The TokenRequest with its status: the token and when it ends."""
        account = self._backend.store.get("serviceaccounts", namespace, name)
        if account is None:
            raise not_found("", "serviceaccounts", name)
        spec = request.get("spec")
        if not isinstance(spec, dict):
            spec = {}
        seconds = _seconds(spec.get("expirationSeconds"), name)
        audiences = spec.get("audiences") or [ISSUER]
        if not isinstance(audiences, list) or not all(isinstance(a, str) for a in audiences):
            raise bad_request("TokenRequest: spec.audiences: expected a list of strings")
        now = self._backend.clock().replace(microsecond=0)
        about: Document = {
            "namespace": namespace,
            "serviceaccount": {"name": name, "uid": account.object["metadata"]["uid"]},
        }
        bound = spec.get("boundObjectRef")
        if isinstance(bound, dict):
            about[str(bound.get("kind", "")).lower()] = self._bound(namespace, bound)
        claims = {
            "aud": audiences,
            "exp": int(now.timestamp()) + seconds,
            "iat": int(now.timestamp()),
            "iss": ISSUER,
            "jti": new_uid(),
            "kubernetes.io": about,
            "nbf": int(now.timestamp()),
            "sub": f"system:serviceaccount:{namespace}:{name}",
        }
        ends = format_time(now + timedelta(seconds=seconds))
        return {
            "kind": "TokenRequest",
            "apiVersion": "authentication.k8s.io/v1",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {**spec, "audiences": audiences, "expirationSeconds": seconds},
            "status": {"token": self._sign(claims), "expirationTimestamp": ends},
        }

    def _bound(self, namespace: str, reference: Document) -> Document:
        kind, name = str(reference.get("kind", "")), str(reference.get("name", ""))
        uid = self._uid_of(kind, namespace, name)
        if uid is None:
            raise not_found("", _BOUND.get(kind, kind.lower() or "objects"), name)
        if reference.get("uid") not in (None, "", uid):
            message = (
                f"the UID in the bound object reference ({reference['uid']}) does not match the UID {uid}"
            )
            raise conflict("", _BOUND[kind], name, message)
        return {"name": name, "uid": uid}

    def _uid_of(self, kind: str, namespace: str, name: str) -> str | None:
        if kind not in _BOUND:
            return None
        record = self._backend.store.get(_BOUND[kind], "" if kind == "Node" else namespace, name)
        return str(record.object["metadata"]["uid"]) if record is not None else None

    def _sign(self, claims: Document) -> str:
        text = ".".join(_base64(msgspec.json.encode(part)) for part in (_HEADER, claims))
        return f"{text}.{_base64(hmac.digest(self._key, text.encode(), hashlib.sha256))}"

    def verify(self, token: str) -> Account | None:
        """The account, if this server made the token and everything it is bound to still holds."""
        text, _, signature = token.rpartition(".")
        expected = hmac.digest(self._key, text.encode("utf-8", "surrogatepass"), hashlib.sha256)
        if not text or not hmac.compare_digest(_bytes(signature), expected):
            return None
        claims: dict[str, Any] = msgspec.json.decode(_bytes(text.partition(".")[2]))
        now = self._backend.clock()
        ends = datetime.fromtimestamp(0, UTC) + timedelta(seconds=claims["exp"])
        if now >= ends:
            return None
        about = claims["kubernetes.io"]
        namespace, account = about["namespace"], about["serviceaccount"]
        stored = self._backend.store.get("serviceaccounts", namespace, account["name"])
        if stored is None or at(stored.object, "metadata", "uid") != account["uid"]:
            return None
        for kind in _BOUND:
            bound = about.get(kind.lower())
            if bound is not None and self._uid_of(kind, namespace, bound["name"]) != bound["uid"]:
                return None
        return Account(namespace, account["name"], account["uid"], tuple(claims["aud"]))


def _seconds(value: Any, name: str) -> int:
    if value is None:
        return _USUAL
    if not isinstance(value, int) or isinstance(value, bool):
        raise bad_request("TokenRequest: spec.expirationSeconds: expected an integer")
    if value < _SHORTEST or value > _LONGEST:
        message = (
            "may not specify a duration less than 10 minutes"
            if value < _SHORTEST
            else f"may not specify a duration larger than {_LONGEST} seconds"
        )
        cause = invalid_value("spec.expirationSeconds", value, message)
        raise invalid("authentication.k8s.io", "TokenRequest", name, [cause])
    return value


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _bytes(text: str) -> bytes:
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (binascii.Error, ValueError):
        return b""
