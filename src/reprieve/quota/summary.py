"""The state for people: quota, usage, borrowed and lent of each queue, and what each workload waits for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from reprieve.objects import Condition, find_condition, format_amount, well_known
from reprieve.quota import sentences
from reprieve.quota.causes import Refusal
from reprieve.quota.queue import QueueNode
from reprieve.quota.shares import published, share
from reprieve.quota.state import Quota
from reprieve.quota.tree import UNLIMITED, Cell, CohortNode, FlavorResource, QuotaNode
from reprieve.quota.workload_info import WorkloadInfo


class QuotaLine(NamedTuple):
    """One flavor's resource in one queue."""

    queue: QueueNode
    key: FlavorResource
    nominal: int
    used: int
    borrowed: int
    lent: int
    available: int

    def to_dict(self) -> dict[str, Any]:
        resource = self.key.resource
        return {
            "flavor": self.key.flavor,
            "resource": resource,
            "nominal": _shown(resource, self.nominal),
            "used": _shown(resource, self.used),
            "borrowed": _shown(resource, self.borrowed),
            "lent": _shown(resource, self.lent),
            "available": _shown(resource, self.available),
        }


def quota_lines(quota: Quota) -> Iterator[QuotaLine]:
    """By name of the queue, then in the order of its flavors."""
    lent: dict[int, int] = {}
    for root in {id(node.root): node.root for node in quota.cache.queues.values()}.values():
        for cell in list(root.cells.values()):
            _attribute(cell, 0, lent)
    for name in sorted(quota.cache.queues):
        node = quota.cache.queues[name]
        for key in [*node.limits, *(key for key in node.cells if key not in node.limits)]:
            cell = node.cell(key)
            if key in node.limits or cell.usage:
                borrowed = max(0, cell.usage - cell.subtree)
                yield QuotaLine(
                    node, key, cell.subtree, cell.usage, borrowed, lent.get(id(cell), 0), cell.available()
                )


def _attribute(cell: Cell, out: int, lent: dict[int, int]) -> None:
    """Attribute what is lent to the nodes that lend it; `out` is what this node lends to others above it.

    What the children use beyond their quota, and what leaves the node, is covered by the node's own quota
    first, then by what it borrows itself, and the rest by children with unused quota, in proportion to it.
    """
    todo = [(cell, out)]
    while todo:
        current, leaves = todo.pop()
        lent[id(current)] = leaves
        if isinstance(current.node, CohortNode):
            todo += _shares(current, current.node, leaves)


def _shares(cell: Cell, node: CohortNode, out: int) -> Iterator[tuple[Cell, int]]:
    """The cells of the node's children, and what each of them lends."""
    children = [child.cell(cell.key) for child in (*node.cohorts, *node.members)]
    own = node.limits[cell.key].nominal if cell.key in node.limits else 0
    wanted = out + sum(max(0, child.usage - child.subtree) for child in children)
    spare = [max(0, child.subtree - max(child.local, child.usage)) for child in children]
    from_children = max(0, min(sum(spare), wanted - own - max(0, cell.usage - cell.subtree)))
    total, given, seen = sum(spare), 0, 0
    for child, amount in zip(children, spare, strict=True):
        seen += amount
        share = from_children * seen // total - given if total else 0
        given += share
        yield child, share


def _shown(resource: str, amount: int) -> str:
    return "unlimited" if amount >= UNLIMITED else format_amount(resource, amount)


class Waiter(NamedTuple):
    """A workload without quota."""

    workload: str
    queue: str
    reason: str
    message: str

    def to_dict(self) -> dict[str, Any]:
        return {"clusterQueue": self.queue, "reason": self.reason, "message": self.message}


def waiters(quota: Quota) -> Iterator[Waiter]:
    """Every waiting workload, by name, with the message that says what it waits for."""
    found = [
        Waiter(info.key, name, *_waits_for(quota, name, info.key))
        for name, pending in quota.pending.items()
        for info in pending
    ]
    found += [
        Waiter(key, "", refusal.reason, refusal.message) for key, (_, refusal) in quota.unqueued.items()
    ]
    return iter(sorted(found))


def _waits_for(quota: Quota, queue: str, key: str) -> tuple[str, str]:
    inactive = quota.cache.inactive.get(queue)
    if inactive:
        return inactive[0].reason, inactive_message(inactive)
    info = quota.pending[queue].find(key)
    condition = _quota_condition(info)
    if info is not None and (condition is None or condition.reason == well_known.PENDING_EVALUATION):
        condition = quota.pending[queue].parked_for(info) or condition
    if condition is None:
        return "Pending", sentences.not_tried_yet(queue)
    return condition.reason, condition.message


def _quota_condition(info: WorkloadInfo | None) -> Condition | None:
    return (
        find_condition(info.workload.status.conditions, well_known.QUOTA_RESERVED)
        if info is not None
        else None
    )


def inactive_message(reasons: Iterable[Refusal]) -> str:
    return sentences.cannot_admit(each.message for each in reasons)


def queue_summaries(quota: Quota) -> dict[str, Any]:
    """{queue: cohort, whether it is active, and its quota lines}"""
    found: dict[str, Any] = {
        name: {"cohort": _cohort(node), "active": node.active, "quota": []}
        for name, node in sorted(quota.cache.queues.items())
    }
    if quota.rules.fair_sharing:
        for name, node in quota.cache.queues.items():
            found[name]["weightedShare"] = published(share(node))
    for name, reasons in quota.cache.inactive.items():
        found[name]["message"] = inactive_message(reasons)
    for line in quota_lines(quota):
        found[line.queue.name]["quota"].append(line.to_dict())
    return found


def _cohort(node: QuotaNode) -> str:
    return node.parent.name if node.parent is not None else ""
