"""Deployments keep a ReplicaSet for each version of a template, and roll from one to the next.

Each ReplicaSet carries the number of its revision, so that `kubectl rollout history` and `undo` find it; as
many old ones stay as `revisionHistoryLimit` says. A paused Deployment is scaled, not rolled. Sizes and
conditions come from `rollout`.
"""

import copy
from datetime import datetime
from functools import partial

from reprieve.jobs import HASH_LABEL, template_hash
from reprieve.objects import Document, matches
from reprieve.server.api import Api
from reprieve.server.controllers import rollout
from reprieve.server.controllers.controller import Controller, Key, in_parallel
from reprieve.server.controllers.events import record_event
from reprieve.server.controllers.pod_owners import is_ending, selector_of
from reprieve.server.controllers.pods import Pod, PodIndex, owner_reference
from reprieve.server.controllers.rollout import REVISION, limits_of, size
from reprieve.server.errors import ApiError
from reprieve.server.storage import Change

_NOT_INHERITED = (REVISION, "kubectl.kubernetes.io/last-applied-configuration")
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
        for owner in change.record.object["metadata"].get("ownerReferences", ()):
            if owner.get("kind") == "Deployment":
                self.queue.add((change.record.namespace, owner.get("name", "")))

    def _pod_changed(self, before: Pod | None, after: Pod | None) -> None:
        """A Deployment that recreates waits for its last old pod to go."""
        gone = before is not None and (after is None or after.finished)
        if before is not None and gone and before.controller_kind == "ReplicaSet":
            owner = self.api.peek(SETS, before.controller_name, before.namespace)
            for above in (owner or {}).get("metadata", {}).get("ownerReferences", ()):
                if above.get("kind") == "Deployment":
                    self.queue.add((before.namespace, above.get("name", "")))

    async def reconcile(self, key: Key) -> datetime | None:
        deployment = self.api.peek(self.resource, key[1], key[0])
        if deployment is None:
            return None
        newest, old = _split(deployment, await self._claim(deployment))
        leaving = bool(deployment["metadata"].get("deletionTimestamp"))
        if not leaving:
            newest = await self._advance(deployment, newest, old)
            if rollout.is_complete(deployment, deployment.get("status") or {}):
                await self._forget_old(deployment, old)
        return await self._write(deployment, newest, leaving=leaving)

    async def _claim(self, deployment: Document) -> list[Document]:
        """Those that it owns and selects; orphans that it selects are adopted."""
        meta, selector = deployment["metadata"], selector_of(deployment)
        claimed = []
        for record in self.api.backend.store.collection(SETS).scan(meta["namespace"]):
            if not matches(selector, record.labels or {}):
                continue
            owned = record.object
            references = owned["metadata"].get("ownerReferences", ())
            owner = next((o for o in references if o.get("controller")), None)
            if owner is None and not (
                meta.get("deletionTimestamp") or owned["metadata"].get("deletionTimestamp")
            ):
                patch = {"metadata": {"ownerReferences": [*references, owner_reference(deployment)]}}
                claimed.append(await self._patch(owned, patch))
            elif owner is not None and owner.get("uid") == meta["uid"]:
                claimed.append(owned)
        return claimed

    async def _advance(
        self, deployment: Document, newest: Document | None, old: list[Document]
    ) -> Document | None:
        """One step of the rollout; every change brings the Deployment back onto the queue."""
        limits, paused = limits_of(deployment), bool(deployment["spec"].get("paused"))
        rolling = rollout.is_rolling(deployment)
        if not rolling and not paused and self._runs(old):
            await in_parallel(partial(self._resize, deployment, each, 0) for each in old)
            return newest
        if newest is not None:
            newest = await self._refresh(deployment, newest, old)
        elif not paused:
            newest = await self._create(deployment, old)
        if paused:
            active = [s for s in [*old, newest] if s is not None and size(s)]
            latest = active or ([newest] if newest is not None else rollout.oldest_first(old)[-1:])
            if len(latest) == 1:
                await self._resize(deployment, latest[0], limits.wanted)
        elif newest is not None:
            total = sum(map(size, old)) + size(newest)
            target = rollout.new_size(limits, size(newest), total, rolling)
            if target != size(newest):
                return await self._resize(deployment, newest, target)
            sizes = rollout.old_sizes(limits, newest, old)
            for each in old:
                await self._resize(deployment, each, sizes.get(each["metadata"]["name"], 0))
        return newest

    def _runs(self, old: list[Document]) -> bool:
        pods = (p for s in old for p in self._pods.of_controller(s["metadata"]["uid"]))
        return any(map(size, old)) or any(not p.finished for p in pods)

    async def _create(self, deployment: Document, old: list[Document]) -> Document:
        document = _new_set(deployment, old)
        try:
            return await self.api.create(SETS, document, deployment["metadata"]["namespace"], manager=MANAGER)
        except ApiError as refusal:
            if not is_ending(refusal):
                text = f'Failed to create new replica set "{document["metadata"]["name"]}": {refusal}'
                await record_event(
                    self.api, deployment, "ReplicaSetCreateError", text, component=MANAGER, warning=True
                )
            raise

    async def _refresh(self, deployment: Document, newest: Document, old: list[Document]) -> Document:
        """The newest set has the highest revision and the Deployment's annotations."""
        annotations = dict(newest["metadata"].get("annotations") or {})
        wanted = {**annotations, **_inherited(deployment)}
        number = max(map(rollout.revision, old), default=0) + 1
        if rollout.revision(newest) < number:
            wanted[REVISION] = str(number)
        patch: Document = {"metadata": {"annotations": wanted}} if wanted != annotations else {}
        seconds = int(deployment["spec"].get("minReadySeconds") or 0)
        if int(newest["spec"].get("minReadySeconds") or 0) != seconds:
            patch["spec"] = {"minReadySeconds": seconds}
        return await self._patch(newest, patch) if patch else newest

    async def _resize(self, deployment: Document, owned: Document, target: int) -> Document:
        now = size(owned)
        if target == now:
            return owned
        changed = await self._patch(owned, {"spec": {"replicas": target}})
        direction, name = "up" if target > now else "down", owned["metadata"]["name"]
        message = f"Scaled {direction} replica set {name} from {now} to {target}"
        await record_event(self.api, deployment, "ScalingReplicaSet", message, component=MANAGER)
        return changed

    async def _forget_old(self, deployment: Document, old: list[Document]) -> None:
        limit = int(deployment["spec"].get("revisionHistoryLimit", 10))
        alive = [s for s in old if not s["metadata"].get("deletionTimestamp")]
        alive.sort(key=lambda s: (rollout.revision(s), s["metadata"]["creationTimestamp"]))
        await in_parallel(
            partial(
                self.api.delete,
                SETS,
                each["metadata"]["name"],
                each["metadata"]["namespace"],
                propagation="Background",
            )
            for each in alive[: max(0, len(alive) - limit)]
            if not size(each) and not (each.get("status") or {}).get("replicas")
        )

    async def _patch(self, owned: Document, patch: Document) -> Document:
        meta = owned["metadata"]
        return await self.api.patch(SETS, meta["name"], patch, meta["namespace"], manager=MANAGER)

    async def _write(
        self, deployment: Document, newest: Document | None, *, leaving: bool
    ) -> datetime | None:
        sets = await self._claim(deployment)
        uid = newest["metadata"]["uid"] if newest is not None else ""
        newest = next((s for s in sets if s["metadata"]["uid"] == uid), None)
        status = rollout.report(deployment, sets, newest, self.api.now(), leaving=leaving)
        document = {**deployment, "metadata": dict(deployment["metadata"]), "status": status}
        if newest is not None and rollout.revision(newest):
            annotations = deployment["metadata"].get("annotations") or {}
            number = str(rollout.revision(newest))
            document["metadata"]["annotations"] = {**annotations, REVISION: number}
        if document != deployment:
            await self.api.update_status(self.resource, document, manager=MANAGER)
        return rollout.deadline(document)


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


def _inherited(deployment: Document) -> dict[str, str]:
    annotations = deployment["metadata"].get("annotations") or {}
    return {k: v for k, v in annotations.items() if k not in _NOT_INHERITED}


def _new_set(deployment: Document, old: list[Document]) -> Document:
    spec, meta = deployment["spec"], deployment["metadata"]
    template, selector = copy.deepcopy(spec["template"]), copy.deepcopy(spec["selector"])
    mark = template_hash(template)
    labels = template.setdefault("metadata", {}).setdefault("labels", {})
    labels[HASH_LABEL] = selector.setdefault("matchLabels", {})[HASH_LABEL] = mark
    number = max(map(rollout.revision, old), default=0) + 1
    total, rolling = sum(map(size, old)), rollout.is_rolling(deployment)
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": f"{meta['name'][: _LONGEST_NAME - len(mark) - 1]}-{mark}",
            "labels": dict(labels),
            "annotations": {**_inherited(deployment), REVISION: str(number)},
            "ownerReferences": [owner_reference(deployment)],
        },
        "spec": {
            "replicas": rollout.new_size(limits_of(deployment), 0, total, rolling),
            "minReadySeconds": int(spec.get("minReadySeconds") or 0),
            "selector": selector,
            "template": template,
        },
    }
