"""ResourceQuotas: what is charged, what is refused, and that the numbers stay true."""

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reprieve.server.errors import ApiError
from tests.server.rig import Rig, job, pod, running
from tests.server.test_controllers_replicasets import replica_set

NODES = ("n=1:cpu=64",)
Doc = dict[str, Any]


def quota(name: str = "q", hard: Doc | None = None, **spec: Any) -> Doc:
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"hard": hard or {}, **spec},
    }


def asking(name: str, cpu: str = "1", **more: Any) -> Doc:
    resources = {"requests": {"cpu": cpu}, "limits": {"cpu": cpu}}
    more.setdefault("on", "n-0")
    return pod(name, containers=[{"name": "c", "image": "i", "resources": resources}], **more)


def used(rig: Rig, name: str = "q") -> Doc:
    return rig.get("resourcequotas", name)["status"]["used"]


async def refusal(rig: Rig, document: Doc, resource: str = "pods") -> str:
    with pytest.raises(ApiError) as refused:
        await rig.api.create(resource, document)
    assert refused.value.code == 403
    return refused.value.message


async def test_what_exceeds_the_quota_is_refused_with_all_three_numbers() -> None:
    async with running(NODES) as rig:
        await rig.create("resourcequotas", quota(hard={"requests.cpu": "3", "pods": "10"}))
        await rig.create("pods", asking("a", "2500m"))
        said = await refusal(rig, asking("b", "1"))
        assert said == (
            'pods "b" is forbidden: exceeded quota: q, requested: requests.cpu=1, '
            "used: requests.cpu=2500m, limited: requests.cpu=3"
        )
        assert used(rig) == {"requests.cpu": "2500m", "pods": "1"}


async def test_what_ends_or_goes_is_given_back() -> None:
    async with running(NODES) as rig:
        await rig.create("resourcequotas", quota(hard={"cpu": "8", "pods": "10", "count/pods": "10"}))
        told = {"reprieve.dev/run-for": "10s"}
        await rig.create("pods", asking("ends", restartPolicy="Never", annotations=told), asking("goes"))
        assert used(rig) == {"cpu": "2", "pods": "2", "count/pods": "2"}
        await rig.advance(11)
        assert used(rig) == {"cpu": "1", "pods": "1", "count/pods": "2"}
        await rig.api.delete("pods", "goes", "default", grace=0)
        await rig.settle()
        assert used(rig) == {"cpu": "0", "pods": "0", "count/pods": "1"}


async def test_a_quota_for_cpu_wants_every_container_to_state_it() -> None:
    async with running(NODES) as rig:
        await rig.create("resourcequotas", quota(hard={"limits.cpu": "4", "requests.memory": "1Gi"}))
        said = await refusal(rig, pod("p"))
        assert said.endswith("failed quota: q: must specify limits.cpu for: c; requests.memory for: c")


async def test_extended_resources_and_numbers_of_objects() -> None:
    async with running(NODES) as rig:
        hard = {"requests.nvidia.com/gpu": "4", "configmaps": "2", "count/deployments.apps": "1"}
        await rig.create("resourcequotas", quota(hard=hard))
        gpus = {"requests": {"nvidia.com/gpu": "3"}, "limits": {"nvidia.com/gpu": "3"}}
        spec = [{"name": "c", "image": "i", "resources": gpus}]
        await rig.create("pods", pod("a", containers=spec))
        assert "requested: requests.nvidia.com/gpu=3" in await refusal(rig, pod("b", containers=spec))
        meta = {"namespace": "default"}
        for name in ("one", "two"):
            await rig.api.create("configmaps", {"kind": "ConfigMap", "metadata": {**meta, "name": name}})
        third = {"kind": "ConfigMap", "metadata": {**meta, "name": "three"}}
        assert "exceeded quota: q, requested: configmaps=1" in await refusal(rig, third, "configmaps")
        assert used(rig)["count/deployments.apps"] == "0"


@pytest.mark.parametrize(
    ("scope", "inside", "outside"),
    [
        ("BestEffort", pod("in", on="n-0"), asking("out")),
        ("NotBestEffort", asking("in"), pod("out", on="n-0")),
        ("Terminating", pod("in", activeDeadlineSeconds=5), pod("out")),
        ("NotTerminating", pod("in"), pod("out", activeDeadlineSeconds=5)),
        ("PriorityClass", pod("in", priorityClassName="high"), pod("out")),
    ],
)
async def test_a_scope_counts_only_the_pods_in_it(scope: str, inside: Doc, outside: Doc) -> None:
    async with running(NODES) as rig:
        high = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}}
        await rig.create("priorityclasses.scheduling.k8s.io", {**high, "value": 5})
        expression: Doc = {"scopeName": scope, "operator": "Exists"}
        if scope == "PriorityClass":
            expression = {"scopeName": scope, "operator": "In", "values": ["high"]}
        selector = {"matchExpressions": [expression]}
        await rig.create("resourcequotas", quota(hard={"pods": "1"}, scopeSelector=selector))
        await rig.create("pods", outside)
        assert used(rig) == {"pods": "0"}
        await rig.create("pods", inside)
        assert used(rig) == {"pods": "1"}
        again = {**inside, "metadata": {**inside["metadata"], "name": "again"}}
        assert "exceeded quota" in await refusal(rig, again)


