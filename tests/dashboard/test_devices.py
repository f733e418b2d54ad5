"""GPUs of dynamic resource allocation in the headline, on nodes, of units, and in what a preemption cost."""

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from reprieve.dashboard.departures import Departures
from reprieve.dashboard.feed import Contact, feeding
from reprieve.dashboard.inventory import Inventory
from reprieve.dashboard.units import Unit
from reprieve.dashboard.views import ClusterViews, node_detail
from reprieve.kube import PODS, RESOURCE_CLAIMS, Client
from reprieve.local import local_cluster
from reprieve.objects import NodeTemplate
from reprieve.objects.decode import decode
from reprieve.records import Decision, DecisionLog
from tests.builders import Document, reserved, workload
from tests.dashboard.manifests import node, pod, pod_group, put
from tests.scale import examples
from tests.strategies.choices import Choices
from tests.waiting import eventually

NOW = datetime(2026, 11, 15, 22, 0, tzinfo=UTC)
GPU = "gpu.nvidia.com"
Held = tuple[str, str]


def dra(kind: str, name: str, spec: Document, **more: Any) -> Document:
    metadata = {"name": name, **({"namespace": "dev"} if "Claim" in kind else {})}
    head = {"apiVersion": "resource.k8s.io/v1", "kind": kind}
    return {**head, "metadata": {**metadata, **more.pop("metadata", {})}, "spec": spec, **more}


def gpus_on(host: str, count: int, driver: str = GPU, generation: int = 1, name: str = "") -> Document:
    """A slice with the devices of a node."""
    devices = [{"name": f"gpu-{i}"} for i in range(count)]
    pool = {"name": host, "generation": generation, "resourceSliceCount": 1}
    spec = {"driver": driver, "pool": pool, "nodeName": host, "devices": devices}
    return dra("ResourceSlice", name or f"{host}-{driver}", spec)


def claim(name: str, *held: Held, count: int = 1, of: str = GPU, users: int = 1, **more: Any) -> Document:
    """With (node, device) of what it holds."""
    asks = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": of, "count": count}}]}}
    results = [{"request": "r", "driver": GPU, "pool": host, "device": device} for host, device in held]
    using = [{"resource": "pods", "name": f"p{i}", "uid": f"u{i}"} for i in range(users)]
    status = {"allocation": {"devices": {"results": results}}, "reservedFor": using} if held else {}
    return dra("ResourceClaim", name, asks, status=status, **more)


def using(name: str, *claims: str, **more: Any) -> Document:
    """A pod with claims that are there by name."""
    document = pod(name, **more)
    document["spec"]["resourceClaims"] = [{"name": each, "resourceClaimName": each} for each in claims]
    return document


def inventory(*documents: Document) -> Inventory:
    shown = Inventory()
    put(shown, *documents)
    return shown


def headline(shown: Inventory) -> tuple[str, int, int, int]:
    summary = ClusterViews(shown).view(0, NOW)["summary"]
    return summary["resource"], summary["used"], summary["total"], summary["promised"]


def test_devices_of_gpu_drivers_are_gpus_of_the_headline():
    nominated = {"nominatedNodeName": "n"}
    shown = inventory(
        node("n"),
        gpus_on("n", 8),
        gpus_on("n", 4, driver="nic.example.com"),
        claim("a", ("n", "gpu-0"), ("n", "gpu-1"), count=2),
        claim("b", count=4),
        claim("c", count=2),
        using("runs", "a", on="n"),
        using("soon", "b", status=nominated),
        using("waits", "c"),
    )
    assert headline(shown) == ("gpu", 2, 8, 4)


def test_a_class_that_is_called_gpu_makes_gpus_of_what_its_driver_offers():
    chooses = {"selectors": [{"cel": {"expression": 'device.driver == "dra.example.com"'}}]}
    shown = inventory(node("n"), gpus_on("n", 3, driver="dra.example.com"))
    assert headline(shown)[0] == "cpu"
    put(shown, dra("DeviceClass", "large-gpu", chooses))
    assert headline(shown) == ("gpu", 0, 3, 0)
    put(shown, dra("DeviceClass", "fast", chooses), claim("a", count=2, of="fast"), using("p", "a"))
    assert ClusterViews(shown).view(0, NOW)["queue"][0]["gpus"] == 2
    shown.remove(decode(dra("DeviceClass", "large-gpu", chooses)))
    assert headline(shown)[0] == "cpu"


