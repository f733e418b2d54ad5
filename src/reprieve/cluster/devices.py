"""Devices: who offers them, who holds them, and what a what-if supposes about that.

A device is held by a claim with an allocation, whoever uses the claim: an allocation without users holds its
devices, too. Observed objects come through `set` and `remove`; `assume` is an allocation that was decided and
not written yet, and `written` what the API answered to a write before the watch tells of it. Supposed changes
(`suppose`, `leave`) return what `undo` needs.
"""

from collections.abc import Collection, Iterable

from reprieve.cluster.device_holders import DeviceHolders, DeviceId, PoolId
from reprieve.objects import (
    Allocation,
    ConsumerReference,
    DeviceClass,
    DeviceTaintRule,
    Object,
    ResourceClaim,
    ResourceSlice,
    devices,
    whole_number,
)

IMPLICIT_PREFIX = "deviceclass.resource.kubernetes.io/"


class DeviceTable(DeviceHolders):
    def __init__(self) -> None:
        super().__init__()
        self.slices: dict[str, ResourceSlice] = {}
        self.classes: dict[str, DeviceClass] = {}
        self.rules: dict[str, DeviceTaintRule] = {}
        self.claims: dict[str, ResourceClaim] = {}
        self.assumed: dict[str, Allocation] = {}
        """Decided and not yet seen in the API."""
        self.in_flight: dict[str, int] = {}
        """How many pods that use a claim are being bound."""
        self.latest = 0
        """The newest version of a claim that the watch has told of."""
        self.version = 0
        """Increases with every change of slices or taint rules."""
        self.slice_changes: list[str] = []
        """Nodes with changed slices, in order; empty text: any node."""
        self.enabled = True
        self.group_claims = True
        """Whether a PodGroup may own the claims of its pods."""
        self.now: int | None = None
        """Microseconds since 1970, of the decision that is being made; binding conditions can time out."""
        self.evictions_free = True
        """Whether a pod that is supposed gone gives its devices back. kube-scheduler's dry runs do not."""
        self._claims_of: dict[str, dict[str, None]] = {}
        """Allocated claims by the pods (`namespace/name`) that use them."""
        self._holding: dict[PoolId, dict[str, None]] = {}
        """Claims that hold devices of a pool, as the API has them: whatever a what-if supposes."""
        self.only_user: dict[str, tuple[str, str]] = {}
        """Of claims with a single pod as user, as the API has it: the pod (`namespace/name`) and its uid."""
        self._extended: dict[str, str] | None = None
        self._extended_of: dict[str, dict[str, None]] = {}
        """Claims for extended resources, by the pods (`namespace/name`) that own them."""

    # --- observed changes -----------------------------------------------------------------------------------

    def set(self, obj: Object) -> bool:
        """Add or update an object of resource.k8s.io. Whether classes changed: they may serve resources."""
        match obj:
            case ResourceClaim():
                self.set_claim(obj)
            case ResourceSlice():
                self.set_slice(obj)
            case DeviceClass():
                self.set_class(obj)
            case DeviceTaintRule():
                self.set_rule(obj)
        return isinstance(obj, DeviceClass)

    def remove(self, kind: type[Object], key: str) -> bool:
        if kind is ResourceClaim:
            self.remove_claim(key)
        elif kind is ResourceSlice:
            self.remove_slice(key)
        elif kind is DeviceClass:
            self.remove_class(key)
        elif kind is DeviceTaintRule:
            self.remove_rule(key)
        return kind is DeviceClass

    def set_slice(self, found: ResourceSlice) -> None:
        before = self.slices.get(found.name)
        if before is not None and before.spec == found.spec:
            return
        self.slices[found.name] = found
        self._slice_changed(before, found)

    def remove_slice(self, name: str) -> None:
        before = self.slices.pop(name, None)
        if before is not None:
            self._slice_changed(before, None)

    def _slice_changed(self, *changed: ResourceSlice | None) -> None:
        self.version += 1
        self.slice_changes += [each.spec.node_name for each in changed if each is not None]

    def set_class(self, found: DeviceClass) -> None:
        self.classes[found.name] = found
        self._classes_changed()

    def remove_class(self, name: str) -> None:
        if self.classes.pop(name, None) is not None:
            self._classes_changed()

    def _classes_changed(self) -> None:
        self._extended = None

    def set_rule(self, found: DeviceTaintRule) -> None:
        self.rules[found.name] = found
        self._rules_changed()

    def remove_rule(self, name: str) -> None:
        if self.rules.pop(name, None) is not None:
            self._rules_changed()

    def _rules_changed(self) -> None:
        self.version += 1
        self.slice_changes.append("")

    def set_claim(self, found: ResourceClaim) -> None:
        before = self.claims.get(found.key)
        if before is not None:
            if before.metadata.uid == found.metadata.uid and _version(found) < _version(before):
                return  # the answer to a write was faster than the watch
            self._forget_users(before)
            if before.metadata.uid != found.metadata.uid:
                self.assumed.pop(found.key, None)
        self.claims[found.key] = found
        for user in _pods_using(found):
            self._claims_of.setdefault(user, {})[found.key] = None
        reserved = found.status.reserved_for
        if len(reserved) == 1 and reserved[0].resource == "pods":
            self.only_user[found.key] = f"{found.namespace}/{reserved[0].name}", reserved[0].uid
        for pool in _pools_of(found):
            self._holding.setdefault(pool, {})[found.key] = None
        for owner in _extends(found):
            self._extended_of.setdefault(owner, {})[found.key] = None
        written = found.status.allocation
        if written is not None:
            self.assumed.pop(found.key, None)
        self._hold(found.key, written if written is not None else self.assumed.get(found.key))

    def remove_claim(self, key: str) -> None:
        before = self.claims.pop(key, None)
        if before is not None:
            self._forget_users(before)
            self.assumed.pop(key, None)
            self._hold(key, None)

    def saw(self, claim: ResourceClaim) -> None:
        """The watch told of this claim, or of its end: of everything older it has told before."""
        self.latest = max(self.latest, _version(claim))

    def written(self, claim: ResourceClaim) -> None:
        """The API's answer to a write. What the watch has told of already, it has told all of."""
        if _version(claim) > self.latest:
            self.set_claim(claim)

    def assume(self, key: str, allocation: Allocation | None) -> None:
        """A pod that uses the claim is being bound; what was decided holds its devices before it is written.

        Without an allocation the claim has one already.
        """
        self.in_flight[key] = self.in_flight.get(key, 0) + 1
        if allocation is not None:
            self.assumed[key] = allocation
            self._hold(key, allocation)

    def forget(self, key: str) -> None:
        """The pod's binding ended. After the last one only what is written counts."""
        left = self.in_flight.get(key, 0) - 1
        if left > 0:
            self.in_flight[key] = left
            return
        self.in_flight.pop(key, None)
        if self.assumed.pop(key, None) is not None:
            claim = self.claims.get(key)
            self._hold(key, claim.status.allocation if claim is not None else None)

    def _forget_users(self, claim: ResourceClaim) -> None:
        self.only_user.pop(claim.key, None)
        for pool in _pools_of(claim):
            self._holding[pool].pop(claim.key, None)
        for owner in _extends(claim):
            self._extended_of[owner].pop(claim.key, None)
        for user in _pods_using(claim):
            claims = self._claims_of.get(user)
            if claims is not None:
                claims.pop(claim.key, None)
                if not claims:
                    del self._claims_of[user]

    # --- supposed changes -----------------------------------------------------------------------------------

    def suppose(self, key: str, allocation: Allocation | None) -> Allocation | None:
        """Suppose a claim allocated so, or not at all. Returns what to `suppose` to undo it."""
        before = self.allocations.get(key)
        self._hold(key, allocation)
        return before

    @property
    def any_users(self) -> bool:
        return bool(self._claims_of)

    def claims_used_by(self, pod: str, uid: str) -> list[str]:
        """Allocated claims that count this pod as a user."""
        found = []
        for key in self._claims_of.get(pod, ()):
            only = self.only_user.get(key)
            if only is not None:
                if is_same(uid, only[1]):
                    found.append(key)
            elif any(
                _is_user(self.claims[key], each, pod, uid) for each in self.claims[key].status.reserved_for
            ):
                found.append(key)
        return found

    def pools_of(self, pod: str, uid: str) -> Collection[PoolId]:
        """Pools with devices in claims that the pod uses, as the API has them."""
        return {pool for key in self.claims_used_by(pod, uid) for pool in _pools_of(self.claims[key])}

    def users_of(self, pools: Collection[PoolId], own: Collection[str]) -> list[str]:
        """Pods that use a claim with devices of these pools, or one of the claims in `own`."""
        found: dict[str, None] = {}
        for pool in pools:
            for key in self._holding.get(pool, ()):
                found |= dict.fromkeys(_pods_using(self.claims[key]) if key in self.claims else ())
        for key in own:
            found |= dict.fromkeys(_pods_using(self.claims[key]) if key in self.claims else ())
        return list(found)

    def leave(self, key: str, back: bool = False) -> None:
        """A user of the claim is supposed gone, or back again: `back` undoes it."""
        self._gone[key] = self._gone.get(key, 0) + (-1 if back else 1)
        if not self._gone[key]:
            del self._gone[key]

    def gone(self, key: str) -> int:
        return self._gone.get(key, 0)

    def whole_devices(self, key: str) -> tuple[DeviceId, ...]:
        """What a claim has in the API, or gets when it is supposed back: devices that it holds alone."""
        written = self.claims[key].status.allocation
        results = written.devices.results if written is not None else ()
        return tuple(
            (each.driver, each.pool, each.device)
            for each in results
            if not each.admin_access and not each.share_id
        )

    # --- extended resources ---------------------------------------------------------------------------------

    def class_serving(self, resource: str) -> str:
        """The class whose devices serve an extended resource, empty for none.

        Of several the newest; of equally new ones the first by name.
        """
        if resource.startswith(IMPLICIT_PREFIX):
            name = resource[len(IMPLICIT_PREFIX) :]
            return name if name in self.classes else ""
        if self._extended is None:
            self._extended = {}
            for each in sorted(self.classes.values(), key=lambda c: c.name):
                resource_name = each.spec.extended_resource_name
                if resource_name:
                    known = self._extended.get(resource_name)
                    if known is None or _age(each) > _age(self.classes[known]):
                        self._extended[resource_name] = each.name
        return self._extended.get(resource, "")

    def extended_claim_of(self, pod: str, uid: str) -> ResourceClaim | None:
        """The claim that was made for the extended resources of this pod."""
        for key in self._extended_of.get(pod, ()):
            claim = self.claims[key]
            if any(each.controller and each.uid == uid for each in claim.metadata.owner_references):
                return claim
        return None

    def serves_any(self, resources: Iterable[str]) -> bool:
        return bool(self.classes) and any(self.class_serving(each) for each in resources)


