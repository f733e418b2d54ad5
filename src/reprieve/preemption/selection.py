"""What an algorithm answers: places for the preemptor and who makes way for it. Rows and slots, no names yet."""

from collections.abc import Sequence
from typing import NamedTuple

from reprieve.placement import Assignment
from reprieve.preemption.units import VictimUnit

NOBODY = -(2**62)
"""The highest priority among no victims: below every priority there is."""


class Selection(NamedTuple):
    assigned: list[Assignment]
    victims: list[VictimUnit]
    """Most important first."""
    reprieved: Sequence[VictimUnit]
    """Those that were tried and stay; units far from the preemptor may be left out."""
    violations: dict[VictimUnit, int]
    """Units that break a budget, with the number of their pods that do."""

    @property
    def broken(self) -> int:
        """How many victim pods break a budget."""
        return sum(self.violations.get(unit, 0) for unit in self.victims) if self.violations else 0

    @property
    def highest(self) -> int:
        """The priority of the most important victim."""
        return max((unit.priority for unit in self.victims), default=NOBODY)

    @property
    def pods(self) -> int:
        return sum(len(unit.rows) for unit in self.victims)
