"""What came and went leaves nothing behind in the server: objects are counted, not memory."""

import functools
import gc
import subprocess
import sys
from pathlib import Path
from typing import Any

from reprieve.server.fake_nodes import Habits
from tests.server.rig import Rig, running

ROOT = Path(__file__).parents[2]
NODE = "n=1:cpu=64,memory=64Gi,pods=1000"
PODS, JOBS, GANGS = 20, 4, 4
ROUND = PODS + 5 * JOBS + 2 * GANGS
"""Pods of a round."""
GROUPS = "podgroups.scheduling.k8s.io"


def document(kind: str, name: str, spec: dict[str, Any], version: str = "v1") -> dict[str, Any]:
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": name, "namespace": "default"},
        "spec": spec,
    }


async def come_and_go(rig: Rig, number: int) -> None:
    """Bare pods, Jobs and gangs get their node, run, end and are removed, and so are their events."""
    spec = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}
    for i in range(PODS):
        await rig.api.create("pods", document("Pod", f"pod-{number}-{i}", spec))
    for i in range(JOBS):
        job = {"parallelism": 5, "completions": 5, "ttlSecondsAfterFinished": 10, "template": {"spec": spec}}
        await rig.api.create("jobs.batch", document("Job", f"job-{number}-{i}", job, "batch/v1"))
    for i in range(GANGS):
        name = f"gang-{number}-{i}"
        policy = {"schedulingPolicy": {"gang": {"minCount": 2}}}
        await rig.api.create(GROUPS, document("PodGroup", name, policy, "scheduling.k8s.io/v1beta1"))
        member = {**spec, "schedulingGroup": {"podGroupName": name}}
        for k in range(2):
            await rig.api.create("pods", document("Pod", f"{name}-{k}", member))
    await rig.settle()
    assert len(rig.pods()) == ROUND
    for pod in rig.pods():
        name = pod["metadata"]["name"]
        about = {"kind": "Pod", "namespace": "default", "name": name}
        told = {"involvedObject": about, "reason": "Scheduled", "message": "m", "type": "Normal"}
        await rig.api.create("events", {**document("Event", f"{name}.1", {}), **told})
        await rig.api.bind(name, "default", "n-0")
    await rig.advance(30)
    await rig.advance(30)
    for resource in ("pods", GROUPS, "jobs.batch", "events"):
        for each in list(rig.api.select(resource)):
            await rig.api.delete(resource, each["metadata"]["name"], "default")
    await rig.advance(60)
    assert not rig.pods()


def kept() -> int:
    """Blocks of memory that Python holds, but for caches, which have their limits."""
    gc.collect()
    for each in gc.get_objects():
        if isinstance(each, functools._lru_cache_wrapper):
            each.cache_clear()
    gc.collect()
    return sys.getallocatedblocks()


async def grown() -> int:
    """Blocks that six rounds leave behind, after three that fill what is kept once for all."""
    async with running([NODE], Habits(run_for=20.0)) as rig:
        rig.api.backend.store.history = 100
        for number in range(3):
            await come_and_go(rig, number)
        before = kept()
        for number in range(3, 9):
            await come_and_go(rig, number)
        return kept() - before


def test_pods_jobs_gangs_and_events_that_came_and_went_leave_nothing() -> None:
    """In a process of its own: what pytest keeps of the log, and other tests of theirs, is not counted."""
    code = "import asyncio; from tests.server.test_churn import grown; print(asyncio.run(grown()))"
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=250, check=False
    )
    assert ran.returncode == 0, ran.stderr
    # Each gang has a spec of its own, of which the last 2,048 are remembered: a dozen blocks. Whatever is
    # kept for each pod would be a block for each at least.
    assert int(ran.stdout) < 6 * (12 * GANGS + ROUND / 2)
