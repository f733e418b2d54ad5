"""Reprieve on a real kube-apiserver with etcd and kube-controller-manager: what it sends is accepted, what it
may do is enough.
"""

import asyncio
import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from tools.real_cluster import audit
from tools.real_cluster.control_plane import ControlPlane

from reprieve.cli import main as reprieve
from reprieve.kube import POD_GROUPS, PODS, Resource
from reprieve.manifests import crds, deployment
from reprieve.manifests.rights import LEASE, rules
from tests.real.cluster import ACCOUNT, Document, Place, Run, installation, kubectl, place

pytestmark = pytest.mark.real

JOBS = Resource("batch", "v1", "Job", "jobs")
TRACKING_FINALIZERS = (1, 26)
"""From here on Jobs count every pod they lose."""


def test_everything_that_is_printed_is_accepted_by_kubectl_in_both_ways(plane: ControlPlane) -> None:
    controllers = ("scheduler", "quota", "fleet")
    everything = deployment(installation(plane, controllers=controllers, namespace="tried"))
    for documents in (crds(), everything):
        kubectl(plane, "apply", "--server-side", "-f", "-", given=documents)
        said = kubectl(plane, "apply", "--server-side", "-f", "-", given=documents)
        assert "Warning" not in said
        kubectl(plane, "delete", "--wait", "-f", "-", given=documents)
        kubectl(plane, "apply", "-f", "-", given=documents)
        before = _shown(plane, documents)
        said = kubectl(plane, "apply", "-f", "-", given=documents)
        changed = [line for line in said.splitlines() if not line.endswith("unchanged")]
        # Of every budget of policy/v1 kubectl sends the selector again (its patch strategy is "replace"), and
        # calls that a change.
        assert set(changed) <= {"poddisruptionbudget.policy/reprieve configured"}
        assert _shown(plane, documents) == before
    kubectl(plane, "wait", "--for=condition=Established", "crd", "--all", "--timeout=30s")
    assert "podgroups" in kubectl(plane, "api-resources", "--api-group=scheduling.reprieve.dev")
    kubectl(plane, "delete", "--wait=false", "-f", "-", given=everything)


def _shown(plane: ControlPlane, documents: list[Document]) -> list[Document]:
    """The objects as the server has them, without what controllers write."""
    items = json.loads(kubectl(plane, "get", "-f", "-", "-o", "json", given=documents))["items"]
    for item in items:
        item.pop("status", None)
        del item["metadata"]["resourceVersion"]
        item["metadata"].get("annotations", {}).pop("deployment.kubernetes.io/revision", None)
    return items


async def _four_cases(here: Place) -> None:
    """A pod or a gang makes way for a pod or a gang; each has a node to itself."""
    nodes = [f"{here.name}-{index}" for index in range(4)]

    def on(index: int) -> dict:
        return {"nodeSelector": {"kubernetes.io/hostname": nodes[index]}}

    await here.create(
        POD_GROUPS,
        here.own_group("vg2", 2, mode="all"), here.own_group("vg3", 2, mode="all"),
        here.own_group("hg1", 2, "high"), here.own_group("hg3", 2, "high"),
    )  # fmt: skip
    await here.create(
        PODS,
        *(here.own_pod(f"v{case}-{i}", 2, **on(case)) for case in (0, 1) for i in range(2)),
        *(
            here.own_pod(f"v{case}-{i}", 2, group=f"vg{case}", **on(case))
            for case in (2, 3) for i in range(2)
        ),
    )  # fmt: skip
    await here.until_bound("v", 8)
    await here.create(
        PODS,
        *(here.own_pod(f"h{case}-0", 2, "high", **on(case)) for case in (0, 2)),
        *(
            here.own_pod(f"h{case}-{i}", 2, "high", group=f"hg{case}", **on(case))
            for case in (1, 3)
            for i in range(2)
        ),
    )
    await here.until_bound("h", 6)


async def _has_started(here: Place, group: str) -> bool:
    served = await here.client.served(POD_GROUPS)
    assert served is not None
    found = await here.client.get(served.raw(), group, here.name)
    conditions = {c["type"]: c["status"] for c in (found.get("status") or {}).get("conditions", ())}
    return conditions.get("PodGroupInitiallyScheduled") == "True"


NOT_IN_THE_FOUR_CASES = {
    # Claims are bound in test_real_volumes.py, devices used in tests/manifests: no driver is here.
    ("", "persistentvolumeclaims", "patch"),
    ("", "persistentvolumes", "patch"),
    ("resource.k8s.io", "resourceclaims", "create"),
    ("resource.k8s.io", "resourceclaims", "delete"),
    ("resource.k8s.io", "resourceclaims", "patch"),
    ("resource.k8s.io", "resourceclaims/binding", "patch"),
    ("resource.k8s.io", "resourceclaims/status", "patch"),
    # Kinds that this server does not serve: trees are behind a gate, our own Workloads for older servers.
    ("scheduling.k8s.io", "compositepodgroups", "watch"),
    ("scheduling.reprieve.dev", "workloads", "watch"),
}


async def test_the_four_cases_with_exactly_the_rights_that_were_given(
    plane: ControlPlane, account: Path, tmp_path: Path
) -> None:
    since = plane.audit_log.stat().st_size
    async with place(plane, "four", nodes=4) as here:
        run = Run(account, tmp_path / "log")
        try:
            await _four_cases(here)
            assert len(await here.bound("v0")) == 1, "the pod takes the room of one pod"
            assert await here.bound("v1") == []
            assert await here.bound("v2") == [], "a group in mode all goes whole"
            assert await here.bound("v3") == []
            assert await here.overcommitted(4) == {}
            await here.until(lambda: _has_started(here, "hg3"))
            await asyncio.sleep(1)  # real: whatever it would still send is to be in the audit log
        finally:
            assert run.stop() == 0
    assert run.complaints() == []
    entries = list(audit.entries(plane.audit_log, ACCOUNT, since))
    # 422: the streaming list that old versions do not know. 404: kinds and the lease that are looked for.
    assert set(audit.codes(entries)) <= {200, 201, 404, 422}, audit.codes(entries)
    assert audit.unneeded([*rules(["scheduler"]), *LEASE], entries, plane.version) == {
        ("", "events", "patch"),  # an event that happens again
        *NOT_IN_THE_FOUR_CASES,
    }


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
