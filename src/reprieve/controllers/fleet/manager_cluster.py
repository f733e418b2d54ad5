"""The manager's own cluster: what it holds of the fleet, and the writes to its workloads."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime
from typing import Any

from reprieve.controllers import OwnWrites
from reprieve.controllers.fleet.followed import Followed
from reprieve.fleet import (
    POD,
    Ledger,
    Owner,
    claims_of,
    key_of,
    owner_keys,
    status_of,
    workloads_named_by,
    write_ledger,
)
from reprieve.jobs import JobKinds
from reprieve.kube import (
    ADMISSION_CHECKS,
    KUEUE_WORKLOADS,
    MULTIKUEUE_CLUSTERS,
    MULTIKUEUE_CONFIGS,
    WORKLOADS,
    ApiError,
    Change,
    Client,
    Informer,
    Resource,
)
from reprieve.objects import Document, format_time, set_condition, split_key, well_known

Key = tuple[str, str]
Mark = tuple[str, Owner | str]
"""What a pod belongs to: a namespace with an owner, or with the name of a workload."""


class ManagerCluster:
    """Reads from informers, writes through the API; the caller decides what to write."""

    def __init__(
        self,
        client: Client,
        touched: Callable[[str], None],
        rewired: Callable[[], None],
        kinds: JobKinds | None = None,
    ) -> None:
        """Calls `touched` with the key of a changed workload, `rewired` when checks or clusters change."""
        self.client = client
        self.calls = 0
        self._touched = touched
        self._rewired = rewired
        self._workloads = self._watch(KUEUE_WORKLOADS, self._workload_changed)
        self._kinds = kinds or JobKinds()
        self._followed = Followed(
            client, self._kinds, self._owner_changed, _of_interest, settled=lambda: None
        )
        self._owned: dict[tuple[str, Owner], str] = {}
        """The workload of each owner, by namespace."""
        self._members: dict[Mark, dict[str, None]] = {}
        """Names of pods by what they belong to: an owner, or the workload that their labels name."""
        self._checks = self._watch(ADMISSION_CHECKS, self._wiring_changed)
        self._configs = self._watch(MULTIKUEUE_CONFIGS, self._wiring_changed)
        self._clusters = self._watch(MULTIKUEUE_CLUSTERS, self._wiring_changed)
        self._written = OwnWrites()

    def _watch(self, resource: Resource, handler: Callable[[Change], None], **options: Any) -> Informer:
        return Informer(self.client, resource.raw(), handler, **options)

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._followed)
            for informer in (self._clusters, self._configs, self._checks, self._workloads):
                await stack.enter_async_context(informer)
            yield

    def _workload_changed(self, change: Change) -> None:
        key = key_of(change.new)
        if change.type == "DELETED":
            self._written.forget(key)
        for owner in owner_keys(change.new):
            place = (change.new["metadata"].get("namespace", ""), owner)
            if change.type == "DELETED":
                self._owned.pop(place, None)
            else:
                self._owned[place] = key
        self._touched(key)

    def _owner_changed(self, key: Key, change: Change) -> None:
        """Pods that come and go on the manager come and go on the worker. Jobs stay as they are."""
        if key != POD:
            return
        name = change.new["metadata"]["name"]
        for mark in _marks(change.old or change.new):
            self._members.get(mark, {}).pop(name, None)
        for mark in _marks(change.new):
            if change.type != "DELETED":
                self._members.setdefault(mark, {})[name] = None
            elif not self._members.get(mark):
                self._members.pop(mark, None)
            workload = self._workload_of(mark)
            if workload and self.workload(workload) is not None:
                self._touched(workload)

    def _workload_of(self, mark: Mark) -> str:
        namespace, whose = mark
        return f"{namespace}/{whose}" if isinstance(whose, str) else self._owned.get((namespace, whose), "")

    def _wiring_changed(self, change: Change) -> None:
        """Statuses, which are mostly our own writes, change no connections."""
        if change.type != "MODIFIED" or change.old.get("spec") != change.new.get("spec"):
            self._rewired()

    # Reads

    def workload(self, key: str) -> Document | None:
        """As last seen by the watch or in the answer to our own write, whichever is newer."""
        namespace, name = split_key(key)
        seen: Document | None = self._workloads.get(name, namespace)
        return self._written.newest(key, seen) if seen is not None else None

    def workload_keys(self) -> list[str]:
        return [key_of(item) for item in self._workloads]

    async def follow(self, owner: Owner) -> None:
        """Have what travels with the owner at hand; raises if this server does not have it."""
        for key in owner.travels_as(self._kinds):
            problem = await self._followed.follow(key)
            if problem:
                raise ApiError(404, "NotFound", f"on the manager: {problem}")

    def owned(self, owner: Owner, namespace: str) -> Document | None:
        """The job or group that a workload stands for."""
        return self._followed.get(owner.key, owner.name, namespace)

    def pods_of(self, key: str) -> dict[str, Document]:
        """The pods that a workload stands for and that are not placed here, by name."""
        namespace, workload = split_key(key)
        names: dict[str, None] = {}
        marks: list[Mark] = [(namespace, workload)]
        marks += [(namespace, owner) for owner in owner_keys(self.workload(key) or {})]
        for mark in marks:
            names |= self._members.get(mark, {})
        found = ((name, self._followed.get(POD, name, namespace)) for name in sorted(names))
        return {
            name: pod
            for name, pod in found
            if pod is not None and not pod["metadata"].get("deletionTimestamp")
        }

    async def scheduling_workload(self, name: str, namespace: str) -> Document | None:
        """The Workload (scheduling.k8s.io) that has a group's template."""
        served = await self.client.served(WORKLOADS) if name else None
        if served is None:
            return None
        try:
            found: Document = await self.client.get(served.raw(), name, namespace)
        except ApiError as error:
            if not error.not_found:
                raise
            return None
        return {"apiVersion": served.api_version, "kind": served.kind, **found}

    def checks(self) -> dict[str, str]:
        """Admission checks that are ours, with the MultiKueueConfig each names."""
        return {
            check["metadata"]["name"]: ((check["spec"].get("parameters") or {}).get("name") or "")
            for check in self._checks
            if (check.get("spec") or {}).get("controllerName") == well_known.MULTIKUEUE_CONTROLLER
        }

    def check_of(self, workload: Document) -> tuple[str, tuple[str, ...]] | None:
        """The check that the fleet answers for this workload and the workers it may go to, in their order."""
        ours = self.checks()
        for entry in status_of(workload).get("admissionChecks") or ():
            if entry.get("name") in ours:
                return entry["name"], self.clusters_of(ours[entry["name"]])
        return None

    def clusters_of(self, config: str) -> tuple[str, ...]:
        found = self._configs.get(config)
        return tuple((found.get("spec") or {}).get("clusters") or ()) if found else ()

    def clusters(self) -> dict[str, Document]:
        return {item["metadata"]["name"]: item for item in self._clusters}

    # Writes

    async def save_ledger(self, key: str, ledger: Ledger, revision: str) -> None:
        """Only if the workload is still the one that was decided on: of two managers, one fails here."""
        namespace, name = split_key(key)
        metadata = {
            "resourceVersion": revision,
            "annotations": {well_known.LEDGER_ANNOTATION: write_ledger(ledger)},
        }
        self.calls += 1
        self._written.note(
            key, await self.client.patch(KUEUE_WORKLOADS, name, {"metadata": metadata}, namespace)
        )

    async def nominate(self, key: str, clusters: tuple[str, ...]) -> None:
        def change(workload: Document) -> bool:
            workload.setdefault("status", {})["nominatedClusterNames"] = list(clusters)
            return True

        await self._status(key, change)

    async def set_check(
        self, key: str, check: str, state: str, message: str, cluster: str, now: datetime
    ) -> None:
        """Set the fleet's check. With a cluster this is the commit: now the workload may run only there."""

        def change(workload: Document) -> bool:
            status = workload.setdefault("status", {})
            entry = next((e for e in status.get("admissionChecks") or () if e.get("name") == check), None)
            if entry is None:
                return False
            if entry.get("state") != state:
                entry["lastTransitionTime"] = format_time(now.replace(microsecond=0))
            entry.update({"state": state, "message": message})
            if cluster:
                status["clusterName"] = cluster
                status.pop("nominatedClusterNames", None)
            return True

        await self._status(key, change)

    async def finish(self, key: str, reason: str, message: str, now: datetime) -> None:
        await self._status(
            key, lambda workload: set_condition(workload, well_known.FINISHED, True, reason, message, now)
        )

    async def set_status(self, kind: Key, name: str, namespace: str, status: Document) -> None:
        """Give an owner, or one of its pods, the status that it has on its worker."""

        def change(current: Document) -> bool:
            changed = bool(current.get("status") != status)
            current["status"] = status
            return changed

        self.calls += 1
        await self.client.update_with_retries(
            self._followed.resource(kind), name, namespace, change, subresource="status"
        )

    async def _status(self, key: str, change: Callable[[Document], bool]) -> None:
        namespace, name = split_key(key)
        self.calls += 1
        answer = await self.client.update_with_retries(
            KUEUE_WORKLOADS, name, namespace, change, subresource="status"
        )
        self._written.note(key, answer)


def _of_interest(key: Key) -> dict[str, str]:
    """Of pods those without a node: what the fleet sends elsewhere is never placed here."""
    return {"fields": "spec.nodeName="} if key == POD else {"labels": well_known.QUEUE_LABEL}


def _marks(pod: Document) -> list[Mark]:
    namespace = pod["metadata"].get("namespace", "")
    owners: list[Mark] = [(namespace, owner) for owner in claims_of(pod)]
    return [*owners, *((namespace, name) for name in workloads_named_by(pod))]
