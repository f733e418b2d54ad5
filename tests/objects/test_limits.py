"""Limits without requests, resources of a whole pod, and what else an API server fills in before anybody
decides: the same through every door."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprieve.objects import Context, InvalidObject, admit, decode_all, decode_as, json_decoder, pod_requests
from reprieve.objects.core import LimitRange, Node, Pod
from reprieve.objects.decode import decode_list
from reprieve.objects.defaults.resources import state_requests
from tests.builders import document, node, pod, view
from tests.scale import examples

GPU = "nvidia.com/gpu"
GIB = 2**30


def container(
    name: str = "c", limits: dict[str, Any] | None = None, requests: dict[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    halves = {"limits": limits, "requests": requests}
    resources = {half: amounts for half, amounts in halves.items() if amounts is not None}
    return {"name": name, "image": "i", "resources": resources, **more}


def through_every_door(manifest: dict[str, Any]) -> list[Pod]:
    """From a file, a list and a watch."""
    listed = {"apiVersion": "v1", "kind": "PodList", "items": [manifest]}
    from_file = decode_all([manifest])[0]
    assert isinstance(from_file, Pod)
    return [
        from_file,
        decode_as(manifest, Pod),
        decode_list(json.dumps(listed).encode(), Pod)[0],
        json_decoder(Pod, "v1", "Pod")(json.dumps(manifest).encode()),
    ]


def requests_of(**spec: Any) -> dict[str, int]:
    found = [pod_requests(each.spec) for each in through_every_door(pod(**spec))]
    assert all(each == found[0] for each in found)
    return found[0]


def test_a_container_that_only_has_limits_requests_as_much() -> None:
    limits = {"cpu": "2", "memory": "4Gi", GPU: 8}
    assert requests_of(containers=[container(limits=limits)]) == {"cpu": 2000, "memory": 4 * GIB, GPU: 8}


def test_a_stated_request_stays_and_only_the_missing_ones_come_from_limits() -> None:
    both = container(limits={"cpu": "2", "memory": "4Gi"}, requests={"cpu": "500m", "memory": "0"})
    assert requests_of(containers=[both]) == {"cpu": 500, "memory": 0}


def test_init_containers_and_sidecars_request_what_they_limit() -> None:
    init = container("init", limits={"cpu": "6"})
    sidecar = container("side", limits={"cpu": "1", GPU: 1}, restartPolicy="Always")
    main = container(limits={"cpu": "2"})
    assert requests_of(containers=[main], initContainers=[sidecar, init]) == {"cpu": 7000, GPU: 1}
    assert requests_of(containers=[main], initContainers=[init, sidecar]) == {"cpu": 6000, GPU: 1}


def test_overhead_comes_on_top_of_what_is_only_limited() -> None:
    assert requests_of(containers=[container(limits={"cpu": "1"})], overhead={"cpu": "250m"}) == {"cpu": 1250}


@pytest.mark.parametrize(
    ("whole", "containers", "expected"),
    [
        ({"limits": {"cpu": "4"}}, [container()], {"cpu": 4000}),
        ({"limits": {"cpu": "4"}}, [container(requests={"cpu": "1"})], {"cpu": 1000}),
        ({"limits": {"cpu": "4"}}, [container(requests={"memory": "1Gi"})], {"cpu": 4000, "memory": GIB}),
        ({"requests": {"cpu": "3"}}, [container(limits={"memory": "2Gi"})], {"cpu": 3000, "memory": 2 * GIB}),
        (
            {"limits": {"cpu": "1"}},
            [container(limits={"hugepages-2Mi": "4Mi", "memory": "1Gi"})],
            {"cpu": 1000, "memory": GIB, "hugepages-2Mi": 4 * 2**20},
        ),
        ({}, [container(limits={"cpu": "2"})], {"cpu": 2000}),
    ],
    ids=[
        "only the pod limits",
        "containers request",
        "containers request something else",
        "containers limit",
        "huge pages",
        "nothing for the whole pod",
    ],
)
def test_resources_of_the_whole_pod(
    whole: dict[str, Any], containers: list[dict[str, Any]], expected: dict[str, int]
) -> None:
    assert requests_of(containers=containers, resources=whole) == expected


def test_a_stored_pod_also_states_the_limits_that_follow_from_its_containers() -> None:
    spec: dict[str, Any] = {
        "containers": [container(limits={"cpu": "1"}), container("d", limits={"cpu": "2"})],
        "resources": {"requests": {"cpu": "5"}},
    }
    state_requests(spec)
    assert spec["resources"] == {"requests": {"cpu": "5"}, "limits": {"cpu": "5"}}
    spec["containers"][1]["resources"] = {}
    spec["resources"] = {"requests": {"cpu": "5"}}
    state_requests(spec)
    assert spec["resources"] == {"requests": {"cpu": "5"}}


AMOUNTS = st.dictionaries(
    st.sampled_from(["cpu", "memory", GPU, "ephemeral-storage"]), st.integers(0, 9).map(str), max_size=3
)
CONTAINERS = st.lists(st.tuples(AMOUNTS, AMOUNTS, st.booleans()), min_size=1, max_size=3)


@examples(200)
@given(CONTAINERS, CONTAINERS, st.none() | st.tuples(AMOUNTS, AMOUNTS))
def test_a_pod_decides_the_same_before_and_after_a_server_stored_it(
    containers: list[tuple[dict[str, str], dict[str, str], bool]],
    inits: list[tuple[dict[str, str], dict[str, str], bool]],
    whole: tuple[dict[str, str], dict[str, str]] | None,
) -> None:
    def listed(stated: list[tuple[dict[str, str], dict[str, str], bool]]) -> list[dict[str, Any]]:
        policies: dict[bool, dict[str, str]] = {True: {"restartPolicy": "Always"}, False: {}}
        return [
            container(f"c{index}", limits, requests, **policies[sidecar])
            for index, (limits, requests, sidecar) in enumerate(stated)
        ]

    spec: dict[str, Any] = {"containers": listed(containers), "initContainers": listed(inits)}
    if whole is not None:
        spec["resources"] = {"limits": whole[0], "requests": whole[1]}
    written = requests_of(**spec)
    state_requests(spec)
    assert requests_of(**spec) == written
    stated = [each["resources"] for each in (*spec["containers"], *spec["initContainers"])]
    assert all(each["limits"].keys() <= each.get("requests", {}).keys() for each in stated if each["limits"])


def test_in_the_network_of_its_node_a_pod_takes_the_ports_of_its_containers() -> None:
    ports = [{"containerPort": 8080}, {"containerPort": 53, "hostPort": 5353, "protocol": "UDP"}]
    for found in through_every_door(pod(hostNetwork=True, containers=[container(ports=ports)])):
        assert [(each.host_port, each.protocol) for each in found.spec.containers[0].ports] == [
            (8080, "TCP"),
            (5353, "UDP"),
        ]
    for found in through_every_door(pod(containers=[container(ports=ports)])):
        assert [each.host_port for each in found.spec.containers[0].ports] == [0, 5353]


def test_a_node_without_allocatable_can_give_all_it_has() -> None:
    bare = node("n", 4, status={"allocatable": {}, "capacity": {"cpu": "8"}})
    found = view(bare)
    assert isinstance(found, Node)
    assert found.status.allocatable == {"cpu": "8"}


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ({"defaultRequest": {"cpu": "1"}, "default": {"cpu": "2"}}, "1"),
        ({"default": {"cpu": "2"}, "max": {"cpu": "4"}}, "2"),
        ({"max": {"cpu": "4"}, "min": {"cpu": "1"}}, "4"),
        ({"min": {"cpu": "1"}}, "1"),
    ],
)
def test_a_limit_range_says_what_containers_request_by_default(stated: dict[str, Any], expected: str) -> None:
    limits = [{"type": "Container", **stated}, {"type": "Pod", **stated}]
    found = view({**document("LimitRange", "l", "default", spec={"limits": limits}), "apiVersion": "v1"})
    assert isinstance(found, LimitRange)
    assert found.spec.limits[0].default_request == {"cpu": expected}
    assert found.spec.limits[1].default_request == stated.get("defaultRequest", {})


def problems_of(**spec: Any) -> dict[str, str]:
    _, problems = admit(pod(**spec), Context(lambda _gate: True))
    return {problem.path: problem.message for problem in problems}


def test_half_a_device_is_refused_by_name() -> None:
    found = problems_of(containers=[container(limits={GPU: "0.5"})])
    assert found[f"spec.containers[0].resources.limits[{GPU}]"] == (
        f"must be an integer, got '0.5': {GPU} is handed out in whole ones"
    )


REFUSED: list[tuple[dict[str, Any], str, str]] = [
    (
        container(limits={GPU: 2}, requests={GPU: 1}),
        f"requests[{GPU}]",
        "must be equal to the limit of 2, got 1",
    ),
    (
        container(limits={"cpu": "1"}, requests={"cpu": "2"}),
        "requests[cpu]",
        "must be less than or equal to the limit of 1, got '2'",
    ),
    (
        container(requests={GPU: 1}),
        f"limits[{GPU}]",
        f"is required: {GPU} must be limited to what is requested, 1",
    ),
    (container(limits={"cpu": "-1"}), "limits[cpu]", "must not be negative, got '-1'"),
    (
        container(limits={"gpu": 1}),
        "limits[gpu]",
        "'gpu' is not a resource for containers: devices have a domain, as nvidia.com/gpu",
    ),
    (
        container(limits={"hugepages-2Mi": "4Mi"}),
        "",
        "huge pages need a request or limit of cpu or memory beside them",
    ),
    (
        container(limits={"cpu": 1, "hugepages-2Mi": "3Mi"}),
        "limits[hugepages-2Mi]",
        "must be a multiple of the page size, got '3Mi'",
    ),
]


@pytest.mark.parametrize(("each", "place", "message"), REFUSED, ids=[message for _, _, message in REFUSED])
def test_an_api_server_refuses(each: dict[str, Any], place: str, message: str) -> None:
    path = "spec.containers[0].resources" + (f".{place}" if place else "")
    assert problems_of(containers=[each])[path] == message
    init = problems_of(containers=[container()], initContainers=[each])
    assert init[path.replace("containers", "initContainers")] == message


def test_a_pod_as_a_whole_has_at_least_what_its_containers_have_together() -> None:
    containers = [
        container(requests={"cpu": "2"}),
        container("d", limits={"cpu": "9"}, requests={"cpu": "1"}),
    ]
    found = problems_of(containers=containers, resources={"requests": {"cpu": "2"}, "limits": {"cpu": "8"}})
    assert found == {
        "spec.resources.requests[cpu]": "must be at least what the containers state together, 3, got '2'",
        "spec.containers[1].resources.limits[cpu]": (
            "must be less than or equal to the pod's limit of 8, got '9'"
        ),
    }
    found = problems_of(containers=[container()], resources={"limits": {GPU: 1}})
    assert found[f"spec.resources.limits[{GPU}]"].startswith(f"'{GPU}' is not a resource for a whole pod")


def test_a_bad_quantity_for_the_whole_pod_is_reported_and_breaks_nothing() -> None:
    found = problems_of(containers=[container()], resources={"limits": {"cpu": "many"}})
    assert "is not a quantity" in found["spec.resources.limits[cpu]"]
    for each in through_every_door(pod(containers=[container()], resources={"limits": {"cpu": "many"}})):
        assert each.spec.resources is not None


def test_what_is_no_resource_list_at_all_is_still_an_error_with_its_path() -> None:
    with pytest.raises(InvalidObject) as refused:
        view(pod(containers=[container(limits=["nvidia.com/gpu"])]))  # type: ignore[arg-type]
    assert refused.value.path == "spec.containers[0].resources.limits"
