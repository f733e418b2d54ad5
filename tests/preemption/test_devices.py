"""Making way for devices, against a naive reference: delete the victims, free what nobody uses, plan anew."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import reprieve
from reprieve.placement.sentences import devices, filters
from reprieve.preemption import sentences
from tests.builders import Document, budget, gang, node, pod
from tests.scale import examples

DRIVER = "gpu.example.com"
ALGORITHMS = ["kep-5710", "minimal-cost"]


def device_class(expression: str = f'device.driver == "{DRIVER}"') -> Document:
    return _resource("DeviceClass", "gpu", {"selectors": [{"cel": {"expression": expression}}]})


def _resource(kind: str, name: str, spec: Document, **more: Any) -> Document:
    metadata = {"name": name, **({"namespace": "default"} if kind == "ResourceClaim" else {})}
    return {"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": metadata, "spec": spec, **more}


def slice_of(name: str, devices: list[Document], *, count: int = 1, part: str = "", **where: Any) -> Document:
    pool = {"name": name, "generation": 1, "resourceSliceCount": count}
    spec = {"driver": DRIVER, "pool": pool, **(where or {"nodeName": name}), "devices": devices}
    return _resource("ResourceSlice", f"{name}{part}", spec)


def gpus(number: int, model: str = "H100") -> list[Document]:
    return [{"name": f"gpu-{index}", "attributes": {"model": {"string": model}}} for index in range(number)]


def mig(name: str, gpus: int) -> list[Document]:
    """Each of the GPUs whole, or as two halves."""
    counters = [{"name": f"gpu-{n}", "counters": {"half": {"value": "2"}}} for n in range(gpus)]
    devices = [
        {
            "name": f"gpu-{n}{part}",
            "attributes": {"whole": {"bool": not part}},
            "consumesCounters": [
                {"counterSet": f"gpu-{n}", "counters": {"half": {"value": "1" if part else "2"}}}
            ],
        }
        for n in range(gpus)
        for part in ("", "-a", "-b")
    ]
    sets = slice_of(name, [], count=2, part="-counters", nodeName=name)
    sets["spec"]["sharedCounters"] = counters
    del sets["spec"]["devices"]
    return [sets, slice_of(name, devices, count=2, part="-devices", nodeName=name)]


def claim(name: str, count: int = 1, *, expression: str = "", held: list[str] | None = None) -> Document:
    exactly: Document = {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": count}
    if expression:
        exactly["selectors"] = [{"cel": {"expression": expression}}]
    found = _resource("ResourceClaim", name, {"devices": {"requests": [{"name": "r", "exactly": exactly}]}})
    if held is not None:
        results = [
            {"request": "r", "driver": DRIVER, "pool": each.split("/")[0], "device": each.split("/")[1]}
            for each in held
        ]
        selector = {
            "nodeSelectorTerms": [
                {
                    "matchFields": [
                        {"key": "metadata.name", "operator": "In", "values": [held[0].split("/")[0]]}
                    ]
                }
            ]
        }
        found["status"] = {
            "allocation": {"devices": {"results": results}, "nodeSelector": selector},
            "reservedFor": [],
        }
        if held[0].startswith("net/"):
            del found["status"]["allocation"]["nodeSelector"]
    return found


def using(pod: Document, claim: Document) -> Document:
    pod["metadata"]["uid"] = pod["metadata"]["name"]
    pod["spec"]["resourceClaims"] = [{"name": "c", "resourceClaimName": claim["metadata"]["name"]}]
    if "status" in claim:
        name = pod["metadata"]["name"]
        claim["status"]["reservedFor"].append({"resource": "pods", "name": name, "uid": name})
    return pod


def planned(objects: list[Document], target: str, algorithm: str) -> Any:
    config = {"preemption": {"algorithm": algorithm}}
    plan: Any = reprieve.plan(copy.deepcopy(objects), target, config=config, now="2026-01-01T00:00:00Z")
    return plan.to_dict()


def without(objects: list[Document], gone: set[str]) -> list[Document]:
    """The objects once these pods are gone: claims that nobody uses any more are not allocated."""
    left = copy.deepcopy(
        [each for each in objects if each["kind"] != "Pod" or each["metadata"]["name"] not in gone]
    )
    for each in left:
        users = each.get("status", {}).get("reservedFor") if each["kind"] == "ResourceClaim" else None
        if users:
            kept = [user for user in users if user["resource"] != "pods" or user["name"] not in gone]
            each["status"]["reservedFor"] = kept
            if not kept:
                del each["status"]["allocation"]
    return left


def held_devices(objects: list[Document]) -> list[str]:
    return [
        f"{result['driver']}/{result['pool']}/{result['device']}"
        for each in objects
        if each["kind"] == "ResourceClaim"
        for result in (each.get("status", {}).get("allocation") or {"devices": {"results": []}})["devices"][
            "results"
        ]
    ]


# --- generated clusters -------------------------------------------------------------------------------------


@st.composite
def clusters(draw: st.DrawFn, *, most: int = 1) -> tuple[list[Document], str]:
    """Nodes with devices, pods that hold them, and a preemptor (a gang where `most` is above 1)."""
    names = [f"n{number}" for number in range(draw(st.integers(1, 3)))]
    objects: list[Document] = [device_class()]
    free: dict[str, list[str]] = {}
    for name in names:
        objects.append(node(name, cpu=draw(st.sampled_from(["4", "8"]))))
        number = draw(st.integers(0, 3))
        free[name] = [f"{name}/gpu-{index}" for index in range(number)]
        if number:
            objects.append(slice_of(name, gpus(number, draw(st.sampled_from(["H100", "A100"])))))
    network = draw(st.integers(0, 2))
    if network:
        objects.append(slice_of("net", gpus(network), allNodes=True))
    shared = [f"net/gpu-{index}" for index in range(network)]
    running = 0
    for name in names:
        for _ in range(draw(st.integers(0, 3))):
            remote = bool(shared) and draw(st.booleans())
            source = shared if remote else free[name]
            priority = draw(st.integers(0, 6))
            here = pod(f"run-{running}", on=name, cpu=draw(st.sampled_from(["1", "3"])), priority=priority)
            running += 1
            objects.append(here)
            holds = bool(source) and draw(st.integers(0, 3)) > 0
            if holds:
                own = claim(f"held-{running}", held=[source.pop(0)])
                objects.append(own)
                using(here, own)
                if draw(st.integers(0, 3)) == 0:  # a second user
                    other = pod(f"run-{running}", on=name, cpu="1", priority=draw(st.integers(0, 6)))
                    running += 1
                    objects.append(using(other, own))
    count = draw(st.integers(1, 2))
    model = draw(st.sampled_from(["", "H100"]))
    expression = f'device.attributes["{DRIVER}"].model == "{model}"' if model else ""
    if most == 1:
        wanted = claim("wanted", count, expression=expression)
        return [*objects, wanted, using(pod("p", cpu="2", priority=5), wanted)], "Pod/default/p"
    size = draw(st.integers(2, most))
    group, *members = gang(size, "1", 5)
    for number, member in enumerate(members):
        wanted = claim(f"wanted-{number}", count, expression=expression)
        objects += [wanted, using(member, wanted)]
    return [*objects, group], "PodGroup/default/gang"


def pinned(objects: list[Document], places: dict[str, str]) -> list[Document]:
    """The preemptor's pods may go to their planned nodes only."""
    for each in objects:
        place = places.get(f"default/{each['metadata']['name']}") if each["kind"] == "Pod" else None
        if place is not None:
            term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [place]}]}
            required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
            each["spec"]["affinity"] = {"nodeAffinity": required}
    return objects


