"""DaemonSets: on which nodes, updates, failures, numbers."""

from typing import Any

from reprieve.server.controllers.daemonsets import target_node
from tests import builders
from tests.server.rig import Rig, running

NODES = ("n=3:cpu=4",)
Doc = dict[str, Any]


def daemon_set(pod: Doc | None = None, **spec: Any) -> Doc:
    containers = [{"name": "c", "image": "one"}]
    body = {"terminationGracePeriodSeconds": 1, "containers": containers, **(pod or {})}
    template = {"metadata": {"labels": {"app": "agent"}}, "spec": body}
    selector = {"matchLabels": {"app": "agent"}}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "agent", "namespace": "default"},
        "spec": {"selector": selector, "template": template, **spec},
    }


async def bind(rig: Rig) -> None:
    """What a scheduler does: the affinity leaves one node."""
    for pod in rig.pods(lambda p: not p["spec"].get("nodeName") and "deletionTimestamp" not in p["metadata"]):
        await rig.api.bind(pod["metadata"]["name"], "default", target_node(pod))
    await rig.settle()


async def start(rig: Rig, document: Doc) -> None:
    await rig.create("daemonsets.apps", document)
    await bind(rig)


def nodes(rig: Rig) -> list[str]:
    return sorted(target_node(p) for p in rig.pods(lambda p: "deletionTimestamp" not in p["metadata"]))


def images(rig: Rig) -> list[str]:
    return sorted(p["spec"]["containers"][0]["image"] for p in rig.pods())


def status(rig: Rig) -> Doc:
    return rig.get("daemonsets.apps", "agent")["status"]


async def roll(rig: Rig, image: str) -> None:
    template = {"spec": {"containers": [{"name": "c", "image": image}]}}
    await rig.api.patch("daemonsets.apps", "agent", {"spec": {"template": template}}, "default")
    await rig.settle()


async def test_every_node_has_one_pod_that_only_it_can_run() -> None:
    async with running(NODES) as rig:
        await start(rig, daemon_set())
        assert nodes(rig) == ["n-0", "n-1", "n-2"]
        assert (status(rig)["desiredNumberScheduled"], status(rig)["numberReady"]) == (3, 3)
        term = rig.pods()[0]["spec"]["affinity"]["nodeAffinity"]
        (only,) = term["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
        assert only["matchFields"][0]["key"] == "metadata.name"
        tolerated = {(t["key"], t["effect"]) for t in rig.pods()[0]["spec"]["tolerations"]}
        assert ("node.kubernetes.io/unschedulable", "NoSchedule") in tolerated
        assert ("node.kubernetes.io/not-ready", "NoExecute") in tolerated


async def test_nodes_that_come_and_go_or_change_their_labels_and_taints_are_followed() -> None:
    async with running(NODES) as rig:
        await start(rig, daemon_set({"nodeSelector": {"disk": "ssd"}}))
        assert nodes(rig) == []
        await rig.api.patch("nodes", "n-1", {"metadata": {"labels": {"disk": "ssd"}}})
        await rig.settle()
        assert nodes(rig) == ["n-1"]
        await rig.create("nodes", builders.node("late", labels={"disk": "ssd"}))
        assert nodes(rig) == ["late", "n-1"]
        await rig.api.delete("nodes", "late")
        await rig.settle()
        assert nodes(rig) == ["n-1"]
        await bind(rig)
        taint = {"key": "mine", "effect": "NoSchedule"}
        await rig.api.patch("nodes", "n-1", {"spec": {"taints": [taint]}})
        await rig.settle()
        assert nodes(rig) == ["n-1"], "a pod that is there may stay"
        assert status(rig)["desiredNumberScheduled"] == 0
        await rig.api.patch("nodes", "n-1", {"spec": {"taints": [{**taint, "effect": "NoExecute"}]}})
        await rig.settle()
        assert nodes(rig) == []


async def test_an_update_goes_node_by_node() -> None:
    async with running(NODES) as rig:
        await start(rig, daemon_set())
        await roll(rig, "two")
        for updated in (1, 2, 3):
            await rig.advance(2)
            await bind(rig)
            assert images(rig).count("two") == updated
            assert status(rig)["numberAvailable"] >= 2
        await rig.settle()
        assert status(rig)["updatedNumberScheduled"] == 3
        revisions = rig.api.select("controllerrevisions.apps")
        assert list(revisions[0]["data"]["spec"]["template"]) == ["$patch", "metadata", "spec"], (
            "sorted, as in Go"
        )
        marks = {r["metadata"]["name"] for r in revisions}
        assert len(marks) == 2
        assert {p["metadata"]["labels"]["controller-revision-hash"] for p in rig.pods()} < marks


async def test_more_may_be_unavailable_if_the_strategy_says_so() -> None:
    async with running(NODES) as rig:
        rolling = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "100%"}}
        await start(rig, daemon_set(updateStrategy=rolling))
        await roll(rig, "two")
        await rig.advance(2)
        await bind(rig)
        assert images(rig) == ["two"] * 3


async def test_on_delete_only_a_deleted_pod_gets_the_new_template() -> None:
    async with running(NODES) as rig:
        await start(rig, daemon_set(updateStrategy={"type": "OnDelete"}))
        await roll(rig, "two")
        await rig.advance(60)
        assert images(rig) == ["one"] * 3
        await rig.api.delete("pods", rig.pods()[0]["metadata"]["name"], "default")
        await rig.advance(2)
        assert images(rig) == ["one", "one", "two"]


async def test_a_pod_that_fails_is_replaced_but_not_at_once() -> None:
    async with running(("n=1:cpu=4",)) as rig:
        await start(rig, daemon_set())
        (name,) = [p["metadata"]["name"] for p in rig.pods()]
        await rig.end(name, 1)
        assert rig.get("pods", name)["status"]["phase"] == "Failed"
        await rig.advance(11)
        assert rig.gone("pods", name)
        assert len(rig.pods()) == 1
