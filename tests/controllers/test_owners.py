"""Which workload belongs to what: by its owner, whatever its name."""

import asyncio
from typing import Any, Literal

import pytest

from reprieve.controllers import quota
from reprieve.controllers.quota.owners import CREWS, GROUPS, OwnerId, Owners
from reprieve.jobs import JobKinds, group_label, workload_name
from reprieve.kube import JOBS, KUEUE_WORKLOADS, Change
from reprieve.objects import Document, Pod, PodGroup, Workload, decode_as
from tests import builders
from tests.controllers.clusters import NAMESPACE, Cluster, cluster, is_true, job
from tests.waiting import eventually

KINDS = JobKinds()
QUEUE = "kueue.x-k8s.io/queue-name"
TEMPLATE = {"spec": {"containers": [builders.container(1)]}}


def of_kind(name: str, **spec: Any) -> Document:
    kind = next(each for each in KINDS if each.kind == name)
    meta = {"name": "it", "namespace": "ml", "uid": "u", "labels": {QUEUE: "main"}}
    return {"apiVersion": kind.api_version, "kind": name, "metadata": meta, "spec": spec}


def workload(name: str, *owners: str, made: str = "2026-01-01T00:00:00Z", **more: Document) -> Workload:
    references = [{"kind": "Any", "name": "it", "uid": uid} for uid in owners]
    meta = {"name": name, "namespace": "ml", "ownerReferences": references, "creationTimestamp": made}
    return decode_as({**builders.workload(name), "metadata": meta, **more}, Workload)


class World:
    def __init__(self) -> None:
        self.touched: list[str | OwnerId] = []
        self.owners = Owners(KINDS, self.touched.append)
        self.known: dict[str, Workload] = {}

    def put(self, document: Document, change: Literal["ADDED", "DELETED"] = "ADDED") -> None:
        if document["kind"] == "Pod":
            self.owners.pod_changed(Change(change, None, decode_as(document, Pod)))
        elif document["kind"] == "PodGroup":
            self.owners.group_changed(Change(change, None, decode_as(document, PodGroup)))
        else:
            kind = KINDS.find(document)
            assert kind is not None
            self.owners.job_changed(kind, Change(change, None, document))

    def see(self, *workloads: Workload) -> None:
        for each in workloads:
            self.owners.workload_changed(each.key, self.known.get(each.key), each)
            self.known[each.key] = each

    def lose(self, key: str) -> None:
        self.owners.workload_changed(key, self.known.pop(key), None)

    def key(self, id: OwnerId) -> str:
        asker = self.owners.get(id)
        assert asker is not None
        found = self.owners.key(asker)
        if found in self.known:
            assert self.owners.behind(found, self.known[found]) is asker
        return found


def queued_group() -> Document:
    made = builders.pod_group("it", 2, namespace="ml")
    made["metadata"] |= {"uid": "u", "labels": {QUEUE: "main"}}
    return made


def queued_pod(**labels: str) -> Document:
    made = builders.pod("it", 1, namespace="ml", labels={QUEUE: "main", **labels})
    made["metadata"]["uid"] = "u"
    return made


STATEFUL_SET = of_kind("StatefulSet", template=TEMPLATE)
LABEL = group_label(STATEFUL_SET, next(each for each in KINDS if each.kind == "StatefulSet"))
POD = workload_name("", "Pod", "it", "u")
ANY = [
    (of_kind("Job", template=TEMPLATE), OwnerId("jobs.batch", "ml", "it"), ("batch", "Job")),
    (of_kind("RayJob"), OwnerId("rayjobs.ray.io", "ml", "it"), ("ray.io", "RayJob")),
    (STATEFUL_SET, OwnerId(CREWS, "ml", LABEL), ("apps", "StatefulSet")),
    (queued_group(), OwnerId(GROUPS, "ml", "it"), ("scheduling.k8s.io", "PodGroup")),
    (queued_pod(), OwnerId(CREWS, "ml", POD), ("", "Pod")),
]


@pytest.mark.parametrize(("document", "id", "kind"), ANY, ids=[each["kind"] for each, _, _ in ANY])
@pytest.mark.parametrize("later", ["workload", "owner"])
def test_a_workload_of_any_name_belongs_to_what_it_names_as_its_owner(
    document: Document, id: OwnerId, kind: tuple[str, str], later: str
) -> None:
    """From a version that named it otherwise: a second one would stop what runs."""
    world, kueues = World(), f"ml/{workload_name(*kind, 'it', 'u')}"
    if later == "owner":
        world.see(workload("from-before", "u"))
    world.put(document)
    assert world.key(id) == (kueues if later == "workload" else "ml/from-before")
    world.see(workload("from-before", "u"), workload("anothers", "v"))
    assert world.key(id) == "ml/from-before"
    world.touched.clear()
    world.owners.touch_behind("ml/from-before", world.known["ml/from-before"])
    assert id in world.touched
    world.touched.clear()
    world.put(document, "DELETED")
    assert "workload/ml/from-before" in world.touched
    world.put(document)
    world.lose("ml/from-before")
    assert world.key(id) == kueues, "the next one has Kueue's name"


def test_what_still_runs_comes_before_what_is_over() -> None:
    """Kueue leaves earlier slices of an elastic job behind, Finished."""
    world, over = World(), {"conditions": [{"type": "Finished", "status": "True"}]}
    world.put(of_kind("Job", template=TEMPLATE))
    world.see(
        workload("a", "u", status=over), workload("b", "u", made="2026-01-02T00:00:00Z"), workload("c", "u")
    )
    assert world.key(OwnerId("jobs.batch", "ml", "it")) == "ml/c"


