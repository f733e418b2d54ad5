"""Which nodes hold which container image, kept as nodes come, change and go."""

from collections.abc import Sequence

from reprieve.objects import ContainerImage


class ImageTable:
    def __init__(self) -> None:
        self.version = 0
        """Counts changes of what nodes hold, and of the number of nodes."""
        self.holders: dict[str, dict[int, int]] = {}
        """Image name to the slots that hold it, each with the size it states."""

    def replace(self, slot: int, before: Sequence[ContainerImage], after: Sequence[ContainerImage]) -> None:
        """A node holds other images than before."""
        if before == after:
            return
        self.version += 1
        for name in (name for image in before for name in image.names):
            holders = self.holders.get(name, {})
            holders.pop(slot, None)
            if not holders:
                self.holders.pop(name, None)
        for image in after:
            for name in image.names:
                self.holders.setdefault(name, {}).setdefault(slot, image.size_bytes)
