"""Ways out, tried one after the other: what pods, groups and workloads have in common."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

from reprieve.explain.advice.changes import Change
from reprieve.explain.advice.remedy import Remedy, remedy
from reprieve.objects import ReprieveError

HIGHEST_PRIORITY = 1_000_000_000
"""The highest that a user may give."""
ROUNDS = 12
"""One change often uncovers the next obstacle; a way out that takes more steps than this helps nobody."""
REMEDIES = 4


class Trial(Protocol):
    """A cluster, or its quota, in which changes can be tried."""

    def after(self: "S", changes: Iterable[Change]) -> "S": ...
    @property
    def works(self) -> bool: ...


S = TypeVar("S", bound=Trial)
Way = Callable[[S], Iterator[list[Change]]]
"""Lists of changes that might help, the most promising first."""


def ways_out(
    scene: S,
    holds: Callable[[S], list[Change]],
    ways: Sequence[Way[S]],
    result: Callable[[S], str],
) -> list[Remedy]:
    """At most one remedy of each way.

    `holds` returns the changes before which the unit is not even tried, whatever the planner says of it;
    `result` says what the changes of a remedy brought.
    """
    held = holds(scene)
    base = scene.after(held)
    if base.works:
        return [remedy(held, result(base))] if held else []
    found: list[Remedy] = []
    for way in ways:
        for changes in way(base):
            needed = _needed(scene, [*held, *changes], holds)
            if needed is not None and all(each.changes != needed for each in found):
                found.append(remedy(needed, result(scene.after(needed))))
                break
        if len(found) == REMEDIES:
            break
    return found


def _needed(scene: S, changes: list[Change], holds: Callable[[S], list[Change]]) -> list[Change] | None:
    """The changes without those that it works without; None when all of them together do not help."""

    def work(changes: Sequence[Change]) -> bool:
        try:
            after = scene.after(changes)
            return after.works and not holds(after)
        except ReprieveError:
            return False

    if not work(changes):
        return None
    for change in list(changes):
        rest = [each for each in changes if each is not change]
        if work(rest):
            changes = rest
    return changes
