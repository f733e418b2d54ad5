"""API errors: raised anywhere in the server, rendered once at the edge as a Kubernetes `Status`.

Every constructor gives the reason, code, message and details that kube-apiserver gives, because clients
depend on them (`IsNotFound`, `IsConflict`, retry on 429 …). Nothing here knows HTTP or storage.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import msgspec

from reprieve.objects import FORBIDDEN, INVALID, REQUIRED, UNSUPPORTED, Problem, ReprieveError


class Cause(NamedTuple):
    """One thing that is wrong, at one field."""

    reason: str
    message: str
    field: str = ""

    def to_dict(self) -> dict[str, str]:
        cause = {"reason": self.reason, "message": self.message}
        if self.field:
            cause["field"] = self.field
        return cause

    def __str__(self) -> str:
        return f"{self.field}: {self.message}" if self.field else self.message


def cause_of(problem: Problem) -> Cause:
    """What the rules of `reprieve.objects` found, in the words of kube-apiserver."""
    if problem.reason == INVALID:
        return invalid_value(problem.path, problem.value, problem.message)
    if problem.reason == REQUIRED:
        return required(problem.path, "" if problem.message == "is required" else problem.message)
    if problem.reason == FORBIDDEN:
        return forbidden_field(problem.path, problem.sentence)
    if problem.reason == UNSUPPORTED:
        return Cause(
            problem.reason, f"Unsupported value: {_show(problem.value)}: {problem.message}", problem.path
        )
    return Cause(problem.reason, problem.sentence, problem.path)


def required(field: str, message: str = "") -> Cause:
    return Cause("FieldValueRequired", f"Required value: {message}" if message else "Required value", field)


def invalid_value(field: str, value: Any, message: str) -> Cause:
    return Cause("FieldValueInvalid", f"Invalid value: {_show(value)}: {message}", field)


def forbidden_field(field: str, message: str) -> Cause:
    return Cause("FieldValueForbidden", f"Forbidden: {message}", field)


def not_supported(field: str, value: Any, supported: tuple[str, ...]) -> Cause:
    known = ", ".join(f'"{v}"' for v in supported)
    return Cause(
        "FieldValueNotSupported", f"Unsupported value: {_show(value)}: supported values: {known}", field
    )


def duplicate(field: str, value: Any) -> Cause:
    return Cause("FieldValueDuplicate", f"Duplicate value: {_show(value)}", field)


def too_long(field: str, limit: int, unit: str) -> Cause:
    return Cause("FieldValueTooLong", f"Too long: may not be more than {limit} {unit}", field)


def _show(value: Any) -> str:
    """As JSON, truncated when it is long."""
    text = msgspec.json.encode(value, enc_hook=str).decode()
    return text if len(text) <= 256 else text[:253] + "..."


class ApiError(ReprieveError):
    """A refusal with everything a `Status` contains; `headers` are added to the HTTP response."""

    def __init__(
        self,
        code: int,
        reason: str,
        message: str,
        details: dict[str, Any] | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details = details
        self.headers = headers or {}
        self.metadata: dict[str, Any] = {}

    def to_status(self) -> dict[str, Any]:
        status: dict[str, Any] = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": self.metadata,
            "status": "Failure",
            "message": self.message,
        }
        if self.reason:
            status["reason"] = self.reason
        if self.details is not None:
            status["details"] = self.details
        status["code"] = self.code
        return status


def qualified(group: str, plural: str) -> str:
    """`jobs.batch`, or `pods` for the core group."""
    return f"{plural}.{group}" if group else plural


def _details(group: str, kind: str, name: str = "", **more: Any) -> dict[str, Any]:
    details: dict[str, Any] = {}
    if name:
        details["name"] = name
    if group:
        details["group"] = group
    if kind:
        details["kind"] = kind
    details.update(more)
    return details


def not_found(group: str, plural: str, name: str) -> ApiError:
    return ApiError(
        404, "NotFound", f'{qualified(group, plural)} "{name}" not found', _details(group, plural, name)
    )


def unknown_resource() -> ApiError:
    return ApiError(404, "NotFound", "the server could not find the requested resource", {})


def already_exists(group: str, plural: str, name: str) -> ApiError:
    message = f'{qualified(group, plural)} "{name}" already exists'
    return ApiError(409, "AlreadyExists", message, _details(group, plural, name))


MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"


def conflict(group: str, plural: str, name: str, message: str = MODIFIED) -> ApiError:
    text = f'Operation cannot be fulfilled on {qualified(group, plural)} "{name}": {message}'
    return ApiError(409, "Conflict", text, _details(group, plural, name))


def wrong_uid(group: str, plural: str, name: str, expected: str, found: str) -> ApiError:
    message = f"Precondition failed: UID in precondition: {expected}, UID in object meta: {found}"
    return conflict(group, plural, name, message)


def apply_conflict(message: str, causes: list[Cause]) -> ApiError:
    """Server-side apply would change fields that other managers own."""
    return ApiError(409, "Conflict", message, {"causes": [c.to_dict() for c in causes]})


def invalid(group: str, kind: str, name: str, causes: list[Cause]) -> ApiError:
    problems = [str(c) for c in causes]
    text = problems[0] if len(problems) == 1 else "[" + ", ".join(problems) + "]"
    details = _details(group, kind, name, causes=[c.to_dict() for c in causes])
    return ApiError(422, "Invalid", f'{qualified(group, kind)} "{name}" is invalid: {text}', details)


@contextmanager
def as_patch_problems() -> Iterator[None]:
    """What cannot be read after a patch (400) is the patch's fault: 422, as kube-apiserver has it."""
    try:
        yield
    except ApiError as error:
        if error.code != 400:
            raise
        causes = [invalid_value("patch", "", error.message).to_dict()]
        raise ApiError(422, "Invalid", f"the patch is invalid: {error.message}", {"causes": causes}) from None


