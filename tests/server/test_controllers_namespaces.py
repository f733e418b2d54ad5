"""Namespaces that are deleted: pods first, and conditions that say what is left."""

from typing import Any

from tests.server.rig import Rig, condition, pod, running

Doc = dict[str, Any]
NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}


def config_map(name: str = "c", **metadata: Any) -> Doc:
    meta = {"name": name, "namespace": "team", **metadata}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta}


async def start(rig: Rig, *pods: Doc, **metadata: Any) -> None:
    await rig.create("namespaces", NAMESPACE)
    await rig.create("pods", *pods)
    await rig.create("configmaps", config_map(**metadata))
    await rig.api.delete("namespaces", "team")
    await rig.settle()


def namespace(rig: Rig) -> Doc:
    return rig.get("namespaces", "team", "")


async def test_nothing_else_goes_before_the_last_pod_is_gone() -> None:
    async with running(("n=1:cpu=4",)) as rig:
        await start(rig, pod("p", namespace="team", on="n-0", terminationGracePeriodSeconds=10))
        assert "deletionTimestamp" in rig.get("pods", "p", "team")["metadata"]
        assert "deletionTimestamp" not in rig.get("configmaps", "c", "team")["metadata"]
        said = next(
            c for c in namespace(rig)["status"]["conditions"] if c["type"] == "NamespaceContentRemaining"
        )
        assert "pods has 1 resource instance" in said["message"]
        await rig.advance(11)
        await rig.advance(1)
        assert rig.gone("namespaces", "team", "")


async def test_a_finalizer_that_holds_the_namespace_is_named() -> None:
    async with running() as rig:
        await start(rig, finalizers=["x.io/hold"])
        assert condition(namespace(rig), "NamespaceFinalizersRemaining") == "True/SomeFinalizersRemain"
        said = next(c for c in namespace(rig)["status"]["conditions"] if "Finalizers" in c["type"])
        assert said["message"].endswith("x.io/hold in 1 resource instance")
        await rig.api.patch("configmaps", "c", {"metadata": {"finalizers": None}}, "team")
        await rig.advance(1)
        assert rig.gone("namespaces", "team", "")


async def test_a_deleted_service_account_comes_back() -> None:
    async with running() as rig:
        await rig.api.delete("serviceaccounts", "default", "default")
        await rig.settle()
        assert not rig.gone("serviceaccounts", "default", "default")
