"""Deployments keep a ReplicaSet for each version of a template, and roll from one to the next.

Each ReplicaSet carries the number of its revision, so that `kubectl rollout history` and `undo` find it; as
many old ones stay as `revisionHistoryLimit` says. A paused Deployment is scaled, not rolled. The sizes come
from `rollout`, the conditions from `rollout_status`.
"""

from datetime import datetime
from functools import partial
from typing import Any

import msgspec

from reprieve.jobs import HASH_LABEL, template_hash
from reprieve.objects import Document, matches
from reprieve.server.api import Api
from reprieve.server.controllers import rollout, rollout_status
from reprieve.server.controllers.controller import Controller, Key, in_parallel
from reprieve.server.controllers.events import record_event
from reprieve.server.controllers.pod_owners import is_ending, selector_of
from reprieve.server.controllers.pods import Pod, PodIndex, owner_reference
from reprieve.server.controllers.rollout import DESIRED, MOST, REVISION, Limits, limits_of, size
from reprieve.server.errors import ApiError
from reprieve.server.storage import Change

HISTORY = "deployment.kubernetes.io/revision-history"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_OWN_ANNOTATIONS = (REVISION, DESIRED, MOST, HISTORY, LAST_APPLIED, "deprecated.deployment.rollback.to")
_LONGEST_HISTORY = 2000
_LONGEST_NAME = 253
SETS = "replicasets.apps"
MANAGER = "deployment-controller"


