"""The last hours in numbers: a sample every few seconds, kept in a ring.

The time before the process started is filled from the decision records, if there are any: they count victims,
but not waiting pods.
"""

from collections import deque
from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, NamedTuple

KEEP_HOURS = 6
EVERY_SECONDS = 5


class Sample(NamedTuple):
    time: int
    pending: int | None
    """Waiting pods; unknown for the time before the process started."""
    victims: int
    """In the interval that ends here."""


class History:
    def __init__(self) -> None:
        self._samples: deque[Sample] = deque(maxlen=KEEP_HOURS * 3600 // EVERY_SECONDS)
        self._victims = 0

    def recall(self, evictions: Iterable[tuple[datetime, int]], victims_so_far: int, now: datetime) -> None:
        """Fill the ring from (time, victims) of earlier decisions, before the first sample is taken."""
        self._victims = victims_so_far
        oldest = (now - timedelta(hours=KEEP_HOURS)).timestamp()
        buckets: dict[int, int] = {}
        for time, victims in evictions:
            if oldest <= time.timestamp() <= now.timestamp():
                bucket = int(time.timestamp()) // EVERY_SECONDS * EVERY_SECONDS
                buckets[bucket] = buckets.get(bucket, 0) + victims
        if not buckets:
            return
        # Quiet times are filled with zeros, so that a chart draws peaks and not slopes between them.
        for begin in range(min(buckets), int(now.timestamp()), EVERY_SECONDS):
            self._samples.append(Sample(begin, None, buckets.get(begin, 0)))

    def sample(self, now: datetime, pending: int, victims_so_far: int) -> None:
        """Take one sample; `victims_so_far` only grows, the ring keeps what each interval added."""
        self._samples.append(Sample(int(now.timestamp()), pending, max(0, victims_so_far - self._victims)))
        self._victims = victims_so_far

    def to_dict(self, since: int = 0) -> dict[str, Any]:
        """Columns, as the chart wants them, of the samples after `since`."""
        samples = [each for each in self._samples if each.time > since]
        columns = list(zip(*samples, strict=True)) or [(), (), ()]
        return {"time": columns[0], "pending": columns[1], "victims": columns[2]}


QUEUES_EVERY_SECONDS = 60
MOST_QUEUES = 200


class QueueTrends:
    """What each ClusterQueue used and how many waited in it, a sample a minute, as long as the history."""

    def __init__(self) -> None:
        self._samples: deque[tuple[int, dict[str, tuple[int, float]]]] = deque(
            maxlen=KEEP_HOURS * 3600 // QUEUES_EVERY_SECONDS
        )

    def sample(self, now: datetime, queues: Iterable[dict[str, Any]]) -> None:
        """`queues` as in the state; a full queue uses 1."""
        shown = {queue["name"]: (queue["pending"], _used(queue["resources"])) for queue in queues}
        first = dict(islice(shown.items(), MOST_QUEUES))
        self._samples.append((int(now.timestamp()), first))

    def to_dict(self) -> dict[str, Any]:
        """Columns for each queue that there is now; null where it was not there yet."""
        names = self._samples[-1][1] if self._samples else {}
        return {
            "time": [time for time, _ in self._samples],
            "queues": {
                name: {
                    "waiting": [queues[name][0] if name in queues else None for _, queues in self._samples],
                    "used": [queues[name][1] if name in queues else None for _, queues in self._samples],
                }
                for name in names
            },
        }


def _used(resources: Iterable[dict[str, Any]]) -> float:
    """The share of the resource that is used most."""
    shares = [line["used"] / line["nominal"] for line in resources if line["nominal"]]
    return round(max(shares, default=0.0), 3)
