"""Sorting by several columns at once, where nobody asks for the order of equal entries."""

from collections.abc import Sequence

import numpy as np

from reprieve.cluster import Ints, Mask

FEW = 500
"""Up to so many entries `np.lexsort` is as fast."""
WORD = 2**62
"""Numbers below it can be added and multiplied up without leaving 64 bits."""


def ordered(keys: Sequence[Ints]) -> tuple[Ints, Mask]:
    """The order by these keys, the first one first, and which entries equal the one before in all of them.

    The first entry is left out of the latter. Equal entries stand next to each other, in any order.
    """
    if len(keys[0]) > FEW:
        word = _packed(keys)
        if word is not None:
            order = word.argsort()
            return order, _repeated(word[order])
        place = np.empty(len(keys[-1]), dtype=np.int64)
        place[keys[-1].argsort()] = np.arange(len(place))
        word = _packed([*keys[:-1], place])  # in place of the last key, as a rule a time: its place among all
        order = np.lexsort(keys[::-1]) if word is None else word.argsort()
    else:
        order = np.lexsort(keys[::-1])
    same = _repeated(keys[0][order])
    for key in keys[1:]:
        same &= _repeated(key[order])
    return order, same


def _repeated(arranged: Ints) -> Mask:
    """Which entries equal the one before; the first is left out."""
    same: Mask = arranged[1:] == arranged[:-1]
    return same


def _packed(keys: Sequence[Ints]) -> Ints | None:
    """One number for each entry with the order of all keys: sorting those is much faster than `np.lexsort`.

    None where the numbers are too large.
    """
    ranges = [(key.min().item(), key.max().item()) for key in keys]
    size = 1
    for least, most in ranges:
        size *= most - least + 1
    if size >= WORD:
        return None
    word: Ints = np.zeros(len(keys[0]), dtype=np.int64)
    for key, (least, most) in zip(keys, ranges, strict=True):
        if most > least:
            word = word * (most - least + 1) + (key - least)
    return word
