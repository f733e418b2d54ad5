"""What schedulers race for: pods that want a node, and who is in their way."""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from reprieve.objects.times import format_time

Document = dict[str, Any]

NAMESPACE = "race"
GANG = 10
NODE = "cpu=32,memory=256Gi"
ON_EACH_NODE = 8
"""Pods that fill a node, of 4 CPUs; a member of a gang that preempts wants the place of half of them."""
CLASSES = {"calm": 10, "busy": 20, "keen": 30, "urgent": 1000}
"""Who runs is of the first three, who preempts of the last."""
_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


class Scene(NamedTuple):
    pods: list[Document]
    """All of them get a node."""
    groups: list[Document]
    running: list[Document]
    """On nodes already, with their status."""
    late: bool = False
    """The pods come when the scheduler is at work, not before it starts."""


def plain(scheduler: str, pods: int, _: Sequence[str]) -> Scene:
    """Small pods; there is room for all."""
    return Scene([_pod(f"pod-{i}", scheduler, "100m") for i in range(pods)], [], [])


def gangs(scheduler: str, pods: int, _: Sequence[str]) -> Scene:
    """The same pods in groups of ten: all or none."""
    return _in_groups(scheduler, pods, "100m")


def preemption(scheduler: str, pods: int, nodes: Sequence[str]) -> Scene:
    """Every node is full, and each member of the gangs needs half of one."""
    return _in_groups(scheduler, pods, "16", "urgent")._replace(running=list(_full(nodes)), late=True)


SCENES: dict[str, Callable[[str, int, Sequence[str]], Scene]] = {
    "plain": plain, "gangs": gangs, "preemption": preemption,
}  # fmt: skip


def herald(scheduler: str) -> Document:
    """Its node says that the scheduler is at work; it takes no room."""
    return _pod("herald", scheduler, "0")


def _in_groups(scheduler: str, pods: int, cpu: str, klass: str = "") -> Scene:
    names = [f"gang-{number}" for number in range(pods // GANG)]
    policy = {"schedulingPolicy": {"gang": {"minCount": GANG}}, "priorityClassName": klass}
    members = [
        _pod(f"{name}-{i}", scheduler, cpu, klass, schedulingGroup={"podGroupName": name})
        for name in names
        for i in range(GANG)
    ]
    return Scene(members, [_named(name, spec=policy) for name in names], [])


def _full(nodes: Sequence[str]) -> Iterator[Document]:
    """Pods of one node are of one class. No two started at the same time."""
    running = [name for name in CLASSES if name != "urgent"]
    for index, node in enumerate(nodes):
        klass = running[index % len(running)]
        for i in range(ON_EACH_NODE):
            start = format_time(_BEGIN + timedelta(seconds=index * ON_EACH_NODE + i))
            pod = _pod(f"old-{index}-{i}", "nobody", "4", klass, nodeName=node)
            yield pod | {"status": {"phase": "Running", "startTime": start}}


def _pod(name: str, scheduler: str, cpu: str, klass: str = "", **spec: Any) -> Document:
    """Without grace: nobody here stops containers, so who is deleted is gone at once."""
    container = {"name": "main", "image": "x", "resources": {"requests": {"cpu": cpu, "memory": "200Mi"}}}
    usual = {
        "schedulerName": scheduler,
        "priorityClassName": klass,
        "containers": [container],
        "automountServiceAccountToken": False,
        "terminationGracePeriodSeconds": 0,
    }
    return _named(name, spec=usual | spec)


def _named(name: str, **parts: Any) -> Document:
    return {"metadata": {"name": name, "namespace": NAMESPACE}, **parts}
