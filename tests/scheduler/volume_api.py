"""An API server in memory for pods with claims: versions, conflicts, a watch that may lag, a controller that
binds and provisions, and a judge of every write. Schedulers come and go; each has a life of its own."""

import asyncio
import copy
from collections.abc import Callable, Iterable
from typing import Any

from reprieve.config import Configuration
from reprieve.controllers.scheduler.shell import Shell
from reprieve.kube import Change
from reprieve.objects import decode, well_known
from reprieve.scheduler.actions import ActionError, Bind, BindClaim, Nominate, SetPodCondition
from reprieve.scheduler.core import Core
from tests.builders import Document
from tests.scheduler.recorded import Recorded

POD, CLAIM, VOLUME = "Pod", "PersistentVolumeClaim", "PersistentVolume"
BOUND = {well_known.BIND_COMPLETED: "yes", well_known.BOUND_BY_CONTROLLER: "yes"}
KINDS = (
    "Node", "StorageClass", "CSIDriver", "CSIStorageCapacity", VOLUME, CLAIM, "PodGroup", POD,
)  # fmt: skip
Key = tuple[str, str]


class Store:
    """Objects by kind and name, all in one namespace, as nobody may write them twice."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self.objects: dict[Key, Document] = {}
        self.version = 0
        self.watchers: list[Callable[[Change], None]] = []
        self.complaints: list[str] = []
        for document in documents:
            self.put(document)

    def get(self, kind: str, name: str) -> Document | None:
        found = self.objects.get((kind, name))
        return None if found is None else copy.deepcopy(found)

    def of(self, kind: str) -> list[Document]:
        return [copy.deepcopy(each) for (what, _), each in self.objects.items() if what == kind]

    def put(self, document: Document) -> str:
        key = document["kind"], document["metadata"]["name"]
        old, new = self.objects.get(key), copy.deepcopy(document)
        self.version += 1
        new["metadata"].setdefault("uid", f"uid-{self.version}")
        new["metadata"]["resourceVersion"] = str(self.version)
        self._judge(old, new)
        self.objects[key] = new
        before = None if old is None else decode(old)
        for watcher in list(self.watchers):
            watcher(Change("ADDED" if old is None else "MODIFIED", before, decode(new)))
        return str(self.version)

    def _judge(self, old: Document | None, new: Document) -> None:
        name = new["metadata"]["name"]
        for path in (("spec", "nodeName"), ("spec", "volumeName"), ("spec", "claimRef", "uid")):
            before, after = _at(old, path), _at(new, path)
            if before and after != before:
                self.complaints.append(f"{name}: {path[-1]} was {before}, is {after}")
        if new["kind"] == CLAIM and _at(new, ("spec", "volumeName")):
            volume = self.objects[VOLUME, new["spec"]["volumeName"]]
            if volume["spec"]["claimRef"]["uid"] != new["metadata"]["uid"]:
                self.complaints.append(f"{name} has a volume that is kept for another claim")
        if new["kind"] == POD and _at(new, ("spec", "nodeName")) and not _at(old, ("spec", "nodeName")):
            self._judge_binding(new)

    def _judge_binding(self, pod: Document) -> None:
        """A pod gets its node when all its claims are bound, to volumes that the node reaches."""
        for volume in pod["spec"].get("volumes", ()):
            claim = self.objects[CLAIM, volume["persistentVolumeClaim"]["claimName"]]
            named = self.objects.get((VOLUME, claim["spec"].get("volumeName", "")))
            if named is None:
                self.complaints.append(
                    f"{pod['metadata']['name']} was bound before {claim['metadata']['name']}"
                )
            elif _host(named) not in ("", pod["spec"]["nodeName"]):
                self.complaints.append(f"{pod['metadata']['name']} cannot reach {named['metadata']['name']}")


class VolumeController:
    """Binds claims to the volumes that are kept for them, provisions where a node was selected."""

    def __init__(self, store: Store, pace: float, refusals: int) -> None:
        """`refusals`: how often the provisioner gives up before it works."""
        self.store = store
        self._pace = pace
        self._refusals = refusals

    async def run(self) -> None:
        seen = 0
        while True:
            await asyncio.sleep(self._pace)
            if seen != self.store.version:
                seen = self.store.version
                self._step()

    def _step(self) -> None:
        """One write at most, so that everybody sees what comes in between."""
        for volume in self.store.of(VOLUME):
            kept = volume["spec"].get("claimRef")
            claim = self.store.get(CLAIM, kept["name"]) if kept else None
            if claim is not None and not claim["spec"].get("volumeName"):
                return self._bind(claim, volume)
        for claim in self.store.of(CLAIM):
            notes = claim["metadata"].get("annotations", {})
            node = notes.get(well_known.SELECTED_NODE)
            if node and not claim["spec"].get("volumeName"):
                return self._provision(claim, node)
        return None

    def _bind(self, claim: Document, volume: Document) -> None:
        claim["spec"]["volumeName"] = volume["metadata"]["name"]
        claim["status"] = {"phase": "Bound"}
        claim["metadata"].setdefault("annotations", {}).update(BOUND)
        self.store.put(claim)

    def _provision(self, claim: Document, node: str) -> None:
        if self._refusals:
            self._refusals -= 1
            del claim["metadata"]["annotations"][well_known.SELECTED_NODE]
            claim["metadata"]["annotations"]["refused"] = "yes"
            self.store.put(claim)
            return
        meta = claim["metadata"]
        made = local_volume(f"made-{meta['name']}", node, claim["spec"]["storageClassName"])
        made["spec"]["claimRef"] = {"namespace": "ns", "name": meta["name"], "uid": meta["uid"]}
        self.store.put({**made, "status": {"phase": "Bound"}})


class Life(Recorded):
    """One scheduler, from its start to its end. Its calls change the store; one of them may be its last.

    `last`: the number of the call in which it dies; `done`: whether the server still hears that call."""

    def __init__(self, store: Store, last: int | None = None, done: bool = False, lag: float = 0.0) -> None:
        super().__init__()
        self.store = store
        self.dead = asyncio.Event()
        self._last, self._done, self._count = last, done, 0
        self.core = Core(Configuration.load(None), "reprieve")
        loop = asyncio.get_running_loop()
        self.set_back = 0.0
        """By how many seconds somebody set its clock back."""
        self.shell = Shell(self.core, self, clock=lambda: 1_000_000.0 + loop.time() - self.set_back)
        for kind in KINDS:
            for each in store.of(kind):
                self.shell.observe(Change("ADDED", None, decode(each)))
        self._observe = lambda change: self._hear(change, lag)
        store.watchers.append(self._observe)
        self._task = asyncio.create_task(self.shell.run())

    def _hear(self, change: Change, lag: float) -> None:
        if lag:
            asyncio.get_running_loop().call_later(lag, self.shell.observe, change)
        else:
            self.shell.observe(change)

    async def end(self) -> None:
        self.store.watchers.remove(self._observe)
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    @property
    def reserved(self) -> dict[str, str]:
        storage = self.core.cluster.storage
        return {**storage.taken, **storage.selected}

    async def _call(self, write: Callable[[], str]) -> str:
        if self.dead.is_set():
            await asyncio.Future()
        self._count += 1
        await asyncio.sleep(0.001)
        if self._count != self._last:
            return write()
        self.dead.set()
        if self._done:
            write()
        await asyncio.Future()
        raise AssertionError

    def _patch(self, kind: str, name: str, version: str, change: Callable[[Document], None]) -> str:
        found = self.store.get(kind, name)
        if found is None:
            raise ActionError(f"{kind} {name} not found", gone=True)
        if version and found["metadata"]["resourceVersion"] != version:
            raise ActionError(f"{kind} {name}: the object has been modified")
        change(found)
        return self.store.put(found)

    async def bind(self, bind: Bind) -> None:
        def change(pod: Document) -> None:
            if pod["spec"].get("nodeName"):
                raise ActionError(f"already bound to {pod['spec']['nodeName']}")
            pod["spec"]["nodeName"] = bind.node

        self._note("bind", bind.pod.key, bind.node)
        await self._call(lambda: self._patch(POD, bind.pod.name, "", change))

    async def bind_claim(self, bind: BindClaim, node: str) -> str:
        claim = bind.claim

        def keep(volume: Document) -> None:
            volume["spec"]["claimRef"] = {"namespace": "ns", "name": claim.name, "uid": claim.uid}

        def select(found: Document) -> None:
            found["metadata"].setdefault("annotations", {})[well_known.SELECTED_NODE] = node

        self._note("bind-claim", claim.key, node)
        if bind.volume:
            return await self._call(lambda: self._patch(VOLUME, bind.volume, bind.version, keep))
        return await self._call(lambda: self._patch(CLAIM, claim.name, bind.version, select))

    async def nominate(self, nomination: Nominate) -> None:
        def change(pod: Document) -> None:
            pod.setdefault("status", {})["nominatedNodeName"] = nomination.node

        await self._call(lambda: self._patch(POD, nomination.pod.name, "", change))

    async def set_pod_condition(self, condition: SetPodCondition) -> None:
        self._note("pod-condition", condition.pod.key, condition.message)


def local_volume(name: str, host: str, storage_class: str) -> Document:
    hosts = [{"key": "kubernetes.io/hostname", "operator": "In", "values": [host]}]
    affinity = {"required": {"nodeSelectorTerms": [{"matchExpressions": hosts}]}}
    spec = {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": storage_class,
        "local": {"path": "/x"},
        "nodeAffinity": affinity,
    }
    meta = {"name": name}
    return {
        "apiVersion": "v1",
        "kind": VOLUME,
        "metadata": meta,
        "spec": spec,
        "status": {"phase": "Available"},
    }


def _host(volume: Document) -> str:
    terms = _at(volume, ("spec", "nodeAffinity", "required", "nodeSelectorTerms")) or ()
    return str(terms[0]["matchExpressions"][0]["values"][0]) if terms else ""


def _at(document: Document | None, path: tuple[str, ...]) -> Any:
    found: Any = document
    for key in path:
        found = found.get(key) if isinstance(found, dict) else None
    return found
