"""StatefulSets: pods with names that stay, in order, each with its own claims.

With `OrderedReady` a pod is created when all before it are available, and the last one goes first; with
`Parallel` nobody waits. A rolling update replaces the last pods first, down to the partition, never more than
`maxUnavailable` at a time; `OnDelete` leaves that to whoever deletes a pod.
"""

from datetime import datetime
from functools import partial

from reprieve.objects import Document, parse_time
from reprieve.server.api import Api
from reprieve.server.controllers import stateful_pods
from reprieve.server.controllers.controller import Key, in_parallel
from reprieve.server.controllers.events import record_event
from reprieve.server.controllers.pod_owners import PodOwners
from reprieve.server.controllers.pods import Pod, PodIndex
from reprieve.server.controllers.replicas import count_available
from reprieve.server.controllers.revisions import (
    REVISION_LABEL,
    History,
    current_history,
    forget_old,
    name_of,
    template_of,
)
from reprieve.server.controllers.rollout import rounded_down
from reprieve.server.controllers.stateful_pods import (
    INDEX_LABEL,
    NAME_LABEL,
    claims_of,
    first_ordinal,
    is_member,
    ordinal,
)
from reprieve.server.documents import shifted
from reprieve.server.errors import ApiError
from reprieve.server.storage import DELETED, Change

CLAIMS = "persistentvolumeclaims"


