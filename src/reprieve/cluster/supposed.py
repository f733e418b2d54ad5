"""Supposed changes: they answer a what-if, stand in an undo log and are rolled back to a checkpoint.

They touch only what filters, scores and the choice of victims read: node usage, host ports, nominations, what
is reserved, and the pods' node and priority columns.
"""

from collections.abc import Collection

from reprieve.cluster.claim_users import HELD, LEFT, MANY, RETURNED
from reprieve.cluster.columns import NOWHERE, Rows
from reprieve.cluster.tables import Tables
from reprieve.objects import Allocation


class Supposed(Tables):
    def checkpoint(self) -> int:
        return len(self._undo)

    def rollback(self, mark: int) -> None:
        """Undo every supposed change made since the checkpoint."""
        while len(self._undo) > mark:
            kind, *record = self._undo.pop()
            if kind == "one":
                row, slot, sign = record
                self._usage.count(row, slot, -sign)
                self.pods.node[row] = NOWHERE if sign > 0 else slot
            elif kind == "placed":
                rows, slots = record
                self.pods.node[rows] = NOWHERE
                self._usage.count_many(rows, slots, -1)
                self.touched.extend(slots.tolist())
            elif kind in (HELD, LEFT, RETURNED, MANY):
                self._claim_users.undo((kind, *record))
            elif kind == "nominations":
                self.nominated, self.nominated_later = record
            elif kind == "reserved":
                self.storage.restore(record[0])
            elif kind == "priority":
                rows, before = record
                self.pods.priority[rows] = before
            else:
                rows, slots, used, filled, self.caches = record
                self.pods.node[rows] = slots
                self.nodes.used[:, : used.shape[1]] = used
                self.nodes.filled[:, : filled.shape[1]] = filled
                self._usage.count_ports(rows, slots, 1)

    def nodes_at(self, mark: int) -> Rows:
        """The node of each pod at a checkpoint, whatever has been supposed since."""
        node = self.pods.node[: self.pods.rows].copy()
        for kind, *record in reversed(self._undo[mark:]):
            if kind == "one":
                row, slot, sign = record
                node[row] = NOWHERE if sign > 0 else slot
            elif kind == "placed":
                node[record[0]] = NOWHERE
            elif kind == "many":
                node[record[0]] = record[1]
        return node

    def attach(self, row: int, slot: int) -> None:
        """Suppose a pod on a node."""
        self._undo.append(("one", row, slot, 1))
        self.pods.node[row] = slot
        self._usage.count(row, slot, 1)
        self._claim_users.come_back(row, self._undo)

    def suppose_allocated(self, claim: str, allocation: Allocation) -> None:
        """Suppose a claim allocated."""
        self._undo.append((HELD, claim, self.devices.suppose(claim, allocation)))

    def abandoned_claims(self) -> list[str]:
        """Allocated claims whose users no longer exist."""
        return self._claim_users.abandoned() if self.devices.allocations else []

    def suppose_freed(self, claim: str) -> None:
        """Suppose a claim's devices given back."""
        self._undo.append((HELD, claim, self.devices.suppose(claim, None)))

    def attach_all(self, rows: Rows, slots: Rows) -> None:
        """Suppose many pods on nodes at once."""
        self._undo.append(("placed", rows, slots))
        self.pods.node[rows] = slots
        self._usage.count_many(rows, slots, 1)
        self.touched.extend(slots.tolist())

    def detach(self, row: int) -> None:
        """Suppose a pod gone from its node."""
        slot = int(self.pods.node[row])
        self._undo.append(("one", row, slot, -1))
        self.pods.node[row] = NOWHERE
        self._usage.count(row, slot, -1)
        self._claim_users.leave((row,), self._undo)

    def detach_all(self, rows: Rows) -> None:
        """Suppose many pods gone at once: one masked subtraction for all of them."""
        slots = self.pods.node.take(rows)
        width = self.nodes.slots
        used, filled = self.nodes.used[:, :width], self.nodes.filled[:, :width]
        self._undo.append(("many", rows, slots, used.copy(), filled.copy(), self.caches))
        self.caches = {}
        self.pods.node[rows] = NOWHERE
        here = slots >= 0
        if here.all():
            self._usage.count_many(rows, slots, -1)
        else:
            self._usage.count_many(rows[here], slots[here], -1)
        if self.devices.any_users:
            self._claim_users.leave(rows.tolist(), self._undo)

    def reserve(self, volumes: dict[str, str], nodes: dict[str, str]) -> None:
        """Suppose volumes kept for claims, and claims that are to be provisioned on nodes."""
        if volumes or nodes:
            self._undo.append(("reserved", self.storage.reserve(volumes, nodes)))

    def set_nominations_aside(self, rows: Collection[int]) -> None:
        """Suppose waiting pods without their nominations, for others that are nominated for the same node."""
        self._undo.append(("nominations", self.nominated, self.nominated_later))
        nodes = {self._nomination_of[row] for row in rows}
        fewer = {node: {r: None for r in self.nominated[node] if r not in rows} for node in nodes}
        later = {node: {r: None for r in self.nominated[node] if r in rows} for node in nodes}
        self.nominated = {node: left for node, left in (self.nominated | fewer).items() if left}
        self.nominated_later = self.nominated_later | later

    def raise_priority(self, rows: list[int], priority: int) -> None:
        """Suppose pods as important as this."""
        self._undo.append(("priority", rows, self.pods.priority[rows]))
        self.pods.priority[rows] = priority
