"""Who asks for quota before it starts: every kind as `admit` has it, not only jobs that ask as a whole."""

from typing import Any

import pytest

from reprieve.forecast import Forecast, when
from tests.builders import cluster_queue, flavor, job, local_queue, node, pod, reserved, workload

QUEUES = [flavor(), cluster_queue("cq", 4), local_queue()]
LABEL = {"kueue.x-k8s.io/queue-name": "main"}
TEMPLATE = {"spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]}}


def ask(*objects: Any, target: str) -> Forecast:
    return when([node("n", 100), *QUEUES, *objects], target, now="2026-01-01T02:00:00Z")


def of_kind(api: str, kind: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": "it", "labels": dict(LABEL)}, "spec": spec}


def crew(*sizes: int) -> list[dict[str, Any]]:
    labels = {**LABEL, "kueue.x-k8s.io/pod-group-name": "crew"}
    total = {"kueue.x-k8s.io/pod-group-total-count": str(len(sizes))}
    return [pod(f"p{n}", cpu, labels=dict(labels), annotations=dict(total)) for n, cpu in enumerate(sizes)]


@pytest.mark.parametrize(("count", "outcome"), [(4, "now"), (5, "never")])
def test_a_run_of_a_cron_job_waits_for_the_quota_of_its_template(count: int, outcome: str) -> None:
    """The label stands in the template of the job, and it was looked for on the CronJob only."""
    run = {"metadata": {"labels": dict(LABEL)}, "spec": {"parallelism": count, "template": TEMPLATE}}
    nightly = of_kind("batch/v1", "CronJob", {"schedule": "0 3 * * *", "jobTemplate": run})
    del nightly["metadata"]["labels"]
    assert ask(nightly, target="CronJob/default/it").outcome == outcome


def test_pods_of_a_deployment_start_one_by_one_as_far_as_quota_goes() -> None:
    """It was told never to start: all its pods asked as one."""
    selector = {"matchLabels": {"a": "b"}}
    spec = {"replicas": 6, "selector": selector, "template": {**TEMPLATE, "metadata": {"labels": {"a": "b"}}}}
    found = ask(of_kind("apps/v1", "Deployment", spec), target="Deployment/default/it")
    assert found.outcome == "partly"
    assert found.whole is not None
    assert found.whole.median is None


@pytest.mark.parametrize(("size", "outcome"), [(4, "partly"), (5, "never")])
def test_replicas_of_leaders_and_workers_start_one_by_one(size: int, outcome: str) -> None:
    spec = {"replicas": 2, "leaderWorkerTemplate": {"size": size, "workerTemplate": TEMPLATE}}
    found = ask(
        of_kind("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", spec), target="LeaderWorkerSet/default/it"
    )
    assert found.outcome == outcome


@pytest.mark.parametrize(("cpu", "outcome"), [(4, "now"), (5, "never")])
def test_a_pod_that_names_a_queue_waits_for_quota(cpu: int, outcome: str) -> None:
    assert ask(pod("p", cpu, labels=dict(LABEL)), target="Pod/default/p").outcome == outcome


def test_pods_of_one_group_wait_for_quota_together() -> None:
    assert ask(*crew(1, 3), target="Pod/default/p0").outcome == "now"
    assert ask(*crew(1, 4), target="Pod/default/p0").outcome == "never"


def test_pods_that_have_a_workload_do_not_ask_twice() -> None:
    """The workload of a group of pods names each of them, and none controls it."""
    owners = [{"apiVersion": "v1", "kind": "Pod", "name": f"p{n}", "uid": f"u{n}"} for n in range(2)]
    asking = workload("crew", 4)
    asking["metadata"]["ownerReferences"] = owners
    found = ask(*crew(2, 2), reserved(asking, "cq"), target="Pod/default/p0")
    assert found.outcome == "now"
    assert (
        ask(*crew(2, 2), asking, job("other", 1, queue="main"), target="Job/default/other").outcome != "now"
    )
