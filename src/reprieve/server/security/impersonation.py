"""`kubectl --as`: the `Impersonate-` headers, honoured for those with the right, refused for others."""

from urllib.parse import unquote

from multidict import CIMultiDictProxy

from reprieve.server.errors import bad_request
from reprieve.server.security.identity import AUTHENTICATED, Identity, service_account
from reprieve.server.security.rights import Attributes, Rights, refusal

_PREFIX = "impersonate-"
_EXTRA = "impersonate-extra-"
_ANONYMOUS = ("system:anonymous", "system:unauthenticated")


def impersonated(headers: CIMultiDictProxy[str], identity: Identity, rights: Rights) -> Identity:
    """Whom the request is made as: the caller, or whom its headers name. 403 without the right to do so."""
    if not _asked(headers):
        return identity
    user = headers.get("Impersonate-User", "")
    uid = headers.get("Impersonate-Uid", "")
    groups = tuple(headers.getall("Impersonate-Group", ()))
    extra = _extra(headers)
    if not user:
        raise bad_request(
            "a group, UID or extra value was to be impersonated without a user: name one with --as"
        )
    for wanted in _needed(user, uid, groups, extra):
        if not rights.allows(identity, wanted):
            raise refusal(identity, wanted)
    if not groups:
        groups = _usual_groups(user)
    if user != _ANONYMOUS[0] and _ANONYMOUS[1] not in groups and AUTHENTICATED not in groups:
        groups = (*groups, AUTHENTICATED)
    return Identity(user, groups, uid, tuple(sorted((key, tuple(values)) for key, values in extra.items())))


def _asked(headers: CIMultiDictProxy[str]) -> bool:
    return any(name[0] in "Ii" and name.lower().startswith(_PREFIX) for name in headers)


def _extra(headers: CIMultiDictProxy[str]) -> dict[str, list[str]]:
    extra: dict[str, list[str]] = {}
    for name, value in headers.items():
        if name.lower().startswith(_EXTRA):
            extra.setdefault(unquote(name[len(_EXTRA) :].lower()), []).append(value)
    return extra


def _account(user: str) -> tuple[str, str] | None:
    parts = user.split(":")
    return (parts[2], parts[3]) if parts[:2] == ["system", "serviceaccount"] and len(parts) == 4 else None


def _usual_groups(user: str) -> tuple[str, ...]:
    account = _account(user)
    if account is not None:
        return service_account(*account).groups
    return (_ANONYMOUS[1],) if user == _ANONYMOUS[0] else ()


def _needed(user: str, uid: str, groups: tuple[str, ...], extra: dict[str, list[str]]) -> list[Attributes]:
    account = _account(user)
    if account is not None:
        needed = [Attributes("impersonate", "", "serviceaccounts", "", account[0], account[1])]
    else:
        needed = [Attributes("impersonate", "", "users", "", "", user)]
    needed += [Attributes("impersonate", "", "groups", "", "", group) for group in groups]
    authentication = "authentication.k8s.io"
    needed += [
        Attributes("impersonate", authentication, "userextras", key, "", value)
        for key, values in extra.items()
        for value in values
    ]
    if uid:
        needed.append(Attributes("impersonate", authentication, "uids", "", "", uid))
    return needed
