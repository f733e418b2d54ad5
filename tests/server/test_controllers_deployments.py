"""Deployments: revisions, pause, scaling during a rollout, deadlines, adoption."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from reprieve.server.controllers import rollout
from reprieve.server.controllers.rollout import REVISION, Limits
from tests.server.rig import Rig, condition, running
from tests.server.test_controllers_replicas import deployment, images

NODES = ("n=2:cpu=4",)
Doc = dict[str, Any]


async def roll(rig: Rig, image: str, settle: bool = True, **template: Any) -> None:
    spec = {"containers": [{"name": "c", "image": image}], **template}
    await rig.api.patch("deployments.apps", "web", {"spec": {"template": {"spec": spec}}}, "default")
    for _ in range(12 if settle else 0):
        await rig.advance(2)


def sets(rig: Rig) -> dict[str, Doc]:
    """By image."""
    found = rig.api.select("replicasets.apps")
    return {s["spec"]["template"]["spec"]["containers"][0]["image"]: s for s in found}


def sizes(rig: Rig) -> dict[str, int]:
    return {image: s["spec"]["replicas"] for image, s in sets(rig).items()}


def revision(document: Doc) -> str:
    return document["metadata"]["annotations"][REVISION]


def web(rig: Rig) -> Doc:
    return rig.get("deployments.apps", "web")


async def test_every_template_is_a_revision_and_an_old_one_comes_back_as_the_newest() -> None:
    async with running(NODES) as rig:
        await rig.create("deployments.apps", deployment())
        await roll(rig, "two")
        assert {image: revision(s) for image, s in sets(rig).items()} == {"one": "1", "two": "2"}
        assert revision(web(rig)) == "2"
        await roll(rig, "one")
        assert {image: revision(s) for image, s in sets(rig).items()} == {"one": "3", "two": "2"}
        assert images(rig) == ["one"] * 3


async def test_only_as_many_old_revisions_stay_as_the_history_may_have() -> None:
    async with running(NODES) as rig:
        spec = deployment()
        spec["spec"]["revisionHistoryLimit"] = 1
        await rig.create("deployments.apps", spec)
        for image in ("two", "three", "four"):
            await roll(rig, image)
        assert sorted(sets(rig)) == ["four", "three"]


async def test_annotations_of_a_deployment_go_to_its_newest_set() -> None:
    async with running(NODES) as rig:
        await rig.create("deployments.apps", deployment())
        cause = {"kubernetes.io/change-cause": "first"}
        await rig.api.patch("deployments.apps", "web", {"metadata": {"annotations": cause}}, "default")
        await rig.settle()
        assert sets(rig)["one"]["metadata"]["annotations"]["kubernetes.io/change-cause"] == "first"


async def test_a_paused_deployment_is_scaled_but_not_rolled() -> None:
    async with running(NODES) as rig:
        await rig.create("deployments.apps", deployment(2))
        await rig.api.patch("deployments.apps", "web", {"spec": {"paused": True}}, "default")
        await roll(rig, "two")
        assert images(rig) == ["one", "one"]
        assert condition(web(rig), "Progressing") == "Unknown/DeploymentPaused"
        await rig.api.patch("deployments.apps", "web", {"spec": {"replicas": 4}}, "default")
        await rig.advance(2)
        assert images(rig) == ["one"] * 4
        await rig.api.patch("deployments.apps", "web", {"spec": {"paused": False}}, "default")
        await roll(rig, "two")
        assert images(rig) == ["two"] * 4
        assert condition(web(rig), "Progressing") == "True/NewReplicaSetAvailable"


async def test_a_deployment_that_is_scaled_during_a_rollout_is_scaled_by_it() -> None:
    async with running(NODES) as rig:
        await rig.create("deployments.apps", deployment(4))
        await roll(rig, "two", settle=False)
        await rig.api.patch("deployments.apps", "web", {"spec": {"replicas": 6}}, "default")
        for _ in range(12):
            await rig.advance(2)
        assert images(rig) == ["two"] * 6
        assert condition(web(rig), "Progressing") == "True/NewReplicaSetAvailable"


async def test_a_rollout_without_progress_fails_after_its_deadline() -> None:
    async with running(NODES) as rig:
        spec = deployment(2)
        spec["spec"]["progressDeadlineSeconds"] = 60
        await rig.create("deployments.apps", spec)
        await roll(rig, "two", settle=False, nodeName=None)
        await rig.advance(59)
        assert condition(web(rig), "Progressing").startswith("True")
        await rig.advance(5)
        assert condition(web(rig), "Progressing") == "False/ProgressDeadlineExceeded"


async def test_an_orphaned_set_is_adopted() -> None:
    async with running(NODES) as rig:
        await rig.create("deployments.apps", deployment(2))
        (name,) = [s["metadata"]["name"] for s in sets(rig).values()]
        await rig.api.delete("deployments.apps", "web", "default", propagation="Orphan")
        await rig.settle()
        assert not rig.get("replicasets.apps", name)["metadata"].get("ownerReferences")
        await rig.create("deployments.apps", deployment(2))
        adopted = rig.get("replicasets.apps", name)["metadata"]["ownerReferences"]
        assert adopted[0]["uid"] == web(rig)["metadata"]["uid"]
        assert len(rig.pods()) == 2


async def test_a_pod_that_is_not_ready_long_enough_is_not_available() -> None:
    async with running(NODES) as rig:
        spec = deployment(2)
        spec["spec"]["minReadySeconds"] = 10
        await rig.create("deployments.apps", spec)
        assert (web(rig)["status"]["readyReplicas"], web(rig)["status"]["availableReplicas"]) == (2, 0)
        await rig.advance(11)
        assert web(rig)["status"]["availableReplicas"] == 2


def set_of(name: str, size: int, available: int) -> Doc:
    meta = {"name": name, "creationTimestamp": name}
    return {"metadata": meta, "spec": {"replicas": size}, "status": {"availableReplicas": available}}


@st.composite
def rollouts(draw: st.DrawFn) -> tuple[Limits, Doc, list[Doc]]:
    wanted = draw(st.integers(0, 30))
    surge = draw(st.integers(0, wanted))
    unavailable = min(wanted, draw(st.integers(0 if surge else 1, max(1, wanted))))
    limits = Limits(wanted, surge, unavailable)
    count = draw(st.integers(1, 4))
    numbers = draw(st.lists(st.integers(0, 20), min_size=count, max_size=count))
    ready = [draw(st.integers(0, n)) for n in numbers]
    documents = [set_of(f"s{i}", n, r) for i, (n, r) in enumerate(zip(numbers, ready, strict=True))]
    return limits, documents[0], documents[1:]


@given(rollouts())
def test_no_step_of_a_rollout_takes_away_a_pod_that_is_needed(case: tuple[Limits, Doc, list[Doc]]) -> None:
    limits, newest, old = case
    sizes = rollout.old_sizes(limits, newest, old)
    left = sum(min(sizes.get(s["metadata"]["name"], 0), rollout.available(s)) for s in old)
    before = sum(map(rollout.available, [*old, newest]))
    assert left + rollout.available(newest) >= min(before, limits.least_available)
    assert all(0 <= sizes.get(s["metadata"]["name"], 0) <= rollout.size(s) for s in old)
    total = rollout.size(newest) + sum(map(rollout.size, old))
    grown = rollout.new_size(limits, rollout.size(newest), total, rolling=True) - rollout.size(newest)
    assert grown <= max(0, limits.most - total)