async def test_claims_are_counted_by_size_and_by_class() -> None:
    async with running() as rig:
        prefix = "gold.storageclass.storage.k8s.io"
        hard = {
            "requests.storage": "10Gi",
            "persistentvolumeclaims": "5",
            f"{prefix}/requests.storage": "4Gi",
        }
        await rig.create("resourcequotas", quota(hard=hard))

        def claim(name: str, size: str) -> Doc:
            spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}
            meta = {"name": name, "namespace": "default"}
            body = {**spec, "storageClassName": "gold"}
            return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta, "spec": body}

        await rig.create("persistentvolumeclaims", claim("a", "3Gi"))
        assert used(rig) == {
            "requests.storage": "3Gi",
            "persistentvolumeclaims": "1",
            f"{prefix}/requests.storage": "3Gi",
        }
        assert f"{prefix}/requests.storage=3Gi" in await refusal(
            rig, claim("b", "2Gi"), "persistentvolumeclaims"
        )


async def test_a_dry_run_is_judged_and_not_charged() -> None:
    async with running(NODES) as rig:
        await rig.create("resourcequotas", quota(hard={"pods": "1"}))
        await rig.api.create("pods", pod("a"), dry_run=True)
        assert used(rig) == {"pods": "0"}
        await rig.create("pods", pod("a"))
        with pytest.raises(ApiError, match="exceeded quota"):
            await rig.api.create("pods", pod("b"), dry_run=True)


async def test_pods_that_are_refused_are_told_by_their_owner_and_made_when_there_is_quota() -> None:
    async with running(NODES) as rig:
        await rig.create("resourcequotas", quota(hard={"pods": "2"}))
        await rig.create("replicasets.apps", replica_set(3))
        status = rig.get("replicasets.apps", "web")["status"]
        assert status["replicas"] == 2
        (failure,) = status["conditions"]
        assert (failure["type"], failure["reason"]) == ("ReplicaFailure", "FailedCreate")
        assert "exceeded quota: q" in failure["message"]
        assert any(e["reason"] == "FailedCreate" for e in rig.api.select("events"))
        await rig.api.patch("resourcequotas", "q", {"spec": {"hard": {"pods": "3"}}}, "default")
        await rig.advance(6)
        status = rig.get("replicasets.apps", "web")["status"]
        assert (status["replicas"], status.get("conditions")) == (3, None)


async def test_a_status_that_somebody_wrote_is_put_right() -> None:
    async with running(NODES) as rig:
        await rig.create("resourcequotas", quota(hard={"pods": "2"}))
        wrong = {"status": {"hard": {"pods": "99"}, "used": {"pods": "7"}}}
        await rig.api.patch("resourcequotas", "q", wrong, "default", subresource="status")
        await rig.settle()
        assert rig.get("resourcequotas", "q")["status"] == {"hard": {"pods": "2"}, "used": {"pods": "0"}}


async def test_a_job_waits_for_quota() -> None:
    async with running(NODES) as rig:
        await rig.create("resourcequotas", quota(hard={"pods": "1"}))
        await rig.create("jobs.batch", job(parallelism=2, completions=2))
        assert rig.get("jobs.batch", "j")["status"]["active"] == 1
        await rig.end(rig.pods()[0]["metadata"]["name"])
        await rig.advance(6)
        assert rig.get("jobs.batch", "j")["status"]["active"] == 1


STEPS = st.lists(
    st.tuples(st.sampled_from(["create", "end", "delete", "resize"]), st.integers(0, 9)), max_size=25
)


@settings(deadline=None)
@given(STEPS)
def test_the_used_numbers_are_those_of_a_recount_and_never_above_the_hard_ones(
    steps: list[tuple[str, int]],
) -> None:
    async def play() -> None:
        async with running(NODES) as rig:
            await rig.create("resourcequotas", quota(hard={"pods": "5", "requests.cpu": "7"}))
            hard = 7
            for action, number in steps:
                names = [p["metadata"]["name"] for p in rig.pods()]
                try:
                    if action == "create":
                        await rig.api.create("pods", asking(f"p{number}", str(number % 4)))
                    elif action == "end" and names:
                        await rig.end(names[number % len(names)], number % 2)
                    elif action == "delete" and names:
                        await rig.api.delete("pods", names[number % len(names)], "default", grace=0)
                    elif action == "resize":
                        hard = max(hard, number)
                        patch = {"spec": {"hard": {"requests.cpu": str(hard)}}}
                        await rig.api.patch("resourcequotas", "q", patch, "default")
                except ApiError as refused:
                    if refused.code not in (403, 409):
                        raise
                await rig.settle()
                alive = rig.pods(lambda p: p["status"]["phase"] not in ("Succeeded", "Failed"))
                cpu = sum(int(p["spec"]["containers"][0]["resources"]["requests"]["cpu"]) for p in alive)
                assert used(rig) == {"pods": str(len(alive)), "requests.cpu": str(cpu)}
                assert len(alive) <= 5
                assert cpu <= hard

    asyncio.run(play())
