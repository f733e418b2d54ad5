"""What a small cluster says of its jobs, made up for these tests: kubectl's list, and an audit log."""

import json
from typing import Any

DAY = "2030-05-01T"


def _pod(name: str, owner: str, **more: Any) -> dict[str, Any]:
    references = [{"apiVersion": "batch/v1", "kind": "Job", "name": owner, "uid": "u", "controller": True}]
    meta = {"name": name, "namespace": "ml", "creationTimestamp": f"{DAY}08:00:05Z", **more.pop("meta", {})}
    requests = {"cpu": "4", "memory": "1Gi", "nvidia.com/gpu": "2"}
    container = {"name": "main", "image": "train", "resources": {"requests": requests}}
    if owner:
        meta["ownerReferences"] = references
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": meta,
        "spec": {"containers": [container], "priority": more.pop("priority", 0)},
        **more,
    }


def _ended(start: str, end: str, phase: str = "Succeeded") -> dict[str, Any]:
    terminated = {"exitCode": 0, "finishedAt": f"{DAY}{end}"}
    states = [{"name": "main", "state": {"terminated": terminated}}]
    return {"phase": phase, "startTime": f"{DAY}{start}", "containerStatuses": states}


def _event(kind: str, name: str, reason: str, at: str, message: str = "") -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{name}.{reason}", "namespace": "ml"},
        "involvedObject": {"kind": kind, "namespace": "ml", "name": name},
        "reason": reason,
        "message": message,
        "firstTimestamp": f"{DAY}{at}",
    }


def _job(name: str, made: str, **status: str) -> dict[str, Any]:
    labels = {"kueue.x-k8s.io/queue-name": "main"}
    meta = {"name": name, "namespace": "ml", "creationTimestamp": f"{DAY}{made}", "labels": labels}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "status": status}


NODE_OWNED = {"metadata": {"name": "proxy-x", "namespace": "kube-system"}}
ITEMS = [
    _job("train", "08:00:00Z", completionTime=f"{DAY}08:30:05Z"),
    _pod("train-0", "train", status=_ended("10:00:05+02:00", "08:30:00Z")),
    _pod("train-1", "train", status=_ended("08:00:05Z", "08:29:00Z")),
    _pod("alone", "", status={"phase": "Running", "startTime": f"{DAY}08:10:00Z"}, priority=1000),
    _event("Job", "gone", "SuccessfulCreate", "07:59:50Z", "Created pod: gone-x"),
    _event("Pod", "gone-x", "Scheduled", "07:59:55Z"),
    _event("Job", "gone", "Completed", "08:09:55Z"),
    {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "namespace": "ml"}},
]
EVENTS = json.dumps({"apiVersion": "v1", "items": ITEMS, "kind": "List"}, indent=1) + "\n"
EVENTS_EXPECTED = [
    "ml.gone,0,600,ml,,1,,,,,Job,completed,",
    "ml.train,10,1800,ml,ml/main,2,4000,1024,2,0,Job,completed,",
    "ml.alone,15,,ml,,1,4000,1024,2,2,Pod,,",
]


def _audit(verb: str, resource: str, name: str, at: str, part: str = "", **more: Any) -> str:
    about = {"resource": resource, "namespace": "ml", "name": name, "apiVersion": "v1"}
    event = {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "auditID": f"{name}-{verb}-{at}",
        "stage": "ResponseComplete",
        "verb": verb,
        "objectRef": {**about, "subresource": part} if part else about,
        "responseStatus": {"code": 201},
        "requestReceivedTimestamp": f"{DAY}{at}",
        **more,
    }
    return json.dumps(event)


AUDIT = "\n".join(
    [
        _audit("create", "jobs", "train", "08:00:00.5Z", responseObject=_job("train", "08:00:00Z")),
        _audit("create", "pods", "", "08:00:01Z", responseObject=_pod("train-0", "train")),
        _audit("create", "pods", "", "08:00:01Z", responseObject=_pod("train-1", "train")),
        _audit("create", "pods", "train-0", "08:00:02Z", "binding"),
        _audit("create", "pods", "train-1", "08:00:02Z", "binding"),
        _audit(
            "patch", "pods", "train-0", "08:10:02Z", "status", responseObject={"status": {"phase": "Failed"}}
        ),
        _audit(
            "patch",
            "pods",
            "train-1",
            "08:09:02Z",
            "status",
            responseObject={"status": {"phase": "Succeeded"}},
        ),
        _audit("create", "pods", "bare", "08:00:05Z"),
        _audit("create", "pods", "bare", "08:00:06Z", "binding"),
        _audit("delete", "pods", "bare", "08:01:06Z"),
        _audit("create", "pods", "refused", "08:01:06Z", responseStatus={"code": 403}),
        _audit("list", "pods", "", "08:01:07Z"),
        "",
    ]
)
AUDIT_EXPECTED = [
    "ml.train,0,600,ml,ml/main,2,4000,1024,2,,Job,failed,",
    "ml.bare,4.5,60,ml,,1,,,,,Pod,deleted,",
]
