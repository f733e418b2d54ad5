"""DaemonSets: one pod on every node that the template's selector, affinity and tolerations allow.

A rolling update deletes pods of older revisions, first those that are unavailable anyway, within
`maxUnavailable`; with `maxSurge` the new pod comes before the old one goes. `OnDelete` leaves that to whoever
deletes a pod. A pod that fails is replaced, after a wait that doubles with every failure on that node.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

import msgspec

from reprieve.objects import Document, parse_time
from reprieve.server.api import Api
from reprieve.server.controllers.budgets import scaled
from reprieve.server.controllers.controller import Key
from reprieve.server.controllers.daemon_pods import daemon_pod, should_run, target_node
from reprieve.server.controllers.pod_owners import PodOwners
from reprieve.server.controllers.pods import Pod, PodIndex
from reprieve.server.controllers.replicas import count_available
from reprieve.server.controllers.revisions import (
    HASH,
    REVISION_LABEL,
    History,
    current_history,
    forget_old,
    name_of,
)
from reprieve.server.documents import shifted
from reprieve.server.storage import DELETED, Change, Record

FIRST_WAIT, LONGEST_WAIT = timedelta(seconds=1), timedelta(minutes=15)


class _Place(msgspec.Struct):
    """A node and the daemon's pods on it, the oldest first."""

    name: str
    wanted: bool
    may_stay: bool
    pods: list[Pod] = []


