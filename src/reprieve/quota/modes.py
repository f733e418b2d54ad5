"""How well a flavor suits: the modes of an assignment, and which of two is preferred."""

from enum import IntEnum
from typing import NamedTuple

PREEMPTION_OVER_BORROWING = "PreemptionOverBorrowing"


class Mode(IntEnum):
    """What an assignment needs before it can be admitted, worst first."""

    NO_FIT = 0
    PREEMPT = 1
    FIT = 2

    def __str__(self) -> str:
        return ("NoFit", "Preempt", "Fit")[self]


class Prospect(IntEnum):
    """Finer than `Mode`: what preemption could do for a flavor, worst first."""

    NO_FIT = 0
    NO_CANDIDATES = 1
    PREEMPT = 2
    RECLAIM = 3
    FIT = 4

    def __str__(self) -> str:
        return ("NoFit", "NoCandidates", "Preempt", "Reclaim", "Fit")[self]

    @property
    def mode(self) -> Mode:
        return _MODES[self]


_MODES = (Mode.NO_FIT, Mode.PREEMPT, Mode.PREEMPT, Mode.PREEMPT, Mode.FIT)


class Outlook(NamedTuple):
    """The prospect of a flavor and the height from which it would borrow (0: not at all)."""

    prospect: Prospect
    borrowing: int


BEST = Outlook(Prospect.FIT, 0)
WORST = Outlook(Prospect.NO_FIT, 1 << 62)


def preferred(a: Outlook, b: Outlook, preference: str) -> bool:
    """Whether `a` is strictly better than `b`.

    1. anything over no fit
    2. anything over needing preemption without anyone to preempt
    3. the better prospect, then the lower borrowing height; the other way round for PreemptionOverBorrowing
    """
    if a.prospect == Prospect.NO_FIT:
        return False
    if b.prospect == Prospect.NO_FIT:
        return True
    hopeless_a, hopeless_b = a.prospect == Prospect.NO_CANDIDATES, b.prospect == Prospect.NO_CANDIDATES
    if hopeless_a != hopeless_b:
        return hopeless_b
    if preference == PREEMPTION_OVER_BORROWING:
        return (a.borrowing, -a.prospect) < (b.borrowing, -b.prospect)
    return (-a.prospect, a.borrowing) < (-b.prospect, b.borrowing)
