"""The cluster in memory: tables that change as objects come and go, and an undo log for what-ifs.

Two kinds of change, never mixed:
- *Observed* changes (`set`, `remove`, `assume`, `forget`, `nominate`) follow the real cluster and stay.
- *Supposed* changes (`attach`, `detach`, `set_nominations_aside`, `raise_priority`) answer a what-if and are
  rolled back to a checkpoint. They touch only what filters, scores and the choice of victims read: node
  usage, host ports, nominations, and the pods' node and priority columns.

The state depends on the objects and the order of their first appearance, not on how they were loaded.
"""

from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
from msgspec.structs import replace

from reprieve.cluster.arrivals import Arrivals, is_plain
from reprieve.cluster.budgets import BudgetTable
from reprieve.cluster.claim_users import HELD, LEFT, MANY, RETURNED, ClaimUsers
from reprieve.cluster.classes import ClassTable, PodClass
from reprieve.cluster.columns import LOST, NOWHERE, Ints, Rows
from reprieve.cluster.devices import DeviceTable
from reprieve.cluster.groups import GroupTable
from reprieve.cluster.nodes import NodeTable
from reprieve.cluster.pods import PodTable, is_finished, min_runtime_end
from reprieve.cluster.priorities import PriorityTable, resolve
from reprieve.cluster.ranking import Ranking
from reprieve.cluster.storage import StorageTable
from reprieve.cluster.usage import Usage
from reprieve.objects import (
    Allocation,
    CompositePodGroup,
    LabelSelector,
    Namespace,
    Node,
    Object,
    Pod,
    PodDisruptionBudget,
    PodGroup,
    PriorityClass,
    storage,
)

Undo = tuple[Any, ...]

LONGEST_LOG = 100_000
"""Changes that caches can catch up with; beyond that, recomputing is cheaper."""


