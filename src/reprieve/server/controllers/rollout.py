"""How a Deployment rolls from old ReplicaSets to a new one: sizes, and nothing but sizes. Pure.

`maxSurge` pods more than wanted may exist, `maxUnavailable` fewer than wanted may be available; a percentage
of surge is rounded up, of unavailable down, and if both come to nothing one may be unavailable.
"""

from typing import Any

import msgspec

from reprieve.objects import Document, whole_number
from reprieve.server.controllers.budgets import scaled

REVISION = "deployment.kubernetes.io/revision"
DESIRED = "deployment.kubernetes.io/desired-replicas"
MOST = "deployment.kubernetes.io/max-replicas"


class Limits(msgspec.Struct, frozen=True):
    wanted: int
    surge: int
    unavailable: int

    @property
    def most(self) -> int:
        return self.wanted + self.surge

    @property
    def least_available(self) -> int:
        return self.wanted - self.unavailable


def limits_of(deployment: Document) -> Limits:
    spec = deployment["spec"]
    wanted = int(spec.get("replicas", 1))
    if not is_rolling(deployment):
        return Limits(wanted, 0, 0)
    rolling = (spec.get("strategy") or {}).get("rollingUpdate") or {}
    surge = scaled(rolling.get("maxSurge", 0), wanted)
    unavailable = rounded_down(rolling.get("maxUnavailable", 0), wanted)
    if not surge and not unavailable:
        unavailable = 1
    return Limits(wanted, surge, min(unavailable, wanted))


def is_rolling(deployment: Document) -> bool:
    strategy = deployment["spec"].get("strategy") or {}
    return bool(strategy.get("type", "RollingUpdate") == "RollingUpdate")


def rounded_down(value: int | str, total: int) -> int:
    if isinstance(value, str) and value.endswith("%"):
        return (whole_number(value.removesuffix("%")) or 0) * total // 100
    return scaled(value, total)


def size(owned: Document) -> int:
    return int(owned["spec"].get("replicas") or 0)


def available(owned: Document) -> int:
    return int((owned.get("status") or {}).get("availableReplicas") or 0)


def annotated_number(owned: Document, name: str) -> int | None:
    return whole_number((owned["metadata"].get("annotations") or {}).get(name, ""))


def revision(owned: Document) -> int:
    return annotated_number(owned, REVISION) or 0


def oldest_first(sets: list[Document]) -> list[Document]:
    return sorted(sets, key=lambda s: (s["metadata"]["creationTimestamp"], s["metadata"]["name"]))


def new_size(limits: Limits, newest_size: int, total: int, rolling: bool) -> int:
    """How large the new ReplicaSet may be now, given the size of all together."""
    if not rolling or newest_size >= limits.wanted:
        return limits.wanted
    return min(limits.wanted, newest_size + max(0, limits.most - total))


def old_sizes(limits: Limits, newest: Document, old: list[Document]) -> dict[str, int]:
    """How small the old ReplicaSets may be now: first without their unhealthy pods, then as far as enough
    pods stay available.
    """
    active = [s for s in oldest_first(old) if size(s)]
    sizes = {s["metadata"]["name"]: size(s) for s in active}
    total = sum(sizes.values()) + size(newest)
    spare = total - limits.least_available - (size(newest) - available(newest))
    if spare <= 0:
        return sizes
    for each in active:
        cut = min(spare, max(0, size(each) - available(each)))
        sizes[each["metadata"]["name"]] -= cut
        spare -= cut
    extra = sum(available(s) for s in [*active, newest]) - limits.least_available
    for each in active:
        cut = min(sizes[each["metadata"]["name"]], max(0, extra))
        sizes[each["metadata"]["name"]] -= cut
        extra -= cut
    return sizes


def is_saturated(limits: Limits, newest: Document | None) -> bool:
    if newest is None:
        return False
    numbers = (size(newest), annotated_number(newest, DESIRED), available(newest))
    return all(number == limits.wanted for number in numbers)


def proportional_sizes(deployment: Document, limits: Limits, sets: list[Document]) -> dict[str, int]:
    """A Deployment that is scaled during a rollout: every ReplicaSet gets its share of the change."""
    active = [s for s in sets if size(s)]
    change = (limits.most if limits.wanted else 0) - sum(map(size, active))
    # The largest first; of equal ones the newer one grows first, the older one shrinks first.
    active = oldest_first(active)
    if change > 0:
        active.reverse()
    active.sort(key=size, reverse=True)
    sizes, done = {}, 0
    for each in active:
        share = _share(deployment, limits, each, change - done) if change else 0
        sizes[each["metadata"]["name"]] = size(each) + share
        done += share
    if active and change:
        largest = active[0]["metadata"]["name"]
        sizes[largest] = max(0, sizes[largest] + change - done)
    return sizes


def _share(deployment: Document, limits: Limits, owned: Document, left: int) -> int:
    if not left:
        return 0
    if not limits.wanted:
        share = -size(owned)
    else:
        before = annotated_number(owned, MOST) or int((deployment.get("status") or {}).get("replicas") or 0)
        grown: Any = size(owned) * limits.most / before if before else size(owned)
        share = int(grown + 0.5) - size(owned)
    return min(share, left) if left > 0 else max(share, left)
