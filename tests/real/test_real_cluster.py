"""Reprieve on a real kube-apiserver with etcd and kube-controller-manager: what it sends is accepted, what it
may do is enough.
"""

import asyncio
from pathlib import Path

import pytest
from click.testing import CliRunner
from tools.real_cluster import audit
from tools.real_cluster.control_plane import ControlPlane

from reprieve.cli import main as reprieve
from reprieve.kube import POD_GROUPS, PODS, Resource
from tests.real.cluster import Run, place

pytestmark = pytest.mark.real

JOBS = Resource("batch", "v1", "Job", "jobs")
TRACKING_FINALIZERS = (1, 26)
"""From here on Jobs count every pod they lose."""


async def test_jobs_make_their_victims_again_and_the_scheduler_may_be_killed_meanwhile(
    plane: ControlPlane, account: Path, tmp_path: Path
) -> None:
    async with place(plane, "jobs", nodes=4) as here:
        template = here.own_pod("x")
        job = {
            "metadata": {"name": "crunch", "namespace": here.name},
            "spec": {
                "parallelism": 16, "completions": 16, "backoffLimit": 100,
                "template": {"spec": {**template["spec"], "restartPolicy": "Never"}},
            },
        }  # fmt: skip
        # Today every pod that a Job loses doubles the pause before it makes new ones.
        size = 8 if plane.version < TRACKING_FINALIZERS else 2
        run = Run(account, tmp_path / "log", "--no-leader-elect")
        try:
            await here.create(JOBS, job)
            await here.until_bound("crunch", 16)
            await here.create(POD_GROUPS, here.own_group("train", size, "high"))
            members = [here.own_pod(f"train-{i}", 1, "high", group="train") for i in range(size)]
            await here.create(PODS, *members)
            await asyncio.sleep(0.3)  # real: in the middle of the preemption
            run.kill()
            run = Run(account, tmp_path / "log", "--no-leader-elect")
            await here.until_bound("train", size)
            await here.until_bound("crunch", 16 - size)

            async def made_again() -> bool:
                return sum(p["metadata"]["name"].startswith("crunch") for p in await here.pods()) == 16

            await here.until(made_again)
            assert await here.overcommitted(4) == {}
        finally:
            run.stop()
        assert run.complaints() == []


async def test_a_second_replica_takes_over_and_kube_scheduler_runs_beside(
    plane: ControlPlane, account: Path, tmp_path: Path
) -> None:
    plane.run("kube-scheduler", plane.scheduler_flags())
    try:
        async with place(plane, "beside", nodes=4) as here:
            first, second = Run(account, tmp_path / "1"), Run(account, tmp_path / "2")
            try:
                await here.create(
                    PODS,
                    *(here.own_pod(f"theirs-{i}", 1, schedulerName="default-scheduler") for i in range(8)),
                )
                await here.until_bound("theirs", 8)
                await here.create(PODS, *(here.own_pod(f"ours-{i}", 1) for i in range(8)))
                await here.until_bound("ours", 8)
                leader, other = (first, second) if "leading as" in first.log() else (second, first)
                assert "leading as" not in other.log()
                leader.kill()
                await here.create(POD_GROUPS, here.own_group("big", 4, "high"))
                await here.create(PODS, *(here.own_pod(f"big-{i}", 3, "high", group="big") for i in range(4)))
                await here.until_bound("big", 4)
                assert "leading as" in other.log()
                assert await here.overcommitted(4) == {}
            finally:
                assert {first.stop(), second.stop()} == {0, -9}
    finally:
        plane.end("kube-scheduler")


async def test_it_goes_on_when_the_api_server_was_away_and_history_is_gone(
    plane: ControlPlane, account: Path, tmp_path: Path
) -> None:
    async with place(plane, "away", nodes=2) as here:
        run = Run(account, tmp_path / "log", "--no-leader-elect")
        try:
            await here.create(PODS, here.own_pod("before"))
            await here.until_bound("before", 1)
            plane.end("kube-apiserver", kill=True)
            await asyncio.sleep(2)  # real: the server is away for a while
            plane.start_api_server()
            await here.create(PODS, *(here.own_pod(f"after-{i}") for i in range(3)))
            plane.compact()
            await here.until_bound("after", 3)
            plane.end("kube-apiserver", kill=True)
            plane.start_api_server()
            await here.create(PODS, *(here.own_pod(f"again-{i}") for i in range(4)))
            await here.until_bound("again", 4)
        finally:
            assert run.stop() == 0
        assert "does not answer" in run.log()
        assert [line for line in run.complaints() if " E " in line or "Traceback" in line] == []


async def test_questions_about_a_real_cluster_are_answered(plane: ControlPlane, account: Path) -> None:
    """Plan, explain and admit with the administrator's kubeconfig: only read, whatever versions are
    served.
    """

    def ask(*arguments: str) -> str:
        given = ["--kubeconfig", str(plane.kubeconfig("admin"))]
        result = CliRunner().invoke(reprieve, [*arguments, *given], catch_exceptions=False)
        return result.output

    async with place(plane, "asked") as here:
        await here.create(POD_GROUPS, here.own_group("train", 2, "high"))
        await here.create(PODS, *(here.own_pod(f"train-{i}", 4, "high", group="train") for i in range(2)))
        before = len(plane.audit_log.read_bytes())
        planned = await asyncio.to_thread(ask, "plan", "--for", "PodGroup/asked/train")
        assert "PodGroup/asked/train fits" in planned
        explained = await asyncio.to_thread(ask, "explain", "podgroup/asked/train")
        assert "PodGroup asked/train waits with 2 of 2 pods" in explained
        assert "there is no quota" in await asyncio.to_thread(ask, "admit")
        verbs = {entry["verb"] for entry in audit.entries(plane.audit_log, "admin", before)}
        assert verbs <= {"get", "list", "watch", "create"}, "create: may the asker see these decisions?"
