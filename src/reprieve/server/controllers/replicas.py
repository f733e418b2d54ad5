"""ReplicaSets and ReplicationControllers keep a number of equal pods.

Too few: pods from the template. Too many, the first to go:

1. not on a node  2. pending, then unknown, then running  3. not ready  4. the lowest deletion cost
5. on the node with the most pods of the same owner  6. ready for the shortest time (to a power of two)
7. restarted most often  8. youngest
"""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from reprieve.objects import MOST_PODS, Document, parse_time, put_condition
from reprieve.server.controllers.controller import Key
from reprieve.server.controllers.pod_owners import PodOwners
from reprieve.server.controllers.pods import Pod, pod_from_template
from reprieve.server.documents import shifted
from reprieve.server.errors import ApiError

_PHASES = {"Pending": 0, "Running": 2}


class ReplicaSets(PodOwners):
    resource = "replicasets.apps"
    kind = "ReplicaSet"
    manager = "replicaset-controller"

    async def reconcile(self, key: Key) -> datetime | None:
        owner = self.api.peek(self.resource, key[1], key[0])
        if owner is None:
            return None
        uid, refusal = owner["metadata"]["uid"], None
        if not owner["metadata"].get("deletionTimestamp"):
            refusal = await self._adjust(owner, [p for p in self.pods.of_controller(uid) if p.active])
        pods = self.pods.of_controller(uid)
        status, due = self._status(owner, pods, refusal)
        if status != owner.get("status"):
            await self.api.update_status(self.resource, {**owner, "status": status}, manager=self.manager)
        return min([*due, *self.later(refusal)], default=None)

    async def _adjust(self, owner: Document, active: list[Pod]) -> ApiError | None:
        spec = owner["spec"]
        wanted = min(int(spec.get("replicas", 1)), MOST_PODS)
        if len(active) < wanted:
            template = spec.get("template") or {}
            missing = (pod_from_template(owner, template) for _ in range(wanted - len(active)))
            return await self.create_pods(owner, missing)
        if len(active) > wanted:
            crowd = Counter(p.node for p in self._related(owner) if p.active)
            first = first_to_go(active, crowd, self.api.now())
            await self.delete_pods(first[: len(active) - wanted])
        return None

    def _related(self, owner: Document) -> list[Pod]:
        """The pods of all ReplicaSets of the same Deployment."""
        above = next((o for o in owner["metadata"].get("ownerReferences", ()) if o.get("controller")), None)
        owners = [owner]
        if above is not None:
            owners = [
                other
                for other in self.api.select(self.resource, owner["metadata"]["namespace"])
                if any(o.get("uid") == above["uid"] for o in other["metadata"].get("ownerReferences", ()))
            ]
        return [pod for each in owners for pod in self.pods.of_controller(each["metadata"]["uid"])]

    def _status(
        self, owner: Document, pods: list[Pod], refusal: ApiError | None
    ) -> tuple[Document, list[datetime]]:
        active = [p for p in pods if p.active]
        wanted = (((owner["spec"].get("template") or {}).get("metadata") or {}).get("labels") or {}).items()
        available, due = count_available(active, owner["spec"], self.api.now())
        status: dict[str, Any] = {
            "replicas": len(active),
            "fullyLabeledReplicas": sum(1 for p in active if wanted <= p.labels.items()),
            "readyReplicas": sum(1 for p in active if p.ready),
            "availableReplicas": available,
            "observedGeneration": owner["metadata"].get("generation", 0),
        }
        if self.kind == "ReplicaSet":
            status["terminatingReplicas"] = sum(1 for p in pods if p.deleting and not p.finished)
        known = (owner.get("status") or {}).get("conditions")
        if refusal is not None and known:
            status["conditions"] = known  # the next refusal differs only in the name of the pod
        elif refusal is not None:
            failure = {"status": "True", "reason": "FailedCreate", "message": str(refusal)}
            put_condition(status, self.api.backend.timestamp(), type="ReplicaFailure", **failure)
        return status, due


class ReplicationControllers(ReplicaSets):
    """The older kind: the same, but for its selector."""

    resource = "replicationcontrollers"
    kind = "ReplicationController"
    manager = "replication-controller"


def first_to_go(pods: Iterable[Pod], crowd: Counter[str], now: datetime) -> list[Pod]:
    """The pods in the order in which they are deleted."""

    def age(since: str) -> int:
        """In powers of two, so that pods of about the same age are equal."""
        seconds = int((now - parse_time(since)).total_seconds()) if since else 0
        return max(0, seconds).bit_length()

    def key(pod: Pod) -> tuple[Any, ...]:
        return (
            bool(pod.node),
            _PHASES.get(pod.phase, 1),
            pod.ready,
            pod.deletion_cost,
            -crowd[pod.node],
            age(pod.ready_since),
            -pod.restarts,
            age(pod.created),
            pod.uid,
        )

    return sorted(pods, key=key)


def count_available(pods: Iterable[Pod], spec: Document, now: datetime) -> tuple[int, list[datetime]]:
    """How many pods have been ready for `minReadySeconds`, and when the next one will have been."""
    wait = int(spec.get("minReadySeconds") or 0)
    ready = [p for p in pods if p.ready]
    if not wait:
        return len(ready), []
    since = [shifted(parse_time(p.ready_since), wait) for p in ready if p.ready_since]
    later = [time for time in since if time > now]
    return len(since) - len(later), [min(later)] if later else []