class Cluster:
    """`honour_nominations`: whether `status.nominatedNodeName` of a waiting pod reserves capacity for it.

    Without it only nominations made by `nominate` count, as in a scheduler that has just started.
    """

    def __init__(self, honour_nominations: bool = True) -> None:
        self._honour_nominations = honour_nominations
        self.nodes = NodeTable()
        self.pods = PodTable()
        self.classes = ClassTable(self.nodes)
        self.groups = GroupTable()
        self.priorities = PriorityTable()
        self.ranking = Ranking(self.pods, self.groups, self.priorities)
        self.budgets = BudgetTable()
        self.storage = StorageTable(self.nodes)
        self.devices = DeviceTable()
        self._claim_users = ClaimUsers(self.devices, self.pods)
        self._usage = Usage(self.nodes, self.pods, self.classes)
        self._arrivals = Arrivals(self.pods, self.nodes, self.classes, self.groups, self.ranking)
        self.ports = self._usage.ports
        self.touched = self._usage.touched
        self.namespaces: dict[str, dict[str, str]] = {}
        self.owners: dict[tuple[str, str, str], LabelSelector] = {}
        """Selectors of services and controllers by (kind, namespace, name): default spreading reads them."""
        self.residents: list[dict[int, None]] = []
        """Observed pods of each node slot, in order of arrival."""
        self.nominated: dict[str, dict[int, None]] = {}
        """Waiting pods by the name of the node they are nominated for."""
        self.nominated_later: dict[str, dict[int, None]] = {}
        """In a what-if: those that stand aside for pods that were nominated for the same node before."""
        self.moved: list[int] = []
        """Log of slots whose observed pods changed; the table of potential victims reads it."""
        self.version = 0
        """Increases with every change of a priority class, which may change the importance of any pod."""
        self.caches: dict[Any, Any] = {}
        """What placement derived from present usage; set aside when many pods are detached at once."""
        self.lasting: dict[Any, Any] = {}
        """What was derived from nodes and classes alone; adding or removing pods does not change it."""
        self._nomination_of: dict[int, str] = {}
        self._lost: dict[str, dict[int, None]] = {}
        self._undo: list[Undo] = []

    # --- observed changes -----------------------------------------------------------------------------------

    def set(self, obj: Object) -> None:
        """Add or update an object; kinds that no decision reads are ignored."""
        self._begin()
        match obj:
            case Pod():
                self._set_pod(obj)
            case Node():
                self._set_node(obj)
            case PodGroup():
                self._set_group(obj)
            case CompositePodGroup():
                self._set_composite(obj)
            case PodDisruptionBudget():
                self.budgets.set(obj)
            case PriorityClass():
                self.priorities.set(obj)
                self._resolve_again()
            case Namespace():
                self.namespaces[obj.name] = obj.metadata.labels
                self.caches.clear()
            case _ if self.devices.set(obj):
                self._forget_derived()
            case _ if isinstance(obj, storage.STORAGE_KINDS):
                self.storage.set(obj)

    def set_all(self, objects: Iterable[Object]) -> None:
        """The same as `set` for one after the other; new pods are taken in together."""
        batch: dict[str, Pod] = {}
        known = self.pods.row_of
        for obj in objects:
            key = obj.key
            new = key not in batch and key not in known and self.pods.is_dense
            if isinstance(obj, Pod) and new and is_plain(obj):
                batch[key] = obj
                continue
            self._add_pods(batch)
            batch = {}
            self.set(obj)
        self._add_pods(batch)

    def remove(self, kind: type[Object], key: str) -> None:
        """Forget an object by its type and key (`namespace/name`, or the bare name)."""
        self._begin()
        if kind is Pod:
            row = self.pods.row_of.get(key)
            if row is not None:
                self._drop_pod(row)
            else:
                self.groups.forget_ended(key)
        elif kind is Node:
            self._remove_node(key)
        elif kind is PodGroup and key in self.groups.number_of:
            self._prioritise(self.groups.number_of[key], rules=False)
            self.groups.remove(key)
        elif kind is CompositePodGroup:
            for number in self.groups.remove_composite(key):
                self._prioritise(number, rules=self.ranking.groups_rule)
        elif kind is PodDisruptionBudget:
            self.budgets.remove(key)
        elif kind is PriorityClass:
            self.priorities.remove(key)
            self._resolve_again()
        elif kind is Namespace:
            self.namespaces.pop(key, None)
            self.caches.clear()
        elif self.devices.remove(kind, key):
            self._forget_derived()
        else:
            self.storage.remove(kind, key)

    def _begin(self) -> None:
        """Before an observed change: refuse it while a what-if is open, and cut logs that have grown long."""
        if self._undo:
            raise RuntimeError("an observed change while a what-if is open")
        devices = self.devices.pool_changes
        longest = len(self.touched) + len(self.moved) + len(self.nodes.changes) + len(devices)
        if longest > LONGEST_LOG:
            self.touched.clear()
            self.moved.clear()
            self.nodes.changes.clear()
            devices.clear()
            self._forget_derived()

    def _forget_derived(self) -> None:
        self.caches.clear()
        self.lasting.clear()
        self.budgets.forget()

    def set_owner(self, kind: str, namespace: str, name: str, selector: LabelSelector) -> None:
        """The pods that a service or controller selects; only default spreading reads it."""
        self.owners[kind, namespace, name] = selector
        self.caches.clear()

    def assume(self, key: str, node: str) -> None:
        """The scheduler binds a waiting pod: it counts on the node from now on."""
        self._begin()
        row = self.pods.row_of[key]
        self._withdraw(row)
        self._unplace(row)
        self._place(row, node)

    def forget(self, key: str) -> None:
        """The binding failed: the pod waits again, with the nomination in its status."""
        self._begin()
        row = self.pods.row_of[key]
        self._unplace(row)
        self._nominate(row, self.pods.info[row].nominated_node if self._honour_nominations else "")

    def nominate(self, key: str, node: str) -> None:
        """Nominate a node for a waiting pod; an empty name withdraws the nomination."""
        self._begin()
        row = self.pods.row_of[key]
        self.pods.info[row] = replace(self.pods.info[row], nominated_node=node)
        self._withdraw(row)
        self._nominate(row, node)

    # --- supposed changes -----------------------------------------------------------------------------------

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
        slots = self.pods.node[rows].copy()
        width = self.nodes.slots
        used, filled = self.nodes.used[:, :width], self.nodes.filled[:, :width]
        self._undo.append(("many", rows, slots, used.copy(), filled.copy(), self.caches))
        self.caches = {}
        self.pods.node[rows] = NOWHERE
        here = slots >= 0
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

    # --- usage ----------------------------------------------------------------------------------------------

    def class_of(self, row: int) -> PodClass:
        return self.classes.all[int(self.pods.cls[row])]

    def demand(self, rows: Rows) -> Ints:
        """What pods request: resources (rows) by pods (columns)."""
        return self.classes.requests[:, self.pods.cls[rows]]

    # --- pods come and go -----------------------------------------------------------------------------------

    def _set_pod(self, pod: Pod) -> None:
        key = pod.key
        row = self.pods.row_of.get(key)
        if is_finished(pod):
            if row is not None:
                self._drop_pod(row)
            if pod.spec.scheduling_group is not None:
                self.groups.end(pod)
            return
        where = pod.spec.node_name
        if row is None:
            self.groups.forget_ended(key)
            row = self.pods.add(key)
        else:
            self._withdraw(row)
            assumed = self.pods.node[row] >= 0 and not self.pods.info[row].node_name
            if assumed and not where:  # until the API shows it somewhere, it stays where it was assumed
                where = self.nodes.names[self.pods.node[row]]
            if self._stays(row, pod, where):
                self._describe(row, pod)
                return
            self._unplace(row)
            self.classes.leave(int(self.pods.cls[row]))
        self.pods.cls[row] = self.classes.join(pod).id
        self._describe(row, pod)
        if where:
            self._place(row, where)
        else:
            self._nominate(row, pod.status.nominated_node_name if self._honour_nominations else "")

    def _add_pods(self, batch: dict[str, Pod]) -> None:
        if not batch:
            return
        self._begin()
        pods = list(batch.values())
        classes = self._arrivals.join_classes(pods)
        if classes is None:  # one of them is wrong: those before it are taken in, and its error is raised
            for pod in pods:
                self.set(pod)
            return
        self.groups.forget_all_ended(batch)
        rows, slots = self._arrivals.add(list(batch), pods, classes)
        known = slots >= 0
        on, at = rows[known], slots[known]
        self.pods.node[on] = at
        residents = self.residents
        for row, slot in zip(on.tolist(), at.tolist(), strict=True):
            residents[slot][row] = None
        self._usage.count_many(on, at, 1)
        self.touched.extend(at.tolist())
        self.moved.extend(at.tolist())
        for index in np.flatnonzero(~known).tolist():
            row, pod = int(rows[index]), pods[index]
            if slots[index] == LOST:
                self._place(row, pod.spec.node_name)
            else:
                self._nominate(row, pod.status.nominated_node_name if self._honour_nominations else "")

    def _stays(self, row: int, pod: Pod, where: str) -> bool:
        """Whether a pod is where it was and as it was: then nothing is counted anew, only its importance."""
        slot, cls = self.pods.node.item(row), self.pods.cls.item(row)
        if slot < 0 or self.nodes.slot_of.get(where) != slot or not self.classes.is_of(pod, cls):
            return False
        self.moved.append(slot)
        return True

    def _describe(self, row: int, pod: Pod) -> None:
        pods = self.pods
        pods.fill(row, pod)
        self.storage.set_pod(row, pod)
        self._join(row, pod)
        self.ranking.describe(row, pod)
        pods.min_runtime_end[row] = min_runtime_end(pod)

    def _resolve_again(self) -> None:
        self.ranking.resolve_again()
        for group in self.groups.objects:
            if group is not None:
                self._set_group(group)
        for composite in self.groups.trees.objects.values():
            self._set_composite(composite)
        self.version += 1

    def _join(self, row: int, pod: Pod) -> None:
        key = pod.group_key
        number = self.groups.number(key) if key else -1
        old = self.pods.group.item(row)
        if old != number:
            if old >= 0:
                self.groups.leave(old, row)
            if number >= 0:
                self.groups.members[number][row] = None
            self.pods.group[row] = number

    def _drop_pod(self, row: int) -> None:
        self._withdraw(row)
        self._unplace(row)
        group = int(self.pods.group[row])
        if group >= 0:
            self.groups.leave(group, row)
        self.ranking.without_priority.pop(row, None)
        self.classes.leave(int(self.pods.cls[row]))
        self.storage.remove_pod(row)
        self.pods.remove(row)
        if self.classes.reclaim():
            self._forget_derived()

    def _place(self, row: int, node: str) -> None:
        slot = self.nodes.slot_of.get(node)
        if slot is None:
            self.pods.node[row] = LOST
            self._lost.setdefault(node, {})[row] = None
            self._reconsider(int(self.pods.group[row]))
            return
        self.pods.node[row] = slot
        self.residents[slot][row] = None
        self._usage.count(row, slot, 1)
        self.moved.append(slot)

    def _unplace(self, row: int) -> None:
        slot = int(self.pods.node[row])
        if slot >= 0:
            self._usage.count(row, slot, -1)
            del self.residents[slot][row]
            self.moved.append(slot)
        elif slot == LOST:
            for rows in self._lost.values():
                rows.pop(row, None)
            self._reconsider(int(self.pods.group[row]))
        self.pods.node[row] = NOWHERE

    def _nominate(self, row: int, node: str) -> None:
        if node:
            self.nominated.setdefault(node, {})[row] = None
            self._nomination_of[row] = node

    def _withdraw(self, row: int) -> None:
        node = self._nomination_of.pop(row, None)
        if node is not None:
            del self.nominated[node][row]
            if not self.nominated[node]:
                del self.nominated[node]

    # --- nodes and groups come and go -----------------------------------------------------------------------

    def _set_node(self, node: Node) -> None:
        fresh = node.name not in self.nodes.slot_of
        slot = self.nodes.set(node)
        self.touched.append(slot)
        if not fresh:
            return
        self.storage.node_changed(node.name)
        while len(self.residents) <= slot:
            self.residents.append({})
        for row in sorted(self._lost.pop(node.name, {}), key=self.pods.sequence.__getitem__):
            self._place(row, node.name)

    def _remove_node(self, name: str) -> None:
        slot = self.nodes.slot_of.get(name)
        if slot is None:
            return
        for row in list(self.residents[slot]):
            self._unplace(row)
            self.pods.node[row] = LOST
            self._lost.setdefault(name, {})[row] = None
        self.nodes.remove(name)
        self.storage.node_changed(name)
        self.touched.append(slot)
        self.moved.append(slot)

    def _set_group(self, group: PodGroup) -> None:
        found = resolve(group, self.priorities)
        number = self.groups.set(group, found.priority, found.preemption_class)
        self._prioritise(number, rules=self.ranking.groups_rule)

    def let_groups_rule(self, rule: bool) -> bool:
        """Whether a group's priority counts for its pods, whatever they say; returns what held before."""
        before = self.ranking.groups_rule
        if rule != before:
            self._begin()
            slots = self.pods.node[self.ranking.let_groups_rule(rule)]
            self.moved.extend(np.unique(slots[slots >= 0]).tolist())
        return before

    def _prioritise(self, group: int, *, rules: bool) -> None:
        self.ranking.prioritise(group, rules=rules)
        self._reconsider(group)

    def _set_composite(self, group: CompositePodGroup) -> None:
        found = resolve(group, self.priorities)
        for number in self.groups.set_composite(group, found.priority, found.preemption_class):
            self._prioritise(number, rules=self.ranking.groups_rule)

    def _reconsider(self, group: int) -> None:
        """The importance of a group's pods may have changed."""
        if group < 0:
            return
        self.moved.extend(
            int(self.pods.node[row]) for row in self.groups.members[group] if self.pods.node[row] >= 0
        )
