"""What this version leaves behind when it is stopped in the middle of its work.

    python tools/upgrade_state.py tests/local/data/state-VERSION.tar.gz

A cluster with a preemption whose victims have not ended, a gang that is bound in part, quota that is used and
waited for, the file of decisions and a configuration with every field, as an archive without keys. The next
version's tests begin with it (`tests/local/test_upgrade.py`), so each release adds its own.
"""

import argparse
import asyncio
import io
import json
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from reprieve.config import Configuration
from reprieve.local import controllers_of, local_cluster
from reprieve.objects import NodeTemplate
from reprieve.server import EmbeddedServer, Habits

LEFT_OUT = ("lock", "ca.", "kubeconfig", "token", "key", ".crt", ".pem")
NAMESPACE = "default"
HOUR = 3600.0


def meta(name: str, **labels: str) -> dict[str, Any]:
    return {"name": name, "namespace": NAMESPACE, "labels": labels}


def pod(name: str, cpu: int, priority: str, group: str = "") -> dict[str, Any]:
    spec: dict[str, Any] = {
        "schedulerName": "reprieve",
        "priorityClassName": priority,
        "containers": [{"name": "main", "image": "work", "resources": {"requests": {"cpu": str(cpu)}}}],
    }
    if group:
        spec["schedulingGroup"] = {"podGroupName": group}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta(name), "spec": spec}


def gang(name: str, count: int, priority: str) -> dict[str, Any]:
    policy = {"gang": {"minCount": count}}
    return {
        "apiVersion": "scheduling.k8s.io/v1alpha2",
        "kind": "PodGroup",
        "metadata": meta(name),
        "spec": {"schedulingPolicy": policy, "priorityClassName": priority},
    }


def job(name: str, cpu: int) -> dict[str, Any]:
    template = {"spec": {**pod("", cpu, "low")["spec"], "restartPolicy": "Never"}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": meta(name, **{"kueue.x-k8s.io/queue-name": "team"}),
        "spec": {"template": template, "suspend": True},
    }


def furniture() -> list[tuple[str, dict[str, Any]]]:
    """Priority classes and a queue with two cores."""
    quota = {"name": "plain", "resources": [{"name": "cpu", "nominalQuota": "2"}]}
    kueue = "kueue.x-k8s.io/v1beta1"
    return [
        *(
            (
                "priorityclasses.scheduling.k8s.io",
                {
                    "apiVersion": "scheduling.k8s.io/v1",
                    "kind": "PriorityClass",
                    "metadata": {"name": name},
                    "value": value,
                },
            )
            for name, value in (("low", 0), ("high", 1000))
        ),
        (
            "resourceflavors.kueue.x-k8s.io",
            {"apiVersion": kueue, "kind": "ResourceFlavor", "metadata": {"name": "plain"}},
        ),
        (
            "clusterqueues.kueue.x-k8s.io",
            {
                "apiVersion": kueue,
                "kind": "ClusterQueue",
                "metadata": {"name": "team"},
                "spec": {
                    "namespaceSelector": {},
                    "resourceGroups": [{"coveredResources": ["cpu"], "flavors": [quota]}],
                },
            },
        ),
        (
            "localqueues.kueue.x-k8s.io",
            {
                "apiVersion": kueue,
                "kind": "LocalQueue",
                "metadata": meta("team"),
                "spec": {"clusterQueue": "team"},
            },
        ),
    ]


async def work(server: EmbeddedServer, config: Configuration) -> None:
    api = server.api
    for resource, document in furniture():
        await api.create(resource, document)
    async with controllers_of(server, ("scheduler", "quota"), config):
        for name in ("running", "waiting"):
            await api.create("jobs.batch", job(name, 2))
            await _until(lambda name=name: _suspended(api, name) is not None)
        await _until(lambda: _suspended(api, "running") is False and _on_node(api, "running"))
        for number in range(3):
            await api.create("pods", pod(f"victim-{number}", 2, "low"))
        await _until(lambda: all(_on_node(api, f"victim-{number}") for number in range(3)))
        await api.create("podgroups.scheduling.k8s.io", gang("boss", 2, "high"))
        for number in range(2):
            await api.create("pods", pod(f"boss-{number}", 2, "high", "boss"))
        await _until(lambda: sum("deletionTimestamp" in each["metadata"] for each in api.select("pods")) == 2)
    # A gang of which one pod is bound, as if the process had been killed between two bindings.
    await api.create("podgroups.scheduling.k8s.io", gang("half", 2, "low"))
    for number in range(2):
        await api.create("pods", pod(f"half-{number}", 1, "low", "half"))
    await api.bind("half-0", NAMESPACE, "node-1")


def _suspended(api: Any, name: str) -> bool | None:
    found = api.peek("jobs.batch", name, NAMESPACE)
    return None if found is None else found["spec"].get("suspend", False)


def _on_node(api: Any, prefix: str) -> bool:
    return any(
        each["metadata"]["name"].startswith(prefix) and each["spec"].get("nodeName")
        for each in api.select("pods")
    )


async def _until(done: Any) -> None:
    async with asyncio.timeout(120):
        while not done():
            await asyncio.sleep(0.02)


async def record(target: Path) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        records = {"path": str(folder / "decisions.jsonl")}
        config = Configuration.load({"records": records})
        nodes = [NodeTemplate.parse("node=2:cpu=5,memory=16Gi,pods=20")]
        habits = Habits(terminate_after=HOUR)
        async with local_cluster(nodes=nodes, habits=habits, data_dir=folder, quota=True) as server:
            await work(server, config)
        pack(folder, target)


def pack(folder: Path, target: Path) -> None:
    with tarfile.open(target, "w:gz") as archive:
        for path in sorted(folder.iterdir()):
            if path.is_file() and not any(part in path.name for part in LEFT_OUT):
                archive.add(path, path.name)
        whole = json.dumps(Configuration.load(None).to_dict(), indent=1).encode()
        entry = tarfile.TarInfo("configuration.json")
        entry.size = len(whole)
        archive.addfile(entry, io.BytesIO(whole))
        print("\n".join(archive.getnames()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path)
    asyncio.run(record(parser.parse_args().file))
