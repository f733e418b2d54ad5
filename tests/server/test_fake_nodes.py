"""Fake nodes: templates, the life of pods on them, failure and return. Time moves only when a test moves
it.
"""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from reprieve.server.fake_nodes import Habits
from reprieve.server.fake_nodes.lifecycle import next_step
from tests.server.rig import condition, pod, running

NODES = ("n=2:cpu=4,memory=8Gi",)


async def test_fake_nodes_publish_their_devices_and_a_class_for_them() -> None:
    text = "h=2:cpu=1;devices=gpu:2:model=H100,memory=80Gi,index=3,fast=true,driver=1.2.3;devices=nic:1"
    async with running([text]) as rig:
        await rig.settle()
        found = {each["metadata"]["name"]: each for each in rig.api.select("resourceslices.resource.k8s.io")}
        assert sorted(found) == [f"h-{n}-{c}.reprieve.dev" for n in (0, 1) for c in ("gpu", "nic")]
        spec = found["h-1-gpu.reprieve.dev"]["spec"]
        assert (spec["nodeName"], spec["pool"]["name"], len(spec["devices"])) == ("h-1", "h-1", 2)
        assert spec["devices"][0] == {
            "name": "gpu-0",
            "attributes": {
                "model": {"string": "H100"},
                "index": {"int": 3},
                "fast": {"bool": True},
                "driver": {"version": "1.2.3"},
            },
            "capacity": {"memory": {"value": "80Gi"}},
        }
        classes = rig.api.select("deviceclasses.resource.k8s.io")
        assert [each["metadata"]["name"] for each in classes] == ["gpu", "nic"]
        await rig.api.delete("nodes", "h-1")
        await rig.settle()
        assert rig.gone("resourceslices.resource.k8s.io", "h-1-gpu.reprieve.dev", "")


NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "seconds"), [("1m30s", 90), ("5", 5), ("0.5", 0.5), ("nonsense", None), ("-3s", 0)]
)
def test_run_for_is_a_duration_or_plain_seconds(text: str, seconds: float | None) -> None:
    doc: dict[str, Any] = pod("a", on="n", annotations={"reprieve.dev/run-for": text})
    doc["status"] = {"phase": "Running", "startTime": "2026-01-01T00:00:00Z"}
    step = next_step(doc, Habits(), NOW)
    assert (step.due - NOW if step else None) == (None if seconds is None else timedelta(seconds=seconds))


def test_usual_habits_apply_only_to_pods_that_are_meant_to_end() -> None:
    doc = pod("a", on="n")
    doc["status"] = {"phase": "Running", "startTime": "2026-01-01T00:00:00Z"}
    assert next_step(doc, Habits(run_for=3), NOW) is None
    doc["spec"]["restartPolicy"] = "Never"
    step = next_step(doc, Habits(run_for=3), NOW)
    assert step is not None
    assert (step.action, step.exit_code) == ("end", 0)


async def test_nodes_come_up_ready_and_renew_their_leases() -> None:
    async with running(NODES) as rig:
        assert [condition(n, "Ready") for n in rig.api.select("nodes")] == ["True/KubeletReady"] * 2
        lease = rig.get("leases.coordination.k8s.io", "n-0", "kube-node-lease")
        await rig.advance(11)
        later = rig.get("leases.coordination.k8s.io", "n-0", "kube-node-lease")
        assert later["spec"]["renewTime"] > lease["spec"]["renewTime"]
        assert re.fullmatch(r".*\.\d{6}Z", later["spec"]["renewTime"]), "Go clients read no other MicroTime"


async def test_a_pod_on_a_fake_node_runs_and_succeeds_by_annotation() -> None:
    async with running(NODES) as rig:
        await rig.create("pods", pod("a", on="n-0", annotations={"reprieve.dev/run-for": "10s"}))
        started = rig.get("pods", "a")
        assert started["status"]["phase"] == "Running"
        assert condition(started, "Ready").startswith("True")
        assert started["status"]["containerStatuses"][0]["ready"] is True
        await rig.advance(9)
        assert rig.phases() == ["Running"]
        await rig.advance(2)
        ended = rig.get("pods", "a")
        assert ended["status"]["phase"] == "Succeeded"
        assert condition(ended, "Ready") == "False/PodCompleted"


