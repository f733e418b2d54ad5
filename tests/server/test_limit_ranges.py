"""LimitRanges: defaults for containers that ask for nothing, and what is too much or too little."""

from typing import Any

import pytest

from reprieve.server.errors import ApiError
from tests.server.rig import Rig, pod, running

Doc = dict[str, Any]


def limits(*items: Doc, name: str = "limits") -> Doc:
    meta = {"name": name, "namespace": "default"}
    return {"apiVersion": "v1", "kind": "LimitRange", "metadata": meta, "spec": {"limits": list(items)}}


def asking(name: str = "p", **resources: Doc) -> Doc:
    return pod(name, containers=[{"name": "c", "image": "i", "resources": resources}])


async def refusal(rig: Rig, document: Doc, resource: str = "pods") -> str:
    with pytest.raises(ApiError) as refused:
        await rig.api.create(resource, document)
    assert refused.value.code == 403
    return refused.value.message


async def test_containers_get_the_defaults_they_lack() -> None:
    async with running() as rig:
        item = {"type": "Container", "default": {"cpu": "2", "memory": "1Gi"}, "defaultRequest": {"cpu": "1"}}
        await rig.create("limitranges", limits(item))
        await rig.create("pods", pod("a"), asking("b", requests={"cpu": "500m"}))
        found = rig.get("pods", "a")
        assert found["spec"]["containers"][0]["resources"] == {
            "limits": {"cpu": "2", "memory": "1Gi"},
            "requests": {"cpu": "1", "memory": "1Gi"},
        }
        assert found["status"]["qosClass"] == "Burstable"
        said = found["metadata"]["annotations"]["kubernetes.io/limit-ranger"]
        assert said == (
            "LimitRanger plugin set: cpu, memory request for container c; cpu, memory limit for container c"
        )
        assert rig.get("pods", "b")["spec"]["containers"][0]["resources"]["requests"]["cpu"] == "500m"


async def test_a_range_completes_itself_from_its_bounds() -> None:
    async with running() as rig:
        item = {"type": "Container", "max": {"cpu": "4"}, "min": {"cpu": "1", "memory": "1Mi"}}
        await rig.create("limitranges", limits(item))
        (stored,) = rig.get("limitranges", "limits")["spec"]["limits"]
        assert stored["default"] == {"cpu": "4"}
        assert stored["defaultRequest"] == {"cpu": "4", "memory": "1Mi"}


@pytest.mark.parametrize(
    ("item", "resources", "said"),
    [
        (
            {"max": {"cpu": "2"}},
            {"limits": {"cpu": "3"}},
            "maximum cpu usage per Container is 2, but limit is 3",
        ),
        (
            {"min": {"memory": "1Gi"}},
            {"requests": {"memory": "1Mi"}},
            "minimum memory usage per Container is 1Gi, but request is 1Mi",
        ),
        (
            {"maxLimitRequestRatio": {"cpu": "2"}},
            {"requests": {"cpu": "100m"}, "limits": {"cpu": "1"}},
            "cpu max limit to request ratio per Container is 2, but provided ratio is 10.000000",
        ),
        (
            {"maxLimitRequestRatio": {"cpu": "2"}},
            {},
            "cpu max limit to request ratio per Container is 2, but no request is specified or request is 0",
        ),
    ],
)
async def test_what_is_out_of_bounds_is_refused_with_the_bound(item: Doc, resources: Doc, said: str) -> None:
    async with running() as rig:
        await rig.create("limitranges", limits({"type": "Container", **item}))
        assert await refusal(rig, asking(**resources)) == f'pods "p" is forbidden: {said}'


async def test_the_whole_pod_has_bounds_of_its_own() -> None:
    async with running() as rig:
        await rig.create("limitranges", limits({"type": "Pod", "max": {"cpu": "2"}}))
        two = [{"name": n, "image": "i", "resources": {"limits": {"cpu": "1500m"}}} for n in ("a", "b")]
        said = await refusal(rig, pod("p", containers=two))
        assert said == 'pods "p" is forbidden: maximum cpu usage per Pod is 2, but limit is 3'
        assert (await refusal(rig, pod("p"))).endswith("is 2.  No limit is specified")


async def test_claims_have_bounds() -> None:
    async with running() as rig:
        item = {"type": "PersistentVolumeClaim", "min": {"storage": "1Gi"}, "max": {"storage": "2Gi"}}
        await rig.create("limitranges", limits(item))
        claim = {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "c", "namespace": "default"},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "3Gi"}}},
        }
        said = await refusal(rig, claim, "persistentvolumeclaims")
        assert said.endswith("maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi")


async def test_other_namespaces_and_removed_ranges_limit_nothing() -> None:
    async with running() as rig:
        await rig.create("limitranges", limits({"type": "Container", "max": {"cpu": "1"}}))
        await rig.create("pods", pod("free", namespace="kube-public"))
        await rig.api.delete("limitranges", "limits", "default")
        await rig.create("pods", asking("now", limits={"cpu": "9"}))
        assert rig.get("pods", "free", "kube-public")["spec"]["containers"][0]["resources"] == {}
