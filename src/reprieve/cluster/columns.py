"""Growable numpy columns: what the tables of this package are made of."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Rows = NDArray[np.int32]
Mask = NDArray[np.bool_]

NOWHERE = -1
"""The node slot of a waiting pod."""

LOST = -2
"""The node slot of a pod whose `spec.nodeName` is an unknown node: it counts on no node."""


def grown(column: NDArray[Any], size: int, fill: int = 0) -> NDArray[Any]:
    """The column with at least `size` entries on its last axis; when it must grow, it at least doubles."""
    have = column.shape[-1]
    if size <= have:
        return column
    shape = (*column.shape[:-1], max(size, 2 * have, 16))
    wider = np.full(shape, fill, dtype=column.dtype)
    wider[..., :have] = column
    return wider


def taller(table: NDArray[Any], rows: int) -> NDArray[Any]:
    """The table with so many rows, new ones zero. It is the top of a larger one: whoever names ten thousand
    resources would else have it copied as many times."""
    whole = table.base
    if not isinstance(whole, np.ndarray) or whole.shape[1:] != table.shape[1:] or len(whole) < rows:
        whole = np.zeros((max(rows, 2 * len(table)), *table.shape[1:]), dtype=table.dtype)
        whole[: len(table)] = table
    top: NDArray[Any] = whole[:rows]
    return top


def summed(places: Rows, amounts: Ints, kinds: Rows, width: int) -> Ints | None:
    """The sum of `amounts[kinds]` at each place, exact in int64; None when there is nothing to add.

    A weighted bincount is much faster than `np.add.at` but sums in float64: used only where no sum can round.
    """
    if not len(places):
        return None
    least, largest = int(amounts.min()), int(amounts.max())
    if least == largest:
        return largest * np.bincount(places, minlength=width) if largest else None
    if max(-least, largest) * len(places) < 2**53:
        weights = amounts.astype(np.float64)[kinds]
        return np.bincount(places, weights=weights, minlength=width).astype(np.int64)
    total = np.zeros(width, dtype=np.int64)
    np.add.at(total, places, amounts[kinds])
    return total


def sums(places: Rows, table: Ints, kinds: Rows, present: Ints, width: int) -> list[Ints | None]:
    """The same for each row of a table. `present`: the kinds that there are."""
    if not len(places):
        return [None] * len(table)
    here, number = table[:, present], np.bincount(places, minlength=width)
    each = zip(table, here.min(axis=1).tolist(), here.max(axis=1).tolist(), strict=True)
    return [
        summed(places, amounts, kinds, width)
        if least < most
        else (most * number if most else None)  # all are equal: their number says it all
        for amounts, least, most in each
    ]


def present_in(kinds: Rows) -> Ints:
    """The numbers of the kinds that occur."""
    found: Ints = np.bincount(kinds).nonzero()[0]
    return found


def add_all(table: Ints, places: Rows, amounts: Ints, kinds: Rows) -> None:
    """`table[:, places] += amounts[:, kinds]` where places repeat; rows that have no amounts stay."""
    totals = sums(places, amounts, kinds, present_in(kinds), table.shape[1])
    for column, total in zip(table, totals, strict=False):
        if total is not None:
            column += total
