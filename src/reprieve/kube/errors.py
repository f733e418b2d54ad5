"""What can go wrong between us and an API server, as types.

An `ApiError` carries the server's own `Status`: code, reason, message, causes and how long to
wait. Callers branch on the properties (`not_found`, `conflict`, …), never on message texts.
"""

from typing import Any

import msgspec

from reprieve.objects import ReprieveError


class ConfigError(ReprieveError):
    """A kubeconfig or an environment that cannot be used; the message names the file and the field."""


class NoKubeConfig(ConfigError):
    """Nothing says which cluster is meant."""


class TransportError(Exception):
    """No answer: connection refused, reset, timed out or cut. Whether the server acted is unknown."""


class Fenced(TransportError):
    """Not sent at all: the lease of this replica may have run out."""


class Status(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """meta/v1 Status, the body of every refusal (and of a successful binding)."""

    status: str | None = None
    message: str | None = None
    reason: str | None = None
    code: int | None = None
    details: dict[str, Any] | None = None


class ApiError(Exception):
    """The server answered with an error."""

    def __init__(
        self, code: int, reason: str = "", message: str = "", retry_after: float | None = None
    ) -> None:
        super().__init__(
            f"{code} {reason or 'Error'}: {message}" if message else f"{code} {reason or 'Error'}"
        )
        self.code = code
        self.reason = reason
        self.message = message
        self.retry_after = retry_after

    @property
    def not_found(self) -> bool:
        return self.code == 404

    @property
    def conflict(self) -> bool:
        """The object changed under us, or a precondition (UID, resource version) does not hold."""
        return self.code == 409 and self.reason != "AlreadyExists"

    @property
    def already_exists(self) -> bool:
        return self.code == 409 and self.reason == "AlreadyExists"

    @property
    def expired(self) -> bool:
        """The resource version or continue token is too old; only a fresh LIST helps."""
        return self.code == 410 or self.reason in ("Expired", "Gone")

    @property
    def invalid(self) -> bool:
        return self.code in (400, 422)

    @property
    def refused(self) -> bool:
        """The caller lacks a right; the same request works once it is granted."""
        return self.code in (401, 403)

    @property
    def transient(self) -> bool:
        """Worth another try with the same bytes: overload, timeouts and internal errors of the server."""
        return self.code in (429, 500, 502, 503, 504) or self.reason in ("ServerTimeout", "Timeout")


def missing_right(error: ApiError, doing: str) -> str:
    """A refusal in words that name the remedy."""
    hint = (
        "give the account the rights that `reprieve manifests deploy` prints"
        if error.code == 403
        else "the token or certificate is not valid there"
    )
    return f"the API server does not let us {doing}: {hint}; trying again until it does ({error})"


def from_body(code: int, body: bytes, retry_after: float | None = None) -> ApiError:
    """The error for an answer; proxies and load balancers answer without a Status, so any body will do."""
    try:
        status = msgspec.json.decode(body, type=Status)
    except msgspec.MsgspecError:
        return ApiError(code, "", body[:200].decode("utf-8", "replace").strip(), retry_after)
    return from_status(status, code, retry_after)


def from_status(status: Status, code: int = 500, retry_after: float | None = None) -> ApiError:
    if retry_after is None and status.details:
        seconds = status.details.get("retryAfterSeconds")
        retry_after = float(seconds) if isinstance(seconds, int | float) and seconds > 0 else None
    return ApiError(status.code or code, status.reason or "", status.message or "", retry_after)
