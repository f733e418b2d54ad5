"""The ring of recent decisions, that of runs that are over, and the file that outlives the process.

The rings answer queries. The file, if there is one, has one JSON line for each record: each line is one
write, so a crash loses at most the line being written, and a torn last line is skipped when the log is opened
again. A file beyond its size limit is renamed to `<path>.1`, replacing the older one, and a new one is
started.
"""

import contextlib
import logging
import os
from collections import deque
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from reprieve.objects import whole_number
from reprieve.records.decision import Decision, decisions_in, sentence
from reprieve.records.run import Run, runs_in

log = logging.getLogger(__name__)

CAPACITY = 2000
HEAVIEST = 200_000
"""Pods named in all kept decisions together, so that storms of large gangs do not fill the memory."""
MOST_RUNS = 10_000
"""Runs that are kept: what forecasts learn from."""
FILE_LIMIT = 64 << 20


class DecisionLog:
    def __init__(
        self, capacity: int = CAPACITY, path: str | Path | None = None, file_limit: int = FILE_LIMIT
    ) -> None:
        self._ring: deque[Decision] = deque()
        self._capacity = capacity
        self._weight = 0
        self._by_id: dict[str, Decision] = {}
        self.runs: deque[Run] = deque(maxlen=MOST_RUNS)
        """What has ended, oldest first."""
        self._path = Path(path) if path else None
        self._file_limit = file_limit
        self._descriptor: int | None = None
        self._next = 1
        self.preemptions = 0
        """Decisions that evict, since the process started."""
        self.victims = 0
        self.follower: Callable[[Decision], None] | None = None
        """Is told of every decision that is kept."""
        if self._path is not None:
            self._replay()
            self._open()

    def add(self, decision: Decision) -> Decision:
        """Number the decision, write its sentence, keep it. Returns it as kept."""
        text = decision.sentence or sentence(decision)
        kept = msgspec.structs.replace(decision, id=str(self._next), sentence=text)
        self._next += 1
        self._keep(kept)
        if kept.victims and kept.outcome != "waits":
            self.preemptions += 1
            self.victims += len(kept.victims)
        self._write(kept, f"decision {kept.id}")
        if self.follower is not None:
            self.follower(kept)
        return kept

    def add_run(self, run: Run) -> None:
        self.runs.append(run)
        self._write(run, f"the run of {run.ran}")

    def get(self, decision_id: str) -> dict[str, Any] | None:
        found = self._by_id.get(decision_id)
        return found.to_dict() if found else None

    def latest(self, limit: int = 100) -> list[dict[str, Any]]:
        """Summaries, newest first."""
        return [decision.summary() for decision, _ in zip(reversed(self._ring), range(limit), strict=False)]

    def find(
        self,
        *,
        for_: str = "",
        outcome: str = "",
        victim: str = "",
        controller: str = "",
        since: datetime | None = None,
    ) -> Iterator[Decision]:
        """Decisions that match every argument given, newest first. `victim`: key of a pod or workload."""
        for decision in reversed(self._ring):
            if since is not None and decision.time < since:
                return
            if (
                (not for_ or decision.for_ == for_)
                and (not outcome or decision.outcome == outcome)
                and (not controller or decision.controller == controller)
                and (not victim or victim in decision.victim_names)
            ):
                yield decision

    def __len__(self) -> int:
        return len(self._ring)

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _keep(self, decision: Decision) -> None:
        self._ring.append(decision)
        self._by_id[decision.id] = decision
        self._weight += decision.weight
        while len(self._ring) > self._capacity or (self._weight > HEAVIEST and len(self._ring) > 1):
            oldest = self._ring.popleft()
            self._by_id.pop(oldest.id, None)
            self._weight -= oldest.weight

    def _replay(self) -> None:
        assert self._path is not None
        for line in kept_lines(self._path):
            self.runs.extend(runs_in([line]))
            for decision in decisions_in([line]):
                self._keep(decision)
                self._next = max(self._next, (whole_number(decision.id) or 0) + 1)

    def _open(self) -> None:
        assert self._path is not None
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._descriptor = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        size = os.fstat(self._descriptor).st_size
        if size and os.pread(self._descriptor, 1, size - 1) != b"\n":
            os.write(self._descriptor, b"\n")  # end the torn line, so that the next one is whole

    def _write(self, record: Decision | Run, name: str) -> None:
        """A full disk must not stop the controller: it is logged, and the ring goes on."""
        if self._descriptor is None or self._path is None:
            return
        try:
            os.write(self._descriptor, msgspec.json.encode(record) + b"\n")
            if os.fstat(self._descriptor).st_size > self._file_limit:
                os.replace(self._path, _older(self._path))
                self.close()
                self._open()
        except OSError as error:
            log.error("%s was not written to %s: %s", name, self._path, error)


def kept_lines(path: Path) -> Iterator[bytes]:
    """All lines of a file of records, oldest first, with those of the file before it."""
    for each in (_older(path), path):
        with contextlib.suppress(FileNotFoundError), each.open("rb") as file:
            yield from file


def _older(path: Path) -> Path:
    return path.with_name(path.name + ".1")