class Deployments(Controller):
    resource = "deployments.apps"

    def __init__(self, api: Api, pods: PodIndex) -> None:
        self._pods = pods
        super().__init__(api)
        self.changes.of(SETS, self._set_changed)
        pods.listen(self._pod_changed)

    def _set_changed(self, change: Change) -> None:
        record = change.record
        owners = record.object["metadata"].get("ownerReferences", ())
        names = [o.get("name", "") for o in owners if o.get("kind") == "Deployment"]
        if not owners:  # an orphan: any Deployment may adopt it
            names = [r.name for r in self.api.backend.store.collection(self.resource).scan(record.namespace)]
        for name in names:
            self.queue.add((record.namespace, name))

    def _pod_changed(self, before: Pod | None, after: Pod | None) -> None:
        """A Deployment that recreates waits for its last old pod to go."""
        if (
            before is not None
            and before.controller_kind == "ReplicaSet"
            and (after is None or after.finished)
        ):
            owner = self.api.peek(SETS, before.controller_name, before.namespace)
            for above in (owner or {}).get("metadata", {}).get("ownerReferences", ()):
                if above.get("kind") == "Deployment":
                    self.queue.add((before.namespace, above.get("name", "")))

    async def reconcile(self, key: Key) -> datetime | None:
        deployment = self.api.peek(self.resource, key[1], key[0])
        if deployment is None:
            return None
        sets = await self._claim(deployment)
        newest, old = _split(deployment, sets)
        leaving = bool(deployment["metadata"].get("deletionTimestamp"))
        status = rollout_status.draft(deployment)
        if leaving:
            return await self._write(deployment, status, newest, estimate=False)
        rollout_status.note_pause(deployment, status, self._now())
        if deployment["spec"].get("paused") or _is_scaled(deployment, sets):
            if newest is not None:
                newest = await self._refresh(deployment, newest, old)
            await self._scale(deployment, newest, old)
            if deployment["spec"].get("paused"):
                await self._forget_old(deployment, old)
            return await self._write(deployment, status, newest, estimate=False)
        if rollout.is_rolling(deployment):
            newest = await self._roll(deployment, status, newest, old)
        else:
            newest = await self._recreate(deployment, status, newest, old)
        if rollout_status.is_complete(deployment, deployment.get("status") or {}):
            await self._forget_old(deployment, old)
        return await self._write(deployment, status, newest, estimate=True)

    def _now(self) -> str:
        return self.api.backend.timestamp()

    # -- which ReplicaSets -----------------------------------------------------------------------------------

    async def _claim(self, deployment: Document) -> list[Document]:
        """Those that it owns and selects; orphans that it selects are adopted, others released."""
        meta, selector = deployment["metadata"], selector_of(deployment)
        uid = meta["uid"].encode()
        claimed, changes = [], []
        for record in self.api.backend.store.collection(SETS).scan(meta["namespace"]):
            selected = matches(selector, record.labels or {})
            if not selected and uid not in record.raw:
                continue
            document = record.object
            owner = next(
                (o for o in document["metadata"].get("ownerReferences", ()) if o.get("controller")), None
            )
            mine = owner is not None and owner.get("uid") == meta["uid"]
            staying = "deletionTimestamp" not in meta and "deletionTimestamp" not in document["metadata"]
            if mine and selected:
                claimed.append(document)
            elif staying and (mine or owner is None):
                changes.append(partial(self._set_owner, deployment, document, adopt=selected))
        await in_parallel(changes)
        return claimed

    async def _set_owner(self, deployment: Document, owned: Document, *, adopt: bool) -> None:
        """The change brings the Deployment back onto the queue."""
        uid = deployment["metadata"]["uid"]
        references = [o for o in owned["metadata"].get("ownerReferences", ()) if o.get("uid") != uid]
        if adopt:
            references.append(owner_reference(deployment))
        await self._patch(owned, {"metadata": {"ownerReferences": references or None}})

    async def _ensure_newest(
        self, deployment: Document, status: Document, newest: Document | None, old: list[Document]
    ) -> Document:
        if newest is not None:
            rollout_status.note_found(deployment, status, newest, self._now())
            return await self._refresh(deployment, newest, old)
        document = _new_set(deployment, old)
        try:
            newest = await self.api.create(
                SETS, document, deployment["metadata"]["namespace"], manager=MANAGER
            )
        except ApiError as refusal:
            await self._note_refusal(deployment, status, document["metadata"]["name"], refusal)
            raise
        rollout_status.note_created(deployment, status, newest, self._now())
        return newest

    async def _note_refusal(
        self, deployment: Document, status: Document, name: str, refusal: ApiError
    ) -> None:
        """A name that is taken by another template is avoided next time."""
        if is_ending(refusal):
            return
        if refusal.reason == "AlreadyExists":
            status["collisionCount"] = int(status.get("collisionCount") or 0) + 1
        else:
            message = f'Failed to create new replica set "{name}": {refusal}'
            rollout_status.note_refused(deployment, status, message, self._now())
            await record_event(
                self.api, deployment, "ReplicaSetCreateError", message, component=MANAGER, warning=True
            )
        await self.api.update_status(self.resource, {**deployment, "status": status}, manager=MANAGER)

    async def _refresh(self, deployment: Document, newest: Document, old: list[Document]) -> Document:
        """The newest set has the highest revision and the Deployment's annotations."""
        annotations = dict(newest["metadata"].get("annotations") or {})
        wanted = {**annotations, **_inherited(deployment)}
        number, before = max(map(rollout.revision, old), default=0) + 1, rollout.revision(newest)
        if before < number:
            wanted[REVISION] = str(number)
            if before:
                wanted[HISTORY] = _with_revision(annotations.get(HISTORY, ""), before)
        patch: dict[str, Any] = {}
        if wanted != annotations:
            patch["metadata"] = {"annotations": wanted}
        seconds = int(deployment["spec"].get("minReadySeconds") or 0)
        if int(newest["spec"].get("minReadySeconds") or 0) != seconds:
            patch["spec"] = {"minReadySeconds": seconds}
        return await self._patch(newest, patch) if patch else newest

    # -- sizes -----------------------------------------------------------------------------------------------

    async def _roll(
        self, deployment: Document, status: Document, newest: Document | None, old: list[Document]
    ) -> Document:
        newest = await self._ensure_newest(deployment, status, newest, old)
        limits = limits_of(deployment)
        total = sum(map(size, old)) + size(newest)
        target = rollout.new_size(limits, size(newest), total, rolling=True)
        if target != size(newest):
            return await self._resize(deployment, newest, target, limits)
        sizes = rollout.old_sizes(limits, newest, old)
        for each in old:
            await self._resize(deployment, each, sizes.get(each["metadata"]["name"], 0), limits)
        return newest

    async def _recreate(
        self, deployment: Document, status: Document, newest: Document | None, old: list[Document]
    ) -> Document | None:
        """No new pod before the last old one has ended."""
        limits = limits_of(deployment)
        running = any(not p.finished for s in old for p in self._pods.of_controller(s["metadata"]["uid"]))
        if any(map(size, old)) or running:
            for each in old:
                await self._resize(deployment, each, 0, limits)
            return newest
        newest = await self._ensure_newest(deployment, status, newest, old)
        return await self._resize(deployment, newest, limits.wanted, limits)

    async def _scale(self, deployment: Document, newest: Document | None, old: list[Document]) -> None:
        limits = limits_of(deployment)
        everyone = [*old, newest] if newest is not None else old
        active = [s for s in everyone if size(s)]
        if len(active) <= 1:
            latest = active or ([newest] if newest is not None else rollout.oldest_first(old)[-1:])
            for each in latest:
                await self._resize(deployment, each, limits.wanted, limits)
            return
        if rollout.is_saturated(limits, newest):
            sizes = {s["metadata"]["name"]: 0 for s in old}
        elif rollout.is_rolling(deployment):
            sizes = rollout.proportional_sizes(deployment, limits, active)
        else:
            return
        for each in active:
            target = sizes.get(each["metadata"]["name"], size(each))
            await self._resize(deployment, each, target, limits)

    async def _resize(self, deployment: Document, owned: Document, target: int, limits: Limits) -> Document:
        numbers = {DESIRED: str(limits.wanted), MOST: str(limits.most)}
        annotations = owned["metadata"].get("annotations") or {}
        now = size(owned)
        if target == now and (not now or numbers.items() <= annotations.items()):
            return owned
        changed = await self._patch(
            owned, {"metadata": {"annotations": numbers}, "spec": {"replicas": target}}
        )
        if target != now:
            direction = "up" if target > now else "down"
            name = owned["metadata"]["name"]
            message = f"Scaled {direction} replica set {name} from {now} to {target}"
            await record_event(self.api, deployment, "ScalingReplicaSet", message, component=MANAGER)
        return changed

    async def _forget_old(self, deployment: Document, old: list[Document]) -> None:
        limit = deployment["spec"].get("revisionHistoryLimit")
        if limit is None or limit == 2**31 - 1:
            return
        alive = [s for s in old if not s["metadata"].get("deletionTimestamp")]
        alive.sort(key=lambda s: (rollout.revision(s), s["metadata"]["creationTimestamp"]))
        idle = [s for s in alive[: max(0, len(alive) - int(limit))] if _is_idle(s)]
        await in_parallel(
            partial(
                self.api.delete,
                SETS,
                s["metadata"]["name"],
                s["metadata"]["namespace"],
                propagation="Background",
            )
            for s in idle
        )

    async def _patch(self, owned: Document, patch: dict[str, Any]) -> Document:
        meta = owned["metadata"]
        return await self.api.patch(SETS, meta["name"], patch, meta["namespace"], manager=MANAGER)

    async def _write(
        self, deployment: Document, status: Document, newest: Document | None, *, estimate: bool
    ) -> datetime | None:
        sets = await self._claim(deployment)
        rollout_status.count(deployment, status, sets, newest)
        rollout_status.judge_availability(deployment, status, self._now())
        if estimate:
            rollout_status.judge_progress(deployment, status, newest, self.api.now())
            rollout_status.copy_failures(status, sets, newest)
        document = {**deployment, "metadata": dict(deployment["metadata"]), "status": status}
        if newest is not None and rollout.revision(newest):
            annotations = {
                **(deployment["metadata"].get("annotations") or {}),
                REVISION: str(rollout.revision(newest)),
            }
            document["metadata"]["annotations"] = annotations
        if document != deployment:
            await self.api.update_status(self.resource, document, manager=MANAGER)
        return rollout_status.deadline(document) if estimate else None


