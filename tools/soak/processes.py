"""The embedded server and the controllers, each a process of its own; the latter are killed now and then."""

import asyncio
import signal
import sys
from pathlib import Path

NODES = "node=70:cpu=32,memory=128Gi,pods=200"
"""2,240 CPUs: what 50 pods a second need in the mean is 1,875, and 2,600 at a crest (`load.rate_at`)."""


class Programs:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.kubeconfig = folder / "kubeconfig"
        self.server: asyncio.subprocess.Process | None = None
        self.controllers: asyncio.subprocess.Process | None = None
        self.kills = 0

    async def start(self) -> None:
        self.server = await self._run(
            "up", "--nodes", NODES, "--controllers", "none", "--data-dir", str(self._folder / "data"),
            "--kubeconfig", str(self.kubeconfig), "--run-for", "20s", "--terminate-after", "1s",
        )  # fmt: skip
        while not self.kubeconfig.exists():
            if self.server.returncode is not None:
                raise SystemExit(f"the server ended; see {self._folder}/up.log")
            await asyncio.sleep(0.1)
        await self._start_controllers()

    async def _start_controllers(self) -> None:
        self.controllers = await self._run(
            "run", "--kubeconfig", str(self.kubeconfig), "--controllers", "scheduler,quota", "--listen", "",
            "--no-leader-elect", "--log-level", "warning",
        )  # fmt: skip

    async def _run(self, command: str, *options: str) -> asyncio.subprocess.Process:
        with (self._folder / f"{command}.log").open("ab") as log:
            return await asyncio.create_subprocess_exec(
                sys.executable, "-m", "reprieve", command, *options, stdout=log, stderr=log
            )

    async def kill_controllers(self) -> None:
        """SIGKILL: no handler, no goodbye."""
        assert self.controllers is not None
        self.controllers.kill()
        await self.controllers.wait()
        self.kills += 1
        await self._start_controllers()

    async def stop(self) -> None:
        for each in (self.controllers, self.server):
            if each is not None and each.returncode is None:
                each.send_signal(signal.SIGTERM)
                await each.wait()
