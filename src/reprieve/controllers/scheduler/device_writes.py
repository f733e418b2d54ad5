"""ResourceClaims: written for a pod before it is bound, and taken back when it could not be.

In this order, so that whichever write is the last leaves something that the next scheduler understands:

1. the claim for extended resources is made, where the pod needs one: without more it is stale and is deleted;
2. the finalizer;
3. the allocation together with its user: from now on the claim says where the pod goes;
4. the pod says which claim serves its extended resources;
5. the pod is bound.

An allocation is never changed. One that is equal to ours may have been written by another pod of the gang, or
by us before a crash.
"""

import asyncio
import uuid
from collections.abc import Callable, Mapping
from typing import Any
from weakref import WeakValueDictionary

import msgspec

from reprieve.controllers.scheduler.retries import Retries
from reprieve.kube import MERGE_PATCH, PODS, RESOURCE_CLAIMS, STRATEGIC_PATCH, ApiError, Client
from reprieve.objects import Document, Reference, ResourceClaim, decode, devices
from reprieve.scheduler import ActionError, FreeClaim, UseDevices

DELETE_PROTECTION = "resource.kubernetes.io/delete-protection"
CONFLICTS = 300
"""Every conflict is somebody else's success, and a claim has at most 256 users."""


class DeviceWrites:
    def __init__(self, client: Client, retries: Retries, stamp: Callable[[], str]) -> None:
        self._client = client
        self._retries = retries
        self._stamp = stamp
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """Pods of a gang that share a claim write one after the other: together they would only conflict."""

    async def use(self, use: UseDevices, pod: Reference) -> ResourceClaim:
        """Reserve a claim for its user, with the allocation that was decided on where it has none yet."""
        if use.extended is None:
            turn = self._turns.setdefault(use.claim.uid, asyncio.Lock())
            async with turn:
                return _typed(await self._reserve(use, use.claim.name, use.claim.uid))
        name, uid = await self._make(use, pod)
        found = await self._reserve(use, name, uid)
        mappings = [
            {"containerName": each.container, "resourceName": each.resource, "requestName": each.request}
            for each in use.extended.mappings
        ]
        told = {"requestMappings": mappings, "resourceClaimName": name}
        patch = {"metadata": {"uid": pod.uid}, "status": {"extendedResourceClaimStatus": told}}

        async def tell() -> None:
            await self._client.patch(
                PODS, pod.name, patch, pod.namespace, subresource="status", content_type=MERGE_PATCH
            )

        await self._retries.persist(tell)
        return _typed(found)

    async def _reserve(self, use: UseDevices, name: str, uid: str) -> Document:
        claim, user = f"{use.claim.namespace}/{name}", msgspec.to_builtins(use.user)
        results = msgspec.to_builtins(use.allocation) if use.allocation is not None else None
        found: Document = {}

        async def attempt() -> None:
            nonlocal found
            found = await self._protect(use.claim.namespace, name, uid)
            status = found.get("status") or {}
            if found["metadata"].get("deletionTimestamp"):
                raise ActionError(f"claim {claim} got deleted in the meantime")
            written = status.get("allocation")
            if written is None and results is None:
                raise ActionError(f"claim {claim} got deallocated elsewhere in the meantime")
            if written is not None and results is not None and _devices(written) != _devices(results):
                raise ActionError(f"claim {claim} got allocated elsewhere in the meantime")
            users = status.get("reservedFor") or []
            if any(each.get("uid") == user["uid"] for each in users):
                return
            patch: Document = {"reservedFor": [*users, user]}
            if written is None:
                patch["allocation"] = self._stamped(results or {})
            found = await self._write_status(found, patch)

        await self._until_no_conflict(attempt)
        return found

    async def _protect(self, namespace: str, name: str, uid: str) -> Document:
        """The claim with our finalizer, as it is now: adding what is there already changes nothing."""
        patch = {"metadata": {"uid": uid, "finalizers": [DELETE_PROTECTION]}}
        try:
            return await self._client.patch(
                RESOURCE_CLAIMS, name, patch, namespace, content_type=STRATEGIC_PATCH
            )
        except ApiError as error:
            if error.not_found or error.conflict:
                text = f"claim {namespace}/{name} got deleted in the meantime"
                raise ActionError(text, gone=error.not_found) from None
            raise

    async def _write_status(self, claim: Document, status: Document) -> Document:
        """Only onto the claim as it was read."""
        meta = claim["metadata"]
        patch = {
            "metadata": {"uid": meta["uid"], "resourceVersion": meta["resourceVersion"]},
            "status": status,
        }
        return await self._client.patch(
            RESOURCE_CLAIMS, meta["name"], patch, meta["namespace"],
            subresource="status", content_type=MERGE_PATCH,
        )  # fmt: skip

    async def _until_no_conflict(self, attempt: Callable[[], Any], insist: bool = False) -> None:
        for number in range(CONFLICTS):
            try:
                await self._retries.persist(attempt, insist)
                return
            except ActionError as error:
                conflict = isinstance(error.__cause__, ApiError) and error.__cause__.conflict
                if not conflict or number == CONFLICTS - 1:
                    raise

    def _stamped(self, allocation: Document) -> Document:
        """With the time, and an id of its own for every share."""
        for result in allocation.get("devices", {}).get("results", ()):
            if result.get("shareID"):
                result["shareID"] = str(uuid.uuid4())
        return {**allocation, "allocationTimestamp": self._stamp()}

    # --- extended resources ---------------------------------------------------------------------------------

    async def _make(self, use: UseDevices, pod: Reference) -> tuple[str, str]:
        """The claim for the pod's extended resources: made once, even if an answer is lost."""
        assert use.extended is not None
        owner = {"apiVersion": "v1", "kind": "Pod", "name": pod.name, "uid": pod.uid, "controller": True}
        claim = {
            "metadata": {
                "generateName": f"{pod.name}-extended-resources-",
                "namespace": pod.namespace,
                "annotations": {devices.EXTENDED_CLAIM: "true"},
                "ownerReferences": [owner],
            },
            "spec": msgspec.to_builtins(use.extended.claim.spec),
        }
        made: Document = {}
        sent = False

        async def attempt() -> None:
            nonlocal made, sent
            found = await self._extended_claims(pod) if sent else []
            sent = True
            made = found[0] if found else await self._client.create(RESOURCE_CLAIMS, claim, pod.namespace)

        await self._retries.persist(attempt)
        return made["metadata"]["name"], made["metadata"]["uid"]

    async def _extended_claims(self, pod: Reference) -> list[Document]:
        listing = await self._client.listing(RESOURCE_CLAIMS.raw(), pod.namespace)
        return [
            each
            for each in listing.items
            if (each["metadata"].get("annotations") or {}).get(devices.EXTENDED_CLAIM) == "true"
            and any(owner.get("uid") == pod.uid for owner in each["metadata"].get("ownerReferences") or ())
        ]

    # --- taking back ----------------------------------------------------------------------------------------

    async def unuse(self, use: UseDevices, pod: Reference) -> ResourceClaim | None:
        """The pod is no user any more, and what was allocated for it alone is free again.

        Not if the pod was bound after all, by a binding without an answer or by somebody else: then it runs
        with these devices.
        """
        left: Document | None = None

        async def attempt() -> None:
            nonlocal left
            bound = await self._is_bound(pod)
            if use.extended is not None:
                for each in await self._extended_claims(pod):
                    left = each
                    if not bound:
                        await self._delete(each)
                        left = None
                return
            left = await self._claim(use.claim)
            if left is not None and not bound:
                left = await self._without(left, use, pod)

        await self._until_no_conflict(attempt, insist=True)
        return _typed(left) if left is not None else None

    async def _without(self, claim: Document, use: UseDevices, pod: Reference) -> Document:
        status = claim.get("status") or {}
        users, written = status.get("reservedFor") or [], status.get("allocation")
        left = [each for each in users if each.get("uid") != pod.uid]
        if left == users:
            return claim  # not written, or used by the group: others of it may need it
        patch: Document = {"reservedFor": left or None}
        decided = msgspec.to_builtins(use.allocation) if use.allocation is not None else None
        if written and decided and not left and _devices(written) == _devices(decided):
            patch |= {"allocation": None, "devices": None}
        return await self._write_status(claim, patch)

    async def _is_bound(self, pod: Reference) -> bool:
        try:
            found = await self._client.get(PODS, pod.name, pod.namespace)
        except ApiError as error:
            if error.not_found:
                return False
            raise
        return found.metadata.uid == pod.uid and bool(found.spec.node_name)

    async def _claim(self, claim: Reference) -> Document | None:
        try:
            found: Document = await self._client.get(RESOURCE_CLAIMS.raw(), claim.name, claim.namespace)
        except ApiError as error:
            if error.not_found:
                return None
            raise
        return found if found["metadata"].get("uid") == claim.uid else None

    async def free(self, free: FreeClaim) -> None:
        """Unless it has changed since it was looked at."""
        claim = free.claim

        async def attempt() -> None:
            found = await self._claim(claim)
            if found is None or found["metadata"]["resourceVersion"] != free.version:
                return
            if free.delete:
                await self._delete(found)
            else:
                await self._write_status(found, {"reservedFor": None, "allocation": None, "devices": None})

        await self._retries.persist(attempt)

    async def _delete(self, claim: Document) -> None:
        """Without our finalizer first: it protects what is in use."""
        meta = claim["metadata"]
        name, namespace, uid = meta["name"], meta["namespace"], meta["uid"]
        finalizers = meta.get("finalizers") or []
        if DELETE_PROTECTION in finalizers:
            kept = [each for each in finalizers if each != DELETE_PROTECTION]
            changed = {"uid": uid, "resourceVersion": meta["resourceVersion"], "finalizers": kept}
            await self._client.patch(
                RESOURCE_CLAIMS, name, {"metadata": changed}, namespace, content_type=MERGE_PATCH
            )
        try:
            await self._client.delete(RESOURCE_CLAIMS, name, namespace, uid=uid)
        except ApiError as error:
            if not error.not_found:
                raise


def _typed(claim: Document) -> ResourceClaim:
    found = decode(claim)
    assert isinstance(found, ResourceClaim)
    return found


def _devices(allocation: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """What an allocation gives, however it is written."""
    names = ("request", "driver", "pool", "device")
    return [tuple(each.get(name, "") for name in names) for each in allocation["devices"]["results"]]