class DaemonSets(PodOwners):
    resource = "daemonsets.apps"
    kind = "DaemonSet"
    manager = "daemonset-controller"

    def __init__(self, api: Api, pods: PodIndex) -> None:
        self._failures: dict[tuple[str, str], tuple[int, datetime]] = {}
        """How often pods failed, by owner and node, and when the last one did."""
        super().__init__(api, pods)
        self.changes.of("nodes", self._node_changed)

    def _node_changed(self, change: Change) -> None:
        sets = self.api.backend.store.collection(self.resource)
        if sets.count and _matters(change):
            for record in sets.scan(None):
                self.queue.add((record.namespace, record.name))

    def changed(self, record: Record, gone: bool) -> None:
        if gone:
            uid = record.object["metadata"]["uid"]
            self._failures = {k: v for k, v in self._failures.items() if k[0] != uid}
        super().changed(record, gone)

    async def reconcile(self, key: Key) -> datetime | None:
        owner = self.api.peek(self.resource, key[1], key[0])
        if owner is None:
            return None
        pods = await self.claim(owner)
        history = await current_history(self.api, owner, self.manager)
        due: list[datetime] = []
        if not owner["metadata"].get("deletionTimestamp"):
            places = self._places(owner, pods)
            due += await self._manage(owner, places, history)
            await self._update(owner, self._places(owner, await self.claim(owner)), history)
        pods = await self.claim(owner)
        status, later = self._status(owner, self._places(owner, pods), history)
        if status != owner.get("status"):
            await self.api.update_status(self.resource, {**owner, "status": status}, manager=self.manager)
        hashes = {p.labels.get(REVISION_LABEL) for p in pods}
        used = [name_of(r) for r in history.revisions if r["metadata"]["labels"].get(HASH) in hashes]
        await forget_old(self.api, owner, history, used)
        return min([*due, *later], default=None)

    def _places(self, owner: Document, pods: Iterable[Pod]) -> list[_Place]:
        places = {}
        for node in self.api.select("nodes"):
            name = node["metadata"]["name"]
            places[name] = _Place(name, *should_run(owner["spec"]["template"], node), pods=[])
        for pod in sorted(pods, key=lambda p: (p.created, p.name)):
            document = {} if pod.node else self.api.peek("pods", pod.name, pod.namespace)
            name = pod.node or (target_node(document) if document else "")
            if name in places:
                places[name].pods.append(pod)
            elif not pod.deleting:
                places[name] = _Place(name, wanted=False, may_stay=False, pods=[pod])
        return list(places.values())

    async def _manage(self, owner: Document, places: list[_Place], history: History) -> list[datetime]:
        """One pod for each node that should have one."""
        missing, surplus, due = [], [], []
        for place in places:
            alive = [p for p in place.pods if p.active]
            failed = [p for p in place.pods if p.finished and not p.deleting]
            for pod in failed if place.wanted or place.may_stay else ():
                wait = self._wait(owner, pod)
                if wait is None:
                    surplus.append(pod)
                else:
                    due.append(wait)
            if not place.may_stay:
                surplus += [p for p in place.pods if not p.deleting]
            elif not place.pods:
                missing += [place.name] if place.wanted else []
            elif len(alive) > 1 and not _surge(owner, len(places)):
                surplus += alive[1:]
        await self.delete_pods(surplus)
        template = owner["spec"]["template"]
        documents = [daemon_pod(owner, template, history.latest, name) for name in missing]
        return due + self.later(await self.create_pods(owner, documents) if documents else None)

    def _wait(self, owner: Document, pod: Pod) -> datetime | None:
        """When a failed pod may be replaced; None: now."""
        key = (owner["metadata"]["uid"], pod.node)
        count, last = self._failures.get(key, (0, None))
        now = self.api.now()
        wait: timedelta = min(LONGEST_WAIT, FIRST_WAIT * 2 ** min(count, 12))
        if last is not None and now < last + wait:
            return last + wait
        self._failures[key] = (count + 1 if last is not None and now < last + 2 * LONGEST_WAIT else 0, now)
        return None

    async def _update(self, owner: Document, places: list[_Place], history: History) -> None:
        strategy = owner["spec"].get("updateStrategy") or {}
        if strategy.get("type", "RollingUpdate") != "RollingUpdate":
            return
        mark = history.latest["metadata"]["labels"][HASH]
        wanted = [place for place in places if place.wanted and place.pods]
        surge = _surge(owner, sum(1 for place in places if place.wanted))
        if surge:
            await self._surge(owner, wanted, mark, surge, history)
            return
        total = sum(1 for place in places if place.wanted)
        most = scaled((strategy.get("rollingUpdate") or {}).get("maxUnavailable", 1), total)
        down = [place for place in wanted if not self._has_available(owner, place.pods)]
        missing = total - len(wanted)
        old = [p for place in wanted for p in place.pods if p.active and p.labels.get(REVISION_LABEL) != mark]
        dead = [p for place in down for p in place.pods if p in old]
        rest = [p for p in old if p not in dead]
        await self.delete_pods(dead + rest[: max(0, most - len(down) - missing)])

    async def _surge(
        self, owner: Document, places: list[_Place], mark: str, surge: int, history: History
    ) -> None:
        """A new pod beside the old one; the old one goes when the new one is available."""
        gone, begun, nodes = [], 0, []
        for place in places:
            new = [p for p in place.pods if p.active and p.labels.get(REVISION_LABEL) == mark]
            old = [p for p in place.pods if p.active and p.labels.get(REVISION_LABEL) != mark]
            if old and new:
                begun += 1
                gone += old if self._has_available(owner, new) else []
            elif old:
                nodes.append(place.name)
        template = owner["spec"]["template"]
        documents = [daemon_pod(owner, template, history.latest, n) for n in nodes[: max(0, surge - begun)]]
        await self.delete_pods(gone)
        if documents:
            await self.create_pods(owner, documents)

    def _has_available(self, owner: Document, pods: list[Pod]) -> bool:
        wait = int(owner["spec"].get("minReadySeconds") or 0)
        ready = [p for p in pods if p.active and p.ready and p.ready_since]
        return any(shifted(parse_time(p.ready_since), wait) <= self.api.now() for p in ready)

    def _status(
        self, owner: Document, places: list[_Place], history: History
    ) -> tuple[Document, list[datetime]]:
        mark = history.latest["metadata"]["labels"][HASH]
        wanted = [place for place in places if place.wanted]
        running = [place for place in wanted if place.pods]
        active = [[p for p in place.pods if p.active] for place in running]
        first = [min(pods, key=lambda p: (not p.ready, p.created, p.name)) for pods in active if pods]
        ready = [p for p in first if p.ready]
        available, due = count_available(ready, owner["spec"], self.api.now())
        updated = [p for p in first if p.labels.get(REVISION_LABEL) == mark]
        status: Document = {
            "currentNumberScheduled": len(running),
            "numberMisscheduled": sum(1 for place in places if place.pods and not place.wanted),
            "desiredNumberScheduled": len(wanted),
            "numberReady": len(ready),
            "numberAvailable": available,
            "numberUnavailable": len(wanted) - available,
            "updatedNumberScheduled": len(updated),
            "observedGeneration": owner["metadata"].get("generation", 0),
        }
        if history.collisions:
            status["collisionCount"] = history.collisions
        return status, due


def _surge(owner: Document, nodes: int) -> int:
    rolling = (owner["spec"].get("updateStrategy") or {}).get("rollingUpdate") or {}
    return scaled(rolling.get("maxSurge", 0), nodes)


def _matters(change: Change) -> bool:
    """A node that comes or goes, or whose labels or taints change."""
    if change.previous is None or change.type == DELETED:
        return True
    before, after = change.previous.object, change.record.object
    return (change.previous.labels, before.get("spec")) != (change.record.labels, after.get("spec"))
