"""The quota controller against an embedded API server over HTTP."""

import asyncio
from functools import partial

from msgspec import convert

from reprieve.admission import WorkloadPriorities
from reprieve.config import Configuration
from reprieve.controllers import quota
from reprieve.controllers.quota.groups import reconcile_group
from reprieve.kube import (
    ADMISSION_CHECKS,
    CLUSTER_QUEUES,
    JOBS,
    KUEUE_WORKLOADS,
    LOCAL_QUEUES,
    POD_GROUPS,
    PODS,
    WORKLOAD_PRIORITY_CLASSES,
)
from reprieve.objects import condition_of
from reprieve.objects.core import Pod
from reprieve.objects.scheduling import PodGroup
from tests import builders
from tests.controllers.clusters import (
    GATES,
    NAMESPACE,
    Cluster,
    Kubelet,
    cluster,
    is_true,
    job,
    workload,
)
from tests.kube.apiserver import Script, ok, status
from tests.waiting import eventually

PRIORITY = "kueue.x-k8s.io/priority-class"


async def the_job(place: Cluster, name: str) -> dict:
    return await place.client.get(JOBS.raw(), name, NAMESPACE)


async def runs(place: Cluster, name: str) -> bool:
    found = await the_job(place, name)
    return not found["spec"]["suspend"] and bool((found.get("status") or {}).get("active"))


async def with_classes(place: Cluster) -> None:
    for name, value in (("low", 1), ("high", 10)):
        await place.client.create(WORKLOAD_PRIORITY_CLASSES, {"metadata": {"name": name}, "value": value})


async def is_so(place: Cluster, name: str, condition: str) -> bool:
    return is_true((await place.workloads()).get(name, {}), condition)


async def test_a_job_gets_the_nodes_of_its_flavor_and_loses_them_when_it_is_evicted() -> None:
    async with cluster("one") as place:
        await place.furnish()
        await with_classes(place)
        place.start(Kubelet(place).run())
        place.start(quota.run(place.client))
        await place.client.create(JOBS, job("first", labels={PRIORITY: "low"}), NAMESPACE)
        await eventually(lambda: runs(place, "first"), "the first job runs")
        assert (await the_job(place, "first"))["spec"]["template"]["spec"]["nodeSelector"] == {"pool": "gpu"}
        await place.client.create(JOBS, job("second", labels={PRIORITY: "high"}), NAMESPACE)
        await eventually(lambda: runs(place, "second"), "the second job runs instead")
        first = await the_job(place, "first")
        assert first["spec"]["suspend"] is True
        assert not first["spec"]["template"]["spec"].get("nodeSelector")
        victim = next(item for name, item in (await place.workloads()).items() if "first" in name)
        reasons = {
            each["type"]: each["reason"]
            for each in victim["status"]["conditions"]
            if each["status"] == "True"
        }
        assert reasons == {"Evicted": "Preempted", "Preempted": "InClusterQueue", "Requeued": "Preempted"}


async def test_the_preemptor_waits_until_the_victims_pods_are_gone() -> None:
    async with cluster("one") as place:
        await place.furnish()
        await with_classes(place)
        kubelet = Kubelet(place, stopping=float("inf"))
        place.start(kubelet.run())
        place.start(quota.run(place.client))
        await place.client.create(JOBS, job("first", labels={PRIORITY: "low"}), NAMESPACE)
        await eventually(lambda: runs(place, "first"), "the first job runs")
        await place.client.create(JOBS, job("second", labels={PRIORITY: "high"}), NAMESPACE)

        async def is_asked_to_leave() -> bool:
            return kubelet.stopped == ["first"]

        await eventually(is_asked_to_leave, "the first job is suspended")

        async def is_told_to_wait() -> bool:
            [waiting] = [each for name, each in (await place.workloads()).items() if "second" in name]
            message = condition_of(waiting, "QuotaReserved").get("message", "")
            return "Pending the preemption of 1 workload(s)" in message

        await eventually(is_told_to_wait, "the second job waits for the first one's pods")
        assert not await runs(place, "second")
        await place.client.patch(JOBS, "first", {"status": {"active": 0}}, NAMESPACE, subresource="status")
        await eventually(lambda: runs(place, "second"), "the second job runs")


