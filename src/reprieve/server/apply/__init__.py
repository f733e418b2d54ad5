"""Server-side apply: a manager states the fields it cares about, and the server remembers who owns what.

`server_side_apply`, in order:

1. the applied document is merged into the current one;
2. a field that another manager owns and whose value would change is a conflict (409), unless `force` takes
   it over;
3. fields that the manager applied before and no longer mentions are removed, unless another manager owns
   them;
4. the manager owns exactly what it applied.

`kubectl apply --server-side` goes on where `kubectl apply` left off (`last_applied`): what the client applied
and nobody changed since is no conflict, and the note of what was applied is kept up to date.

`track_update` accounts for every other write: what it changes belongs to its manager. An object carries no
managedFields until its first apply; what exists by then belongs to `before-first-apply`. Pure functions.
"""

from datetime import datetime
from itertools import groupby

from reprieve.objects import Document, SchemaNode
from reprieve.server.apply import last_applied
from reprieve.server.apply.document import check_unique, differences, field_set, merge, remove
from reprieve.server.apply.managed_fields import (
    APPLY,
    UPDATE,
    FieldSet,
    Owner,
    Path,
    covers,
    display,
    field,
    read_owners,
    write_owners,
)
from reprieve.server.errors import Cause, apply_conflict, bad_request
from reprieve.server.field_validation import schema_of, schema_of_kind
from reprieve.server.registry import ResourceInfo

BEFORE_FIRST_APPLY = "before-first-apply"
_NOTHING: FieldSet = frozenset()
_LISTED_CONFLICTS = 1000
"""Of thousands of fields with hundreds of owners each nobody reads all."""

_SERVER_OWNED = (
    "creationTimestamp",
    "generation",
    "managedFields",
    "name",
    "namespace",
    "resourceVersion",
    "selfLink",
    "uid",
)
_NEVER_MANAGED: FieldSet = frozenset(
    {(field("apiVersion"),), (field("kind"),), (field("metadata"),)}
    | {(field("metadata"), field(name)) for name in _SERVER_OWNED}
)


def server_side_apply(
    current: Document | None,
    applied: Document,
    manager: str,
    force: bool,
    resource: ResourceInfo,
    now: datetime,
    subresource: str = "",
) -> Document:
    """The document after the apply, managedFields included. `current` None: the object is new."""
    if not manager:
        raise bad_request("fieldManager is required for apply patch")
    schema = schema_of(resource)
    applied = _applicable(applied, resource, subresource)
    check_unique(applied, schema)
    mine = Owner(
        manager=manager,
        operation=APPLY,
        api_version=resource.api_version,
        subresource=subresource,
        fields=_managed(field_set(applied, schema)),
    )
    if current is None:
        return _with_owners(applied, [mine.at(now)])
    owners = _owners(current, schema)
    before = next((o for o in owners if o.identity == mine.identity), None)
    others = [o for o in owners if o.identity != mine.identity]
    merged = merge(current, applied, schema)
    changed, _ = differences(current, merged, schema)
    yielding = last_applied.unchanged_since(current, schema) if manager == last_applied.KUBECTL else _NOTHING
    others = _settle_conflicts(others, changed & mine.fields, yielding, force)
    if before is not None:
        merged = _prune(merged, before.fields, mine.fields, others, schema)
    if manager == last_applied.KUBECTL:
        merged = last_applied.noted(current, merged, applied)
    return _finish(current, merged, mine, before, others, schema, now)


def _applicable(applied: Document, resource: ResourceInfo, subresource: str) -> Document:
    """What this endpoint can set: `status` only through its own endpoint, and nothing else there."""
    if subresource == "status":
        return {k: v for k, v in applied.items() if k in ("apiVersion", "kind", "metadata", "status")}
    return {k: v for k, v in applied.items() if k != "status" or not resource.has_status}


def _managed(fields: FieldSet) -> FieldSet:
    return fields - _NEVER_MANAGED


def _owners(current: Document, schema: SchemaNode) -> list[Owner]:
    owners = read_owners(current["metadata"])
    if owners:
        return owners
    fields = _managed(field_set(current, schema))
    version = str(current.get("apiVersion", ""))
    return [Owner(manager=BEFORE_FIRST_APPLY, operation=UPDATE, api_version=version, fields=fields)]


