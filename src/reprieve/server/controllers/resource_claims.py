"""ResourceClaims: made from templates for pods and groups, and given back when nobody uses them any more.

What happens to a claim, in order:

1. a pod or a PodGroup names a template: a claim is made for it, owned by it, and its status names it. A pod
   that names a template in the same way as its group gets no claim of its own: it uses that of the group;
2. a user is gone (its pod does not exist, has another uid, or is done): it leaves `status.reservedFor`;
3. the last user has left, or the claim is being deleted without one: the allocation goes, and with it the
   finalizer that kept the claim;
4. the pod that owns a claim is done: the claim is deleted.

A PodGroup stays a user until it is deleted itself.
"""

from datetime import datetime

from reprieve.admission import POD_CLAIM_NAME, device_claim
from reprieve.objects import Document
from reprieve.server.api import Api
from reprieve.server.controllers.controller import Changes, Controller, Key
from reprieve.server.controllers.pods import Pod, PodIndex
from reprieve.server.documents import at, items
from reprieve.server.storage import DELETED, Change, Record

CLAIMS = "resourceclaims.resource.k8s.io"
TEMPLATES = "resourceclaimtemplates.resource.k8s.io"
GROUPS = "podgroups.scheduling.k8s.io"
MANAGER = "resourceclaim-controller"
DELETE_PROTECTION = "resource.kubernetes.io/delete-protection"


class ClaimIndex:
    """Claims by the uids of their owners and users: nobody looks through all of them."""

    def __init__(self, api: Api, changes: Changes) -> None:
        self._of: dict[str, set[Key]] = {}
        self._uids: dict[Key, set[str]] = {}
        for record in api.backend.store.collection(CLAIMS).scan(None):
            self._note(record, gone=False)
        changes.of(CLAIMS, lambda change: self._note(change.record, change.type == DELETED))

    def of(self, uid: str) -> list[Key]:
        return sorted(self._of.get(uid, ()))

    def _note(self, record: Record, gone: bool) -> None:
        key, claim = (record.namespace, record.name), record.object
        named = [*(claim["metadata"].get("ownerReferences") or ()), *items(claim, "status", "reservedFor")]
        after = set() if gone else {str(each.get("uid", "")) for each in named}
        before = self._uids.pop(key, set())
        for uid in before - after:
            self._of[uid].discard(key)
            if not self._of[uid]:
                del self._of[uid]
        for uid in after - before:
            self._of.setdefault(uid, set()).add(key)
        if after:
            self._uids[key] = after


class ClaimsFromTemplates(Controller):
    """Makes the claims that pods or groups name by a template."""

    def __init__(self, api: Api) -> None:
        super().__init__(api)
        self._claims = ClaimIndex(api, self.changes)
        self.changes.of(TEMPLATES, lambda _change: self._look_again())

    def _look_again(self, group: Record | None = None) -> None:
        """A template may be what they waited for, or the claim of a pod's group."""
        for record in self.api.backend.store.collection(self.resource).scan(None):
            if group is None or _group_of(record.object) == group.name:
                self.changed(record, False)

    def changed(self, record: Record, gone: bool) -> None:
        if not gone and items(record.object, "spec", "resourceClaims"):
            super().changed(record, gone)

    async def reconcile(self, key: Key) -> datetime | None:
        owner = self.api.peek(self.resource, key[1], key[0])
        if owner is None or owner["metadata"].get("deletionTimestamp") or self.needs_none(owner):
            return None
        known = {each["name"]: each for each in items(owner, "status", "resourceClaimStatuses")}
        made = dict(known)
        for each in items(owner, "spec", "resourceClaims"):
            if each.get("resourceClaimTemplateName") and each["name"] not in known:
                claim = await self.claim_for(owner, each)
                if claim is not None:
                    made[each["name"]] = {"name": each["name"], "resourceClaimName": claim}
        if made != known:
            patch = {"status": {"resourceClaimStatuses": list(made.values())}}
            await self.api.patch(self.resource, key[1], patch, key[0], subresource="status", manager=MANAGER)
        return None

    def needs_none(self, _owner: Document) -> bool:
        return False

    async def claim_for(self, owner: Document, named: Document) -> str | None:
        """The claim made for the owner: one that is there already, or a new one; None without a template."""
        meta, name = owner["metadata"], named["name"]
        for namespace, known in self._claims.of(meta["uid"]):
            found = self.api.peek(CLAIMS, known, namespace)
            if found and (found["metadata"].get("annotations") or {}).get(POD_CLAIM_NAME) == name:
                return known
        body = self.api.peek(TEMPLATES, named["resourceClaimTemplateName"], meta["namespace"])
        if body is None:
            return None
        claim = device_claim(owner, name, body)
        made = await self.api.create(CLAIMS, claim, manager=MANAGER)
        return str(made["metadata"]["name"])