async def test_a_restart_resumes_from_the_objects_alone() -> None:
    async with cluster("one") as place:
        await place.furnish()
        await with_classes(place)
        kubelet = Kubelet(place, stopping=float("inf"))
        place.start(kubelet.run())
        first = place.start(quota.run(place.client))
        await place.client.create(JOBS, job("first", labels={PRIORITY: "low"}), NAMESPACE)
        await eventually(lambda: runs(place, "first"), "the first job runs")
        await place.client.create(JOBS, job("second", labels={PRIORITY: "high"}), NAMESPACE)

        async def is_asked_to_leave() -> bool:
            return kubelet.stopped == ["first"]

        await eventually(is_asked_to_leave, "the preemption has begun")
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        await place.client.patch(JOBS, "first", {"status": {"active": 0}}, NAMESPACE, subresource="status")
        place.start(quota.run(place.client))
        await eventually(lambda: runs(place, "second"), "the next controller finishes it")


async def test_a_finished_job_gives_its_quota_back() -> None:
    async with cluster("one") as place:
        await place.furnish()
        place.start(quota.run(place.client))
        for name in ("first", "second"):
            await place.client.create(JOBS, job(name), NAMESPACE)

        async def started() -> list[str]:
            jobs = (await place.client.listing(JOBS.raw(), NAMESPACE)).items
            return [item["metadata"]["name"] for item in jobs if not item["spec"]["suspend"]]

        [one] = await eventually(started, "one job runs")
        done = {"conditions": [{"type": "Complete", "status": "True", "reason": "", "message": "done"}]}
        await place.client.patch(JOBS, one, {"status": done}, NAMESPACE, subresource="status")

        async def both() -> bool:
            return len(await started()) == 2

        await eventually(both, "the other job runs")


async def test_queues_show_who_waits_and_who_runs() -> None:
    async with cluster("one") as place:
        await place.furnish()
        place.start(quota.run(place.client))
        for name in ("a", "b", "c"):
            await place.client.create(KUEUE_WORKLOADS, workload(name, priority=0))

        async def counts(resource=CLUSTER_QUEUES, name="cq", namespace="") -> tuple:
            status = (await place.client.get(resource.raw(), name, namespace)).get("status") or {}
            return tuple(status.get(f"{kind}Workloads") for kind in ("pending", "reserving", "admitted"))

        async def is_counted() -> bool:
            return await counts() == (2, 1, 1) and await counts(LOCAL_QUEUES, "main", NAMESPACE) == (2, 1, 1)

        await eventually(is_counted, "both queues count the same")
        status = (await place.client.get(CLUSTER_QUEUES.raw(), "cq"))["status"]
        assert status["flavorsUsage"] == [
            {"name": "default", "resources": [{"name": "cpu", "total": "4", "borrowed": "0"}]}
        ]


async def test_a_gated_workload_says_that_it_could_preempt_and_for_what_price() -> None:
    async with cluster("one") as place:
        await place.furnish()
        place.start(quota.run(place.client, Configuration.load({"featureGates": GATES})))
        await place.client.create(KUEUE_WORKLOADS, workload("low", priority=1))
        await eventually(lambda: is_so(place, "low", "Admitted"), "the queue is full")
        gated = workload("urgent", priority=100)
        gated["spec"]["preemptionGates"] = [{"name": "kueue.x-k8s.io/multikueue"}]
        await place.client.create(KUEUE_WORKLOADS, gated)
        await eventually(lambda: is_so(place, "urgent", "BlockedOnPreemptionGates"), "the signal")
        urgent = (await place.workloads())["urgent"]
        conditions = {each["type"]: each for each in urgent["status"]["conditions"]}
        assert conditions["QuotaReserved"]["reason"] == "PreemptionGated"
        assert conditions["BlockedOnPreemptionGates"]["reason"] == "PreemptionGated"
        assert "highestPriority=1 " in conditions["BlockedOnPreemptionGates"]["message"]
        assert urgent["status"]["preemptionGates"][0]["position"] == "Closed"
        assert not await is_so(place, "low", "Evicted")


