"""PodGroups and pods that name a workload which somebody else has made: a manager's copy becomes theirs,
another's stays another's.
"""

from typing import Any

from msgspec import convert

from reprieve.admission import WorkloadPriorities
from reprieve.controllers.quota.crews import reconcile_crew
from reprieve.controllers.quota.groups import reconcile_group
from reprieve.controllers.quota.owners import CREWS, Asker, OwnerId
from reprieve.jobs import JobKinds
from reprieve.kube import Client
from reprieve.objects import Pod, PodGroup, Workload, set_condition, well_known
from tests import builders
from tests.builders import Document
from tests.controllers.memory_api import MemoryApi
from tests.controllers.test_fleet_kinds import pods_in, the
from tests.controllers.virtual_time import utc_now

NAMED = {well_known.QUEUE_LABEL: "main", well_known.PREBUILT_WORKLOAD_LABEL: "w"}


class Scene:
    """A group of one pod that names the workload `w`, which is admitted if it is there."""

    def __init__(self, *owners: str, copy: bool = True, **pod: Any) -> None:
        self.api = MemoryApi()
        self.group = self.api.put("podgroups", builders.pod_group("g", 1, namespace="ml", labels=NAMED))
        self.api.put("pods", builders.pod("g-0", 1, group="g", namespace="ml", **pod))
        if copy:
            self.api.put("workloads", _admitted(owners))

    async def reconcile(self) -> None:
        found = self.api.get("workloads", "ml", "w")
        await reconcile_group(
            Client(self.api.transport()),
            convert(self.group, PodGroup),
            [convert(each, Pod) for each in pods_in(self.api).values()],
            convert(found, Workload) if found else None,
            {},
            WorkloadPriorities(),
        )

    @property
    def gates(self) -> list[Document]:
        found: list[Document] = pods_in(self.api)["g-0"]["spec"].get("schedulingGates") or []
        return found


def _admitted(owners: tuple[str, ...]) -> Document:
    made = builders.reserved(builders.workload("w", 1, namespace="ml"))
    made["metadata"]["ownerReferences"] = [builders.owned_by("PodGroup", uid, uid) for uid in owners]
    set_condition(made, "Admitted", True, "Admitted", "", utc_now())
    return made


GATED: Document = {"schedulingGates": [{"name": well_known.ADMISSION_GATE}]}


async def test_a_copy_from_a_manager_gets_its_group_as_owner_and_the_pods_their_quota() -> None:
    """A scheduler looks for the workload of a group by its owner: without one it holds the pods for ever."""
    scene = Scene(**GATED)
    await scene.reconcile()
    [owner] = the(scene.api.get("workloads", "ml", "w"))["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["uid"]) == ("PodGroup", scene.group["metadata"]["uid"])
    assert scene.gates == []


async def test_a_group_that_names_the_workload_of_another_gets_none_of_its_quota() -> None:
    scene = Scene("somebody-else", **GATED)
    await scene.reconcile()
    assert scene.gates == GATED["schedulingGates"]


async def test_pods_of_such_a_group_that_run_are_removed() -> None:
    scene = Scene("somebody-else", on="n1")
    await scene.reconcile()
    assert pods_in(scene.api) == {}


async def test_a_workload_that_is_named_and_not_there_is_not_made() -> None:
    """A manager that withdraws its copy must not find another one in its place."""
    scene = Scene(copy=False, **GATED)
    await scene.reconcile()
    assert scene.api.get("workloads", "ml", "w") is None


async def test_pods_that_name_the_workload_of_a_job_as_their_group_get_none_of_its_quota() -> None:
    api = MemoryApi()
    labels = {well_known.QUEUE_LABEL: "main", well_known.POD_GROUP_NAME_LABEL: "w"}
    for name, more in (("gated", GATED), ("runs", {"on": "n1"})):
        api.put("pods", builders.pod(name, 1, namespace="ml", labels=labels, **more))
    stored = _admitted(())
    stored["metadata"]["ownerReferences"] = [builders.owned_by("Job", "honest")]
    stored = api.put("workloads", stored)
    pods = {name: convert(each, Pod) for name, each in pods_in(api).items()}
    workload = convert(stored, Workload)
    client = Client(api.transport())
    crew = Asker(OwnerId(CREWS, "ml", "w"), pods=pods)
    await reconcile_crew(client, crew, stored, workload, {}, WorkloadPriorities(), JobKinds())
    assert {name: pod["spec"].get("schedulingGates") for name, pod in pods_in(api).items()} == {
        "gated": GATED["schedulingGates"]
    }
    assert the(api.get("workloads", "ml", "w"))["metadata"]["ownerReferences"] == [
        builders.owned_by("Job", "honest")
    ]
