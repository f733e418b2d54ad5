"""Which of the nodes of a sweep is the best one to preempt on: `pods.best_choice` for all nodes at once.

One criterion after the other, each only for the nodes that are equally good so far. Victims are looked at
turn by turn, all nodes together: on nodes that are alike they are found at the same few turns.
"""

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from reprieve.cluster import Ints, Mask, Rows
from reprieve.preemption.layout import Layout
from reprieve.preemption.view import View

T = TypeVar("T", bound=np.generic)
NEVER = 2**63 - 1
"""Later than any start."""


class Table(NamedTuple):
    """What a sweep has found, by turn and node."""

    view: View
    layout: Layout
    victims: Mask
    broken: Rows
    """How many pods of each entry would break a budget."""


class Choices:
    """Some nodes, each with at least one victim."""

    def __init__(self, table: Table, turns: Ints, slots: Rows) -> None:
        self._table = table
        self._turns = turns
        """Those with a victim on any node."""
        self.slots = slots

    @classmethod
    def of(cls, table: Table, slots: Rows) -> "Choices":
        return cls(table, np.flatnonzero(table.victims.any(axis=1)), slots)

    def best(self, most: int) -> Rows:
        """The `most` best ones, best first."""
        order = self._table.view.node_order
        if most == 1:
            slots = self._equally_good().slots
            return slots[order[slots].argmin() :][:1]
        keys = [criterion(self) for criterion in CRITERIA]
        found: Rows = self.slots[np.lexsort([order[self.slots], *reversed(keys)])[:most]]
        return found

    def _equally_good(self) -> "Choices":
        """The best ones, which only their order tells apart."""
        choices = self
        for criterion in CRITERIA:
            key = criterion(choices)
            best = key == key.min()
            if not best.all():
                choices = Choices(self._table, self._turns, choices.slots[best])
        return choices

    def _of(self, table: NDArray[T]) -> NDArray[T]:
        """The part of a table that is about victims' turns and these nodes."""
        part = table[self._turns]
        return part if len(self.slots) == part.shape[1] else part[:, self.slots]

    @cached_property
    def _victims(self) -> Mask:
        return self._of(self._table.victims)

    @cached_property
    def _priority(self) -> Ints:
        """Under `kubernetes` that of the first pod itself, not of its group."""
        view = self._table.view
        priority = view.cluster.pods.priority if view.faithful else view.priority
        return priority.take(self._of(self._table.layout.rows))

    @cached_property
    def _size(self) -> Ints | int:
        layout = self._table.layout
        return self._of(layout.size) if layout.grouped.any() else 1

    def breaking(self) -> Ints:
        """How many pods break a budget."""
        if not self._table.broken.any():
            return np.zeros(len(self.slots), dtype=np.int64)
        found: Ints = (self._of(self._table.broken) * self._victims).sum(axis=0)
        return found

    def first(self) -> Ints:
        """The priority of the most important victim, which comes first."""
        found = np.zeros(len(self.slots), dtype=np.int64)
        for priority, victims in zip(self._priority[::-1], self._victims[::-1], strict=True):
            np.copyto(found, priority, where=victims)
        return found

    def weight(self) -> Ints:
        """The sum of what the pods of all victims count for."""
        found: Ints = ((self._priority + 2**31) * self._count).sum(axis=0)
        return found

    @cached_property
    def _count(self) -> Ints:
        count: Ints = self._victims * self._size
        return count

    def count(self) -> Ints:
        """How many pods make way."""
        found: Ints = self._count.sum(axis=0)
        return found

    def latest(self) -> Ints:
        """When the first of the most important victims started; the latest is the least."""
        highest = self._priority.max(axis=0, where=self._victims, initial=-(2**62))
        top = self._victims & (self._priority == highest)
        started: Ints = self._of(self._table.layout.start).min(axis=0, where=top, initial=NEVER)
        return -started


CRITERIA: tuple[Callable[[Choices], Ints], ...] = (
    Choices.breaking,
    Choices.first,
    Choices.weight,
    Choices.count,
    Choices.latest,
)
