"""The syntax of names, label keys and label values, as Kubernetes demands it.

Each check returns what is wrong, or nothing.
"""

import re
from functools import lru_cache

_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*", re.ASCII)
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?", re.ASCII)
_QUALIFIED = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?", re.ASCII)
_ENDS = "first and last a letter or digit"
_QUALIFIED_TEXT = f"at most 63 letters, digits, '-', '_' and '.', {_ENDS}"


@lru_cache(maxsize=16384)
def dns_subdomain(name: str) -> str | None:
    if len(name) > 253:
        return "must be no more than 253 characters"
    if not _SUBDOMAIN.fullmatch(name):
        return f"must be a DNS subdomain: lower case letters, digits, '-' and '.', {_ENDS}"
    return None


@lru_cache(maxsize=16384)
def dns_label(name: str) -> str | None:
    if len(name) > 63:
        return "must be no more than 63 characters"
    if not _LABEL.fullmatch(name):
        return f"must be a DNS label: lower case letters, digits and '-', {_ENDS}"
    return None


@lru_cache(maxsize=16384)
def label_key(key: str) -> str | None:
    prefix, slash, name = key.rpartition("/")
    if slash and dns_subdomain(prefix) is not None:
        return "must have a DNS subdomain before the '/'"
    if len(name) > 63 or not _QUALIFIED.fullmatch(name):
        return f"must be a label key: {_QUALIFIED_TEXT}"
    return None


@lru_cache(maxsize=16384)
def label_value(value: str) -> str | None:
    if value and (len(value) > 63 or not _QUALIFIED.fullmatch(value)):
        return f"must be a label value: {_QUALIFIED_TEXT}"
    return None
