"""How much of the storage that a node offers a pod would use: the less, the better the node."""

import numpy as np

from reprieve.cluster import Ints, Mask


class StorageSums:
    """Storage requested and offered, by class and node."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._classes: dict[str, tuple[Ints, Ints, Mask]] = {}

    def _of(self, name: str) -> tuple[Ints, Ints, Mask]:
        if name not in self._classes:
            zeros = np.zeros(self._width, dtype=np.int64), np.zeros(self._width, dtype=np.int64)
            self._classes[name] = (*zeros, np.zeros(self._width, dtype=np.bool_))
        return self._classes[name]

    def add(self, name: str, here: Mask, request: int) -> None:
        requested, _, present = self._of(name)
        requested[here] += request
        present |= here

    def offer_volume(self, name: str, here: Mask, sizes: Ints) -> None:
        self._of(name)[1][here] += sizes[here]

    def offer_pool(self, name: str, here: Mask, sizes: Ints) -> None:
        """A pool is one and the same for all claims of the class: not summed."""
        self._of(name)[1][here] = sizes[here]

    def scores(self) -> Ints:
        total = np.zeros(self._width, dtype=np.int64)
        classes = np.zeros(self._width, dtype=np.int64)
        for requested, offered, present in self._classes.values():
            full = (offered == 0) | (requested > offered)
            percent = np.where(full, 100, requested * 100 // np.where(offered == 0, 1, offered))
            total += np.where(present, 100 - np.clip(percent, 0, 100), 0)
            classes += present
        return np.floor(total / np.maximum(classes, 1) + 0.5).astype(np.int64)
