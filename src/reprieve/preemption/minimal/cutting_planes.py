"""The highest point below many planes: where to try a concave function next, given what it was elsewhere.

A concave function lies below the plane that touches it in any point. The highest point below all planes
known so far is the next one to try, and its height is a bound for the function. That point is the dual
solution of a linear program with a column for every plane; a new plane is a new column, so that the simplex
method goes on from where it was. Nothing here has to be exact: it only says where to look.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: What counts as nothing, and how often the basis may change for one plane.
TINY, PIVOTS = 1e-9, 60


class CuttingPlanes:
    """Over points with coordinates from 0 to `most`; no function is above the `ceiling`."""

    def __init__(self, most: Floats, ceiling: float) -> None:
        size = len(most) + 1
        # Columns: the ceiling, what keeps coordinates above 0 and below `most`, then the planes. Row 0: the
        # weights of planes add up to one; the others: their slopes cancel out.
        self._table: Floats = np.zeros((size, 2 * size - 1))
        self._table[:, :size] = np.eye(size)
        self._table[1:, size:] = -np.eye(size - 1)
        self._right = TINY * np.arange(size)  # not quite 0, so that no basis comes back
        self._right[0] = 1.0
        self._cost = np.concatenate([[ceiling], np.zeros(size - 1), most])
        self._left = self._cost - self._cost[0] * self._table[0]  # reduced costs

    @property
    def height(self) -> float:
        """Of the highest point below all planes."""
        return float(self._cost[0] - self._left[0])

    @property
    def point(self) -> Floats:
        found: Floats = np.maximum(self._left[1 : len(self._table)], 0.0)
        return found

    def add(self, value: float, slope: Floats, at: Floats) -> None:
        """The function has this value and this slope at a point."""
        size = len(self._table)
        column = self._table[:, 0] + self._table[:, 1:size] @ slope
        cost = value - float(slope @ at)
        left = cost - self.height + float(slope @ self._left[1:size])
        self._table = np.hstack([self._table, column[:, None]])
        self._cost, self._left = np.append(self._cost, cost), np.append(self._left, left)
        for _ in range(PIVOTS):
            entering = int(self._left.argmin())
            if self._left[entering] >= -TINY or not self._pivot(entering):
                return

    def _pivot(self, entering: int) -> bool:
        column = self._table[:, entering].copy()
        rising = np.flatnonzero(column > TINY)
        if not len(rising):
            return False
        row = int(rising[(self._right[rising] / column[rising]).argmin()])
        self._table[row] /= column[row]
        self._right[row] /= column[row]
        self._left -= self._left[entering] * self._table[row]
        column[row] = 0.0
        self._table -= np.outer(column, self._table[row])
        self._right -= column * self._right[row]
        return True
