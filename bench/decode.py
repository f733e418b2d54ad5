"""How fast do pods become typed views, and what does one weigh in memory?

Decodes one JSON list of 20,000 realistic pods (about 4 KB each, as an API server sends them) with Reprieve
and, in the same run, with the models of the official `kubernetes` client. The client is slow, so it gets a
smaller list; both are compared by the time for one pod.

    python bench/decode.py [--pods 20000] [--client-pods 1000]
"""

import argparse
import gc
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

from reprieve.objects.core import Pod
from reprieve.objects.decode import decode_list

AT_LEAST = 30


def pod(index: int) -> dict[str, Any]:
    """A pod as a controller makes it and a kubelet reports it, with the fields that nobody reads here too."""
    owner = f"train-{index // 16}"
    env = [{"name": f"SETTING_{n}", "value": f"value-{n}-{index % 7}"} for n in range(8)]
    time_of = f"2026-08-23T{index % 24:02d}:{index % 60:02d}:00Z"
    fields = {
        "f:metadata": {"f:labels": {f"f:label-{n}": {} for n in range(6)}},
        "f:spec": {"f:containers": {}},
    }
    return {
        "metadata": {
            "name": f"{owner}-{index % 16}",
            "generateName": f"{owner}-",
            "namespace": f"team-{index % 40}",
            "uid": f"7c0c{index:028x}",
            "resourceVersion": str(100_000 + index),
            "creationTimestamp": time_of,
            "labels": {
                "app": owner,
                "tier": "batch",
                "pod-template-hash": f"{index % 997:x}",
                "team": f"t{index % 40}",
            },
            "annotations": {"prometheus.io/scrape": "true", "checksum/config": f"{index:064x}"},
            "ownerReferences": [
                {
                    "apiVersion": "batch/v1",
                    "kind": "Job",
                    "name": owner,
                    "uid": f"{index // 16:032x}",
                    "controller": True,
                }
            ],
            "managedFields": [
                {
                    "manager": name,
                    "operation": "Update",
                    "apiVersion": "v1",
                    "time": time_of,
                    "fieldsV1": fields,
                }
                for name in ("kube-controller-manager", "kubelet")
            ],
        },
        "spec": {
            "containers": [
                {
                    "name": "main",
                    "image": f"registry.example/train:{index % 50}",
                    "command": ["python", "-m", "train"],
                    "env": env,
                    "ports": [{"containerPort": 8080, "protocol": "TCP"}],
                    "resources": {
                        "requests": {"cpu": f"{500 + index % 4 * 250}m", "memory": f"{1 + index % 8}Gi"},
                        "limits": {"memory": f"{1 + index % 8}Gi"},
                    },
                    "volumeMounts": [
                        {"name": "data", "mountPath": "/data"},
                        {"name": "token", "mountPath": "/var/run"},
                    ],
                    "terminationMessagePath": "/dev/termination-log",
                    "imagePullPolicy": "IfNotPresent",
                }
            ],
            "volumes": [
                {"name": "data", "emptyDir": {}},
                {"name": "token", "projected": {"sources": [], "defaultMode": 420}},
            ],
            "nodeName": f"node-{index % 500}",
            "nodeSelector": {"pool": "batch"},
            "schedulingGroup": {"podGroupName": owner},
            "schedulerName": "reprieve",
            "serviceAccountName": "default",
            "priority": index % 5 * 100,
            "priorityClassName": f"class-{index % 5}",
            "preemptionPolicy": "PreemptLowerPriority",
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": 30,
            "tolerations": [
                {
                    "key": f"node.kubernetes.io/{key}",
                    "operator": "Exists",
                    "effect": "NoExecute",
                    "tolerationSeconds": 300,
                }
                for key in ("not-ready", "unreachable")
            ],
        },
        "status": {
            "phase": "Running",
            "startTime": time_of,
            "hostIP": "10.0.0.1",
            "podIP": f"10.{index >> 16 & 255}.{index >> 8 & 255}.{index & 255}",
            "conditions": [
                {"type": kind, "status": "True", "lastProbeTime": None, "lastTransitionTime": time_of}
                for kind in ("Initialized", "Ready", "ContainersReady", "PodScheduled")
            ],
            "containerStatuses": [
                {
                    "name": "main",
                    "image": f"registry.example/train:{index % 50}",
                    "imageID": f"sha256:{index % 50:064x}",
                    "containerID": f"containerd://{index:064x}",
                    "ready": True,
                    "restartCount": 0,
                    "state": {"running": {"startedAt": time_of}},
                }
            ],
        },
    }


def pod_list(count: int) -> bytes:
    items = [pod(index) for index in range(count)]
    return json.dumps({"apiVersion": "v1", "kind": "PodList", "metadata": {}, "items": items}).encode()


def with_client(data: bytes) -> Any:
    from kubernetes.client import ApiClient

    return ApiClient().deserialize(data.decode(), "V1PodList", "application/json").items


def fastest(run: Callable[[], Any], times: int) -> float:
    """Seconds of processor time of the best of several runs; a busy machine only ever adds to them."""
    spent = []
    for _ in range(times):
        gc.collect()
        start = time.process_time()
        run()
        spent.append(time.process_time() - start)
    return min(spent)


def kept(run: Callable[[], Any]) -> tuple[float, Any]:
    """(bytes of memory the result needs, result)."""
    gc.collect()
    before = _resident()
    result = run()
    return _resident() - before, result


def _resident() -> float:
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pods", type=int, default=20_000)
    parser.add_argument("--client-pods", type=int, default=1_000)
    arguments = parser.parse_args()
    with_client(pod_list(1))  # the client's import is not what is measured
    data, small = pod_list(arguments.pods), pod_list(arguments.client_pods)
    our_memory, views = kept(lambda: decode_list(data, Pod))
    their_memory, models = kept(lambda: with_client(small))
    ours = fastest(lambda: decode_list(data, Pod), 3)
    theirs = fastest(lambda: with_client(small), 3)
    assert len(views) == arguments.pods
    assert views[7].spec.node_name == models[7].spec.node_name
    our_time, their_time = ours / len(views), theirs / len(models)
    ratio = their_time / our_time
    print(f"{len(data) / len(views):,.0f} bytes of JSON a pod")
    print(
        f"reprieve   {len(views):>6,} pods {ours:7.2f} s  {our_time * 1e6:8.1f} us a pod  "
        f"{our_memory / len(views):9,.0f} bytes a pod"
    )
    print(
        f"kubernetes {len(models):>6,} pods {theirs:7.2f} s  {their_time * 1e6:8.1f} us a pod  "
        f"{their_memory / len(models):9,.0f} bytes a pod"
    )
    print(f"{ratio:.0f} times faster (wanted: {AT_LEAST})")
    return 0 if ratio >= AT_LEAST else 1


if __name__ == "__main__":
    sys.exit(main())