def check(objects: list[Document], target: str, algorithm: str) -> None:
    plan = planned(objects, target, algorithm)
    lower = {
        each["metadata"]["name"]
        for each in objects
        if each["kind"] == "Pod" and each["spec"].get("nodeName") and each["spec"]["priority"] < 5
    }
    if plan["outcome"] == "unschedulable":
        assert planned(without(objects, lower), target, "kubernetes")["outcome"] == "unschedulable"
        return
    victims = {each["pod"].removeprefix("default/") for each in plan["victims"]}
    assert victims <= lower
    after = without(objects, victims)
    there = pinned(copy.deepcopy(after), plan["placements"])
    assert planned(there, target, "kubernetes")["outcome"] == "scheduled"
    given_out = [device for claim in plan["devices"].values() for each in claim.values() for device in each]
    holders = [*given_out, *held_devices(after)]
    assert len(holders) == len(set(holders)), "two holders of one device"
    for each in victims:
        others = pinned(without(objects, victims - {each}), plan["placements"])
        assert planned(others, target, "kubernetes")["outcome"] != "scheduled", f"{each} could have stayed"


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@examples(40, least=8)
@given(made=clusters())
def test_a_pod_evicts_only_those_whose_devices_or_capacity_it_needs(
    algorithm: str, made: tuple[list[Document], str]
) -> None:
    check(*made, algorithm)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@examples(25, least=5)