class GroupClaims(ClaimsFromTemplates):
    resource = GROUPS


class PodClaims(ClaimsFromTemplates):
    resource = "pods"

    def __init__(self, api: Api) -> None:
        super().__init__(api)
        self.changes.of(GROUPS, self._group_changed)

    def _group_changed(self, change: Change) -> None:
        if items(change.record.object, "spec", "resourceClaims"):
            self._look_again(change.record)

    def needs_none(self, _owner: Document) -> bool:
        return _is_done(_owner)

    async def claim_for(self, owner: Document, named: Document) -> str | None:
        group = self.api.peek(GROUPS, _group_of(owner), owner["metadata"]["namespace"])
        if group is None or named not in items(group, "spec", "resourceClaims"):
            return await super().claim_for(owner, named)
        made = items(group, "status", "resourceClaimStatuses")
        return next((each.get("resourceClaimName") for each in made if each["name"] == named["name"]), None)


class ResourceClaims(Controller):
    """Takes users off claims that are gone, and frees what nobody uses."""

    resource = CLAIMS

    def __init__(self, api: Api, pods: PodIndex) -> None:
        super().__init__(api)
        self._claims = ClaimIndex(api, self.changes)
        pods.listen(self._pod_changed)
        self.changes.of(GROUPS, self._group_changed)

    def _group_changed(self, change: Change) -> None:
        if change.type == DELETED:
            for key in self._claims.of(change.record.object["metadata"]["uid"]):
                self.queue.add(key)

    def _pod_changed(self, before: Pod | None, after: Pod | None) -> None:
        pod = after or before
        if pod is None or (after is not None and after.phase not in ("Succeeded", "Failed")):
            return
        for key in self._claims.of(pod.uid):
            self.queue.add(key)

    async def reconcile(self, key: Key) -> datetime | None:
        claim = self.api.peek(CLAIMS, key[1], key[0])
        if claim is None:
            return None
        users = items(claim, "status", "reservedFor")
        left = [user for user in users if self._uses(user, key[0])]
        ending = bool(claim["metadata"].get("deletionTimestamp")) and at(claim, "status", "allocation")
        if left != users or (ending and not left):
            status: Document = {"reservedFor": left or None}
            if not left:
                status |= {"allocation": None, "devices": None}
            version = {"resourceVersion": claim["metadata"]["resourceVersion"]}
            patch = {"metadata": version, "status": status}
            claim = await self.api.patch(CLAIMS, key[1], patch, key[0], subresource="status", manager=MANAGER)
        meta = claim["metadata"]
        finalizers = meta.get("finalizers") or []
        freed = (left != users and not left) or meta.get("deletionTimestamp")
        if freed and DELETE_PROTECTION in finalizers and not at(claim, "status", "allocation"):
            kept = [each for each in finalizers if each != DELETE_PROTECTION]
            await self.api.patch(CLAIMS, key[1], {"metadata": {"finalizers": kept}}, key[0], manager=MANAGER)
        if not left and self._made_for_a_pod_that_is_done(claim):
            await self.api.delete(CLAIMS, key[1], key[0])
        return None

    def _uses(self, user: Document, namespace: str) -> bool:
        if user.get("resource") == "podgroups":
            return self.api.peek(GROUPS, user["name"], namespace) is not None
        if user.get("resource") != "pods":
            return True
        pod = self.api.peek("pods", user["name"], namespace)
        return pod is not None and pod["metadata"]["uid"] == user.get("uid") and not _is_done(pod)

    def _made_for_a_pod_that_is_done(self, claim: Document) -> bool:
        meta = claim["metadata"]
        if meta.get("deletionTimestamp"):
            return False
        for owner in meta.get("ownerReferences") or ():
            if owner.get("kind") == "Pod" and owner.get("controller"):
                pod = self.api.peek("pods", owner["name"], meta["namespace"])
                return pod is not None and (pod["metadata"]["uid"] != owner.get("uid") or _is_done(pod))
        return False


def _group_of(pod: Document) -> str:
    return str(at(pod, "spec", "schedulingGroup", "podGroupName") or "")


def _is_done(pod: Document) -> bool:
    """It has ended, or is deleted and never ran."""
    if at(pod, "status", "phase") in ("Succeeded", "Failed"):
        return True
    return bool(pod["metadata"].get("deletionTimestamp")) and not at(pod, "spec", "nodeName")