def _age(each: DeviceClass) -> float:
    created = each.metadata.creation_timestamp
    return created.timestamp() if created is not None else 0.0


def _version(claim: ResourceClaim) -> int:
    """Versions of one collection are ordered."""
    return whole_number(claim.metadata.resource_version) or 0


def _extends(claim: ResourceClaim) -> Iterable[str]:
    if claim.metadata.annotations.get(devices.EXTENDED_CLAIM) != "true":
        return ()
    return (f"{claim.namespace}/{each.name}" for each in claim.metadata.owner_references if each.controller)


def _pods_using(claim: ResourceClaim) -> Iterable[str]:
    return (f"{claim.namespace}/{user.name}" for user in claim.status.reserved_for if user.resource == "pods")


def _pools_of(claim: ResourceClaim) -> Collection[PoolId]:
    written = claim.status.allocation
    return {(each.driver, each.pool) for each in written.devices.results} if written is not None else ()


def _is_user(claim: ResourceClaim, user: ConsumerReference, pod: str, uid: str) -> bool:
    return user.resource == "pods" and f"{claim.namespace}/{user.name}" == pod and is_same(uid, user.uid)


def is_same(uid: str, of_user: str) -> bool:
    """Whether a pod is the user of its name: by uid, unless one of them has none."""
    return not uid or of_user in ("", uid)
