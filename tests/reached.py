"""Does generated input reach the scenes that a test is about?

A property that holds because nothing interesting was drawn says nothing. But how often Hypothesis draws a
scene depends on the seed and on how many examples a run has, so a fixed count fails by chance on a small run
and is always met on a large one. Here a count fails only where chance does not explain it.
"""

import math

CHANCE = 1e-6
"""How often a count may fail although the share is as large as it is said to be."""


def enough(count: int, *, of: int, least_share: float, what: str = "interesting scenes") -> None:
    """At least `least_share` of the examples are interesting, as far as `of` of them can tell.

    Fails if so few would be seen less often than once in a million runs. A handful of examples proves
    nothing, and passes. Examples are not quite independent of each other (Hypothesis varies what it has
    drawn), so `least_share` should be a third of the share usually seen, or less.
    """
    assert 0 <= count <= of, f"{count} of {of}: count examples, each of them once"
    chance = at_most(count, of, least_share)
    assert chance >= CHANCE, f"too few {what}: {count} of {of}, expected {least_share:.0%} at least"


def at_most(count: int, of: int, share: float) -> float:
    """The chance to see no more than `count` of `of` when each comes with this share (binomial)."""
    return math.fsum(
        math.exp(
            math.lgamma(of + 1) - math.lgamma(k + 1) - math.lgamma(of - k + 1)
            + k * math.log(share) + (of - k) * math.log1p(-share)
        )
        for k in range(count + 1)
    )  # fmt: skip
