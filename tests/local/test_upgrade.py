"""What an earlier version left behind in the middle of its work is finished by this one.

The archives are written by `tools/upgrade_state.py` of that version.
"""

import json
import tarfile
from pathlib import Path

import pytest

from reprieve.config import Configuration
from reprieve.local import controllers_of, local_cluster
from reprieve.objects import NodeTemplate
from reprieve.records import DecisionLog
from reprieve.server import Habits
from tests.waiting import eventually

STATES = sorted((Path(__file__).parent / "data").glob("state-*.tar.gz"))
NODES = [NodeTemplate.parse("node=2:cpu=5,memory=16Gi,pods=20")]


@pytest.fixture(params=STATES, ids=lambda path: path.name.removesuffix(".tar.gz"))
def state(request, tmp_path):
    with tarfile.open(request.param) as archive:
        archive.extractall(tmp_path, filter="data")
    return tmp_path


def pods(server):
    return {each["metadata"]["name"]: each for each in server.api.select("pods")}


def suspended(server, name):
    return server.api.peek("jobs.batch", name, "default")["spec"].get("suspend", False)


async def test_what_was_begun_is_finished(state):
    config = Configuration.load({"records": {"path": str(state / "decisions.jsonl")}})
    habits = Habits(terminate_after=0.05)
    async with local_cluster(nodes=NODES, habits=habits, data_dir=state, quota=True) as server:
        before = pods(server)
        leaving = {name for name, each in before.items() if "deletionTimestamp" in each["metadata"]}
        assert len(leaving) == 2, "a preemption is under way"
        [worker] = [name for name in before if name.startswith("running-")]
        async with controllers_of(server, ("scheduler", "quota"), config):
            placed = ("boss-0", "boss-1", "half-1")
            await eventually(
                lambda: all(pods(server)[name]["spec"].get("nodeName") for name in placed),
                "the preemptor has its nodes, and the gang that was bound in part its other pod",
            )
            after = pods(server)
            kept = {name for name in before if name not in leaving}
            assert {name: after[name]["metadata"]["uid"] for name in kept} == {
                name: before[name]["metadata"]["uid"] for name in kept
            }, "nobody else went"
            assert suspended(server, "waiting"), "quota that is used stays used"
            await server.api.delete("jobs.batch", "running", "default", propagation="Background")
            await eventually(lambda: not suspended(server, "waiting"), "quota that is free again is given")
            # A deleted Job's quota is free at once, as in Kueue; its pods end in their own time.
            await eventually(lambda: worker not in pods(server), "the deleted job's pod is gone")


def test_decisions_of_then_are_known_and_new_ones_are_numbered_after_them(state):
    log = DecisionLog(path=state / "decisions.jsonl")
    [preemption] = log.find(for_="PodGroup/default/boss", outcome="preempts")
    assert len(preemption.victims) == 2
    added = log.add(preemption)
    assert int(added.id) > int(preemption.id)
    log.close()


def test_every_setting_of_then_is_read(state):
    Configuration.load(json.loads((state / "configuration.json").read_text(encoding="utf-8")))
