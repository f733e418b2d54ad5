"""`reprieve run`, twice: one leads; when it is killed the other takes over, not before the lease has run out.
And what they serve. (How soon: `tests/kube/test_election.py`, by a clock of its own.)
"""

import asyncio
import os
import signal
import socket
import sys
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import aiohttp
import pytest
import yaml

from reprieve.objects import parse_time
from tests.scheduler.live import PODS, cluster, pod
from tests.waiting import PATIENCE, eventually

CONFIG = {
    "scheduler": {
        "leaderElection": {"leaseDuration": "2s", "renewDeadline": "1500ms", "retryPeriod": "300ms"}
    }
}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Replica:
    def __init__(self, process, port):
        self.process, self.port = process, port

    async def get(self, path):
        async with (
            aiohttp.ClientSession() as session,
            session.get(f"http://127.0.0.1:{self.port}{path}") as reply,
        ):
            return reply.status, await reply.text()

    async def until_ready(self):
        async def ready():
            try:
                return (await self.get("/readyz"))[0] == 200
            except aiohttp.ClientError:
                return False

        await eventually(ready, "the replica is ready", 60)


@asynccontextmanager
async def replica(live, tmp_path, *options):
    config = tmp_path / "config.yaml"
    config.write_text(yaml.safe_dump(CONFIG))
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", "from reprieve.cli import main; main()", "run", "--kubeconfig",
        str(live.server.kubeconfig), "--config", str(config), "--listen", f"127.0.0.1:{port}",
        "--lease-namespace", "ns", "--log-level", "warning", *options,
    )  # fmt: skip
    try:
        yield Replica(process, port)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def lease(live) -> dict[str, Any]:
    leases = live.server.api.select("leases.coordination.k8s.io")
    return leases[0]["spec"] if leases else {}


def holder(live) -> str:
    return lease(live).get("holderIdentity", "")


def is_held_by(live, replica) -> bool:
    return f"_{replica.process.pid}_" in holder(live)


@pytest.mark.slow
async def test_one_leads_and_the_other_takes_over_when_it_is_killed_and_its_lease_has_run_out(tmp_path):
    async with cluster(2, 4) as live, replica(live, tmp_path) as one, replica(live, tmp_path) as other:
        await one.until_ready()
        await other.until_ready()
        await live.create(PODS, pod("a"))
        await live.until(lambda: live.bound() == ["a"])
        # A leader that the machine forgets for two seconds hands over: whoever leads now is killed.
        first, second = (one, other) if is_held_by(live, one) else (other, one)
        os.kill(first.process.pid, signal.SIGKILL)
        await first.process.wait()
        left = lease(live)
        await live.create(PODS, pod("b"))
        await live.until(lambda: live.bound() == ["a", "b"])
        assert is_held_by(live, second)
        if f"_{first.process.pid}_" in left["holderIdentity"]:
            waited = parse_time(lease(live)["acquireTime"]) - parse_time(left["renewTime"])
            assert waited >= timedelta(seconds=left["leaseDurationSeconds"])


@pytest.mark.slow
async def test_a_replica_that_is_told_to_stop_releases_the_lease_and_ends_well(tmp_path):
    async with cluster(1, 4) as live, replica(live, tmp_path) as only:
        await only.until_ready()
        await live.until(lambda: is_held_by(live, only))
        only.process.terminate()
        assert await asyncio.wait_for(only.process.wait(), PATIENCE) == 0
        assert holder(live) == ""


@pytest.mark.slow
async def test_what_it_serves(tmp_path):
    async with (
        cluster(1, 2) as live,
        replica(live, tmp_path, "--no-leader-elect", "--log-format", "json", "--dashboard") as only,
    ):
        await only.until_ready()
        await live.create(PODS, pod("low", "2"))
        await live.until(lambda: live.bound() == ["low"])
        await live.create(PODS, pod("high", "2", "high"))
        await live.until(lambda: live.bound() == ["high"])
        assert await only.get("/healthz") == (200, "ok\n")
        assert (await only.get("/"))[0] == 200
        code, text = await only.get("/metrics")
        assert code == 200
        for name in (
            "scheduler_preemption_attempts_total 1.0",
            "scheduler_preemption_victims_sum 1.0",
            'scheduler_goroutines_execution_total{operation="preemption",result="success"} 1.0',
            'scheduler_goroutines_duration_seconds_count{operation="preemption",result="success"} 1.0',
            'scheduler_schedule_attempts_total{profile="reprieve",result="scheduled"} 2.0',
            'scheduler_pending_pods{queue="active"} 0.0',
        ):
            assert name in text, name
        code, text = await only.get("/api/decisions?outcome=preempts")
        assert code == 200
        assert '"for":"Pod/ns/high"' in text
        assert (await only.get("/api/decisions/1"))[0] == 200
        assert (await only.get("/api/decisions/9999"))[0] == 404
        assert (await only.get("/api/decisions?limit=x"))[0] == 400
