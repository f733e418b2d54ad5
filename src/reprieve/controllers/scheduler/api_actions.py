"""The scheduler's actions as calls to an API server.

Every call names its object by UID, is retried after transient errors (overload, lost connections), and is
safe to repeat: a binding whose answer was lost is looked up before it is sent again, and deleting a pod that
is gone counts as success.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from reprieve.controllers.scheduler.device_writes import DeviceWrites
from reprieve.controllers.scheduler.retries import Retries
from reprieve.kube import (
    CLAIMS,
    MERGE_PATCH,
    POD_GROUPS,
    PODS,
    STRATEGIC_PATCH,
    VOLUMES,
    ApiError,
    Client,
    EventRecorder,
    ObjectReference,
    Sleep,
)
from reprieve.objects import Reference, ResourceClaim, put_condition, well_known
from reprieve.scheduler import (
    ActionError,
    Bind,
    BindClaim,
    Emit,
    FreeClaim,
    Mark,
    Nominate,
    SetGroupCondition,
    SetPodCondition,
    UseDevices,
    Wanted,
)


class ApiActions:
    def __init__(
        self,
        client: Client,
        events: EventRecorder,
        *,
        others: Mapping[str, EventRecorder] | None = None,
        sleep: Sleep = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._client = client
        self._first = client.urgent()
        """For what must not queue behind conditions: bindings, nominations, marks and deletions."""
        self._events = events
        self._others = others or {}
        """Event recorders of our other scheduler names."""
        self._retries = Retries(sleep, jitter)
        self._now = now
        self._devices = DeviceWrites(self._first, self._retries, self._stamp)
        self.pod_groups = POD_GROUPS
        """In the version that the server serves."""

    async def bind(self, bind: Bind) -> None:
        pod, node, sent = bind.pod, bind.node, False

        async def attempt() -> None:
            nonlocal sent
            if sent and await self._bound_to(pod) == node:
                return  # it had worked, only the answer was lost
            sent = True
            try:
                await self._first.bind(pod.namespace, pod.name, pod.uid, node)
            except ApiError as error:
                if not error.conflict:
                    raise
                where = await self._bound_to(pod)
                if where != node:
                    raise ActionError(f"already bound to {where}" if where else str(error)) from error

        await self._persist(attempt, insist=bind.insist)

    async def use_devices(self, use: UseDevices, pod: Reference) -> ResourceClaim:
        return await self._devices.use(use, pod)

    async def unuse_devices(self, use: UseDevices, pod: Reference) -> ResourceClaim | None:
        return await self._devices.unuse(use, pod)

    async def free_claim(self, free: FreeClaim) -> None:
        await self._devices.free(free)

    async def bind_claim(self, bind: BindClaim, node: str) -> str:
        metadata: dict[str, Any] = {"resourceVersion": bind.version}
        claim, version = bind.claim, ""
        if bind.volume:
            reference = {
                "apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": claim.namespace,
                "name": claim.name, "uid": claim.uid,
            }  # fmt: skip
            patch: dict[str, Any] = {"metadata": metadata, "spec": {"claimRef": reference}}
            if not bind.kept:
                metadata["annotations"] = {well_known.BOUND_BY_CONTROLLER: "yes"}
        else:
            metadata |= {"uid": claim.uid, "annotations": {well_known.SELECTED_NODE: node}}
            patch = {"metadata": metadata}

        async def attempt() -> None:
            nonlocal version
            if bind.volume:
                answer = await self._first.patch(VOLUMES, bind.volume, patch, content_type=MERGE_PATCH)
            else:
                answer = await self._first.patch(
                    CLAIMS, claim.name, patch, claim.namespace, content_type=MERGE_PATCH
                )
            version = (answer.get("metadata") or {}).get("resourceVersion", "")

        await self._persist(attempt)
        return version

    async def nominate(self, nomination: Nominate) -> None:
        status: dict[str, Any] = {"nominatedNodeName": nomination.node or None}
        if nomination.message:
            status["conditions"] = [
                _not_scheduled(well_known.UNSCHEDULABLE, nomination.message, self._stamp())
            ]
        await self._patch_status(self._first, nomination.pod, status)

    async def mark(self, victim: Reference, mark: Mark) -> str:
        return await self._set_mark(victim, "True", mark.reason, mark.message, mark.annotation)

    async def reprieve(self, pod: Reference, message: str) -> None:
        await self._set_mark(pod, "False", well_known.PREEMPTION_WITHDRAWN, message, None)

    async def _set_mark(
        self, pod: Reference, status: str, reason: str, message: str, annotation: str | None
    ) -> str:
        """Condition and annotation in one patch: a pod's status endpoint takes annotations, too."""
        condition = {
            "type": well_known.DISRUPTION_TARGET, "status": status, "reason": reason, "message": message,
            "lastTransitionTime": self._stamp(),
        }  # fmt: skip
        annotations = {well_known.EVICTED_FOR_ANNOTATION: annotation}
        body = {"conditions": [condition]}
        return await self._patch_status(self._first, pod, body, annotations=annotations)

    async def delete(self, victim: Reference, mark: Mark, version: str, wanted: Wanted) -> None:
        """Every attempt is about the pod as it was seen last: after a conflict it is looked at again."""

        current: str | None = version

        async def attempt() -> None:
            nonlocal current
            while current is not None:
                if not wanted():
                    raise ActionError("what it was to make way for does not wait for it any more")
                try:
                    await self._first.delete(
                        PODS, victim.name, victim.namespace, uid=victim.uid, resource_version=current
                    )
                    return
                except ApiError as error:
                    if error.not_found:
                        return
                    if not error.conflict:
                        raise
                current = await self._marked_version(victim, mark)

        await self._persist(attempt)

    async def _marked_version(self, victim: Reference, mark: Mark) -> str | None:
        """The pod's version now; None if it is on its way out. Raises if it does not carry the mark."""
        try:
            found = await self._first.get(PODS, victim.name, victim.namespace)
        except ApiError as error:
            if error.not_found:
                return None
            raise
        metadata = found.metadata
        if metadata.uid != victim.uid or metadata.deletion_timestamp is not None:
            return None
        if metadata.annotations.get(well_known.EVICTED_FOR_ANNOTATION) != mark.annotation:
            raise ActionError("its mark was changed or taken off")
        version: str = metadata.resource_version
        return version

    async def set_pod_condition(self, condition: SetPodCondition) -> None:
        body = _not_scheduled(condition.reason, condition.message, self._stamp())
        await self._patch_status(self._client, condition.pod, {"conditions": [body]})

    async def set_group_condition(self, condition: SetGroupCondition) -> None:
        """Read, change, write: the status of a custom resource has no strategic merge."""
        wanted = {
            "type": condition.type, "status": condition.status, "reason": condition.reason,
            "message": condition.message, "observedGeneration": condition.generation,
        }  # fmt: skip

        def change(document: dict[str, Any]) -> bool:
            if condition.group.uid and document["metadata"].get("uid") != condition.group.uid:
                return False
            return put_condition(document.setdefault("status", {}), self._stamp(), **wanted)

        async def attempt() -> None:
            group = condition.group
            await self._client.update_with_retries(
                self.pod_groups, group.name, group.namespace, change, subresource="status"
            )

        await self._persist(attempt)

    def emit(self, event: Emit) -> None:
        recorder = self._others.get(event.by, self._events)
        recorder.record(
            self._reference(event.regarding),
            event.reason,
            event.note,
            action=event.action,
            type="Warning" if event.warning else "Normal",
            related=self._reference(event.related) if event.related else None,
        )

    def _reference(self, ref: Reference) -> ObjectReference:
        resource = self.pod_groups if ref.kind == "PodGroup" else PODS
        return ObjectReference(resource.api_version, ref.kind, ref.name, ref.namespace, ref.uid)

    async def _patch_status(
        self, client: Client, pod: Reference, status: dict[str, Any], **metadata: Any
    ) -> str:
        """Returns the pod's version afterwards."""
        if pod.uid:
            metadata["uid"] = pod.uid
        patch, version = {"metadata": metadata, "status": status}, ""

        async def attempt() -> None:
            nonlocal version
            answer = await client.patch(
                PODS, pod.name, patch, pod.namespace, subresource="status", content_type=STRATEGIC_PATCH
            )
            version = (answer.get("metadata") or {}).get("resourceVersion", "")

        await self._persist(attempt)
        return version

    async def _bound_to(self, pod: Reference) -> str:
        """The pod's node as the API server has it; empty for none."""
        try:
            found = await self._first.get(PODS, pod.name, pod.namespace)
        except ApiError as error:
            if error.not_found:
                raise ActionError("the pod is gone", gone=True) from error
            raise
        if found.metadata.uid != pod.uid:
            raise ActionError("the pod is gone", gone=True)
        node: str = found.spec.node_name
        return node

    async def _persist(self, attempt: Callable[[], Awaitable[None]], insist: bool = False) -> None:
        await self._retries.persist(attempt, insist)

    def _stamp(self) -> str:
        return self._now().strftime("%Y-%m-%dT%H:%M:%SZ")


def _not_scheduled(reason: str, message: str, stamp: str) -> dict[str, Any]:
    return {
        "type": well_known.POD_SCHEDULED, "status": "False", "reason": reason, "message": message,
        "lastTransitionTime": stamp,
    }  # fmt: skip
