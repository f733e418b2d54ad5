"""Config maps, secrets, leases and events: what kube-apiserver refuses."""

import base64
import binascii
import re

from reprieve.objects.structure import FORBIDDEN, REQUIRED, Problem
from reprieve.objects.validation.checks import At, Problems, between, required

_KEY = re.compile(r"[-._a-zA-Z0-9]{1,253}")
_NEEDED = {
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
}
"""Keys that a secret of a type must have."""


def config_map(new: At, old: At | None) -> Problems:
    plain, raw = new.field("data"), new.field("binaryData")
    yield from [*_keys(plain), *_keys(raw), *_base64(raw)]
    for key in dict(plain.members()).keys() & dict(raw.members()).keys():
        yield Problem(f"data[{key}]", key, "duplicate of key present in binaryData")
    yield from _frozen(new, old)


def secret(new: At, old: At | None) -> Problems:
    """What `stringData` says counts, too: an API server moves it into `data`."""
    data, plain, kind = new.field("data"), new.field("stringData"), new.field("type")
    yield from [*_keys(data), *_keys(plain), *_base64(data)]
    for key in _NEEDED.get(kind.text, ()):
        if not data.field(key).is_set and not plain.field(key).is_set:
            yield Problem(f"data[{key}]", None, "is required", REQUIRED)
    yield from _frozen(new, old)
    if old is not None and kind.value != old.field("type").value:
        yield kind.problem("field is immutable")


def _keys(data: At) -> Problems:
    for key, each in data.members():
        if not _KEY.fullmatch(key) or key in (".", ".."):
            yield Problem(each.path, key, "must consist of letters, digits, '-', '_' or '.'")


def _base64(data: At) -> Problems:
    """Without the value: it may be secret."""
    for _, each in data.members():
        try:
            base64.b64decode(each.text, validate=True)
        except (binascii.Error, ValueError):
            yield Problem(each.path, None, "expected a string of base64")


def _frozen(new: At, old: At | None) -> Problems:
    """Without the values: they may be secret."""
    if old is None or old.field("immutable").value is not True:
        return
    for name in ("data", "binaryData", "immutable"):
        if new.field(name).value != old.field(name).value:
            yield Problem(name, None, "field is immutable when `immutable` is set", FORBIDDEN)


def lease(new: At, _old: At | None) -> Problems:
    duration, transitions = new.field("spec", "leaseDurationSeconds"), new.field("spec", "leaseTransitions")
    if duration.is_set and (duration.number is None or duration.number <= 0):
        yield duration.problem("must be greater than 0")
    yield from between(transitions, 0, None)


_CORE_NAMES = {
    "reportingController": "reportingComponent",
    "note": "message",
    "regarding": "involvedObject",
}
"""Field of the newer API of events -> field of the core one, in whose words they are stored."""
_NEEDED_OF_EVENTS = ("reportingController", "reportingInstance", "action", "reason")


def event(new: At, old: At | None) -> Problems:
    """In either API: `eventTime` tells the newer one, which asks for more and lets only a series change."""
    namespace, regarding = new.field("metadata", "namespace"), _of_event(new, "regarding").field("namespace")
    if regarding.text and namespace.text and regarding.text != namespace.text:
        path = "involvedObject.namespace"
        yield Problem(path, regarding.value, "does not match event.namespace")
    if not new.field("eventTime").is_set:
        return
    for name in _NEEDED_OF_EVENTS:
        yield from required(At(_of_event(new, name).value, name))
    if new.field("type").value not in ("Normal", "Warning"):
        yield new.field("type").problem("must be Normal or Warning")
    if old is not None and old.field("eventTime").is_set:
        for name in (*_NEEDED_OF_EVENTS, "eventTime", "note", "regarding"):
            if _of_event(new, name).value != _of_event(old, name).value:
                yield Problem(name, _of_event(new, name).value, "field is immutable")


def _of_event(document: At, name: str) -> At:
    newer = document.field(name)
    return newer if newer.is_set else document.field(_CORE_NAMES.get(name, name))
