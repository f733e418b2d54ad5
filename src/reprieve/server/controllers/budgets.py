"""PodDisruptionBudgets: how many of the pods that a budget covers may be disrupted right now.

As upstream's disruption controller counts:

1. healthy: ready pods that are not being deleted and whose eviction was not just granted;
2. expected: with a plain `minAvailable` the pods that match; with a percentage or `maxUnavailable` the sum
   of what the pods' controllers want (a bare pod counts nothing there; of a Job its parallelism counts,
   where upstream gives up);
3. desired: `minAvailable`, or expected less `maxUnavailable`; percentages are rounded up;
4. allowed: healthy less desired, never below zero, and none while nothing is expected.
"""

from datetime import datetime, timedelta
from typing import Any

import msgspec

from reprieve.objects import (
    Document,
    LabelSelector,
    TimeError,
    matches,
    parse_time,
    put_condition,
    well_known,
    whole_number,
)
from reprieve.server.api import Api
from reprieve.server.controllers.controller import Controller, Key
from reprieve.server.controllers.pods import Pod, PodIndex, PodKey
from reprieve.server.storage import Record

DELETION_TIMEOUT = timedelta(minutes=2)
"""A granted eviction that has not led to a deletion by then is forgotten."""
_REPLICATED = {
    "ReplicaSet": ("replicasets.apps", "replicas"),
    "StatefulSet": ("statefulsets.apps", "replicas"),
    "ReplicationController": ("replicationcontrollers", "replicas"),
    "Job": ("jobs.batch", "parallelism"),
}


def scaled(value: int | str | None, total: int) -> int:
    """A number, or a percentage of the total, rounded up."""
    if isinstance(value, str):
        share = whole_number(value.removesuffix("%")) if value.endswith("%") else None
        return -(-(share or 0) * total // 100)
    return value or 0


class Budgets(Controller):
    resource = "poddisruptionbudgets.policy"

    def __init__(self, api: Api, pods: PodIndex) -> None:
        self._pods = pods
        self._selectors: dict[Key, LabelSelector | None] = {}
        self._covered: dict[Key, dict[PodKey, Pod]] = {}
        """The pods of each budget, kept up to date: a namespace may hold thousands of others."""
        self._by_namespace: dict[str, set[Key]] = {}
        for record in api.backend.store.collection(self.resource).scan(None):
            self._remember(record)
        super().__init__(api)
        pods.listen(self._pod_changed)

    def _remember(self, record: Record) -> None:
        selector = (record.object.get("spec") or {}).get("selector")
        key = (record.namespace, record.name)
        parsed = msgspec.convert(selector, LabelSelector) if selector is not None else None
        if key not in self._selectors or self._selectors[key] != parsed:
            pods = self._pods.in_namespace(record.namespace)
            self._covered[key] = {pod.key: pod for pod in pods if matches(parsed, pod.labels)}
        self._selectors[key] = parsed
        self._by_namespace.setdefault(record.namespace, set()).add(key)

    def changed(self, record: Record, gone: bool) -> None:
        key = (record.namespace, record.name)
        if gone:
            self._selectors.pop(key, None)
            self._covered.pop(key, None)
            self._by_namespace.get(record.namespace, set()).discard(key)
        else:
            self._remember(record)
        super().changed(record, gone)

    def _pod_changed(self, before: Pod | None, after: Pod | None) -> None:
        pod = after or before
        for key in self._by_namespace.get(pod.namespace, ()) if pod is not None else ():
            covered = self._covered[key]
            was = covered.pop(before.key, None) if before is not None else None
            if after is not None and matches(self._selectors[key], after.labels):
                covered[after.key] = after
            now = covered.get(pod.key) if pod is not None else None
            if (was is not None or now is not None) and _matters(was, now):
                self.queue.add(key)

    async def reconcile(self, key: Key) -> datetime | None:
        budget = self.api.peek(self.resource, key[1], key[0])
        if budget is None:
            return None
        covered = list(self._covered[key].values())
        now = self.api.now()
        disrupted = self._still_leaving(budget, covered, now)
        status = self._status(budget, covered, disrupted)
        if status != budget.get("status"):
            await self.api.update_status(
                self.resource, {**budget, "status": status}, manager="disruption-controller"
            )
        if not disrupted:
            return None
        return min(parse_time(when) for when in disrupted.values()) + DELETION_TIMEOUT

    def _still_leaving(self, budget: Document, covered: list[Pod], now: datetime) -> dict[str, str]:
        """Evictions that were granted and have not become deletions yet."""
        pods = {pod.name: pod for pod in covered}
        kept = {}
        for name, when in ((budget.get("status") or {}).get("disruptedPods") or {}).items():
            try:
                waiting = parse_time(when) + DELETION_TIMEOUT > now
            except TimeError:
                continue
            if waiting and name in pods and not pods[name].deleting:
                kept[name] = when
        return kept

    def _status(self, budget: Document, covered: list[Pod], disrupted: dict[str, str]) -> Document:
        spec = budget.get("spec") or {}
        healthy = sum(1 for p in covered if p.ready and not p.deleting and p.name not in disrupted)
        expected, desired = self._wanted(spec, covered)
        allowed = max(0, healthy - desired) if expected > 0 else 0
        old = budget.get("status") or {}
        status: dict[str, Any] = {
            "conditions": [dict(c) for c in old.get("conditions") or ()],
            "currentHealthy": healthy,
            "desiredHealthy": desired,
            "disruptionsAllowed": allowed,
            "expectedPods": expected,
            "observedGeneration": budget["metadata"].get("generation", 0),
        }
        if disrupted:
            status["disruptedPods"] = disrupted
        put_condition(
            status,
            self.api.backend.timestamp(),
            type=well_known.DISRUPTION_ALLOWED,
            status="True" if allowed > 0 else "False",
            reason="SufficientPods" if allowed > 0 else well_known.INSUFFICIENT_PODS,
            message="",
            observedGeneration=status["observedGeneration"],
        )
        return status

    def _wanted(self, spec: Document, covered: list[Pod]) -> tuple[int, int]:
        """Expected and desired pods."""
        if spec.get("maxUnavailable") is not None:
            expected = self._wanted_by_controllers(covered)
            return expected, max(0, expected - scaled(spec["maxUnavailable"], expected))
        least = spec.get("minAvailable")
        if least is None:
            least = 1
        if isinstance(least, int):
            return len(covered), least
        expected = self._wanted_by_controllers(covered)
        return expected, scaled(least, expected)

    def _wanted_by_controllers(self, covered: list[Pod]) -> int:
        owners = {p.controller_uid: p for p in covered if p.controller_uid}
        return sum(self._replicas(pod) for pod in owners.values())

    def _replicas(self, pod: Pod) -> int:
        resource, field = _REPLICATED.get(pod.controller_kind, ("", ""))
        owner = self.api.peek(resource, pod.controller_name, pod.namespace) if resource else None
        if owner is None or owner["metadata"]["uid"] != pod.controller_uid:
            return 0
        above = next((o for o in owner["metadata"].get("ownerReferences", ()) if o.get("controller")), None)
        if above is not None and above.get("kind") == "Deployment":
            owner = self.api.peek("deployments.apps", above["name"], pod.namespace) or owner
        return int((owner.get("spec") or {}).get(field) or 0)


def _matters(before: Pod | None, after: Pod | None) -> bool:
    if before is None or after is None:
        return True
    return (before.ready, before.deleting) != (after.ready, after.deleting)
