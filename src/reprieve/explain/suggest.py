"""Which name was meant."""

import difflib
from collections.abc import Iterable

MOST = 3


def closest(word: str, known: Iterable[str]) -> list[str]:
    """The known names that are written most like it, nearest first; empty when none is."""
    return difflib.get_close_matches(word, sorted(set(known)), n=MOST, cutoff=0.6)