def test_parts_of_one_device_are_one_gpu_in_use_as_soon_as_one_is():
    def part(name: str, of: str) -> Document:
        return {
            "name": name,
            "consumesCounters": [{"counterSet": of, "counters": {"slices": {"value": "1"}}}],
        }

    parted = gpus_on("n", 1)
    parted["spec"]["devices"] = [part("whole", "x"), part("half-0", "x"), part("half-1", "x"), part("y", "y")]
    shown = inventory(node("n"), parted, claim("a", ("n", "half-0")), claim("b", ("n", "half-1")))
    assert headline(shown) == ("gpu", 1, 2, 0)


def test_only_the_newest_generation_of_a_pool_counts_and_a_gone_node_has_none():
    shown = inventory(node("n"), gpus_on("n", 8), gpus_on("n", 6, generation=2, name="newer"))
    assert headline(shown) == ("gpu", 0, 6, 0)
    shown.remove(decode(gpus_on("n", 6, generation=2, name="newer")))
    assert headline(shown) == ("gpu", 0, 8, 0)
    shown.remove(decode(gpus_on("n", 8)))
    assert headline(shown)[0] == "cpu"


def test_a_resource_that_is_served_by_a_claim_counts_once():
    asks = pod("p", on="n")
    asks["spec"]["containers"][0]["resources"] = {"requests": {"nvidia.com/gpu": "2"}}
    extended = {
        "annotations": {"resource.kubernetes.io/extended-resource-claim": "true"},
        "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u"}],
    }
    behind = claim("p-extended", ("n", "gpu-0"), ("n", "gpu-1"), metadata=extended)
    shown = inventory(node("n"), gpus_on("n", 4), behind, asks)
    assert headline(shown) == ("gpu", 2, 4, 0)
    assert Unit("Pod/dev/p", shown).view()["gpus"] == 2
    [card] = ClusterViews(shown).view(0, NOW)["nodes"]
    assert (card["resource"], card["used"]) == (GPU, 0.5)
    shown.remove(decode(behind))
    shown.remove(decode(asks))
    assert headline(shown) == ("gpu", 0, 4, 0)


def test_a_shared_claim_counts_once_and_one_for_administrators_not_at_all():
    watching = claim("admin", ("n", "gpu-5"))
    watching["status"]["allocation"]["devices"]["results"][0]["adminAccess"] = True
    shown = inventory(
        node("n"),
        gpus_on("n", 8),
        claim("shared", ("n", "gpu-0"), users=2),
        watching,
        pod_group("g", 2),
        using("g-0", "shared", on="n", group="g"),
        using("g-1", "shared", on="n", group="g"),
    )
    assert headline(shown) == ("gpu", 1, 8, 0)
    assert Unit("PodGroup/dev/g", shown).view()["gpus"] == 1


def test_a_node_shows_its_devices_like_any_resource():
    shown = inventory(
        node("n"), gpus_on("n", 4), claim("a", ("n", "gpu-0"), ("n", "gpu-1"), ("n", "gpu-2")),
        using("p", "a", on="n", priority=7),
    )  # fmt: skip
    [card] = ClusterViews(shown).view(0, NOW)["nodes"]
    assert (card["resource"], card["used"], card["free"][GPU]) == (GPU, 0.75, 1)
    assert card["shares"] == [[7, "", 0.75]]
    detail = node_detail(shown, "n")
    assert detail is not None
    assert {"name": GPU, "allocatable": 4, "used": 3} in detail["resources"]
    assert detail["pods"][0]["requests"][GPU] == 3


def lost_hours(shown: Inventory, victim: Document) -> float:
    log = DecisionLog()
    log.add(
        Decision(time=NOW, controller="scheduler", for_="Pod/dev/x", outcome="preempts", victims=[victim])
    )
    departures = Departures(shown)
    departures.read(log.find())
    return float(departures.today(NOW)["gpuHours"])