def _split(deployment: Document, sets: list[Document]) -> tuple[Document | None, list[Document]]:
    """The oldest set with the Deployment's template, and all others."""
    wanted = _without_hash(deployment["spec"]["template"])
    equal = (s for s in rollout.oldest_first(sets) if _without_hash(s["spec"]["template"]) == wanted)
    newest = next(equal, None)
    return newest, [s for s in sets if s is not newest]


def _without_hash(template: Document) -> Document:
    meta = template.get("metadata") or {}
    labels = {k: v for k, v in (meta.get("labels") or {}).items() if k != HASH_LABEL}
    rest = {k: v for k, v in meta.items() if k not in ("labels", "creationTimestamp") and v}
    return {**template, "metadata": {**rest, "labels": labels}}


def _is_scaled(deployment: Document, sets: list[Document]) -> bool:
    """Whether the number of replicas changed since the sets were last sized."""
    wanted = int(deployment["spec"].get("replicas", 1))
    known = [rollout.annotated_number(s, DESIRED) for s in sets if size(s)]
    return any(number is not None and number != wanted for number in known)


def _is_idle(owned: Document) -> bool:
    status = owned.get("status") or {}
    seen = int(status.get("observedGeneration") or 0) >= owned["metadata"].get("generation", 0)
    return not size(owned) and not status.get("replicas") and seen


def _inherited(deployment: Document) -> dict[str, str]:
    annotations = deployment["metadata"].get("annotations") or {}
    return {k: v for k, v in annotations.items() if k not in _OWN_ANNOTATIONS}


def _with_revision(history: str, number: int) -> str:
    """The revisions that a set had before, the latest last; the oldest are dropped when they are too many."""
    revisions = [*(r for r in history.split(",") if r), str(number)]
    while len(",".join(revisions)) > _LONGEST_HISTORY:
        revisions.pop(0)
    return ",".join(revisions)


def _new_set(deployment: Document, old: list[Document]) -> Document:
    spec, meta, limits = deployment["spec"], deployment["metadata"], limits_of(deployment)
    collisions = (deployment.get("status") or {}).get("collisionCount")
    mark = template_hash(spec.get("template") or {}, str(collisions or ""))
    template = msgspec.json.decode(msgspec.json.encode(spec["template"]))
    labels = template.setdefault("metadata", {}).setdefault("labels", {})
    labels[HASH_LABEL] = mark
    selector = msgspec.json.decode(msgspec.json.encode(spec["selector"]))
    selector.setdefault("matchLabels", {})[HASH_LABEL] = mark
    number = max(map(rollout.revision, old), default=0) + 1
    numbers = {REVISION: str(number), DESIRED: str(limits.wanted), MOST: str(limits.most)}
    total = sum(map(size, old))
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": f"{meta['name'][: _LONGEST_NAME - len(mark) - 1]}-{mark}",
            "labels": dict(labels),
            "annotations": {**_inherited(deployment), **numbers},
            "ownerReferences": [owner_reference(deployment)],
        },
        "spec": {
            "replicas": rollout.new_size(limits, 0, total, rollout.is_rolling(deployment)),
            "minReadySeconds": int(spec.get("minReadySeconds") or 0),
            "selector": selector,
            "template": template,
        },
    }
