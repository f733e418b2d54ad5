"""StatefulSets: pods with names that stay, in order, each with its own claims.

With `OrderedReady` a pod is created when all before it are available, and the last one goes first; with
`Parallel` none waits. A rolling update replaces the last pods first, down to the partition, never more than
`maxUnavailable` at a time; `OnDelete` waits until a client deletes a pod. Claims stay when their pod goes.
"""

import re
from datetime import datetime
from functools import partial

from reprieve.jobs import replica_claims, replica_volumes
from reprieve.objects import Document
from reprieve.server.controllers.controller import in_parallel
from reprieve.server.controllers.events import record_event
from reprieve.server.controllers.placed_pods import PlacedPods
from reprieve.server.controllers.pods import Pod, pod_from_template
from reprieve.server.controllers.replicas import count_available
from reprieve.server.controllers.revisions import REVISION_LABEL, History, name_of, template_of
from reprieve.server.controllers.rollout import rounded_down
from reprieve.server.documents import at, items
from reprieve.server.errors import ApiError

CLAIMS = "persistentvolumeclaims"
NAME_LABEL = "statefulset.kubernetes.io/pod-name"
INDEX_LABEL = "apps.kubernetes.io/pod-index"
_NAME = re.compile(r"(.*)-([0-9]{1,10})")


class StatefulSets(PlacedPods):
    resource = "statefulsets.apps"
    kind = "StatefulSet"
    manager = "statefulset-controller"

    async def place(self, owner: Document, pods: list[Pod], history: History) -> list[datetime]:
        start, count = _first(owner), int(owner["spec"].get("replicas", 1))
        there, numbers = {_ordinal(p): p for p in pods}, range(start, start + count)
        ordered = owner["spec"].get("podManagementPolicy") != "Parallel"
        for number in numbers:
            blocked, refusal = await self._keep(owner, number, there.get(number), history)
            if refusal is not None or (ordered and blocked):
                return self.later(refusal)
        for number in sorted(there.keys() - set(numbers), reverse=True):
            if not there[number].deleting:
                await self.delete_pods([there[number]])
            if ordered:
                return []
        rolling = at(owner, "spec", "updateStrategy", "rollingUpdate", default={})
        most = max(1, rounded_down(rolling.get("maxUnavailable", 1), count))
        lowest = start + int(rolling.get("partition") or 0)
        replicas = [there[number] for number in reversed(numbers) if number in there]
        down = sum(1 for p in replicas if _ordinal(p) < lowest and self.is_unavailable(owner, p))
        above = [p for p in replicas if _ordinal(p) >= lowest]
        await self.roll(owner, above, most, name_of(history.latest), down)
        return []

    async def _keep(
        self, owner: Document, number: int, pod: Pod | None, history: History
    ) -> tuple[bool, ApiError | None]:
        """Bring one replica to where it should be: whether those after it must wait, and what was refused."""
        if pod is None:
            return True, await self._create(owner, number, history)
        if pod.finished:
            await self.delete_pods([] if pod.deleting else [pod])
            return True, None
        if pod.phase == "Pending":
            await self._create_claims(owner, number)
        return self.is_unavailable(owner, pod), None

    async def _create(self, owner: Document, number: int, history: History) -> ApiError | None:
        refusal = await self._create_claims(owner, number)
        if refusal is not None:
            return refusal
        revision = history.latest
        if _keeps_current(owner, number):
            revision = history.named(at(owner, "status", "currentRevision", default="")) or revision
        pod = pod_from_template(owner, template_of(revision))
        metadata, name = pod["metadata"], f"{owner['metadata']['name']}-{number}"
        del metadata["generateName"]
        metadata["name"] = name
        metadata["labels"] |= {NAME_LABEL: name, INDEX_LABEL: str(number), REVISION_LABEL: name_of(revision)}
        pod["spec"] |= {"hostname": name, "subdomain": owner["spec"].get("serviceName") or ""}
        templates = items(owner, "spec", "volumeClaimTemplates")
        if volumes := replica_volumes(templates, name, items(pod, "spec", "volumes")):
            pod["spec"]["volumes"] = volumes
        return await self.create_pods(owner, [pod])

    async def _create_claims(self, owner: Document, number: int) -> ApiError | None:
        meta, selected = owner["metadata"], at(owner, "spec", "selector", "matchLabels", default={})
        templates, name = items(owner, "spec", "volumeClaimTemplates"), f"{meta['name']}-{number}"
        wanted = replica_claims(templates, name, meta["namespace"], selected)
        missing = [
            c for c in wanted if self.api.peek(CLAIMS, c["metadata"]["name"], meta["namespace"]) is None
        ]
        refusals = await in_parallel(
            partial(self.api.create, CLAIMS, claim, manager=self.manager) for claim in missing
        )
        real = [r for r in refusals if r.reason != "AlreadyExists"]
        if not real:
            return None
        message = f"create Claim for Pod {name} failed error: {real[0]}"
        await record_event(self.api, owner, "FailedCreate", message, component=self.manager, warning=True)
        return real[0]

    def status(self, owner: Document, pods: list[Pod], history: History) -> tuple[Document, list[datetime]]:
        update = name_of(history.latest)
        known = at(owner, "status", "currentRevision", default="")
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
        }
        wanted = int(owner["spec"].get("replicas", 1))
        if status["updatedReplicas"] == status["readyReplicas"] == status["replicas"] == wanted:
            status |= {"currentReplicas": wanted, "currentRevision": update}
        return status, due


def _ordinal(pod: Pod) -> int:
    """-1: the name has none."""
    match = _NAME.fullmatch(pod.name)
    return int(match[2]) if match is not None else -1


def _first(owner: Document) -> int:
    return int(at(owner, "spec", "ordinals", "start", default=0))


def _keeps_current(owner: Document, number: int) -> bool:
    """Whether a pod that is missing comes back in the revision before the update."""
    strategy = owner["spec"].get("updateStrategy") or {}
    if "rollingUpdate" in strategy:
        below = int((strategy["rollingUpdate"] or {}).get("partition") or 0)
    elif strategy.get("type") == "RollingUpdate":
        below = int(at(owner, "status", "currentReplicas", default=0))
    else:
        return False
    return number < _first(owner) + below