def test_hours_of_devices_are_lost_even_if_the_claim_went_with_its_pod():
    status = {"phase": "Running", "startTime": (NOW - timedelta(hours=3)).strftime("%Y-%m-%dT%H:%M:%SZ")}
    victim = using("p", "a", on="n", status=status)
    holds = claim("a", ("n", "gpu-0"), ("n", "gpu-1"))
    shown = inventory(node("n"), gpus_on("n", 8), holds, victim)
    shown.remove(decode(victim))
    shown.remove(decode(holds))
    assert lost_hours(shown, {"pod": "dev/p"}) == 6.0


def test_a_workload_lost_what_the_claims_of_its_templates_asked_for():
    template = dra("ResourceClaimTemplate", "t", {"spec": claim("-", count=2)["spec"]})
    job = workload("job", namespace="dev")
    pods = job["spec"]["podSets"][0]
    pods["count"] = 3
    pods["template"]["spec"]["resourceClaims"] = [{"name": "c", "resourceClaimTemplateName": "t"}]
    held = reserved(job, "main")
    since = (NOW - timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    admitted = {"type": "Admitted", "status": "True", "reason": "Admitted", "lastTransitionTime": since}
    held["status"]["conditions"].append(admitted)
    shown = inventory(template, held)
    assert lost_hours(shown, {"workload": "dev/job"}) == 6.0


async def test_a_live_page_follows_slices_and_claims():
    nodes = [NodeTemplate.parse("a100=2:cpu=8,memory=32Gi;devices=gpu:4")]
    async with local_cluster(nodes=nodes) as server, Client.from_kubeconfig(server.kubeconfig) as client:
        shown = Inventory()
        async with feeding(client, shown, Contact(lambda: NOW)):
            await eventually(lambda: headline(shown) == ("gpu", 0, 8, 0), "the devices of both nodes")
            driver = "gpu.reprieve.dev"
            document = claim("a", ("a100-0", "gpu-0"), of=driver)
            user = using("p", "a", on="a100-0")
            status = document.pop("status")
            for each in (document, user):
                each["metadata"]["namespace"] = "default"
            await client.create(RESOURCE_CLAIMS, document)
            made = await client.create(PODS.raw(), user)
            status["reservedFor"] = [{"resource": "pods", "name": "p", "uid": made["metadata"]["uid"]}]
            status["allocation"]["devices"]["results"][0]["driver"] = driver
            await client.patch(RESOURCE_CLAIMS, "a", {"status": status}, "default", subresource="status")
            await eventually(lambda: headline(shown)[1] == 1, "one of them is given away")


@examples(30)
@given(st.data())
def test_counts_that_follow_changes_equal_counts_made_afresh(data: st.DataObject):
    choices, shown = Choices(data.draw), Inventory()
    views, present = ClusterViews(shown), dict[tuple[str, str], Document]()
    for step in range(choices.number(1, 24)):
        document = _any_change(choices)
        key = document["kind"], document["metadata"]["name"]
        if choices.chance(25):
            shown.remove(decode(document))
            present.pop(key, None)
        else:
            put(shown, document)
            present[key] = document
        if step % 6 == 0:
            fresh = ClusterViews(inventory(*present.values())).view(0, NOW)
            kept = views.view(0, NOW)
            assert kept["summary"] == fresh["summary"]
            assert kept["nodes"] == fresh["nodes"]


def _any_change(choices: Choices) -> Document:
    host = choices.one_of(["n0", "n1"])
    match choices.number(0, 4):
        case 0:
            return node(host)
        case 1:
            return gpus_on(host, choices.number(0, 3), generation=choices.number(1, 2))
        case 2:
            held = [(host, f"gpu-{i}") for i in range(choices.number(0, 2))]
            return claim(choices.one_of("ab"), *held, users=choices.number(1, 2))
        case 3:
            chooses = {"selectors": [{"cel": {"expression": f"device.driver == '{GPU}'"}}]}
            return dra("DeviceClass", "fast", chooses)
        case _:
            home = choices.one_of(["", host])
            status = {"nominatedNodeName": host} if not home and choices.chance(50) else {}
            return using(choices.one_of("pq"), choices.one_of("ab"), on=home, status=status)