class StatefulSets(PodOwners):
    resource = "statefulsets.apps"
    kind = "StatefulSet"
    manager = "statefulset-controller"

    def __init__(self, api: Api, pods: PodIndex) -> None:
        super().__init__(api, pods)
        self.changes.of(CLAIMS, self._claim_changed)

    def _claim_changed(self, change: Change) -> None:
        """A pod may wait until the claim of its predecessor is gone."""
        if change.type == DELETED:
            for key in self._selectors.matching(change.record.namespace, change.record.labels or {}):
                self.queue.add(key)

    async def reconcile(self, key: Key) -> datetime | None:
        owner = self.api.peek(self.resource, key[1], key[0])
        if owner is None:
            return None
        pods = await self.claim(owner, is_member)
        history = await current_history(self.api, owner, self.manager)
        refusal = None
        if not owner["metadata"].get("deletionTimestamp"):
            refusal = await self._advance(owner, pods, history)
        pods = await self.claim(owner, is_member)
        status, due = self._status(owner, pods, history)
        if status != owner.get("status"):
            await self.api.update_status(self.resource, {**owner, "status": status}, manager=self.manager)
        used = {p.labels.get(REVISION_LABEL, "") for p in pods}
        await forget_old(self.api, owner, history, {*used, status["currentRevision"]})
        return min([*due, *self.later(refusal)], default=None)

    async def _advance(self, owner: Document, pods: list[Pod], history: History) -> ApiError | None:
        """As far as it goes without waiting; every change brings the set back onto the queue."""
        start, count = first_ordinal(owner), int(owner["spec"].get("replicas", 1))
        there = {ordinal(p): p for p in pods}
        numbers = range(start, start + count)
        condemned = sorted((p for p in pods if ordinal(p) not in numbers), key=ordinal, reverse=True)
        ordered = owner["spec"].get("podManagementPolicy") != "Parallel"
        for number in numbers:
            blocked, refusal = await self._keep(owner, number, there.get(number), history)
            if refusal is not None or (ordered and blocked):
                return refusal
        for pod in condemned:
            await self._own_claims(owner, pod, wanted=False)
        unhealthy = [p for p in [*there.values()] if self._is_unavailable(owner, p)]
        first = min(unhealthy, key=lambda p: (ordinal(p) not in numbers, ordinal(p)), default=None)
        for pod in condemned:
            if ordered and (pod.deleting or (self._is_unavailable(owner, pod) and pod is not first)):
                return None
            if not pod.deleting:
                await self.delete_pods([pod])
            if ordered:
                return None
        await self._update(owner, [there[n] for n in numbers if n in there], count, history)
        return None

    async def _keep(
        self, owner: Document, number: int, pod: Pod | None, history: History
    ) -> tuple[bool, ApiError | None]:
        """Bring one replica to where it should be: whether those after it must wait, and what was refused."""
        if pod is not None and pod.finished:
            if not pod.deleting:
                await self.delete_pods([pod])
            return True, None
        if pod is None:
            return True, await self._create(owner, number, history)
        if pod.phase == "Pending":
            await self._create_claims(owner, number)
        if self._is_unavailable(owner, pod):
            return True, None
        name = pod.name
        if (pod.labels.get(NAME_LABEL), pod.labels.get(INDEX_LABEL)) != (name, str(number)):
            await self._patch(pod, {"labels": {NAME_LABEL: name, INDEX_LABEL: str(number)}})
        await self._own_claims(owner, pod, wanted=True)
        return False, None

    async def _create(self, owner: Document, number: int, history: History) -> ApiError | None:
        revision = history.latest
        if stateful_pods.keeps_current(owner, number):
            current = history.named((owner.get("status") or {}).get("currentRevision", ""))
            revision = current if current is not None else revision
        claims = [c["metadata"]["name"] for c in claims_of(owner, number)]
        existing = [self.api.peek(CLAIMS, name, owner["metadata"]["namespace"]) for name in claims]
        if any(claim is not None and claim["metadata"].get("deletionTimestamp") for claim in existing):
            return None  # the claim of the pod's predecessor must go first
        refusal = await self._create_claims(owner, number)
        if refusal is not None:
            return refusal
        pod = stateful_pods.stateful_pod(owner, template_of(revision), name_of(revision), number)
        return await self.create_pods(owner, [pod])

    async def _create_claims(self, owner: Document, number: int) -> ApiError | None:
        missing = [
            claim
            for claim in claims_of(owner, number)
            if self.api.peek(CLAIMS, claim["metadata"]["name"], claim["metadata"]["namespace"]) is None
        ]
        refusals = await in_parallel(
            partial(self.api.create, CLAIMS, claim, manager=self.manager) for claim in missing
        )
        real = [r for r in refusals if r.reason != "AlreadyExists"]
        if not real:
            return None
        message = f"create Claim for Pod {owner['metadata']['name']}-{number} failed error: {real[0]}"
        await record_event(self.api, owner, "FailedCreate", message, component=self.manager, warning=True)
        return real[0]

    async def _own_claims(self, owner: Document, pod: Pod, *, wanted: bool) -> None:
        for claim in claims_of(owner, ordinal(pod)):
            name, namespace = claim["metadata"]["name"], claim["metadata"]["namespace"]
            found = self.api.peek(CLAIMS, name, namespace)
            if found is None:
                continue
            owners = stateful_pods.claim_owners(owner, pod, found, wanted)
            if owners != (found["metadata"].get("ownerReferences") or []):
                patch = {"metadata": {"ownerReferences": owners or None}}
                await self.api.patch(CLAIMS, name, patch, namespace, manager=self.manager)

    def _is_unavailable(self, owner: Document, pod: Pod) -> bool:
        if pod.deleting or pod.phase != "Running" or not pod.ready:
            return True
        wait = int(owner["spec"].get("minReadySeconds") or 0)
        return bool(wait and pod.ready_since and shifted(parse_time(pod.ready_since), wait) > self.api.now())

    async def _update(self, owner: Document, replicas: list[Pod], count: int, history: History) -> None:
        """Delete pods of older revisions, the last ones first, within what may be unavailable."""
        strategy = owner["spec"].get("updateStrategy") or {}
        if strategy.get("type", "RollingUpdate") != "RollingUpdate":
            return
        most = max(1, rounded_down((strategy.get("rollingUpdate") or {}).get("maxUnavailable", 1), count))
        lowest = first_ordinal(owner) + (stateful_pods.partition(owner) or 0)
        down = [p for p in replicas if self._is_unavailable(owner, p)]
        old = [
            p
            for p in sorted(replicas, key=ordinal, reverse=True)
            if p.labels.get(REVISION_LABEL) != name_of(history.latest)
            and not p.deleting
            and ordinal(p) >= lowest
        ]
        chosen: list[Pod] = []
        if owner["spec"].get("podManagementPolicy") == "Parallel":
            chosen, old = [p for p in old if p in down], [p for p in old if p not in down]
        await self.delete_pods(chosen + old[: max(0, most - len(down))])

    def _status(self, owner: Document, pods: list[Pod], history: History) -> tuple[Document, list[datetime]]:
        update = name_of(history.latest)
        known = (owner.get("status") or {}).get("currentRevision", "")
        current = known if history.named(known) is not None else update
        ready = [p for p in pods if p.phase == "Running" and p.ready]
        available, due = count_available(ready, owner["spec"], self.api.now())

        def of(revision: str) -> int:
            return sum(1 for p in pods if not p.deleting and p.labels.get(REVISION_LABEL) == revision)

        status: Document = {
            "observedGeneration": owner["metadata"].get("generation", 0),
            "replicas": len(pods),
            "readyReplicas": len(ready),
            "availableReplicas": available,
            "currentReplicas": of(current),
            "updatedReplicas": of(update),
            "currentRevision": current,
            "updateRevision": update,
            "collisionCount": history.collisions,
        }
        wanted = int(owner["spec"].get("replicas", 1))
        if status["updatedReplicas"] == status["readyReplicas"] == status["replicas"] == wanted:
            status |= {"currentReplicas": wanted, "currentRevision": update}
        return status, due