def bad_request(message: str) -> ApiError:
    return ApiError(400, "BadRequest", message)


def forbidden(
    group: str, plural: str, name: str, message: str, causes: list[Cause] | None = None
) -> ApiError:
    subject = f'{qualified(group, plural)} "{name}"' if name else qualified(group, plural)
    details = _details(group, plural, name)
    if causes:
        details["causes"] = [c.to_dict() for c in causes]
    return ApiError(403, "Forbidden", f"{subject} is forbidden: {message}", details)


def unauthorized() -> ApiError:
    return ApiError(401, "Unauthorized", "Unauthorized", headers={"WWW-Authenticate": "Bearer"})


def expired(message: str) -> ApiError:
    return ApiError(410, "Expired", message)


def too_old(revision: int, compacted: int) -> ApiError:
    return expired(f"too old resource version: {revision} ({compacted})")


def too_large_revision(requested: int, current: int) -> ApiError:
    message = f"Too large resource version: {requested}, current: {current}"
    causes = [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]
    return ApiError(504, "Timeout", f"Timeout: {message}", {"causes": causes, "retryAfterSeconds": 1})


def too_many_requests(
    message: str, retry_after: int = 0, causes: list[Cause] | None = None, **details: Any
) -> ApiError:
    body: dict[str, Any] = dict(details)
    headers = {}
    if causes:
        body["causes"] = [c.to_dict() for c in causes]
    if retry_after:
        body["retryAfterSeconds"] = retry_after
        headers["Retry-After"] = str(retry_after)
    return ApiError(429, "TooManyRequests", message, body or None, headers)


def method_not_allowed(why: str = "") -> ApiError:
    message = "the server does not allow this method on the requested resource"
    return ApiError(405, "MethodNotAllowed", f"{message}: {why}" if why else message, {})


def not_acceptable(supported: str) -> ApiError:
    message = f"only the following media types are accepted: {supported}"
    return ApiError(406, "NotAcceptable", message)


def unsupported_media_type(supported: str) -> ApiError:
    message = f"the body of the request was in an unknown format - accepted media types include: {supported}"
    return ApiError(415, "UnsupportedMediaType", message)


def too_large(message: str) -> ApiError:
    return ApiError(413, "RequestEntityTooLarge", message)


def unavailable(message: str) -> ApiError:
    return ApiError(503, "ServiceUnavailable", message, {"retryAfterSeconds": 1}, {"Retry-After": "1"})


def internal(message: str = "Internal error occurred") -> ApiError:
    return ApiError(500, "InternalError", message)
