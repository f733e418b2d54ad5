"""ReplicaSets keep a number of equal pods; Deployments keep a ReplicaSet for each version of a template."""

import hashlib
from datetime import datetime
from typing import Any

import msgspec

from reprieve.objects import MOST_PODS, Document, put_condition
from reprieve.server.api import Api
from reprieve.server.controllers.budgets import scaled
from reprieve.server.controllers.controller import Controller, Key, in_parallel
from reprieve.server.controllers.pods import Pod, PodIndex, owner_reference, pod_from_template
from reprieve.server.storage import Change

HASH_LABEL = "pod-template-hash"


class ReplicaSets(Controller):
    resource = "replicasets.apps"

    def __init__(self, api: Api, pods: PodIndex) -> None:
        self._pods = pods
        super().__init__(api)
        pods.listen(self._pod_changed)

    def _pod_changed(self, before: Pod | None, after: Pod | None) -> None:
        pod = after or before
        if pod is not None and pod.controller_kind == "ReplicaSet":
            self.queue.add((pod.namespace, pod.controller_name))

    async def reconcile(self, key: Key) -> datetime | None:
        owner = self.api.peek(self.resource, key[1], key[0])
        if owner is None:
            return None
        uid = owner["metadata"]["uid"]
        active = [p for p in self._pods.of_controller(uid) if p.active]
        wanted = min(int(owner["spec"].get("replicas", 1)), MOST_PODS)
        if not owner["metadata"].get("deletionTimestamp"):
            template = owner["spec"].get("template") or {}
            missing = [pod_from_template(owner, template) for _ in range(wanted - len(active))]
            await in_parallel(_creating(self.api, pod) for pod in missing)
            surplus = sorted(active, key=_first_to_go)[: max(0, len(active) - wanted)]
            await in_parallel(_deleting(self.api, pod) for pod in surplus)
        active = [p for p in self._pods.of_controller(uid) if p.active]
        ready = sum(1 for p in active if p.ready)
        status = {
            "replicas": len(active),
            "fullyLabeledReplicas": len(active),
            "readyReplicas": ready,
            "availableReplicas": ready,
            "observedGeneration": owner["metadata"].get("generation", 0),
        }
        if status != owner.get("status"):
            await self.api.update_status(self.resource, {**owner, "status": status})
        return None


def _first_to_go(pod: Pod) -> tuple[bool, bool, bool, str]:
    """1. not on a node; 2. not running; 3. not ready; 4. by name."""
    return bool(pod.node), pod.phase == "Running", pod.ready, pod.name


def _creating(api: Api, pod: Document) -> Any:
    return lambda: api.create("pods", pod, manager="replicaset-controller")


def _deleting(api: Api, pod: Pod) -> Any:
    return lambda: api.delete("pods", pod.name, pod.namespace, uid=pod.uid)