async def test_a_workload_equal_to_one_that_waits_is_told_so_at_once() -> None:
    """Equal workloads are parked together and not tried; each says all the same what it waits for."""

    async def message(place: Cluster, name: str) -> str:
        return condition_of((await place.workloads()).get(name, {}), "QuotaReserved").get("message", "")

    async with cluster("one") as place:
        await place.furnish(cpu="1")
        for name in ("first", "second"):
            await place.client.create(KUEUE_WORKLOADS, workload(name), NAMESPACE)
        place.start(quota.run(place.client))
        for name in ("first", "second"):
            await eventually(partial(message, place, name), f"{name} says what it waits for")
        await place.client.create(KUEUE_WORKLOADS, workload("late"), NAMESPACE)
        await eventually(lambda: message(place, "late"), "the late one says what it waits for")
        assert len({await message(place, name) for name in ("first", "second", "late")}) == 1


async def test_a_workload_that_no_queue_takes_says_why() -> None:
    async def message(place: Cluster) -> str:
        return condition_of((await place.workloads())["lost"], "QuotaReserved").get("message", "")

    async with cluster("one") as place:
        await place.furnish()
        place.start(quota.run(place.client))
        await place.client.create(KUEUE_WORKLOADS, workload("lost", queue="nowhere"), NAMESPACE)
        assert await eventually(partial(message, place), "it says why") == "LocalQueue nowhere doesn't exist"


async def test_a_check_that_asks_to_retry_evicts_and_the_workload_queues_again() -> None:
    async with cluster("one") as place:
        await place.furnish(check="budget")
        check = {"metadata": {"name": "budget"}, "spec": {"controllerName": "example.com/budget"}}
        await place.client.create(ADMISSION_CHECKS, check)
        active = {
            "type": "Active",
            "status": "True",
            "reason": "Active",
            "message": "",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }
        await place.client.patch(
            ADMISSION_CHECKS, "budget", {"status": {"conditions": [active]}}, subresource="status"
        )
        place.start(quota.run(place.client))
        await place.client.create(KUEUE_WORKLOADS, workload("a", priority=0))
        await eventually(lambda: is_so(place, "a", "QuotaReserved"), "quota is reserved")
        assert not await is_so(place, "a", "Admitted")
        await answer_check(place, "Retry")

        async def is_back() -> bool:
            found = (await place.workloads())["a"]
            states = [each["state"] for each in found["status"].get("admissionChecks", [])]
            return is_true(found, "QuotaReserved") and states == ["Pending"] and not is_true(found, "Evicted")

        await eventually(is_back, "evicted, queued and reserved again")
        await answer_check(place, "Ready")
        await eventually(lambda: is_so(place, "a", "Admitted"), "admitted when the check is ready")


async def answer_check(place: Cluster, state: str) -> None:
    def change(document: dict) -> bool:
        document["status"]["admissionChecks"][0].update({"state": state, "message": "said the budget"})
        return True

    await eventually(lambda: has_check(place), "the check is listed")
    await place.client.update_with_retries(KUEUE_WORKLOADS, "a", NAMESPACE, change, subresource="status")


async def has_check(place: Cluster) -> bool:
    return bool((await place.workloads())["a"]["status"].get("admissionChecks"))


async def test_pods_of_a_group_are_held_until_the_group_has_quota() -> None:
    async with cluster("one") as place:
        await place.furnish(cpu="2")
        place.start(quota.run(place.client))
        labels = {"kueue.x-k8s.io/queue-name": "main"}
        for name in ("gang", "other"):
            group = {
                "metadata": {"name": name, "namespace": NAMESPACE, "labels": labels},
                "spec": {"schedulingPolicy": {"gang": {"minCount": 2}}},
            }
            await place.client.create(POD_GROUPS, group, NAMESPACE)
            for number in range(2):
                await place.client.create(PODS, held_pod(f"{name}-{number}", name), NAMESPACE)

        async def let_go() -> list[str]:
            pods = (await place.client.listing(PODS.raw(), NAMESPACE)).items
            return [pod["metadata"]["name"] for pod in pods if not pod["spec"].get("schedulingGates")]

        assert len(await eventually(let_go, "one gang may go")) >= 1

        async def both() -> bool:
            return len(await let_go()) == 2

        await eventually(both, "both of its pods")
        gone = await let_go()
        assert gone in (["gang-0", "gang-1"], ["other-0", "other-1"]), "all of one gang, none of the other"
        free = await place.client.get(PODS.raw(), gone[0], NAMESPACE)
        assert free["spec"]["nodeSelector"] == {"pool": "gpu"}


