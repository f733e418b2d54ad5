"""Dominant resource shares: how much of what its parent could lend does a node borrow?

Only amounts above the node's own quota count. The share is taken at the resource with the largest part,
divided by the node's weight. A weight of zero makes any borrowing infinitely large.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from reprieve.quota.tree import UNLIMITED, QuotaNode, add


class Share(NamedTuple):
    ratio: float
    """Thousandths of the lendable amount, before the weight."""
    weight: float
    borrowing: bool
    """Borrowing at all; a node can borrow with a ratio of 0 when nothing is lendable."""

    @property
    def weighted(self) -> float:
        if self.ratio == 0:
            return 0.0
        return math.inf if self.weight == 0 else self.ratio / self.weight

    @property
    def infinite(self) -> bool:
        return self.weight == 0 and self.ratio != 0


NOTHING_BELOW = Share(-1.0, 1.0, False)
"""Less than every share of a node."""


def compare(a: Share, b: Share) -> int:
    """Negative when `a` is the smaller share. Infinite shares are compared by what they borrow."""
    if a.infinite or b.infinite:
        if a.infinite and b.infinite:
            return (a.ratio > b.ratio) - (a.ratio < b.ratio)
        return 1 if a.infinite else -1
    left, right = a.weighted, b.weighted
    return (left > right) - (left < right)


def share(node: QuotaNode) -> Share:
    """The node's share at its present usage."""
    found = node.share
    if found is None:
        found = node.share = _compute(node)
    return found


def _compute(node: QuotaNode) -> Share:
    if node.parent is None:
        return Share(0.0, node.weight, False)
    borrowed: dict[str, int] = {}
    for cell in node.declared:
        if cell.exceeds():
            resource = cell.key.resource
            borrowed[resource] = borrowed.get(resource, 0) + cell.usage - cell.subtree
    if not borrowed:
        return Share(0.0, node.weight, False)
    lendable = lendable_by(node.parent)
    parts = [
        float(min(UNLIMITED, amount)) * 1000.0 / float(lendable[resource])
        for resource, amount in borrowed.items()
        if lendable.get(resource, 0) > 0
    ]
    return Share(max(parts, default=0.0), node.weight, True)


def lendable_by(node: QuotaNode) -> dict[str, int]:
    """What the node could lend to one child if nothing was used, flavors of a resource together."""
    if node.lendable is None:
        totals: dict[str, int] = {}
        for cell in node.root.declared:
            resource = cell.key.resource
            totals[resource] = add(totals.get(resource, 0), node.cell(cell.key).potential)
        node.lendable = totals
    return node.lendable


def published(value: Share) -> int:
    """The whole number a status shows."""
    return UNLIMITED if value.infinite else math.ceil(value.weighted)
