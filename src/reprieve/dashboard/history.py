"""The last hours in numbers: a sample every few seconds, kept in a ring."""

from collections import deque
from datetime import datetime
from typing import Any

KEEP_HOURS = 6
EVERY_SECONDS = 5


class History:
    """Samples of (time, pods waiting, victims in the interval)."""

    def __init__(self) -> None:
        self._samples: deque[tuple[int, int, int]] = deque(maxlen=KEEP_HOURS * 3600 // EVERY_SECONDS)
        self._victims = 0

    def sample(self, now: datetime, pending: int, victims_so_far: int) -> None:
        """Take one sample; `victims_so_far` only grows, the ring keeps what each interval added."""
        self._samples.append((int(now.timestamp()), pending, max(0, victims_so_far - self._victims)))
        self._victims = victims_so_far

    def to_dict(self) -> dict[str, Any]:
        """Columns, as the chart wants them."""
        columns = list(zip(*self._samples, strict=True)) or [(), (), ()]
        return {"time": columns[0], "pending": columns[1], "victims": columns[2]}
