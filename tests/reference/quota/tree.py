"""Quota arithmetic straight from its definition: every question walks the whole tree."""

from dataclasses import dataclass, field

Key = tuple[str, str]


@dataclass
class Node:
    name: str
    parent: "Node | None" = None
    children: list["Node"] = field(default_factory=list)
    limits: dict[Key, tuple[int, int | None, int | None]] = field(default_factory=dict)
    weight: float = 1.0
    own_usage: dict[Key, int] = field(default_factory=dict)
    """Of a queue: the sum over its workloads."""
    is_queue: bool = False

    def nominal(self, key: Key) -> int:
        return self.limits.get(key, (0, None, None))[0]

    def borrowing_limit(self, key: Key) -> int | None:
        return self.limits.get(key, (0, None, None))[1]

    def subtree(self, key: Key) -> int:
        return self.nominal(key) + sum(child.subtree(key) - child.local(key) for child in self.children)

    def local(self, key: Key) -> int:
        lending = self.limits.get(key, (0, None, None))[2]
        return 0 if lending is None else max(0, self.subtree(key) - lending)

    def usage(self, key: Key) -> int:
        if self.is_queue:
            return self.own_usage.get(key, 0)
        return sum(max(0, child.usage(key) - child.local(key)) for child in self.children)

    def local_available(self, key: Key) -> int:
        return max(0, self.local(key) - self.usage(key))

    def free(self, key: Key) -> int:
        if self.parent is None:
            return self.subtree(key) - self.usage(key)
        above = self.parent.free(key)
        limit = self.borrowing_limit(key)
        if limit is not None:
            stored = self.subtree(key) - self.local(key)
            above = min(above, stored - max(0, self.usage(key) - self.local(key)) + limit)
        return self.local_available(key) + above

    def available(self, key: Key) -> int:
        return max(0, self.free(key))

    def potential(self, key: Key) -> int:
        if self.parent is None:
            return self.subtree(key)
        most = self.local(key) + self.parent.potential(key)
        limit = self.borrowing_limit(key)
        return most if limit is None else min(most, self.subtree(key) + limit)

    def borrows(self, key: Key, more: int = 0) -> bool:
        return self.subtree(key) < self.usage(key) + more

    def within_nominal(self, keys: frozenset[Key]) -> bool:
        return not any(self.borrows(key) for key in keys)

    def ancestors(self) -> list["Node"]:
        return [] if self.parent is None else [self.parent, *self.parent.ancestors()]

    def root(self) -> "Node":
        return self.ancestors()[-1] if self.parent is not None else self

    def queues(self) -> list["Node"]:
        return [self] if self.is_queue else [queue for child in self.children for queue in child.queues()]

    def counted(self) -> set[Key]:
        """With quota of this node or below."""
        return (
            set(self.limits).union(*(child.counted() for child in self.children))
            if self.children
            else set(self.limits)
        )

    def share(self) -> tuple[float, float, bool]:
        """(ratio, weight, borrowing)"""
        if self.parent is None:
            return 0.0, self.weight, False
        borrowed: dict[str, int] = {}
        for key in self.counted():
            if self.borrows(key):
                borrowed[key[1]] = borrowed.get(key[1], 0) + self.usage(key) - self.subtree(key)
        ratios = [0.0]
        for resource, amount in borrowed.items():
            lendable = sum(self.parent.potential(key) for key in self.root().counted() if key[1] == resource)
            if lendable > 0:
                ratios.append(amount * 1000.0 / lendable)
        return max(ratios), self.weight, bool(borrowed)
