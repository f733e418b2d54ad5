"""VolumeRestrictions: disks that two pods on a node cannot share, and claims that only one pod may use.

`faithful` repeats what kube-scheduler does when pods come and go in a what-if: it compares names of claims
without their namespaces, counts a claim once for every volume that names it, and checks nothing any more once
it found nothing to check.
"""

from collections import Counter

import numpy as np

from reprieve.cluster import Cluster, Mask, PodVolumes, Rows
from reprieve.objects import well_known


class Restrictions:
    def __init__(self, cluster: Cluster, pod: PodVolumes, *, faithful: bool) -> None:
        table, self._cluster = cluster.storage, cluster
        placed = cluster.pods.node
        self._faithful = faithful
        self._exclusive: dict[str, str] = {
            each.key: each.name
            for each in pod.claims
            if not each.ephemeral
            and well_known.READ_WRITE_ONCE_POD in table.claims[each.key].spec.access_modes
        }
        """Claims that nobody else may use: keys and names."""
        self._users = {
            key: {row for row in table.users.get(key, ()) if placed[row] >= 0 and self._names(row, key)}
            for key in self._exclusive
        }
        self._in_use = sum(bool(users) for users in self._users.values())
        self._names_in_use = frozenset(self._exclusive.values())
        self.rivals = {row for disk in pod.disks for row in table.conflicting(disk)}
        """Pods with a disk that the pod cannot share, wherever they are."""
        self.disks: Counter[int] = Counter(int(placed[row]) for row in self.rivals if placed[row] >= 0)
        """How many of them each node has."""
        self._still: Mask | None = None
        """Nodes for which somebody would still use such a claim, where that differs from node to node."""
        self.idle = not pod.disks and (not self._in_use if faithful else not self._exclusive)

    def _names(self, row: int, key: str) -> bool:
        return any(each.key == key and not each.ephemeral for each in self._cluster.storage.pods[row].claims)

    @property
    def in_use(self) -> bool:
        """Whether somebody uses a claim that only one pod may use: then no node will do."""
        return self._in_use > 0

    def busy(self) -> Mask:
        """Nodes that somebody's use of a claim keeps the pod from."""
        if self._still is not None:
            return self._still
        return np.full(self._cluster.nodes.slots, self.in_use, dtype=np.bool_)

    def emptied(self, now: "Restrictions | None", rows: Rows) -> "Restrictions":
        """As each node would see it by itself, had it alone lost those of these pods that it has."""
        twin, home = self.copy(), self._cluster.pods.node
        left = np.full(self._cluster.nodes.slots, self._in_use, dtype=np.int64)
        for row in rows.tolist():
            if row in self._cluster.storage.pods and home[row] >= 0:
                left[home[row]] -= self._weight(row)
        twin._still = left > 0
        twin.disks = now.disks if now is not None else Counter()
        return twin

    @property
    def exclusive(self) -> bool:
        return bool(self._exclusive)

    def users(self) -> set[int]:
        """Pods that use a claim which the pod wants for itself."""
        return set().union(*self._users.values()) if self._users else set()

    def matters(self, row: int) -> bool:
        """Whether it makes a difference where this pod is."""
        return row in self.rivals or bool(self._exclusive and self._weight(row))

    def _weight(self, row: int) -> int:
        claims = self._cluster.storage.pods[row].claims
        if self._faithful:
            return sum(not each.ephemeral and each.name in self._names_in_use for each in claims)
        return len({each.key for each in claims if not each.ephemeral and each.key in self._exclusive})

    def change(self, row: int, slot: int, delta: int) -> None:
        if row in self.rivals:
            self.disks[slot] += delta
        if not self._exclusive:
            return
        if self._faithful:
            self._in_use += delta * self._weight(row)
            return
        for each in self._cluster.storage.pods[row].claims:
            users = self._users.get(each.key)
            if users is not None and not each.ephemeral:
                (users.add if delta > 0 else users.discard)(row)
        self._in_use = sum(bool(users) for users in self._users.values())

    def copy(self) -> "Restrictions":
        twin = object.__new__(Restrictions)
        twin.__dict__ |= self.__dict__
        twin.disks = self.disks.copy()
        twin._users = {key: set(users) for key, users in self._users.items()}
        return twin

    def allows(self, slot: int) -> bool:
        return not self.disks[slot] > 0 and not self._in_use > 0
