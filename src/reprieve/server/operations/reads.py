"""Get and list: which records, at which revision, in which pages.

What `resourceVersion` means for a list:
 * unset or "0": the current state (committed state is always current here);
 * N, not older than: the current state, provided that N has happened;
 * N, exact (requested, or implied by a limit): the state at N, 410 once N is compacted;
 * a continue token: the state at the revision of the first page.
"""

import base64
import binascii
from itertools import islice

import msgspec

from reprieve.server.backend import Backend
from reprieve.server.errors import (
    ApiError,
    bad_request,
    expired,
    forbidden_field,
    invalid,
    not_found,
    not_supported,
    too_large_revision,
)
from reprieve.server.registry import ResourceInfo
from reprieve.server.selection import Selection
from reprieve.server.storage import Record
from reprieve.server.storage.collection import Collection, Past


class ListOptions(msgspec.Struct, frozen=True, kw_only=True):
    label_selector: str = ""
    field_selector: str = ""
    limit: int = 0
    continue_: str = ""
    resource_version: str = ""
    resource_version_match: str = ""


class Page(msgspec.Struct, frozen=True):
    records: list[Record]
    revision: int
    continue_: str = ""
    remaining: int | None = None


class _Token(msgspec.Struct, frozen=True):
    """Where the next page starts. Revision -1: the state at that time (an inconsistent list)."""

    rv: int
    namespace: str
    name: str
    seen: int


def get(backend: Backend, resource: ResourceInfo, namespace: str, name: str, version: str = "") -> Record:
    parse_revision(backend, version)
    record = backend.store.get(resource.storage_key, namespace, name)
    if record is None:
        raise not_found(resource.group, resource.plural, name)
    return record


def list_page(backend: Backend, resource: ResourceInfo, namespace: str | None, options: ListOptions) -> Page:
    selection = Selection(resource, options.label_selector, options.field_selector)
    check_list_options(options)
    collection = backend.store.collection(resource.storage_key)
    current = backend.store.revision
    token = _decode(options.continue_) if options.continue_ else None
    revision = token.rv if token is not None else _exact_revision(backend, options)
    past: Past | None = None
    if revision is None or revision == -1:
        revision = current
    elif revision != current:
        _require_history(backend, revision, token)
        past = collection.past(revision)
    after = (token.namespace, token.name) if token is not None else ("", "")
    if selection.name is not None and past is None and not options.limit:
        return Page(_by_name(collection, namespace, selection), revision)
    records = collection.scan(namespace, after, past)
    chosen = records if selection.everything else filter(selection, records)
    if not options.limit:
        return Page(list(chosen), revision)
    found = list(islice(chosen, options.limit + 1))
    if len(found) <= options.limit:
        return Page(found, revision)
    page = found[: options.limit]
    seen = (token.seen if token is not None else 0) + len(page)
    remaining = _count(collection, namespace) - seen if selection.everything else None
    next_ = _encode(_Token(revision, page[-1].namespace, page[-1].name, seen))
    return Page(page, revision, next_, remaining if remaining is None or remaining > 0 else 1)


def _by_name(collection: Collection, namespace: str | None, selection: Selection) -> list[Record]:
    """A list that can only match one name needs no scan."""
    assert selection.name is not None
    namespaces = [namespace] if namespace is not None else sorted(collection.buckets)
    found = (collection.get(each, selection.name) for each in namespaces)
    return [record for record in found if record is not None and selection(record)]


def _count(collection: Collection, namespace: str | None) -> int:
    if namespace is None:
        return collection.count
    bucket = collection.buckets.get(namespace)
    return len(bucket.records) if bucket is not None else 0


def parse_revision(backend: Backend, text: str) -> int:
    """A resource version as a revision, which must not be in the future; 0 for none."""
    if not text:
        return 0
    if not (text.isascii() and text.isdigit()) or len(text) > 19:
        raise bad_request(f'Invalid value: "{text[:64]}": resourceVersion must be a number')
    revision = int(text)
    if revision > backend.store.revision:
        raise too_large_revision(revision, backend.store.revision)
    return revision


def check_list_options(options: ListOptions) -> None:
    match = options.resource_version_match
    causes = []
    if match and not options.resource_version:
        message = "resourceVersionMatch is forbidden unless resourceVersion is provided"
        causes.append(forbidden_field("resourceVersionMatch", message))
    if match and options.continue_:
        causes.append(
            forbidden_field("resourceVersionMatch", "resourceVersionMatch is forbidden with continue")
        )
    if match not in ("", "Exact", "NotOlderThan"):
        causes.append(not_supported("resourceVersionMatch", match, ("Exact", "NotOlderThan")))
    if match == "Exact" and options.resource_version == "0":
        message = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
        causes.append(forbidden_field("resourceVersionMatch", message))
    if causes:
        raise invalid("meta.k8s.io", "ListOptions", "", causes)
    if options.continue_ and options.resource_version not in ("", "0"):
        raise bad_request("specifying resource version is not allowed when using continue")


def _exact_revision(backend: Backend, options: ListOptions) -> int | None:
    revision = parse_revision(backend, options.resource_version)
    match = options.resource_version_match
    exact = match == "Exact" or (not match and options.limit > 0 and revision > 0)
    return revision if exact else None


def _require_history(backend: Backend, revision: int, token: _Token | None) -> None:
    if revision > backend.store.revision:
        raise too_large_revision(revision, backend.store.revision)
    if revision >= backend.store.compacted:
        return
    if token is None:
        raise expired(f"The resourceVersion for the provided list is too old: {revision}")
    error: ApiError = expired(
        "The provided continue parameter is too old to display a consistent list result. You can start a new "
        "list without the continue parameter, or use the continue token in this response to retrieve the "
        "remainder of the results. Continuing with the provided token results in an inconsistent list - "
        "objects that were created, modified, or deleted between the time the first chunk was returned and "
        "now may show up in the list."
    )
    error.metadata = {"continue": _encode(_Token(-1, token.namespace, token.name, token.seen))}
    raise error


def _encode(token: _Token) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode(token)).decode().rstrip("=")


def _decode(text: str) -> _Token:
    try:
        padded = text + "=" * (-len(text) % 4)
        return msgspec.json.decode(base64.urlsafe_b64decode(padded), type=_Token)
    except (msgspec.MsgspecError, binascii.Error, ValueError, RecursionError):
        raise bad_request("continue key is not valid") from None
