"""What a soak costs: memory, open files, stored bytes, waiting pods, time until a pod has a node."""

import os
import time
from pathlib import Path
from typing import Any

import msgspec
from tools.soak.processes import Programs

from reprieve.kube import PODS, Change, Client, Informer


class Sample(msgspec.Struct):
    minute: float
    server_mib: float
    controllers_mib: float
    server_files: int
    controllers_files: int
    stored_mib: float
    running: int
    waiting: int
    bound: int
    """Pods that got a node since the sample before."""
    median_seconds: float
    """From creation to a node, of those; 0 when there were none."""
    slow_seconds: float
    """Of the slowest one in a hundred."""


class Observer:
    """Watches every pod, and takes a sample when asked."""

    def __init__(self, client: Client, programs: Programs, folder: Path) -> None:
        self._programs = programs
        self._folder = folder
        self._started = time.monotonic()
        self._seen: dict[str, float] = {}
        self._delays: list[float] = []
        self.evicted = 0
        self.pods = Informer(client, PODS.raw(), self._changed)

    def _changed(self, change: Change) -> None:
        uid, node = change.new["metadata"]["uid"], change.new["spec"].get("nodeName")
        if change.type == "DELETED":
            self._seen.pop(uid, None)
            conditions = (change.new.get("status") or {}).get("conditions") or ()
            self.evicted += any(each["type"] == "DisruptionTarget" for each in conditions)
        elif not node:
            self._seen.setdefault(uid, time.monotonic())
        elif uid in self._seen:
            self._delays.append(time.monotonic() - self._seen.pop(uid))

    @property
    def waiting(self) -> int:
        return len(self._seen)

    def sample(self) -> Sample:
        delays, self._delays = sorted(self._delays), []
        placed = [bool(pod["spec"].get("nodeName")) for pod in self.pods]
        server, controllers = self._programs.server, self._programs.controllers
        assert server is not None
        assert controllers is not None
        return Sample(
            minute=round((time.monotonic() - self._started) / 60, 2),
            server_mib=_memory(server.pid),
            controllers_mib=_memory(controllers.pid),
            server_files=_files(server.pid),
            controllers_files=_files(controllers.pid),
            stored_mib=sum(each.stat().st_size for each in (self._folder / "data").glob("*")) / 2**20,
            running=sum(placed),
            waiting=len(placed) - sum(placed),
            bound=len(delays),
            median_seconds=delays[len(delays) // 2] if delays else 0.0,
            slow_seconds=delays[int(len(delays) * 0.99)] if delays else 0.0,
        )


def _memory(pid: int) -> float:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0  # killed at this very moment
    fields: dict[str, Any] = dict(line.split(":", 1) for line in status.splitlines())
    return int(fields.get("VmRSS", "0 kB").split()[0]) / 1024


def _files(pid: int) -> int:
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return 0
