"""Jobs of every kind, and gangs, from the manager to the worker that won, and home again.

Here the tests are the quota controllers: they write what those would write into workloads and copies.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from reprieve.controllers import quota
from reprieve.controllers.fleet import Manager
from reprieve.fleet import FleetSettings, sentences
from reprieve.jobs import JobKind, JobKinds
from reprieve.kube import Client
from reprieve.objects import condition_of, read_documents, set_condition, well_known
from tests import builders
from tests.controllers.any_kind import EXAMPLES
from tests.controllers.memory_api import Document, MemoryApi
from tests.controllers.virtual_time import utc_now
from tests.kinds_table import show
from tests.waiting import eventually

FOLDER = Path(__file__).parents[2] / "examples" / "20-any-job"
KINDS = JobKinds()
PREBUILT, ORIGIN = well_known.PREBUILT_WORKLOAD_LABEL, well_known.ORIGIN_LABEL


class Scene:
    """A manager and its workers, in memory."""

    def __init__(self, *workers: str) -> None:
        self.home = MemoryApi()
        self.workers = {name: MemoryApi() for name in workers}
        parameters = {"name": "all"}
        spec = {"controllerName": well_known.MULTIKUEUE_CONTROLLER, "parameters": parameters}
        self.home.put("admissionchecks", {"metadata": {"name": "fleet"}, "spec": spec})
        self.home.put("multikueueconfigs", {"metadata": {"name": "all"}, "spec": {"clusters": [*workers]}})
        for name in workers:
            self.home.put("multikueueclusters", {"metadata": {"name": name}, "spec": {"clusterSource": name}})

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async def connect(cluster: Document) -> Client:
            return Client(self.workers[cluster["metadata"]["name"]].transport())

        manager = Manager(Client(self.home.transport()), connect, FleetSettings(gated=False), now=utc_now)
        task = asyncio.create_task(manager.run())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    def submit(self, plural: str, owner: Document, name: str = "w", **metadata: Any) -> Document:
        """The owner and its workload, which holds quota on the manager."""
        owner = self.home.put(plural, owner)
        reference = {
            "apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"],
            "uid": owner["metadata"]["uid"], "controller": True,
        }  # fmt: skip
        made = builders.workload(name, namespace=owner["metadata"]["namespace"])
        made["metadata"] |= {"ownerReferences": [reference], **metadata}
        made["status"] = {"admissionChecks": [{"name": "fleet", "state": "Pending"}]}
        set_condition(made, "QuotaReserved", True, "QuotaReserved", "", utc_now())
        return self.home.put("workloads", made)

    async def admitted(self, worker: str, name: str = "w") -> None:
        api = self.workers[worker]
        await eventually(lambda: api.get("workloads", "ml", name), f"{worker} has its copy")
        self.say(worker, "Admitted", name)

    def say(self, worker: str, condition: str, name: str = "w", message: str = "") -> None:
        copy = self.workers[worker].get("workloads", "ml", name)
        assert copy is not None
        set_condition(copy, condition, True, condition, message, utc_now())
        self.workers[worker].put("workloads", copy)

    def home_workload(self) -> Document:
        found = self.home.get("workloads", "ml", "w")
        assert found is not None
        return found


def example(name: str) -> tuple[str, Document]:
    """The resource and the job, in a queue."""
    *_, job = (source.document for source in read_documents(FOLDER / f"{name}.yaml"))
    kind = KINDS.find(job)
    assert kind is not None
    job["metadata"].setdefault("labels", {})[well_known.QUEUE_LABEL] = "main"
    job["metadata"]["annotations"] = {"team": "vision"}
    return kind.plural, job


def the_kind(job: Document) -> JobKind:
    found = KINDS.find(job)
    assert found is not None
    return found


def the(found: Document | None) -> Document:
    assert found is not None
    return found


def field(document: Document, path: str) -> Any:
    found: Any = document
    for part in path.split("."):
        found = (found or {}).get(part)
    return found


HELD_BY_PODS = ["deployment", "leaderworkerset", "replicationcontroller", "statefulset", "volcanojob"]
"""Kinds that cannot be suspended: their pods travel."""


@pytest.mark.parametrize("name", [name for name in EXAMPLES if name not in HELD_BY_PODS])
async def test_a_job_of_any_kind_runs_on_the_winner_and_its_end_comes_home(name: str) -> None:
    plural, job = example(name)
    kind, title = KINDS.find(job), job["metadata"]["name"]
    assert kind is not None
    scene = Scene("eu", "us")
    async with scene.running():
        scene.submit(plural, job)
        await scene.admitted("eu")
        eu, us = scene.workers["eu"], scene.workers["us"]
        remote = await eventually(lambda: eu.get(plural, "ml", title), "the job is on the winner")
        assert us.get(plural, "ml", title) is None
        await eventually(lambda: us.get("workloads", "ml", "w") is None, "the others are withdrawn")
        labels = remote["metadata"]["labels"]
        assert (labels[PREBUILT], labels[ORIGIN]) == ("w", "multikueue")
        assert labels[well_known.QUEUE_LABEL] == "main"
        assert remote["metadata"]["annotations"] == {"team": "vision"}
        assert field(remote, kind.suspend) is True
        assert "ownerReferences" not in remote["metadata"]
        assert scene.home_workload()["status"]["clusterName"] == "eu"

        eu.put(plural, {**remote, "status": {"outcome": "all went well"}})
        scene.say("eu", "Finished", message="done")
        await eventually(
            lambda: condition_of(scene.home_workload(), "Finished").get("message") == "done", "it is over"
        )
        assert the(scene.home.get(plural, "ml", title))["status"] == {"outcome": "all went well"}
        await eventually(lambda: eu.get("workloads", "ml", "w") is None, "the copy is gone")
        assert eu.get(plural, "ml", title) is None, "the job went before its copy"
    show(kind, "fleet", "the job")


def test_every_kind_of_the_table_but_makers_of_jobs_has_an_example() -> None:
    shown = [the_kind(example(name)[1]) for name in EXAMPLES]
    assert [each.kind for each in KINDS if each.asks != "none" and each not in shown] == ["ReplicaSet"]


@pytest.mark.parametrize("name", HELD_BY_PODS)
async def test_what_cannot_be_suspended_travels_as_its_pods(name: str) -> None:
    """They belong to it by their controller, or by the labels with which they ask for quota together."""
    plural, job = example(name)
    title = job["metadata"]["name"]
    scene = Scene("eu")
    home, eu = scene.home, scene.workers["eu"]
    owner = {"apiVersion": job["apiVersion"], "kind": job["kind"], "name": title, "controller": True}
    home.put("pods", builders.pod("by-owner", 1, namespace="ml", metadata={"ownerReferences": [owner]}))
    home.put("pods", builders.pod("stranger", 1, namespace="ml"))
    async with scene.running():
        scene.submit(plural, job, "crew-1")
        await scene.admitted("eu", "crew-1")
        await eventually(lambda: set(pods_in(eu)) == {"by-owner"}, "its pod is there")
        group, replica = well_known.POD_GROUP_NAME_LABEL, "leaderworkerset.sigs.k8s.io/group-index"
        home.put("pods", builders.pod("by-name", 1, namespace="ml", labels={group: "crew-1"}))
        home.put("pods", builders.pod("mine", 1, namespace="ml", labels={group: "crew", replica: "1"}))
        home.put("pods", builders.pod("other", 1, namespace="ml", labels={group: "crew", replica: "0"}))
        await eventually(
            lambda: set(pods_in(eu)) == {"by-owner", "by-name", "mine"}, "all its pods are there"
        )
        assert eu.get(plural, "ml", title) is None, "who makes them stays"
        home.remove("workloads", "ml", "crew-1")
        await eventually(lambda: not pods_in(eu), "they leave with their workload")
    show(the_kind(job), "fleet", "its pods")


async def test_a_job_that_the_fleet_manages_shows_the_workers_status_all_the_time() -> None:
    plural, job = example("pytorchjob")
    job["spec"]["runPolicy"] = {"managedBy": well_known.MULTIKUEUE_CONTROLLER}
    scene, title = Scene("eu"), job["metadata"]["name"]
    async with scene.running():
        scene.submit(plural, job)
        await scene.admitted("eu")
        eu = scene.workers["eu"]
        remote = await eventually(lambda: eu.get(plural, "ml", title), "the job is there")
        assert "managedBy" not in remote["spec"]["runPolicy"], "there its own controller manages it"
        eu.put(plural, {**remote, "status": {"active": 3}})
        await eventually(
            lambda: (scene.home.get(plural, "ml", title) or {}).get("status") == {"active": 3}, "it is shown"
        )


async def test_a_worker_that_does_not_serve_the_kind_gets_no_copy() -> None:
    plural, job = example("rayjob")
    scene = Scene("eu", "us")
    scene.workers["eu"].unserved = {plural}
    async with scene.running():
        scene.submit(plural, job)
        await scene.admitted("us")
        await eventually(lambda: scene.home_workload()["status"].get("clusterName") == "us", "us has it")
        assert scene.workers["eu"].get("workloads", "ml", "w") is None


async def test_where_no_worker_serves_the_kind_the_check_says_so() -> None:
    plural, job = example("rayjob")
    scene = Scene("eu")
    scene.workers["eu"].unserved = {plural}
    async with scene.running():
        scene.submit(plural, job)

        def message() -> str:
            [check] = scene.home_workload()["status"]["admissionChecks"]
            assert check["state"] == "Pending", "one may learn to"
            return check.get("message", "")

        told = await eventually(message, "it is told")
        assert told == sentences.no_worker_can_run_it(["eu: RayJob (ray.io) is not served there"])


async def test_somebody_elses_job_of_the_same_name_is_left_alone(caplog: Any) -> None:
    plural, job = example("jobset")
    scene, title = Scene("eu"), job["metadata"]["name"]
    eu = scene.workers["eu"]
    eu.put(plural, {"metadata": {"name": title, "namespace": "ml"}, "spec": {"theirs": True}})
    async with scene.running():
        scene.submit(plural, job)
        await scene.admitted("eu")
        await eventually(lambda: "is somebody else's: delete it" in caplog.text, "it is told")
        scene.home.remove("workloads", "ml", "w")
        await eventually(lambda: eu.get("workloads", "ml", "w") is None, "the copy is withdrawn")
        theirs = eu.get(plural, "ml", title)
        assert theirs is not None
        assert theirs["spec"] == {"theirs": True}


QUOTA = [
    builders.flavor(nodeLabels={"pool": "gpu"}),
    builders.local_queue("main", "cq", namespace="ml"),
]


def only_cpu(value: Any) -> Any:
    """The same job, which needs nothing but cpu, and no class."""
    if isinstance(value, list):
        return [only_cpu(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        key: {"requests": {"cpu": "1"}} if key == "resources" else only_cpu(each)
        for key, each in value.items()
        if key not in ("priorityClassName", "priorityClass")
    }


def with_quota_on_both_sides(kind: JobKind) -> Scene:
    scene = Scene("eu")
    home, eu = scene.home, scene.workers["eu"]
    strategy = {"admissionChecksStrategy": {"admissionChecks": [{"name": "fleet"}]}}
    queues: list[tuple[MemoryApi, Document]] = [(home, strategy), (eu, {})]
    for api, more in queues:
        api.groups = {kind.group}
        api.put("namespaces", {"metadata": {"name": "ml"}})
        for each in (*QUOTA, builders.cluster_queue("cq", 1000, **more)):
            api.put(f"{each['kind'].lower()}s", each)
    check = the(home.get("admissionchecks", "", "fleet"))
    set_condition(check, "Active", True, "Active", "", utc_now())
    home.put("admissionchecks", check)
    return scene


@pytest.mark.parametrize("name", ["jobset", "pytorchjob"])
async def test_with_quota_on_both_sides_the_job_starts_on_the_worker_and_nowhere_else(name: str) -> None:
    """The manager's quota controller makes the workload; the worker's admits the copy and starts the job."""
    plural, job = example(name)
    kind, title = KINDS.find(job), job["metadata"]["name"]
    assert kind is not None
    scene = with_quota_on_both_sides(kind)
    home, eu = scene.home, scene.workers["eu"]
    async with scene.running(), asyncio.TaskGroup() as group:
        tasks = [group.create_task(quota.run(Client(api.transport()))) for api in (home, eu)]
        home.put(plural, only_cpu(job))

        def started() -> bool:
            remote = eu.get(plural, "ml", title)
            return remote is not None and field(remote, kind.suspend) is False

        await eventually(started, "the job starts on the worker")
        assert field(the(home.get(plural, "ml", title)), kind.suspend) is True, "here it stays suspended"
        for task in tasks:
            task.cancel()


def made_by(maker: Document, name: str, template: Document, **labels: str) -> Document:
    """A pod as the controller of a StatefulSet makes it: also those of a LeaderWorkerSet have one."""
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": maker["metadata"]["name"], "uid": "s"}
    labels |= template["metadata"]["labels"]
    metadata = {
        "name": name,
        "namespace": "ml",
        "labels": labels,
        "ownerReferences": [{**owner, "controller": True}],
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": deepcopy(template["spec"])}


@pytest.mark.parametrize("name", ["statefulset", "leaderworkerset"])
async def test_pods_of_what_asks_by_its_templates_start_on_the_worker_and_nowhere_else(name: str) -> None:
    """Neither the workload nor its copy has the name by which the pods know that they belong together."""
    plural, job = example(name)
    kind = KINDS.find(job)
    assert kind is not None
    scene = with_quota_on_both_sides(kind)
    home, eu = scene.home, scene.workers["eu"]
    async with scene.running(), asyncio.TaskGroup() as group:
        tasks = [group.create_task(quota.run(Client(api.transport()))) for api in (home, eu)]
        home.put(plural, only_cpu(job))

        def template() -> Document | None:
            spec = the(home.get(plural, "ml", job["metadata"]["name"]))["spec"]
            found = spec.get("leaderWorkerTemplate", spec)
            found = found.get("workerTemplate") or found.get("template")
            return found if found["spec"].get("schedulingGates") else None

        held = await eventually(template, "its pods are held")
        replicas = {"leaderworkerset.sigs.k8s.io/name": job["metadata"]["name"]}
        for number in range(2):
            told = {**replicas, "leaderworkerset.sigs.k8s.io/group-index": str(number)}
            labels = told if name == "leaderworkerset" else {}
            home.put("pods", made_by(job, f"p{number}", held, **labels))

        def free() -> set[str]:
            return {key for key, pod in pods_in(eu).items() if not pod["spec"].get("schedulingGates")}

        await eventually(lambda: free() == {"p0", "p1"}, "its pods have quota on the worker")
        assert all(pod["spec"]["schedulingGates"] for pod in pods_in(home).values())
        for task in tasks:
            task.cancel()


# Gangs


def member(name: str, **more: Any) -> Document:
    made = builders.pod(name, 1, group="g", namespace="ml", **more)
    made["spec"]["priority"] = 7
    return made


def gang_in_queue(**spec: Any) -> Document:
    made = builders.pod_group("g", 2, namespace="ml", **spec)
    made["metadata"]["labels"] = {well_known.QUEUE_LABEL: "main"}
    return made


def pods_in(api: MemoryApi) -> dict[str, Document]:
    return {pod["metadata"]["name"]: pod for pod in api.all("pods")}


async def test_a_gang_moves_with_its_pods_and_their_ends_come_home() -> None:
    scene = Scene("eu")
    home, eu = scene.home, scene.workers["eu"]
    for name in ("a", "b"):
        home.put("pods", member(name))
    async with scene.running():
        scene.submit("podgroups", gang_in_queue())
        await scene.admitted("eu")
        await eventually(lambda: set(pods_in(eu)) == {"a", "b"}, "both pods are there")
        group = eu.get("podgroups", "ml", "g")
        assert group is not None
        assert group["spec"]["schedulingPolicy"] == {"gang": {"minCount": 2}}
        assert group["metadata"]["labels"][PREBUILT] == "w"
        pod = pods_in(eu)["a"]
        assert pod["spec"]["schedulingGates"] == [{"name": well_known.ADMISSION_GATE}], "quota lifts it there"
        assert "priority" not in pod["spec"], "it is the worker's class that gives it"
        assert pod["spec"]["schedulingGroup"] == {"podGroupName": "g"}

        home.put("pods", member("c"))
        await eventually(lambda: set(pods_in(eu)) == {"a", "b", "c"}, "a pod that comes later follows")
        home.remove("pods", "ml", "c")
        await eventually(lambda: set(pods_in(eu)) == {"a", "b"}, "one that goes is taken back")

        for name, pod in pods_in(eu).items():
            eu.put("pods", {**pod, "status": {"phase": "Running", "podIP": f"10.0.0.{ord(name)}"}})
        await eventually(
            lambda: {pod["status"]["phase"] for pod in pods_in(home).values()} == {"Running"}, "they run"
        )
        for pod in pods_in(eu).values():
            eu.put("pods", {**pod, "status": {"phase": "Succeeded"}})
        scene.say("eu", "Finished", message="2 of 2 pods succeeded")
        await eventually(lambda: condition_of(scene.home_workload(), "Finished"), "it is over")
        assert {pod["status"]["phase"] for pod in pods_in(home).values()} == {"Succeeded"}
        await eventually(lambda: eu.get("workloads", "ml", "w") is None, "the copy is withdrawn")
        assert (pods_in(eu), eu.get("podgroups", "ml", "g")) == ({}, None)


async def test_a_gang_evicted_on_its_worker_lives_on_and_goes_elsewhere() -> None:
    scene = Scene("eu", "us")
    home, eu, us = scene.home, scene.workers["eu"], scene.workers["us"]
    home.put("pods", member("a"))
    async with scene.running():
        scene.submit("podgroups", gang_in_queue())
        await scene.admitted("eu")
        pod = await eventually(lambda: pods_in(eu).get("a"), "it is in eu")
        going = {**pod, "status": {"phase": "Failed"}}
        going["metadata"] = {**pod["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}
        eu.put("pods", going)
        copy = the(eu.get("workloads", "ml", "w"))
        set_condition(copy, "Admitted", False, "Evicted", "", utc_now())
        set_condition(copy, "Evicted", True, "Preempted", "", utc_now())
        eu.put("workloads", copy)

        def state() -> str:
            return scene.home_workload()["status"]["admissionChecks"][0]["state"]

        await eventually(lambda: state() == "Retry", "the manager is asked to start again")
        assert pods_in(home)["a"].get("status", {}).get("phase") != "Failed", "it lives on"
        lost = scene.home_workload()
        set_condition(lost, "QuotaReserved", False, "Pending", "", utc_now())
        home.put("workloads", lost)
        await eventually(lambda: not pods_in(eu) and eu.get("workloads", "ml", "w") is None, "eu is empty")
        again = scene.home_workload()
        again["status"] = {"admissionChecks": [{"name": "fleet", "state": "Pending"}]}
        set_condition(again, "QuotaReserved", True, "QuotaReserved", "", utc_now())
        home.put("workloads", again)
        await scene.admitted("us")
        await eventually(lambda: pods_in(us).get("a"), "it runs elsewhere")


async def test_a_pod_made_anew_under_its_name_gets_a_new_copy() -> None:
    scene = Scene("eu")
    home, eu = scene.home, scene.workers["eu"]
    home.put("pods", member("a"))
    async with scene.running():
        scene.submit("podgroups", gang_in_queue())
        await scene.admitted("eu")
        first = await eventually(lambda: pods_in(eu).get("a"), "it is there")
        eu.put("pods", {**first, "status": {"phase": "Failed"}})
        await eventually(lambda: pods_in(home)["a"].get("status") == {"phase": "Failed"}, "its end is told")
        home.remove("pods", "ml", "a")
        home.put("pods", member("a"))
        await eventually(
            lambda: pods_in(eu).get("a", first)["metadata"]["uid"] != first["metadata"]["uid"], "made anew"
        )
        assert pods_in(home)["a"].get("status", {}).get("phase") != "Failed"


async def test_pods_that_own_a_workload_by_themselves_travel_too() -> None:
    scene = Scene("eu")
    lone = builders.pod("lone", 1, namespace="ml")
    scene.home.put("pods", lone)
    async with scene.running():
        scene.submit("pods", lone)
        await scene.admitted("eu")
        await eventually(lambda: "lone" in pods_in(scene.workers["eu"]), "it is there")
        scene.home.remove("workloads", "ml", "w")
        await eventually(lambda: not pods_in(scene.workers["eu"]), "and leaves with its workload")


async def test_a_tree_of_groups_is_refused_with_a_sentence() -> None:
    scene = Scene("eu")
    async with scene.running():
        scene.submit("podgroups", gang_in_queue(parentCompositePodGroupName="tree"))

        def check() -> Document:
            return scene.home_workload()["status"]["admissionChecks"][0]

        await eventually(lambda: check()["state"] == "Rejected", "it is refused")
        assert check()["message"] == sentences.tree_cannot_be_sent("g", "tree")
        assert scene.workers["eu"].get("workloads", "ml", "w") is None


async def test_gates_of_others_and_the_owner_survive_dispatch_for_every_kind() -> None:
    plural, job = example("rayjob")
    scene = Scene("eu")
    async with scene.running():
        workload = scene.submit(plural, job)
        workload["spec"]["preemptionGates"] = [{"name": "example.com/review"}]
        scene.home.put("workloads", workload)

        def gates() -> list[Document]:
            return (scene.workers["eu"].get("workloads", "ml", "w") or {"spec": {}})["spec"].get(
                "preemptionGates", []
            )

        await eventually(lambda: {"name": "example.com/review"} in gates(), "the gate is on the copy")
        noted = the(scene.workers["eu"].get("workloads", "ml", "w"))["metadata"]["annotations"]
        assert noted[well_known.FLEET_OWNER_ANNOTATION] == f"RayJob.ray.io/{job['metadata']['name']}"