def test_a_job_that_names_its_workload_has_no_other() -> None:
    world, named = World(), of_kind("Job", template=TEMPLATE)
    named["metadata"]["labels"]["kueue.x-k8s.io/prebuilt-workload-name"] = "mine"
    world.see(workload("from-before", "u"))
    world.put(named)
    assert world.key(OwnerId("jobs.batch", "ml", "it")) == "ml/mine"


def test_each_replica_keeps_the_workload_that_it_had() -> None:
    """All of them have one owner: only their names tell them apart."""
    size = {"size": 2, "workerTemplate": TEMPLATE}
    world, document = World(), of_kind("LeaderWorkerSet", replicas=2, leaderWorkerTemplate=size)
    kind = next(each for each in KINDS if each.kind == "LeaderWorkerSet")
    label = group_label(document, kind)
    world.see(workload(f"{label}-1", "u"))
    world.put(document)
    assert world.key(OwnerId(CREWS, "ml", f"{label}-1")) == f"ml/{label}-1"
    kueues = f"ml/{workload_name(kind.group, kind.kind, 'it-0', 'u')}"
    assert world.key(OwnerId(CREWS, "ml", f"{label}-0")) == kueues


def test_a_group_of_pods_has_the_workload_of_its_name_only() -> None:
    world = World()
    world.see(workload("from-before", "u"))
    world.put(queued_pod(**{"kueue.x-k8s.io/pod-group-name": "crew"}))
    assert world.key(OwnerId(CREWS, "ml", "crew")) == "ml/crew"


def test_pods_from_a_manager_have_the_workload_that_they_name() -> None:
    """Their label with the name of their group is that of the manager, where a job had made them."""
    world, named = World(), {"kueue.x-k8s.io/prebuilt-workload-name": "copy"}
    group = {"kueue.x-k8s.io/pod-group-name": "g", "leaderworkerset.sigs.k8s.io/group-index": "1"}
    world.put(queued_pod(**named, **group))
    assert world.key(OwnerId(CREWS, "ml", "copy")) == "ml/copy"


@pytest.mark.parametrize(("document", "id", "kind"), ANY, ids=[each["kind"] for each, _, _ in ANY])
def test_what_is_gone_leaves_nothing(document: Document, id: OwnerId, kind: tuple[str, str]) -> None:
    world, left = World(), workload(workload_name(*kind, "it", "u"), "u")
    world.put(document)
    world.see(left)
    world.put(document, "DELETED")
    assert world.owners.get(id) is None
    assert world.owners.behind(left.key, left) is None


async def test_an_upgrade_stops_no_job_that_runs() -> None:
    """Workloads had other names: the job keeps the one that it has, and the next job gets Kueue's name."""
    async with cluster("one") as place:
        await place.furnish(cpu="8")
        place.start(quota.run(place.client))
        await place.client.create(JOBS, job("old", cpu="1"), NAMESPACE)
        await eventually(lambda: _started(place, "old"), "it runs")
        await place.stop_controllers()
        [before] = (await place.workloads()).values()
        await _rename(place, before, "job-old-from-before")
        place.start(quota.run(place.client))
        await place.client.create(JOBS, job("new", cpu="1"), NAMESPACE)
        await eventually(lambda: _started(place, "new"), "the controller is at work")
        await asyncio.sleep(0.3)  # real: what must not happen has no event
        assert await _started(place, "old")
        new = await place.client.get(JOBS.raw(), "new", NAMESPACE)
        named = workload_name("batch", "Job", "new", new["metadata"]["uid"])
        assert set(await place.workloads()) == {"job-old-from-before", named}
        uid = (await place.workloads())["job-old-from-before"]["metadata"]["uid"]
        await place.client.delete(KUEUE_WORKLOADS, "job-old-from-before", NAMESPACE, uid=uid)
        old = await place.client.get(JOBS.raw(), "old", NAMESPACE)
        again = workload_name("batch", "Job", "old", old["metadata"]["uid"])

        async def asked_anew() -> bool:
            return again in await place.workloads()

        await eventually(asked_anew, "without a workload it asks under Kueue's name")


async def _started(place: Cluster, name: str) -> bool:
    return not (await place.client.get(JOBS.raw(), name, NAMESPACE))["spec"].get("suspend")


async def _rename(place: Cluster, before: Document, name: str) -> None:
    """The same workload, admitted, under another name."""
    assert is_true(before, "Admitted")
    kept = {each: before["metadata"][each] for each in ("namespace", "labels", "ownerReferences")}
    await place.client.delete(
        KUEUE_WORKLOADS, before["metadata"]["name"], NAMESPACE, uid=before["metadata"]["uid"]
    )
    await place.client.create(
        KUEUE_WORKLOADS, {"metadata": {"name": name, **kept}, "spec": before["spec"]}, NAMESPACE
    )
    status = {"status": before["status"]}
    await place.client.patch(KUEUE_WORKLOADS, name, status, NAMESPACE, subresource="status")


def test_pods_that_come_before_their_group_ask_with_it_and_no_longer_by_themselves() -> None:
    """They went on asking by themselves: their Workloads were made and deleted without end."""
    world = World()
    member = builders.pod("one", namespace="ml", schedulingGroup={"podGroupName": "it"})
    member["metadata"] |= {"uid": "p", "labels": {QUEUE: "main"}}
    alone = OwnerId(CREWS, "ml", workload_name("", "Pod", "one", "p"))
    world.put(member)
    assert world.owners.get(alone) is not None
    world.put(queued_group())
    assert world.owners.get(alone) is None
    assert world.owners.get(OwnerId(GROUPS, "ml", "it")) is not None
    world.put(queued_group(), "DELETED")
    assert world.owners.get(alone) is not None
