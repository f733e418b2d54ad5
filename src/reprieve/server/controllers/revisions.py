"""ControllerRevisions: the versions of a template that a StatefulSet or a DaemonSet had.

`kubectl rollout history` and `undo` read them. The latest has the highest number; a template that comes back
gets a new number, not a new object. As many that no pod uses stay as `revisionHistoryLimit` says.
"""

import hashlib
from collections.abc import Iterable
from functools import partial

import msgspec

from reprieve.objects import Document
from reprieve.server.api import Api
from reprieve.server.controllers.controller import in_parallel
from reprieve.server.controllers.pods import owner_reference
from reprieve.server.documents import at
from reprieve.server.errors import ApiError

REVISIONS = "controllerrevisions.apps"
REVISION_LABEL = "controller-revision-hash"
_LONGEST_PREFIX = 223


class History(msgspec.Struct, frozen=True):
    """Oldest first; the latest is the one that the owner's template is now."""

    revisions: tuple[Document, ...]
    latest: Document

    def named(self, name: str) -> Document | None:
        """None too for one without a template: any client can write a revision."""
        return next((r for r in self.revisions if name_of(r) == name and template_of(r)), None)


def name_of(revision: Document) -> str:
    return str(revision["metadata"]["name"])


def template_of(revision: Document) -> Document:
    template = at(revision, "data", "spec", "template", default={})
    return {key: value for key, value in template.items() if key != "$patch"}


async def current_history(api: Api, owner: Document, manager: str) -> History:
    """The owner's revisions, with one for its template of today."""
    meta = owner["metadata"]
    records = api.backend.store.collection(REVISIONS).scan(meta["namespace"])
    known = [r.object for r in records if meta["uid"].encode() in r.raw]
    known.sort(key=lambda r: (int(r.get("revision") or 0), r["metadata"]["creationTimestamp"], name_of(r)))
    patch = {"spec": {"template": {**owner["spec"]["template"], "$patch": "replace"}}}
    # Upstream's clients compare the bytes with their own, whose keys are sorted.
    data = msgspec.json.decode(msgspec.json.encode(patch, order="sorted"))
    if known and known[-1].get("data") == data:
        return History(tuple(known), known[-1])
    number = int(known[-1].get("revision") or 0) + 1 if known else 1
    mark = hashlib.sha256(msgspec.json.encode(data, order="sorted")).hexdigest()[:10]
    labels = at(owner, "spec", "template", "metadata", "labels", default={})
    revision: Document = {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {
            "name": f"{meta['name'][:_LONGEST_PREFIX]}-{mark}",
            "labels": {**labels, REVISION_LABEL: mark},
            "annotations": dict(meta.get("annotations") or {}),
            "ownerReferences": [owner_reference(owner)],
        },
        "data": data,
        "revision": number,
    }
    try:
        latest = await api.create(REVISIONS, revision, meta["namespace"], manager=manager)
    except ApiError as refusal:
        if refusal.reason != "AlreadyExists":
            raise
        # The template came back, or the owner did after it had been deleted alone.
        change = {"metadata": {"ownerReferences": [owner_reference(owner)]}, "revision": number}
        latest = await api.patch(REVISIONS, name_of(revision), change, meta["namespace"], manager=manager)
    return History((*(r for r in known if name_of(r) != name_of(latest)), latest), latest)


async def forget_old(api: Api, owner: Document, history: History, used: Iterable[str]) -> None:
    live = {name_of(history.latest), *used}
    idle = [r for r in history.revisions if name_of(r) not in live]
    surplus = idle[: max(0, len(idle) - int(owner["spec"].get("revisionHistoryLimit", 10)))]
    await in_parallel(
        partial(api.delete, REVISIONS, name_of(r), owner["metadata"]["namespace"]) for r in surplus
    )