@given(made=clusters(most=3))
def test_a_gang_evicts_only_those_whose_devices_or_capacity_it_needs(
    algorithm: str, made: tuple[list[Document], str]
) -> None:
    check(*made, algorithm)


# --- rules, one by one --------------------------------------------------------------------------------------


def full_node(*priorities: int) -> list[Document]:
    """A node whose GPUs are all held, each by a pod of its own."""
    objects = [device_class(), node("n0"), slice_of("n0", gpus(len(priorities)))]
    for index, priority in enumerate(priorities):
        own = claim(f"held-{index}", held=[f"n0/gpu-{index}"])
        objects += [own, using(pod(f"run-{index}", on="n0", priority=priority), own)]
    return objects


def wanting(count: int = 1, expression: str = "", priority: int = 5) -> list[Document]:
    wanted = claim("wanted", count, expression=expression)
    return [wanted, using(pod("p", priority=priority), wanted)]


def victims_of(
    objects: list[Document], algorithm: str = "kep-5710", target: str = "Pod/default/p"
) -> set[str]:
    return {each["pod"].removeprefix("default/") for each in planned(objects, target, algorithm)["victims"]}


def test_kubernetes_does_not_preempt_for_devices() -> None:
    plan = planned([*full_node(0), *wanting()], "Pod/default/p", "kubernetes")
    assert plan["outcome"] == "unschedulable"
    before = filters.every_node_objects(1, {devices.CANNOT_ALLOCATE: 1})
    after = filters.every_node_objects(1, {sentences.NOT_HELPFUL: 1})
    assert plan["message"] == sentences.preemption_refused(before, after)


def test_kubernetes_charges_no_budget_for_holders_on_other_nodes() -> None:
    """One device of two is free. With `far` as a potential victim too, `near` would be one too many."""
    held = claim("held", held=["net/gpu-0"])
    objects = [
        device_class(), node("n0", 1), node("n1", 1), slice_of("net", gpus(2), allNodes=True), held,
        pod("near", on="n0", priority=0, labels={"app": "x"}),
        using(pod("far", on="n1", priority=1, labels={"app": "x"}), held), budget("x", 1),
    ]  # fmt: skip
    (victim,) = planned([*objects, *wanting()], "Pod/default/p", "kubernetes")["victims"]
    assert (victim["pod"], victim["violatesBudget"]) == ("default/near", False)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_least_important_holder_makes_way_and_the_reason_names_its_device(algorithm: str) -> None:
    plan = planned([*full_node(3, 1, 2), *wanting()], "Pod/default/p", algorithm)
    assert [each["pod"] for each in plan["victims"]] == ["default/run-1"]
    assert sentences.holds_devices([f"{DRIVER}/n0/gpu-1"]) in plan["victims"][0]["reason"]
    assert plan["devices"] == {"default/wanted": {"r": [f"{DRIVER}/n0/gpu-1"]}}