class Deployments(Controller):
    """Rolls to the next ReplicaSet within `maxSurge` and `maxUnavailable`; no history, no rollback."""

    resource = "deployments.apps"

    def __init__(self, api: Api) -> None:
        super().__init__(api)
        api.backend.store.listen(self._sets_changed)

    def _sets_changed(self, changes: list[Change]) -> None:
        for change in changes:
            if change.record.storage_key == "replicasets.apps":
                for owner in change.record.object["metadata"].get("ownerReferences", ()):
                    if owner.get("kind") == "Deployment":
                        self.queue.add((change.record.namespace, owner.get("name", "")))

    async def reconcile(self, key: Key) -> datetime | None:
        deployment = self.api.peek(self.resource, key[1], key[0])
        if deployment is None:
            return None
        if not deployment["metadata"].get("deletionTimestamp"):
            mark = _template_hash(deployment)
            newest = await self._ensure_newest(deployment, mark)
            others = [
                s for s in self._owned(deployment) if s["metadata"]["name"] != newest["metadata"]["name"]
            ]
            await self._roll(deployment, newest, others)
        await self._write_status(deployment)
        return None

    def _owned(self, deployment: Document) -> list[Document]:
        meta = deployment["metadata"]
        candidates = self.api.select("replicasets.apps", meta["namespace"])
        return [
            s
            for s in candidates
            if any(o.get("uid") == meta["uid"] for o in s["metadata"].get("ownerReferences", ()))
        ]

    async def _ensure_newest(self, deployment: Document, mark: str) -> Document:
        name = f"{deployment['metadata']['name']}-{mark}"
        existing = self.api.peek("replicasets.apps", name, deployment["metadata"]["namespace"])
        if existing is not None:
            return existing
        spec = deployment["spec"]
        template = msgspec.json.decode(msgspec.json.encode(spec["template"]))
        labels = template.setdefault("metadata", {}).setdefault("labels", {})
        labels[HASH_LABEL] = mark
        selector = msgspec.json.decode(msgspec.json.encode(spec["selector"]))
        selector.setdefault("matchLabels", {})[HASH_LABEL] = mark
        document = {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {
                "name": name,
                "labels": dict(labels),
                "ownerReferences": [owner_reference(deployment)],
            },
            "spec": {"replicas": 0, "selector": selector, "template": template},
        }
        return await self.api.create("replicasets.apps", document, deployment["metadata"]["namespace"])

    async def _roll(self, deployment: Document, newest: Document, others: list[Document]) -> None:
        wanted = int(deployment["spec"].get("replicas", 1))
        surge, unavailable = _limits(deployment, wanted)
        now_old = sum(int(s["spec"].get("replicas", 0)) for s in others)
        now_new = int(newest["spec"].get("replicas", 0))
        recreating = (deployment["spec"].get("strategy") or {}).get("type") == "Recreate"
        lingering = any((s.get("status") or {}).get("replicas") for s in others)
        if recreating:
            target = now_new if now_old or lingering else wanted
            spare = now_old
        else:
            target = max(min(wanted, wanted + surge - now_old), min(now_new, wanted))
            new_ready = int((newest.get("status") or {}).get("readyReplicas") or 0)
            spare = now_old + now_new - (wanted - unavailable) - max(0, now_new - new_ready)
        if target != now_new:
            await self._scale(newest, target)
        for old in others:
            count = int(old["spec"].get("replicas", 0))
            cut = min(count, max(0, spare))
            if cut:
                await self._scale(old, count - cut)
                spare -= cut

    async def _scale(self, owned: Document, replicas: int) -> None:
        meta = owned["metadata"]
        await self.api.patch(
            "replicasets.apps", meta["name"], {"spec": {"replicas": replicas}}, meta["namespace"]
        )

    async def _write_status(self, deployment: Document) -> None:
        sets = self._owned(deployment)
        newest = f"{deployment['metadata']['name']}-{_template_hash(deployment)}"
        wanted = int(deployment["spec"].get("replicas", 1))

        def total(field: str) -> int:
            return sum(int((s.get("status") or {}).get(field) or 0) for s in sets)

        updated = sum(
            int((s.get("status") or {}).get("replicas") or 0) for s in sets if s["metadata"]["name"] == newest
        )
        available = total("availableReplicas")
        status: Document = {
            "conditions": [dict(c) for c in (deployment.get("status") or {}).get("conditions") or ()],
            "observedGeneration": deployment["metadata"].get("generation", 0),
            "replicas": total("replicas"),
            "updatedReplicas": updated,
            "readyReplicas": total("readyReplicas"),
            "availableReplicas": available,
            "unavailableReplicas": max(0, wanted - available),
        }
        enough = available >= wanted - _limits(deployment, wanted)[1]
        now = self.api.backend.timestamp()
        reason = "MinimumReplicasAvailable" if enough else "MinimumReplicasUnavailable"
        put_condition(
            status, now, type="Available", status=str(enough), reason=reason, message=f"{available} available"
        )
        done = updated == wanted == available == status["replicas"]
        reason = "NewReplicaSetAvailable" if done else "ReplicaSetUpdated"
        put_condition(
            status, now, type="Progressing", status="True", reason=reason, message=f"{updated} updated"
        )
        if status != deployment.get("status"):
            await self.api.update_status(self.resource, {**deployment, "status": status})


def _limits(deployment: Document, wanted: int) -> tuple[int, int]:
    """Surge and unavailable as numbers; a percentage of surge is rounded up, of unavailable down."""
    rolling = (deployment["spec"].get("strategy") or {}).get("rollingUpdate") or {}
    surge = scaled(rolling.get("maxSurge", "25%"), wanted)
    raw = rolling.get("maxUnavailable", "25%")
    percentage = isinstance(raw, str) and raw.endswith("%") and raw[:-1].isdigit()
    unavailable = int(raw[:-1]) * wanted // 100 if percentage else scaled(raw, wanted)
    return surge, max(unavailable, 0 if surge else 1)


def _template_hash(deployment: Document) -> str:
    encoded = msgspec.json.encode(deployment["spec"].get("template") or {}, order="sorted")
    return hashlib.sha256(encoded).hexdigest()[:10]
