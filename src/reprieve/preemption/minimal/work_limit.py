"""How much work a search may still do.

Work is counted in steps of about two microseconds, so that equal inputs stop at the same point on every
machine; a caller with a clock may end the search earlier. Nothing here reads a clock.
"""

from collections.abc import Callable

#: Steps in a second of an ordinary core; the time budget in seconds times this is the work limit.
STEPS_PER_SECOND = 500_000


class WorkLimit:
    """Counts steps; `spent` once the limit is reached or the caller's time has expired."""

    def __init__(self, steps: float, expired: Callable[[], bool] | None = None) -> None:
        self.left, self._kept = steps, 0.0
        self.expired = expired
        self.cut_short = False

    @classmethod
    def for_seconds(cls, seconds: float, expired: Callable[[], bool] | None = None) -> "WorkLimit":
        return cls(seconds * STEPS_PER_SECOND, expired)

    def hold_back_half(self) -> None:
        """Keep half of what is left for later."""
        self._kept = self.left / 2
        self.left -= self._kept

    def release(self) -> None:
        """Use what was kept."""
        self.left, self._kept = max(self.left, 0.0) + self._kept, 0.0
        self.cut_short = False

    def take(self, steps: float) -> None:
        self.left -= steps

    @property
    def spent(self) -> bool:
        if self.left <= 0 or (self.expired is not None and self.expired()):
            self.cut_short = True
        return self.cut_short