def test_a_shared_claim_is_freed_by_all_of_its_users_or_not_at_all() -> None:
    objects = full_node(1, 1)
    held = next(each for each in objects if each["metadata"]["name"] == "held-0")
    important = using(pod("boss", on="n0", priority=9), held)
    assert victims_of([*objects, important, *wanting()]) == {"run-1"}
    other = using(
        pod("mate", on="n0", priority=0), next(e for e in objects if e["metadata"]["name"] == "held-1")
    )
    assert victims_of([*objects, important, other, *wanting()]) == {"run-1", "mate"}


def test_a_claim_of_a_pod_group_is_not_freed_by_its_pods() -> None:
    objects = full_node(1)
    held = next(each for each in objects if each["kind"] == "ResourceClaim")
    held["status"]["reservedFor"].append(
        {"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "g"}
    )
    assert planned([*objects, *wanting()], "Pod/default/p", "kep-5710")["outcome"] == "unschedulable"


def test_a_claim_without_users_is_freed_by_nobody() -> None:
    objects = [each for each in full_node(1) if each["kind"] != "Pod"]
    objects[-1]["status"]["reservedFor"] = []
    plan = planned([*objects, pod("idle", on="n0", priority=0), *wanting()], "Pod/default/p", "kep-5710")
    assert plan["outcome"] == "unschedulable"


def test_a_user_is_known_by_its_uid() -> None:
    objects = full_node(1)
    for each in objects:
        if each["kind"] == "ResourceClaim":
            each["status"]["reservedFor"][0]["uid"] = "somebody-else"
    assert planned([*objects, *wanting()], "Pod/default/p", "kep-5710")["outcome"] == "unschedulable"


def test_users_of_a_network_device_make_way_on_other_nodes() -> None:
    held = claim("held", held=["net/gpu-0"])
    objects = [device_class(), node("n0"), node("n1"), slice_of("net", gpus(1), allNodes=True), held]
    far = using(pod("far", on="n1", priority=1), held)
    near = pod("near", on="n0", priority=0)
    assert victims_of([*objects, far, near, *wanting()]) == {"far"}


def test_halves_make_way_for_a_whole_and_give_their_counters_back() -> None:
    objects = [device_class(), node("n0"), *mig("n0", 2)]
    for index, half in enumerate(["gpu-0-a", "gpu-0-b", "gpu-1-a"]):
        own = claim(f"held-{index}", held=[f"n0/{half}"])
        objects += [own, using(pod(f"run-{index}", on="n0", priority=index), own)]
    whole = f'device.attributes["{DRIVER}"].whole'
    plan = planned([*objects, *wanting(expression=whole)], "Pod/default/p", "kep-5710")
    assert {each["pod"] for each in plan["victims"]} == {"default/run-0", "default/run-1"}
    assert plan["devices"] == {"default/wanted": {"r": [f"{DRIVER}/n0/gpu-0"]}}
    reasons = {each["pod"]: each["reason"] for each in plan["victims"]}
    for number, half in enumerate("ab"):
        drawn = sentences.holds_devices_of_the_pool([f"{DRIVER}/n0/gpu-0-{half}"])
        assert drawn in reasons[f"default/run-{number}"]


def test_a_claim_stuck_elsewhere_moves_once_its_other_users_are_gone() -> None:
    held = claim("wanted", held=["n0/gpu-0"])
    objects = [
        device_class(),
        node("n0", cpu="1"),
        node("n1"),
        slice_of("n0", gpus(1)),
        slice_of("n1", gpus(1)),
    ]
    objects += [held, using(pod("other", on="n0", cpu="1", priority=1), held)]
    preemptor = pod("p", cpu="2", priority=5)
    preemptor["metadata"]["uid"] = "p"
    preemptor["spec"]["resourceClaims"] = [{"name": "c", "resourceClaimName": "wanted"}]
    plan = planned([*objects, preemptor], "Pod/default/p", "kep-5710")
    assert (plan["placements"], victims_of([*objects, preemptor])) == ({"default/p": "n1"}, {"other"})


def test_minimal_cost_says_that_it_proves_nothing_about_devices() -> None:
    plan = planned([*full_node(1), *wanting()], "Pod/default/p", "minimal-cost")
    assert plan["cost"]["optimality"] == sentences.NOT_PROVEN_FOR_DEVICES