async def test_an_exit_code_makes_it_fail() -> None:
    async with running(NODES) as rig:
        told = {"reprieve.dev/run-for": "1s", "reprieve.dev/exit-code": "3"}
        await rig.create("pods", pod("a", on="n-0", annotations=told))
        await rig.advance(2)
        status = rig.get("pods", "a")["status"]
        assert status["phase"] == "Failed"
        assert status["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 3


async def test_a_slow_start_and_a_deadline() -> None:
    async with running(NODES) as rig:
        slow = pod("a", on="n-0", annotations={"reprieve.dev/start-after": "5s"}, activeDeadlineSeconds=10)
        await rig.create("pods", slow)
        assert rig.phases() == ["Pending"]
        await rig.advance(6)
        assert rig.phases() == ["Running"]
        await rig.advance(11)
        assert rig.get("pods", "a")["status"]["reason"] == "DeadlineExceeded"


async def test_pods_elsewhere_are_left_alone() -> None:
    async with running(NODES) as rig:
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "real"}}
        await rig.create("nodes", node)
        await rig.create("pods", pod("a", on="real"), pod("b"))
        await rig.advance(60)
        assert rig.phases() == ["Pending", "Pending"]


async def test_termination_takes_the_grace_period() -> None:
    async with running(NODES) as rig:
        await rig.create("pods", pod("a", on="n-0", terminationGracePeriodSeconds=20))
        await rig.api.delete("pods", "a", "default")
        await rig.advance(19)
        assert rig.get("pods", "a")["status"]["phase"] == "Running"
        await rig.advance(2)
        assert rig.gone("pods", "a")


async def test_termination_can_be_told_to_be_quick_but_never_longer_than_the_grace() -> None:
    async with running(NODES) as rig:
        for name, told in (("quick", "3s"), ("slow", "90s")):
            annotations = {"reprieve.dev/terminate-after": told}
            doc = pod(name, on="n-0", terminationGracePeriodSeconds=20, annotations=annotations)
            await rig.create("pods", doc)
            await rig.api.delete("pods", name, "default")
        await rig.advance(4)
        assert rig.gone("pods", "quick")
        assert not rig.gone("pods", "slow")
        await rig.advance(17)
        assert rig.gone("pods", "slow")


async def test_a_pod_held_by_a_finalizer_ends_and_waits() -> None:
    async with running(NODES) as rig:
        await rig.create(
            "pods",
            pod("a", on="n-0", metadata={"finalizers": ["x.io/keep"]}, terminationGracePeriodSeconds=1),
        )
        await rig.api.delete("pods", "a", "default")
        await rig.advance(2)
        held = rig.get("pods", "a")
        assert held["status"]["phase"] == "Failed"
        await rig.api.patch("pods", "a", {"metadata": {"finalizers": None}}, "default")
        await rig.settle()
        assert rig.gone("pods", "a")


async def test_a_failed_node_turns_unknown_and_its_pods_go_after_their_toleration() -> None:
    async with running(NODES) as rig:
        await rig.create("pods", pod("a", on="n-0", terminationGracePeriodSeconds=1))
        await rig.api.patch("nodes", "n-0", {"metadata": {"annotations": {"reprieve.dev/fail": "true"}}})
        await rig.settle()
        node = rig.get("nodes", "n-0", "")
        assert condition(node, "Ready") == "Unknown/NodeStatusUnknown"
        assert {t["effect"] for t in node["spec"]["taints"]} == {"NoSchedule", "NoExecute"}
        assert condition(rig.get("pods", "a"), "Ready").startswith("False")
        await rig.advance(299)
        assert "deletionTimestamp" not in rig.get("pods", "a")["metadata"]
        await rig.advance(2)
        assert "deletionTimestamp" in rig.get("pods", "a")["metadata"]
        await rig.advance(60)
        assert not rig.gone("pods", "a"), "nobody is there to stop it"
        await rig.api.patch("nodes", "n-0", {"metadata": {"annotations": {"reprieve.dev/fail": None}}})
        await rig.settle()
        assert rig.gone("pods", "a")
        node = rig.get("nodes", "n-0", "")
        assert condition(node, "Ready") == "True/KubeletReady"
        assert "taints" not in node["spec"]


async def test_a_node_that_returns_in_time_keeps_its_pods() -> None:
    async with running(NODES) as rig:
        await rig.create("pods", pod("a", on="n-0"))
        for told in ("true", "false"):
            await rig.api.patch("nodes", "n-0", {"metadata": {"annotations": {"reprieve.dev/fail": told}}})
            await rig.advance(10)
        await rig.advance(600)
        survivor = rig.get("pods", "a")
        assert survivor["status"]["phase"] == "Running"
        assert condition(survivor, "Ready").startswith("True")


async def test_a_thousand_pods_start_together() -> None:
    async with running(("n=10:cpu=4",)) as rig:
        for index in range(1000):
            await rig.api.create("pods", pod(f"p{index}", on=f"n-{index % 10}"))
        await rig.settle()
        assert rig.phases() == ["Running"] * 1000