def _settle_conflicts(others: list[Owner], claimed: FieldSet, yielding: FieldSet, force: bool) -> list[Owner]:
    """`yielding`: fields that whoever owns them gives up without being forced to."""
    conflicts = [(other, path) for other in others for path in sorted(other.fields & claimed - yielding)]
    if conflicts and not force:
        raise _refusal(conflicts)
    return [other.owning(other.fields - claimed) for other in others]


def _refusal(conflicts: list[tuple[Owner, Path]]) -> Exception:
    listed = conflicts[:_LISTED_CONFLICTS]
    causes = [
        Cause("FieldManagerConflict", f"conflict with {owner.describe()}", display(path))
        for owner, path in listed
    ]
    if len(conflicts) == 1:
        owner, path = conflicts[0]
        message = f"Apply failed with 1 conflict: conflict with {owner.describe()}: {display(path)}"
        return apply_conflict(message, causes)
    by_owner = groupby(sorted(listed, key=lambda each: each[0].identity), key=lambda each: each[0])
    lines: list[str] = []
    for owner, own in by_owner:
        lines.append(f"conflicts with {owner.describe()}:")
        lines += [f"- {display(path)}" for _, path in own]
    if len(conflicts) > len(listed):
        lines.append(f"and {len(conflicts) - len(listed)} more")
    return apply_conflict(f"Apply failed with {len(conflicts)} conflicts: " + "\n".join(lines), causes)


def _prune(
    merged: Document, last: FieldSet, mine: FieldSet, others: list[Owner], schema: SchemaNode
) -> Document:
    """Without the fields that are no longer applied."""
    wanted = covers(mine)
    owned = covers(path for other in others for path in other.fields)
    pruned: Document = remove(merged, covers(last) - wanted - _NEVER_MANAGED - owned, schema)
    return pruned


def _finish(
    current: Document,
    merged: Document,
    mine: Owner,
    before: Owner | None,
    others: list[Owner],
    schema: SchemaNode,
    now: datetime,
) -> Document:
    """Stamp the manager's entry; an apply that changes nothing leaves the object as it was."""
    changed, removed = differences(current, merged, schema)
    same_owners = before is not None and before.fields == mine.fields
    if same_owners and not _managed(changed | removed):
        return current
    others = [other.owning(other.fields - removed) for other in others]
    return _with_owners(merged, [*others, mine.at(now)])


def track_update(
    old: Document,
    new: Document,
    manager: str,
    subresource: str,
    now: datetime,
    resource: ResourceInfo | None = None,
) -> Document:
    """The new document with its managedFields brought up to date; cheap when little changed."""
    schema = schema_of(resource) if resource is not None else schema_of_kind(new)
    owners = read_owners(old["metadata"])
    given = new["metadata"].get("managedFields")
    if given is not None and given != old["metadata"].get("managedFields"):
        owners = read_owners(new["metadata"])  # who writes them means it; kubectl does, to clean up
        if not owners:
            return _without_owners(new)
    changed, removed = differences(old, new, schema)
    changed, removed = _managed(changed), _managed(removed)
    if not changed and not removed:
        return _with_owners(new, owners)
    mine = Owner(
        manager=manager,
        operation=UPDATE,
        api_version=str(new.get("apiVersion", "")),
        subresource=subresource,
    )
    before = next((o for o in owners if o.identity == mine.identity), mine)
    lost = changed | removed
    others = [o.owning(o.fields - lost) for o in owners if o.identity != mine.identity]
    return _with_owners(new, [*others, before.owning((before.fields - removed) | changed).at(now)])


def _without_owners(document: Document) -> Document:
    """As before the first apply: what exists will belong to `before-first-apply`."""
    metadata = {k: v for k, v in document["metadata"].items() if k != "managedFields"}
    return {**document, "metadata": metadata}


def _with_owners(document: Document, owners: list[Owner]) -> Document:
    metadata = {k: v for k, v in document["metadata"].items() if k != "managedFields"}
    return {**document, "metadata": {**metadata, "managedFields": write_owners(owners)}}


__all__ = ["server_side_apply", "track_update"]
