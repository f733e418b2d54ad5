"""Observed changes, one by one: objects come and go, pods are bound and nominated. They stay."""

from msgspec.structs import replace

from reprieve.cluster.columns import LOST, NOWHERE
from reprieve.cluster.pods import is_finished, min_runtime_end
from reprieve.cluster.priorities import resolve
from reprieve.cluster.supposed import Supposed
from reprieve.objects import (
    CompositePodGroup,
    Namespace,
    Node,
    Object,
    Pod,
    PodDisruptionBudget,
    PodGroup,
    PriorityClass,
    selecting,
    storage,
)

LONGEST_LOG = 100_000
"""Changes that caches can catch up with; beyond that, recomputing is cheaper."""


class Observed(Supposed):
    """The cluster as it is observed; see `Tables` for what there is to read."""

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
            case _ if isinstance(obj, selecting.SELECTING_KINDS):
                self.selectors.set(obj)
            case _ if self.devices.set(obj):
                self._forget_derived()
            case _ if isinstance(obj, storage.STORAGE_KINDS):
                self.storage.set(obj)

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
        elif self.selectors.remove(kind, key):
            return
        elif self.devices.remove(kind, key):
            self._forget_derived()
        else:
            self.storage.remove(kind, key)

    def _begin(self) -> None:
        """Before an observed change: refuse it while a what-if is open, and cut logs that have grown long."""
        if self._undo:
            raise RuntimeError("an observed change while a what-if is open")
        if len(self.touched) + len(self.moved) + len(self.devices.pool_changes) > LONGEST_LOG:
            self._cut_logs()  # a changed node is a touched one, too

    def _cut_logs(self) -> None:
        self.touched.clear()
        self.moved.clear()
        self.nodes.changes.clear()
        self.devices.pool_changes.clear()
        self._forget_derived()

    def _forget_derived(self) -> None:
        self.caches.clear()
        self.lasting.clear()
        self.budgets.forget()
        self.selectors.forget()

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
            cls = self.classes.join(pod).id  # first of all: what cannot be read leaves no trace
            self.groups.forget_ended(key)
            row = self.pods.add(key)
        else:
            assumed = self.pods.node[row] >= 0 and not self.pods.info[row].node_name
            if assumed and not where:  # until the API shows it somewhere, it stays where it was assumed
                where = self.nodes.names[self.pods.node[row]]
            if self._stays(row, pod, where):
                self._withdraw(row)
                self._describe(row, pod)
                return
            cls = self.classes.join(pod).id
            self._withdraw(row)
            self._unplace(row)
            self.classes.leave(int(self.pods.cls[row]))
        self.pods.cls[row] = cls
        self._describe(row, pod)
        self._settle(row, pod, where)

    def _settle(self, row: int, pod: Pod, where: str) -> None:
        if where:
            self._place(row, where)
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
        pods.min_runtime_end[row] = min_runtime_end(pod) if pod.metadata.annotations else 0

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
        if fresh:
            self._node_came(slot, node.name)

    def _node_came(self, slot: int, name: str) -> None:
        self.storage.node_changed(name)
        while len(self.residents) <= slot:
            self.residents.append({})
        if self._lost:
            for row in sorted(self._lost.pop(name, {}), key=self.pods.sequence.__getitem__):
                self._place(row, name)

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
            self.moved.extend(sorted(set(slots[slots >= 0].tolist())))
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
