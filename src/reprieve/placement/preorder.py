"""The order of kube-scheduler's heap among equally good nodes."""

import numpy as np

from reprieve.cluster import Ints

_preorder: Ints = np.zeros(0, dtype=np.int64)


def preorder(size: int) -> Ints:
    """A number for each list position: smaller comes first in pre-order of the heap's tree.

    The path to position p is p+1 in binary. Left-aligned, paths sort in pre-order, and of two that agree the
    shorter one (the ancestor) comes first.
    """
    global _preorder  # noqa: PLW0603 - a table that only ever grows
    if size > len(_preorder):
        length = max(2 * size, 1024)
        paths = np.arange(1, length + 1, dtype=np.int64)
        depth = np.frexp(paths.astype(np.float64))[1].astype(np.int64)
        _preorder = (paths << (48 - depth)) * 64 + depth
    return _preorder[:size]
