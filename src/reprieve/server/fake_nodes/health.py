"""Fake nodes are created, kept ready, taken down and brought back.

A ready node renews its Lease and carries the condition Ready; its Node object is written only when something
changes. One that fails on command stops renewing: Ready turns Unknown, and the taint
`node.kubernetes.io/unreachable` keeps pods away and makes `controllers.taints` delete those that do not
tolerate it. They stay Terminating until the node returns, as on a real cluster.
"""

import hashlib
import uuid
from collections.abc import Callable, Iterable
from datetime import timedelta
from functools import partial
from typing import Any

from reprieve.objects import Document, NodeTemplate, condition_of, format_micro_time, well_known
from reprieve.server.api import Api
from reprieve.server.controllers.controller import in_parallel
from reprieve.server.controllers.delaying_queue import DelayingQueue
from reprieve.server.controllers.pods import PodIndex
from reprieve.server.errors import ApiError
from reprieve.server.patch import STRATEGIC_MERGE_PATCH
from reprieve.server.storage import DELETED, Change, Record

KUBELET_VERSION = "v1.37.0-reprieve"
LEASES = "kube-node-lease"
CLASSES, SLICES = "deviceclasses.resource.k8s.io", "resourceslices.resource.k8s.io"
RENEW_SECONDS = 10.0
RENEWALS_PER_SECOND = 20
"""More nodes renew less often, so that heartbeats never become the load."""
_PRESSURES = {
    "MemoryPressure": ("KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    "DiskPressure": ("KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    "PIDPressure": ("KubeletHasSufficientPID", "kubelet has sufficient PID available"),
}


class NodeKeeper:
    def __init__(
        self, api: Api, templates: Iterable[NodeTemplate], pods: PodIndex, returned: Callable[[str], None]
    ) -> None:
        self._api = api
        self._templates = tuple(templates)
        self._pods = pods
        self._returned = returned
        self._up: dict[str, bool] = {}
        """Fake nodes and whether they are up."""
        self._queue: DelayingQueue[str] = DelayingQueue(api.backend.clock)
        for record in api.backend.store.collection("nodes").scan(None):
            self._note(record)
        api.backend.store.listen(self._follow)

    def is_up(self, node: str) -> bool:
        return self._up.get(node, False)

    def address(self, node: str) -> str:
        digest = hashlib.blake2b(node.encode(), digest_size=2).digest()
        return "172.16.{}.{}".format(*digest)

    def _follow(self, changes: list[Change]) -> None:
        for change in changes:
            if change.record.storage_key == "nodes":
                if change.type == DELETED:
                    self._up.pop(change.record.name, None)
                else:
                    self._note(change.record)

    def _note(self, record: Record) -> None:
        node = record.object
        annotations = node["metadata"].get("annotations") or {}
        if well_known.FAKE_NODE_ANNOTATION not in annotations:
            return
        up = annotations.get(well_known.NODE_FAIL_ANNOTATION) != "true"
        if self._up.get(record.name) is not up:
            self._up[record.name] = up
            self._queue.add(record.name)
            if up:
                self._returned(record.name)

    async def run(self) -> None:
        await self._create()
        while True:
            due = await self._queue.take()
            await in_parallel(partial(self._reconcile, name) for name in due)

    async def _create(self) -> None:
        """Nodes that exist already are left as they are."""
        documents = [node for template in self._templates for node in template.nodes()]
        wanted = [n for n in documents if self._api.peek("nodes", n["metadata"]["name"]) is None]
        for node in wanted:
            node["status"] |= self._alive(node)
        await in_parallel(partial(self._api.create, "nodes", n, manager="kubelet") for n in wanted)
        await self._publish_devices()

    async def _publish_devices(self) -> None:
        """As the drivers on the nodes would: a slice a node, and a class for people to name."""
        wanted: list[tuple[str, Document]] = []
        for template in self._templates:
            nodes = [self._api.peek("nodes", name) for name in template.names()] if template.devices else []
            for each in template.devices:
                wanted.append((CLASSES, each.device_class()))
                wanted += [(SLICES, each.slice(node)) for node in nodes if node is not None]
        new = {
            (resource, document["metadata"]["name"]): document
            for resource, document in wanted
            if self._api.peek(resource, document["metadata"]["name"]) is None
        }
        await in_parallel(
            partial(self._api.create, resource, document, manager="kubelet")
            for (resource, _), document in new.items()
        )

    async def _reconcile(self, name: str) -> None:
        node = self._api.peek("nodes", name)
        if node is None or name not in self._up:
            return
        try:
            if self._up[name]:
                await self._keep_ready(node)
                interval = max(RENEW_SECONDS, len(self._up) / RENEWALS_PER_SECOND)
                self._queue.add(name, self._api.now() + timedelta(seconds=interval))
            else:
                await self._take_down(node)
        except ApiError as refusal:
            if refusal.code not in (404, 409):
                raise
            self._queue.add(name, self._api.now() + timedelta(seconds=1))

    # -- up --------------------------------------------------------------------------------------------------

    async def _keep_ready(self, node: Document) -> None:
        name = node["metadata"]["name"]
        if _ready(node) != "True":
            await self._patch_status(name, self._alive(node))
            await self._untaint(node)
        await self._renew(name)

    def _alive(self, node: Document) -> Document:
        stamp = self._api.backend.timestamp()
        name = node["metadata"]["name"]
        common = {"lastHeartbeatTime": stamp, "lastTransitionTime": stamp}
        conditions = [
            {"type": type, "status": "False", "reason": reason, "message": message, **common}
            for type, (reason, message) in _PRESSURES.items()
        ]
        conditions.append(
            {
                "type": well_known.READY,
                "status": "True",
                "reason": "KubeletReady",
                "message": "fake node is ready",
                **common,
            }
        )
        return {
            "conditions": conditions,
            "addresses": [
                {"type": "InternalIP", "address": self.address(name)},
                {"type": "Hostname", "address": name},
            ],
            "nodeInfo": _node_info(name),
        }

    async def _renew(self, name: str) -> None:
        now = format_micro_time(self._api.now())
        if self._api.peek("leases.coordination.k8s.io", name, LEASES) is not None:
            await self._api.patch("leases.coordination.k8s.io", name, {"spec": {"renewTime": now}}, LEASES)
            return
        node = self._api.peek("nodes", name)
        if node is None:
            return
        owner = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": node["metadata"]["uid"]}
        document = {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": name, "ownerReferences": [owner]},
            "spec": {"holderIdentity": name, "leaseDurationSeconds": 40, "renewTime": now},
        }
        await self._api.create("leases.coordination.k8s.io", document, LEASES)

    # -- down ------------------------------------------------------------------------------------------------

    async def _take_down(self, node: Document) -> None:
        name = node["metadata"]["name"]
        if _ready(node) == "Unknown":
            return
        stamp = self._api.backend.timestamp()
        unknown = {
            "type": well_known.READY,
            "status": "Unknown",
            "reason": "NodeStatusUnknown",
            "message": "Kubelet stopped posting node status.",
            "lastTransitionTime": stamp,
        }
        await self._patch_status(name, {"conditions": [unknown]})
        taints = [
            t
            for t in (node.get("spec") or {}).get("taints") or ()
            if t.get("key") != well_known.UNREACHABLE_TAINT
        ]
        effects = ("NoSchedule", "NoExecute")
        taints += [
            {"key": well_known.UNREACHABLE_TAINT, "effect": effect, "timeAdded": stamp} for effect in effects
        ]
        await self._api.patch("nodes", name, {"spec": {"taints": taints}})
        await self._not_ready(name, stamp)

    async def _not_ready(self, node: str, stamp: str) -> None:
        condition = {"type": well_known.READY, "status": "False", "lastTransitionTime": stamp}
        patch = {"status": {"conditions": [condition]}}
        await in_parallel(
            partial(
                self._api.patch,
                "pods",
                p.name,
                patch,
                p.namespace,
                content_type=STRATEGIC_MERGE_PATCH,
                subresource="status",
            )
            for p in self._pods.on_node(node)
            if p.ready
        )

    async def _untaint(self, node: Document) -> None:
        taints = (node.get("spec") or {}).get("taints") or ()
        kept = [t for t in taints if t.get("key") != well_known.UNREACHABLE_TAINT]
        if len(kept) != len(taints):
            await self._api.patch("nodes", node["metadata"]["name"], {"spec": {"taints": kept or None}})
        condition = {
            "type": well_known.READY,
            "status": "True",
            "lastTransitionTime": self._api.backend.timestamp(),
        }
        for pod in self._pods.on_node(node["metadata"]["name"]):
            if pod.phase == "Running" and not pod.ready:
                await self._api.patch(
                    "pods",
                    pod.name,
                    {"status": {"conditions": [condition]}},
                    pod.namespace,
                    content_type=STRATEGIC_MERGE_PATCH,
                    subresource="status",
                )

    async def _patch_status(self, name: str, status: dict[str, Any]) -> None:
        await self._api.patch(
            "nodes",
            name,
            {"status": status},
            content_type=STRATEGIC_MERGE_PATCH,
            subresource="status",
            manager="kubelet",
        )


def _ready(node: Document) -> str:
    return str(condition_of(node, well_known.READY).get("status", ""))


def _node_info(name: str) -> dict[str, str]:
    """What a kubelet reports about its machine: made up, but always the same for the same name."""
    machine = hashlib.blake2b(name.encode(), digest_size=16).digest()
    boot = hashlib.blake2b(machine, digest_size=16).digest()
    return {
        "architecture": "amd64",
        "bootID": str(uuid.UUID(bytes=boot)),
        "containerRuntimeVersion": "fake://1.0.0",
        "kernelVersion": "6.12.0-fake",
        "kubeProxyVersion": KUBELET_VERSION,
        "kubeletVersion": KUBELET_VERSION,
        "machineID": machine.hex(),
        "operatingSystem": "linux",
        "osImage": "Fake Linux",
        "systemUUID": str(uuid.UUID(bytes=machine)),
    }
