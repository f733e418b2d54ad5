"""Growable numpy columns: what the tables of this package are made of."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Rows = NDArray[np.int32]
Mask = NDArray[np.bool_]

NOWHERE = -1
"""The node slot of a pod that waits for one."""

LOST = -2
"""The node slot of a pod whose `spec.nodeName` names a node nobody has seen: it counts on no node."""


def grown(column: NDArray[Any], size: int, fill: int = 0) -> NDArray[Any]:
    """The column with room for `size` entries on its last axis, at least doubled; the column itself while it suffices."""
    have = column.shape[-1]
    if size <= have:
        return column
    shape = (*column.shape[:-1], max(size, 2 * have, 16))
    wider = np.full(shape, fill, dtype=column.dtype)
    wider[..., :have] = column
    return wider


def add_at(column: Ints, places: Rows, amounts: Ints) -> None:
    """`column[places] += amounts` where places repeat, exact in int64.

    A weighted bincount is much faster than `np.add.at`, but sums in float64: used only where no sum can round.
    """
    if len(places) == 0:
        return
    if int(np.abs(amounts).max()) * len(places) < 2**53:
        column += np.bincount(places, weights=amounts, minlength=len(column)).astype(np.int64)
    else:
        np.add.at(column, places, amounts)
