"""Preemptions under way: preemptors, the victims that still exist, and whether the API calls are done."""

from collections.abc import Iterable
from dataclasses import dataclass

from reprieve.objects import Reference


@dataclass(slots=True)
class Preemption:
    unit: Reference
    victims: dict[str, str]
    """Victims that still exist: key -> UID."""
    calling: bool = True
    """Marks and deletions are being sent; the unit is not tried meanwhile."""
    spoiled: bool = False
    """One of its victims is not evicted after all: another preemption was to do that, and failed."""


class Preemptions:
    def __init__(self) -> None:
        self._by_unit: dict[Reference, Preemption] = {}
        self._by_victim: dict[str, dict[Reference, None]] = {}

    def __contains__(self, unit: Reference) -> bool:
        return unit in self._by_unit

    def get(self, unit: Reference) -> Preemption | None:
        return self._by_unit.get(unit)

    def start(self, unit: Reference, victims: dict[str, str], calling: bool = True) -> Preemption:
        self.end(unit)
        preemption = self._by_unit[unit] = Preemption(unit, dict(victims), calling)
        for key in victims:
            self._by_victim.setdefault(key, {})[unit] = None
        return preemption

    def end(self, unit: Reference) -> None:
        preemption = self._by_unit.pop(unit, None)
        if preemption is not None:
            for key in list(preemption.victims):
                self._unlink(key, unit)

    def ended(self, victim: str, uid: str) -> list[Preemption]:
        """A pod is gone: the preemptions whose last victim it was."""
        through = []
        for unit in list(self._by_victim.get(victim, ())):
            preemption = self._by_unit[unit]
            if preemption.victims.get(victim) == uid:
                del preemption.victims[victim]
                self._unlink(victim, unit)
                if not preemption.victims and not preemption.calling:
                    through.append(preemption)
        return through

    def sharing(self, victims: Iterable[str]) -> list[Preemption]:
        """Preemptions that wait for one of these pods."""
        units = {unit: None for victim in victims for unit in self._by_victim.get(victim, ())}
        return [self._by_unit[unit] for unit in units]

    def waits_for(self, unit: Reference, victim: str) -> bool:
        preemption = self._by_unit.get(unit)
        return preemption is not None and victim in preemption.victims

    def waiting_for(self, victim: str) -> tuple[Reference, ...]:
        """The units whose preemptions under way evict this pod."""
        return tuple(self._by_victim.get(victim, ()))

    def includes(self, victim: str) -> bool:
        """Whether a preemption under way evicts this pod."""
        return victim in self._by_victim

    def __len__(self) -> int:
        return len(self._by_unit)

    def _unlink(self, victim: str, unit: Reference) -> None:
        units = self._by_victim.get(victim)
        if units is not None:
            units.pop(unit, None)
            if not units:
                del self._by_victim[victim]