async def test_an_evicted_group_loses_its_pods_and_new_ones_wait_again() -> None:
    async with cluster("one") as place:
        await place.furnish(cpu="2")
        await with_classes(place)
        place.start(quota.run(place.client))

        async def submit(group: str, priority: str, pods: range) -> None:
            labels = {"kueue.x-k8s.io/queue-name": "main", PRIORITY: priority}
            document = {
                "metadata": {"name": group, "namespace": NAMESPACE, "labels": labels},
                "spec": {"schedulingPolicy": {"gang": {"minCount": 2}}},
            }
            if not pods.start:
                await place.client.create(POD_GROUPS, document, NAMESPACE)
            for number in pods:
                await place.client.create(PODS, held_pod(f"{group}-{number}", group), NAMESPACE)

        async def let_go() -> list[str]:
            pods = (await place.client.listing(PODS.raw(), NAMESPACE)).items
            return sorted(pod["metadata"]["name"] for pod in pods if not pod["spec"].get("schedulingGates"))

        async def is_low() -> bool:
            return await let_go() == ["low-0", "low-1"]

        async def is_high() -> bool:
            return await let_go() == ["high-0", "high-1"]

        await submit("low", "low", range(2))
        await eventually(is_low, "the first gang may go")
        await submit("high", "high", range(2))
        await eventually(is_high, "its pods are deleted and the second gang may go")
        await submit("low", "low", range(2, 4))
        await submit("later", "low", range(2))

        async def is_seen() -> bool:
            return any("later" in name for name in await place.workloads())

        await eventually(is_seen, "what came later has its workload: what came before was handled")
        assert await is_high(), "new pods of the first gang wait"


async def test_a_changed_job_asks_anew_while_it_waits() -> None:
    async with cluster("one") as place:
        await place.furnish(cpu="1")
        place.start(quota.run(place.client))
        await place.client.create(JOBS, job("big", cpu="1", count=2), NAMESPACE)

        async def is_waiting() -> bool:
            return any(
                (item.get("status") or {}).get("conditions") for item in (await place.workloads()).values()
            )

        await eventually(is_waiting, "two pods are too many")
        await place.client.patch(JOBS, "big", {"spec": {"parallelism": 1}}, NAMESPACE)

        async def is_started() -> bool:
            return not (await the_job(place, "big"))["spec"]["suspend"]

        await eventually(is_started, "one pod is not")


def held_pod(name: str, group: str) -> dict:
    gates = [{"name": "kueue.x-k8s.io/admission"}]
    return builders.pod(name, 1, group=group, namespace=NAMESPACE, schedulingGates=gates)


async def test_the_workload_of_a_group_is_owned_by_the_group_as_it_is_served():
    """The garbage collector looks owners up by their apiVersion; a wrong one takes the workload away."""

    def answer(request):
        match request.path:
            case "/apis/scheduling.reprieve.dev":
                return ok({"versions": [{"version": "v1beta1"}]})
            case "/apis/scheduling.reprieve.dev/v1beta1":
                return ok({"resources": [{"name": "podgroups"}]})
        return ok(request.json()) if request.method == "POST" else status(404, "NotFound")

    script = Script(answer)
    labels = {"kueue.x-k8s.io/queue-name": "main"}
    metadata = {"name": "g", "namespace": NAMESPACE, "uid": "u", "labels": labels}
    group = convert({"metadata": metadata, "spec": {"schedulingPolicy": {"gang": {"minCount": 1}}}}, PodGroup)
    pod = convert({"metadata": {"name": "g-0", "namespace": NAMESPACE}, "spec": {"containers": []}}, Pod)
    await reconcile_group(script.client(), group, [pod], None, {}, WorkloadPriorities())
    [owner] = script.requests[-1].json()["metadata"]["ownerReferences"]
    assert owner["apiVersion"] == "scheduling.reprieve.dev/v1beta1"
