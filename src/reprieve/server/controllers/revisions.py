"""ControllerRevisions: the versions of a template that a StatefulSet or a DaemonSet had.

`kubectl rollout history` and `undo` read them. The latest has the highest number; a template that comes back
gets a new number, not a new object. As many that no pod uses stay as `revisionHistoryLimit` says.
"""

import hashlib
from collections.abc import Iterable
from functools import partial

import msgspec

from reprieve.objects import Document, matches
from reprieve.server.api import Api
from reprieve.server.controllers.controller import in_parallel
from reprieve.server.controllers.pod_owners import selector_of
from reprieve.server.controllers.pods import owner_reference
from reprieve.server.errors import ApiError

REVISIONS = "controllerrevisions.apps"
HASH = "controller.kubernetes.io/hash"
REVISION_LABEL = "controller-revision-hash"
_LONGEST_PREFIX = 223


class History(msgspec.Struct, frozen=True):
    """Oldest first; the latest is the one that the owner's template is now."""

    revisions: tuple[Document, ...]
    latest: Document
    collisions: int

    def named(self, name: str) -> Document | None:
        """None too for one without a template: anybody can write a revision with a fitting label."""
        return next((r for r in self.revisions if name_of(r) == name and _has_template(r)), None)


def name_of(revision: Document) -> str:
    return str(revision["metadata"]["name"])


def _number(revision: Document) -> int:
    return int(revision.get("revision") or 0)


def _has_template(revision: Document) -> bool:
    data = revision.get("data")
    spec = data.get("spec") if isinstance(data, dict) else None
    return isinstance(spec, dict) and isinstance(spec.get("template"), dict)


def template_of(revision: Document) -> Document:
    template = revision["data"]["spec"]["template"]
    return {key: value for key, value in template.items() if key != "$patch"}


async def current_history(api: Api, owner: Document, manager: str) -> History:
    """The owner's revisions, with one for its template of today."""
    known = await _owned(api, owner, manager)
    patch = {"spec": {"template": {**owner["spec"]["template"], "$patch": "replace"}}}
    # Upstream's clients compare the bytes with their own, whose keys are sorted.
    data = msgspec.json.decode(msgspec.json.encode(patch, order="sorted"))
    collisions = int((owner.get("status") or {}).get("collisionCount") or 0)
    number = _number(known[-1]) + 1 if known else 1
    equal = [r for r in known if r.get("data") == data]
    if equal and equal[-1] is known[-1]:
        return History(tuple(known), known[-1], collisions)
    if equal:
        again = await api.patch(
            REVISIONS,
            name_of(equal[-1]),
            {"revision": number},
            owner["metadata"]["namespace"],
            manager=manager,
        )
        rest = [r for r in known if r is not equal[-1]]
        return History((*rest, again), again, collisions)
    created, collisions = await _create(api, owner, data, number, collisions, manager)
    return History((*known, created), created, collisions)


async def _owned(api: Api, owner: Document, manager: str) -> list[Document]:
    """Orphans that the owner's selector matches are adopted."""
    meta, selector, found = owner["metadata"], selector_of(owner), []
    for record in api.backend.store.collection(REVISIONS).scan(meta["namespace"]):
        if not matches(selector, record.labels or {}):
            continue
        revision = record.object
        above = next(
            (o for o in revision["metadata"].get("ownerReferences", ()) if o.get("controller")), None
        )
        if above is None and not meta.get("deletionTimestamp"):
            patch = {"metadata": {"ownerReferences": [owner_reference(owner)]}}
            revision = await api.patch(REVISIONS, record.name, patch, meta["namespace"], manager=manager)
            found.append(revision)
        elif above is not None and above.get("uid") == meta["uid"]:
            found.append(revision)
    return sorted(found, key=lambda r: (_number(r), r["metadata"]["creationTimestamp"], name_of(r)))


async def _create(
    api: Api, owner: Document, data: Document, number: int, collisions: int, manager: str
) -> tuple[Document, int]:
    meta = owner["metadata"]
    labels = (owner["spec"]["template"].get("metadata") or {}).get("labels") or {}
    encoded = msgspec.json.encode(data, order="sorted")
    while True:
        mark = hashlib.sha256(encoded + str(collisions or "").encode()).hexdigest()[:10]
        marks = {HASH: mark} | ({REVISION_LABEL: mark} if owner["kind"] == "DaemonSet" else {})
        revision: Document = {
            "apiVersion": "apps/v1",
            "kind": "ControllerRevision",
            "metadata": {
                "name": f"{meta['name'][:_LONGEST_PREFIX]}-{mark}",
                "labels": {**labels, **marks},
                "annotations": dict(meta.get("annotations") or {}),
                "ownerReferences": [owner_reference(owner)],
            },
            "data": data,
            "revision": number,
        }
        try:
            return await api.create(REVISIONS, revision, meta["namespace"], manager=manager), collisions
        except ApiError as refusal:
            if refusal.reason != "AlreadyExists":
                raise
            existing = api.peek(REVISIONS, revision["metadata"]["name"], meta["namespace"])
            if existing is not None and existing.get("data") == data:
                return existing, collisions
            collisions += 1


async def forget_old(api: Api, owner: Document, history: History, used: Iterable[str]) -> None:
    live = {name_of(history.latest), *used}
    idle = [r for r in history.revisions if name_of(r) not in live]
    limit = owner["spec"].get("revisionHistoryLimit")
    surplus = idle[: max(0, len(idle) - int(limit))] if limit is not None else []
    await in_parallel(
        partial(api.delete, REVISIONS, name_of(r), owner["metadata"]["namespace"]) for r in surplus
    )
