"""What a pod asks of a node, for pods with init containers, sidecars, pod-level requests, overhead and
resizes.
"""

from typing import Any

import msgspec
import pytest

from reprieve.objects.core import PodSpec, PodStatus
from reprieve.objects.requests import all_requests, nonzero_requests, pod_requests

MIB = 2**20


def container(name: str = "c", **resources: str) -> dict[str, Any]:
    requests = {key.replace("_", "/").replace("0", "."): value for key, value in resources.items()}
    return {"name": name, "resources": {"requests": requests}}


def sidecar(name: str = "s", **resources: str) -> dict[str, Any]:
    return {**container(name, **resources), "restartPolicy": "Always"}


def spec(*containers: dict[str, Any], **more: Any) -> PodSpec:
    return msgspec.convert({"containers": list(containers), **more}, PodSpec)


def status(**fields: Any) -> PodStatus:
    return msgspec.convert(fields, PodStatus)


def test_containers_add_up() -> None:
    assert pod_requests(spec(container(cpu="100m", memory="1Mi"), container("d", cpu="1"))) == {
        "cpu": 1100,
        "memory": MIB,
    }


def test_sums_are_exact_and_only_the_result_is_rounded_up() -> None:
    assert pod_requests(spec(container(cpu="100u"), container("d", cpu="100u"))) == {"cpu": 1}
    assert pod_requests(spec(container(memory="500m"), container("d", memory="500m"))) == {"memory": 1}


def test_init_containers_run_one_after_the_other_so_only_the_peak_counts() -> None:
    inits = [container("i", cpu="3"), container("j", cpu="2")]
    assert pod_requests(spec(container(cpu="1"), initContainers=inits)) == {"cpu": 3000}
    assert pod_requests(spec(container(cpu="4"), initContainers=inits)) == {"cpu": 4000}


def test_sidecars_run_beside_the_containers_and_beside_later_init_containers() -> None:
    before = [sidecar(cpu="1"), container("i", cpu="3")]
    after = [container("i", cpu="3"), sidecar(cpu="1")]
    assert pod_requests(spec(container(cpu="1"), initContainers=before)) == {"cpu": 4000}
    assert pod_requests(spec(container(cpu="1"), initContainers=after)) == {"cpu": 3000}


def test_a_value_for_the_whole_pod_replaces_the_sum() -> None:
    resources = {"requests": {"cpu": "500m", "hugepages-2Mi": "2Mi", "example.com/x": "9"}}
    asked = pod_requests(spec(container(cpu="2", memory="1Mi"), resources=resources))
    assert asked == {"cpu": 500, "memory": MIB, "hugepages-2Mi": 2 * MIB}


def test_overhead_comes_on_top() -> None:
    assert pod_requests(spec(container(cpu="1"), overhead={"cpu": "250m"})) == {"cpu": 1250}


@pytest.mark.parametrize(
    ("name", "counted"),
    [
        ("cpu", True),
        ("ephemeral-storage", True),
        ("nvidia.com/gpu", True),
        ("hugepages-1Gi", True),
        ("attachable-volumes-x", True),
        ("kubernetes.io/thing", True),
        ("requests.example.com/x", False),
        ("gpu", False),
        ("pods", False),
    ],
)
def test_only_names_a_node_accounts_for_count_for_the_scheduler(name: str, counted: bool) -> None:
    asking = spec({"name": "c", "resources": {"requests": {name: "1"}}})
    assert (name in pod_requests(asking)) is counted
    assert name in all_requests(asking)


def test_a_pod_on_a_node_holds_what_it_was_granted_and_what_it_still_has() -> None:
    shrunk = spec(container(cpu="1", memory="4Mi"))
    granted = {"name": "c", "allocatedResources": {"cpu": "2", "memory": "4Mi"}}
    held = {**granted, "resources": {"requests": {"cpu": "3", "memory": "1Mi"}}}
    assert pod_requests(shrunk, status(containerStatuses=[granted])) == {"cpu": 2000, "memory": 4 * MIB}
    assert pod_requests(shrunk, status(containerStatuses=[held])) == {"cpu": 3000, "memory": 4 * MIB}
    assert pod_requests(shrunk) == {"cpu": 1000, "memory": 4 * MIB}


def test_a_resize_that_can_never_happen_is_not_counted() -> None:
    infeasible = [{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}]
    granted = [{"name": "c", "allocatedResources": {"cpu": "1"}}]
    wanted = spec(container(cpu="64"))
    assert pod_requests(wanted, status(containerStatuses=granted, conditions=infeasible)) == {"cpu": 1000}
    assert pod_requests(wanted, status(containerStatuses=granted)) == {"cpu": 64000}


def test_pod_level_status_replaces_both_status_totals() -> None:
    now = status(allocatedResources={"cpu": "2"}, resources={"requests": {"cpu": "3"}})
    assert pod_requests(spec(container(cpu="1")), now) == {"cpu": 3000}


def test_a_container_that_asks_for_nothing_still_scores_as_a_small_one() -> None:
    assert nonzero_requests(spec(container())) == (100, 200 * MIB)
    assert nonzero_requests(spec(container(), container("d", cpu="1"))) == (1100, 400 * MIB)
    assert nonzero_requests(spec(container(cpu="0", memory="0"))) == (0, 0)
    assert nonzero_requests(spec(container(cpu="1", memory="1Mi"), initContainers=[sidecar()])) == (
        1100,
        201 * MIB,
    )


def test_with_pod_level_requests_only_what_nobody_states_is_filled_in() -> None:
    stated = {"requests": {"cpu": "2"}}
    assert nonzero_requests(spec(container(), resources=stated)) == (2000, 200 * MIB)
    assert nonzero_requests(spec(container(memory="5Mi"), container("d"), resources=stated)) == (
        2000,
        5 * MIB,
    )
