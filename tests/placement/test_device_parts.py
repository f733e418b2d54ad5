"""Parts of an allocation, each by itself: capacities, binding conditions, claims for extended resources."""

from typing import Any

import pytest

from reprieve.cluster import Cluster
from reprieve.objects import Device, devices
from reprieve.placement import AllocationError, PodFilters, binding_state
from reprieve.placement.devices.capacity import LARGEST, CapacityError, needs
from reprieve.placement.devices.extended import extended_claim
from reprieve.placement.devices.models import Model
from reprieve.placement.sentences import devices as sentences
from tests.builders import Document, node, pod, view, views
from tests.preemption.test_devices import claim, device_class, gpus, slice_of, using

GIGA = 10**9


def model(**limits: Any) -> Model:
    """A device with one capacity, of which requests are rounded."""
    policy = devices.CapacityPolicy(valid_range=devices.CapacityRange(**limits))
    return Model(
        "d", Device(name="x", capacity={"m": devices.DeviceCapacity(value="9E", request_policy=policy)})
    )


@pytest.mark.parametrize(
    ("limits", "asked", "taken"),
    [
        ({"min": "1", "step": "2"}, "4", 5 * GIGA),
        ({"min": "2", "step": "2"}, "1", 2 * GIGA),
        ({"min": "1m", "step": "2m"}, "2m", 3 * GIGA // 1000),
        # Steps below a thousandth: whole units count.
        ({"min": "0", "step": "1u"}, "1500u", GIGA),
    ],
)
def test_a_request_is_rounded_up_to_the_next_step(limits: Document, asked: str, taken: int) -> None:
    assert needs({"m": asked}, model(**limits)) == {"m": taken}


def test_without_a_request_the_default_is_taken_or_all_of_it() -> None:
    assert needs(None, model(min="1", step="1")) == {"m": 9 * 10**18 * GIGA}
    policy = devices.CapacityPolicy(default="3", valid_values=("1", "2"))
    capacity = {"m": devices.DeviceCapacity(value="5", request_policy=policy)}
    assert needs(None, Model("d", Device(name="x", capacity=capacity))) == {"m": 3 * GIGA}


def test_a_request_that_cannot_be_rounded_is_an_error() -> None:
    with pytest.raises(CapacityError) as fine:
        needs({"m": "1500u"}, model(min="1m", step="1m"))
    assert str(fine.value) == sentences.request_is_too_fine("m", "1500u")
    step = LARGEST // 2 + 1
    with pytest.raises(CapacityError) as large:
        needs({"m": str(step + 1)}, model(min="0", step=str(step)))
    assert str(large.value) == sentences.rounded_request_is_too_large("m", str(step + 1), thousandths=False)


@pytest.mark.parametrize(
    ("conditions", "failed", "met"),
    [
        ({}, False, False),
        ({"Ready": "False"}, False, False),
        ({"Ready": "True"}, False, True),
        ({"Ready": "True", "Broken": "False"}, False, True),
        ({"Ready": "True", "Broken": "True"}, True, False),
    ],
)
def test_a_device_is_bound_once_its_conditions_are_true_and_none_says_that_it_failed(
    conditions: dict[str, str], failed: bool, met: bool
) -> None:
    made = claim("c", held=["n0/gpu-0"])
    result = made["status"]["allocation"]["devices"]["results"][0]
    result |= {"bindingConditions": ["Ready"], "bindingFailureConditions": ["Broken"]}
    listed = [{"type": name, "status": status} for name, status in conditions.items()]
    made["status"]["devices"] = [
        {"driver": result["driver"], "pool": "n0", "device": "gpu-0", "conditions": listed}
    ]
    found = view(made)
    why, ready = binding_state(found, found.status.allocation)
    assert (bool(why), ready) == (failed, met)


def of_gpus(name: str, number: int, **more: Any) -> Document:
    requests = {"example.com/gpu": str(number)} if number else {}
    return {"name": name, "image": "i", "resources": {"requests": requests, "limits": requests}, **more}


def extended(init: list[Document], containers: list[Document]) -> tuple[dict[str, int], set[tuple[str, str]]]:
    """(devices of each request, who uses which request)"""
    cluster = Cluster()
    served = device_class()
    served["spec"]["extendedResourceName"] = "example.com/gpu"
    cluster.set_all(views(served, node("n"), pod("p", initContainers=init, containers=containers)))
    found = extended_claim(cluster, cluster.pods.row_of["default/p"], ["example.com/gpu"])
    asked = {
        each.name: each.exactly.count
        for each in found.claim.spec.devices.requests
        if each.exactly is not None
    }
    return asked, {(each.container, each.request) for each in found.mappings}


def test_each_container_asks_for_its_devices() -> None:
    asked, used = extended([], [of_gpus("a", 2), of_gpus("b", 1), of_gpus("none", 0)])
    assert asked == {"container-0-request-0": 2, "container-1-request-0": 1}
    assert used == {("a", "container-0-request-0"), ("b", "container-1-request-0")}


def test_an_init_container_uses_what_later_ones_hold_and_asks_for_the_difference() -> None:
    asked, used = extended([of_gpus("first", 5)], [of_gpus("a", 2), of_gpus("b", 1)])
    assert asked == {"container-0-request-0": 2, "container-1-request-0": 2, "container-2-request-0": 1}
    assert {request for name, request in used if name == "first"} == set(asked)


def test_an_init_container_that_later_ones_serve_asks_for_nothing() -> None:
    """It takes no more requests than it needs, and none that lasts but began before it."""
    lasting = of_gpus("side", 4, restartPolicy="Always")
    asked, used = extended([lasting, of_gpus("first", 2)], [of_gpus("a", 2), of_gpus("b", 1)])
    assert asked == {"container-0-request-0": 4, "container-2-request-0": 2, "container-3-request-0": 1}
    assert {request for name, request in used if name == "first"} == {"container-2-request-0"}


@pytest.mark.parametrize("sizes", [(3, 5), (5, 3)])
def test_of_several_init_containers_the_largest_asks_and_the_others_share(sizes: tuple[int, int]) -> None:
    init = [of_gpus(f"init-{number}", size) for number, size in enumerate(sizes)]
    asked, used = extended(init, [of_gpus("a", 1)])
    largest = f"container-{sizes.index(5)}-request-0"
    assert asked == {largest: 4, "container-2-request-0": 1}
    assert {name for name, request in used if request == largest} == {"init-0", "init-1"}


def test_a_capacity_that_cannot_be_checked_is_an_error_also_of_a_device_that_is_tainted() -> None:
    device = gpus(1)[0]
    step = {"min": "1m", "step": "1m"}
    device["capacity"] = {"m": {"value": "1", "requestPolicy": {"default": "1m", "validRange": step}}}
    device["taints"] = [{"key": "k", "effect": "NoSchedule"}]
    wanted = claim("wanted")
    request = wanted["spec"]["devices"]["requests"][0]["exactly"]
    request["capacity"] = {"requests": {"m": "1500u"}}
    cluster = Cluster()
    cluster.set_all(
        views(device_class(), node("n0"), slice_of("n0", [device]), wanted, using(pod("p"), wanted))
    )
    filters = PodFilters(cluster, cluster.pods.row_of["default/p"])
    assert filters.devices is not None
    with pytest.raises(AllocationError) as wrong:
        filters.devices.verdict(cluster.nodes.known)
    why = sentences.request_is_too_fine("m", "1500u")
    assert str(wrong.value) == sentences.capacity_cannot_be_checked(
        "default/wanted", "r", "gpu.example.com/n0/gpu-0", why
    )
