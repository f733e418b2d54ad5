"""The embedded server takes the proposals' spellings at its door, in strict mode, too."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.builders import cluster_queue, pod_group
from tests.server.wire import Wire, connected

GROUPS = "/apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups"
QUEUES = "/apis/kueue.x-k8s.io/v1beta2/clusterqueues"
STRICT = "?fieldValidation=Strict"


@pytest.fixture
async def wire() -> AsyncIterator[Wire]:
    async with connected() as wire:
        yield wire


@pytest.mark.parametrize(
    "policy",
    [
        {"gang": {"minCount": 2, "disruptionMode": "PodGroup"}},
        {"gang": {"minCount": 2, "preemptionMode": "PodGroup"}},
        {"gang": {"minCount": 2}, "disruptionMode": "PodGroup"},
    ],
)
async def test_a_group_of_the_proposal_goes_whole(wire: Wire, policy: dict[str, Any]) -> None:
    made = await wire.post(GROUPS + STRICT, pod_group("g", schedulingPolicy=policy))
    assert made.status == 201, made.message
    assert made.body["spec"]["disruptionMode"] == {"all": {}}
    assert made.body["spec"]["schedulingPolicy"] == {"gang": {"minCount": 2}}


async def test_a_group_that_contradicts_itself_is_refused(wire: Wire) -> None:
    gang = {"gang": {"minCount": 2, "disruptionMode": "PodGroup"}}
    refused = await wire.post(GROUPS, pod_group("g", mode="single", schedulingPolicy=gang))
    assert refused.status == 422
    assert "says something else than spec.disruptionMode" in refused.message


async def test_a_queue_of_kep_582_preempts_before_the_next_flavor(wire: Wire) -> None:
    own = {"flavorFungibility": {"whenCanBorrow": "Borrow", "whenCanPreempt": "Preempt"}}
    made = await wire.post(QUEUES + STRICT, cluster_queue("cq", preemption=own))
    assert made.status == 201, made.message
    assert made.body["spec"]["flavorFungibility"]["whenCanPreempt"] == "MayStopSearch"


async def test_a_group_is_completed_from_its_workloads_template(wire: Wire) -> None:
    workloads = "/apis/scheduling.k8s.io/v1beta1/namespaces/default/workloads"
    template = {"name": "t", "schedulingPolicy": {"gang": {"minCount": 3}}, "disruptionMode": {"all": {}}}
    workload = {
        "apiVersion": "scheduling.k8s.io/v1beta1", "kind": "Workload",
        "metadata": {"name": "w"}, "spec": {"podGroupTemplates": [template]},
    }  # fmt: skip
    assert (await wire.post(workloads, workload)).status == 201
    group = pod_group("g", 3, workloadRef={"workloadName": "w", "templateName": "t"})
    made = await wire.post(GROUPS, group)
    assert made.body["spec"]["disruptionMode"] == {"all": {}}
    other = pod_group("h", None, workloadRef={"workloadName": "w", "templateName": "t"})
    refused = await wire.post(GROUPS, other)
    assert refused.status == 422
    assert "its template 't' says" in refused.message
