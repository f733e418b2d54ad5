"""Trees of groups: which composite groups stand above a group, and what that makes of it.

Composite groups are numbered together with pod groups (`GroupTable`) and have no members of their own.
Objects arrive in any order: a group may name a parent that does not exist yet, or no longer.
"""

from collections.abc import Callable, Iterator

from reprieve.objects import CompositePodGroup, PodGroup

MOST_LEVELS = 4
"""A pod group and three composite groups above it: kube-scheduler looks no further up."""

Group = PodGroup | CompositePodGroup


class Hierarchy:
    """Parents and children by number. `find` gives the object of a number, None when there is none."""

    def __init__(self, find: Callable[[int], Group | None]) -> None:
        self._find = find
        self.number_of: dict[str, int] = {}
        """Composite groups that exist, by key."""
        self.objects: dict[int, CompositePodGroup] = {}
        self._children: dict[str, dict[int, None]] = {}
        """Groups by the key of the parent that they name, whether it exists or not."""
        self._parent: dict[int, str] = {}

    def link(self, number: int, parent: str) -> None:
        """A group names its parent; an empty key means none."""
        if self._parent.get(number, "") == parent:
            return
        self.unlink(number)
        if parent:
            self._parent[number] = parent
            self._children.setdefault(parent, {})[number] = None

    def unlink(self, number: int) -> None:
        parent = self._parent.pop(number, "")
        if parent:
            del self._children[parent][number]
            if not self._children[parent]:
                del self._children[parent]

    def parent(self, number: int) -> str:
        """The key of the parent that a group names; empty for a root."""
        return self._parent.get(number, "")

    def chain(self, number: int) -> list[int]:
        """The group and those above it, up to one that does not exist, comes twice or is too far up."""
        found: list[int] = []
        at: int | None = number
        while at is not None and at not in found and len(found) < MOST_LEVELS and self._find(at) is not None:
            found.append(at)
            at = self.number_of.get(self.parent(at))
        return found

    def children(self, number: int) -> list[int]:
        """The groups right below a composite group: the oldest first, then by name. None that is so far down
        that it does not see the root: whoever walks down ends there, however deep users nest."""
        group = self.objects.get(number)
        if group is None or len(self.chain(number)) >= MOST_LEVELS:
            return []
        return sorted(self._children.get(group.key, ()), key=self._age)

    def _age(self, number: int) -> tuple[float, str, bool]:
        group = self._find(number)
        assert group is not None, "a group that is gone names no parent"
        created = group.metadata.creation_timestamp
        return (
            created.timestamp() if created is not None else 0.0,
            group.name,
            isinstance(group, CompositePodGroup),
        )

    def leaves(self, number: int) -> Iterator[int]:
        """All pod groups below a group, or the group itself when it is one."""
        waiting, seen = [number], {number}
        while waiting:
            at = waiting.pop()
            if at not in self.objects:
                yield at
                continue
            below = [each for each in self.children(at) if each not in seen]
            seen.update(below)
            waiting.extend(reversed(below))
