"""The sequence diagram of KEP-8303 over real HTTP: a manager and three workers, each full of lower-priority
work.
"""

from reprieve.kube import KUEUE_WORKLOADS
from tests.controllers.clusters import NAMESPACE, Cluster, Fleet, full_fleet, is_true, workload
from tests.waiting import eventually


async def winner(fleet: Fleet, name: str) -> str:
    status = (await fleet.manager.workloads())[name].get("status") or {}
    return status.get("clusterName", "")


async def test_with_gates_the_victims_are_in_exactly_one_cluster() -> None:
    async with full_fleet() as fleet:
        await fleet.manager.client.create(KUEUE_WORKLOADS, workload("urgent", priority=100))
        won = await eventually(lambda: winner(fleet, "urgent"), "a worker admits the workload")
        victims = fleet.preemptions()
        print(f"preemptions with gates: {victims}")
        assert sorted(victims.values()) == [0, 0, 1]
        assert victims[won] == 1
        await eventually(lambda: only_in(fleet, won, "urgent"), "the others are withdrawn")
        assert is_true((await fleet.manager.workloads())["urgent"], "Admitted")


async def test_without_gates_the_same_load_preempts_in_all_three() -> None:
    async with full_fleet(gates=False) as fleet:
        await fleet.manager.client.create(KUEUE_WORKLOADS, workload("urgent", priority=100))
        await eventually(lambda: winner(fleet, "urgent"), "a worker admits the workload")
        victims = fleet.preemptions()
        print(f"preemptions without gates: {victims}")
        assert sorted(victims.values()) == [1, 1, 1]


async def test_a_preemption_that_never_ends_hands_over_after_the_timeout() -> None:
    settings = {"singleClusterPreemptionTimeout": "2s", "closeGateMargin": "5s"}
    async with full_fleet(settings=settings) as fleet:
        for kubelet in fleet.kubelets.values():
            kubelet.stopping = float("inf")
        await fleet.manager.client.create(KUEUE_WORKLOADS, workload("urgent", priority=100))
        await eventually(lambda: first_preemption(fleet), "one worker preempts")
        stuck = await first_preemption(fleet)
        for name, kubelet in fleet.kubelets.items():
            kubelet.stopping = 0.2 if name != stuck else kubelet.stopping
        won = await eventually(lambda: winner(fleet, "urgent"), "another worker gets its turn")
        victims = fleet.preemptions()
        print(f"preemptions with a worker that hangs: {victims}")
        assert won != stuck
        assert (victims[stuck], victims[won]) == (1, 1)
        assert sum(victims.values()) == 2, "the third worker is untouched"


async def first_preemption(fleet: Fleet) -> str:
    return next((name for name, number in fleet.preemptions().items() if number), "")


async def only_in(fleet: Fleet, cluster: str, name: str) -> bool:
    return [w.name for w in fleet.workers if name in await w.workloads()] == [cluster]


async def test_least_cost_opens_the_gate_where_it_hurts_least() -> None:
    async with full_fleet(settings={"gatePolicy": "least-cost", "grace": "1s"}) as fleet:
        for worker in fleet.workers[:2]:
            await make_older(worker)
        await fleet.manager.client.create(KUEUE_WORKLOADS, workload("urgent", priority=100))
        won = await eventually(lambda: winner(fleet, "urgent"), "a worker admits the workload")
        assert won == fleet.workers[2].name, "its victim had run for the shortest time"
        assert fleet.preemptions() == {"worker1": 0, "worker2": 0, "worker3": 1}


async def test_a_worker_that_rejects_its_copy_does_not_hold_up_the_others() -> None:
    async with full_fleet(size=2) as fleet:
        odd, good = fleet.workers
        foreign = workload("urgent", priority=0, cpu="1m")
        foreign["spec"]["active"] = False
        await odd.client.create(KUEUE_WORKLOADS, foreign)  # the name is taken: the copy is refused
        await fleet.manager.client.create(KUEUE_WORKLOADS, workload("urgent", priority=100))
        assert await eventually(lambda: winner(fleet, "urgent"), "the other worker wins") == good.name
        assert "kueue.x-k8s.io/multikueue-origin" not in (await odd.workloads())["urgent"]["metadata"].get(
            "labels", {}
        )


async def make_older(worker: Cluster) -> None:
    """The work that runs there got its quota long ago."""

    def change(document: dict) -> bool:
        for condition in document["status"]["conditions"]:
            condition["lastTransitionTime"] = "2026-01-01T00:00:00Z"
        return True

    for name in await worker.workloads():
        await worker.client.update_with_retries(
            KUEUE_WORKLOADS, name, NAMESPACE, change, subresource="status"
        )
