"""DaemonSets: one pod on every node that the template's selector, affinity and tolerations allow.

A rolling update deletes pods of older revisions, first those that are unavailable anyway, within
`maxUnavailable`; `OnDelete` waits until a client deletes a pod. A pod that fails is replaced, not sooner
than some seconds after it was made.
"""

import copy
from datetime import datetime

import msgspec

from reprieve.objects import (
    Document,
    NodeSelector,
    Taint,
    Toleration,
    node_selector_matches,
    parse_time,
    tolerates,
    well_known,
)
from reprieve.server.api import Api
from reprieve.server.controllers.budgets import scaled
from reprieve.server.controllers.placed_pods import PlacedPods
from reprieve.server.controllers.pods import Pod, PodIndex, pod_from_template
from reprieve.server.controllers.replicas import count_available
from reprieve.server.controllers.revisions import REVISION_LABEL, History, name_of, template_of
from reprieve.server.documents import at, items, shifted
from reprieve.server.storage import DELETED, Change

_NODE_NAME = "metadata.name"
_SHORTEST_LIFE = 10
"""Seconds: a pod that fails at once is not made again and again without a pause."""
_ALWAYS_TOLERATED = (
    (well_known.NOT_READY_TAINT, "NoExecute"),
    (well_known.UNREACHABLE_TAINT, "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    (well_known.UNSCHEDULABLE_TAINT, "NoSchedule"),
)
_REQUIRED = ("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")


class DaemonSets(PlacedPods):
    resource = "daemonsets.apps"
    kind = "DaemonSet"
    manager = "daemonset-controller"

    def __init__(self, api: Api, pods: PodIndex) -> None:
        super().__init__(api, pods)
        self.changes.of("nodes", self._node_changed)

    def _node_changed(self, change: Change) -> None:
        sets = self.api.backend.store.collection(self.resource)
        if sets.count and _matters(change):
            for record in sets.scan(None):
                self.queue.add((record.namespace, record.name))

    def _by_node(self, pods: list[Pod]) -> dict[str, list[Pod]]:
        """Oldest first; of pods that no node has yet, where they are meant to go."""
        found: dict[str, list[Pod]] = {}
        for pod in sorted(pods, key=lambda p: (p.created, p.name)):
            document = None if pod.node else self.api.peek("pods", pod.name, pod.namespace)
            found.setdefault(pod.node or (target_node(document) if document else ""), []).append(pod)
        return found

    def _wanted(self, owner: Document) -> dict[str, tuple[bool, bool]]:
        """By node: whether a pod belongs there, and whether one that is there may stay."""
        template = owner["spec"]["template"]
        return {node["metadata"]["name"]: _should_run(template, node) for node in self.api.select("nodes")}

    async def place(self, owner: Document, pods: list[Pod], history: History) -> list[datetime]:
        there, wanted = self._by_node(pods), self._wanted(owner)
        surplus, due = [], []
        for name, found in there.items():
            alive = [p for p in found if p.active]
            if not wanted.get(name, (False, False))[1]:
                surplus += [p for p in found if not p.deleting]
                continue
            surplus += alive[1:]
            for pod in found:
                again = shifted(parse_time(pod.created), _SHORTEST_LIFE)
                if pod.finished and not pod.deleting and again > self.api.now():
                    due.append(again)
                elif pod.finished and not pod.deleting:
                    surplus.append(pod)
        await self.delete_pods(surplus)
        belongs = [name for name, (here, _) in wanted.items() if here]
        missing = [name for name in belongs if name not in there]
        documents = [_daemon_pod(owner, history.latest, name) for name in missing]
        due += self.later(await self.create_pods(owner, documents) if documents else None)
        most = scaled(
            at(owner, "spec", "updateStrategy", "rollingUpdate", "maxUnavailable", default=1), len(belongs)
        )
        running = [p for name in belongs for p in there.get(name, ()) if not p.finished and p not in surplus]
        await self.roll(owner, running, most, name_of(history.latest), len(missing))
        return due

    def status(self, owner: Document, pods: list[Pod], history: History) -> tuple[Document, list[datetime]]:
        there, nodes = self._by_node(pods), self._wanted(owner)
        belongs = [name for name, (here, _) in nodes.items() if here]
        active = [[p for p in there.get(name, ()) if p.active] for name in belongs]
        first = [min(found, key=lambda p: (not p.ready, p.created, p.name)) for found in active if found]
        ready = [p for p in first if p.ready]
        available, due = count_available(ready, owner["spec"], self.api.now())
        mark = name_of(history.latest)
        status: Document = {
            "currentNumberScheduled": sum(1 for name in belongs if name in there),
            "numberMisscheduled": sum(1 for name in there if name in nodes and name not in belongs),
            "desiredNumberScheduled": len(belongs),
            "numberReady": len(ready),
            "numberAvailable": available,
            "numberUnavailable": len(belongs) - available,
            "updatedNumberScheduled": sum(1 for p in first if p.labels.get(REVISION_LABEL) == mark),
            "observedGeneration": owner["metadata"].get("generation", 0),
        }
        return status, due


def _matters(change: Change) -> bool:
    """A node that comes or goes, or whose labels or taints change."""
    if change.previous is None or change.type == DELETED:
        return True
    before, after = change.previous.object, change.record.object
    return (change.previous.labels, before.get("spec")) != (change.record.labels, after.get("spec"))


def _daemon_pod(owner: Document, revision: Document, node: str) -> Document:
    """A pod that only one node can run."""
    pod = pod_from_template(owner, template_of(revision))
    pod["metadata"]["labels"][REVISION_LABEL] = name_of(revision)
    spec = pod["spec"]
    spec["tolerations"] = _tolerations(spec)
    only = {"key": _NODE_NAME, "operator": "In", "values": [node]}
    terms = [copy.deepcopy(term) for term in items(spec, *_REQUIRED, "nodeSelectorTerms")] or [{}]
    for term in terms:
        term["matchFields"] = [only]
    affinity = spec.setdefault("affinity", {}).setdefault("nodeAffinity", {})
    affinity[_REQUIRED[-1]] = {"nodeSelectorTerms": terms}
    return pod


def _tolerations(spec: Document) -> list[Document]:
    """The pod's own, and those that keep a daemon on a node in trouble."""
    wanted = [*_ALWAYS_TOLERATED]
    if spec.get("hostNetwork"):
        wanted.append(("node.kubernetes.io/network-unavailable", "NoSchedule"))
    own = items(spec, "tolerations")
    more: list[Document] = [{"key": key, "operator": "Exists", "effect": effect} for key, effect in wanted]
    return own + [toleration for toleration in more if toleration not in own]


def target_node(pod: Document) -> str:
    """The node that a daemon's pod is on or meant for."""
    if pod["spec"].get("nodeName"):
        return str(pod["spec"]["nodeName"])
    for term in items(pod, "spec", *_REQUIRED, "nodeSelectorTerms"):
        for field in items(term, "matchFields"):
            if field.get("key") == _NODE_NAME and len(field.get("values") or ()) == 1:
                return str(field["values"][0])
    return ""


def _should_run(template: Document, node: Document) -> tuple[bool, bool]:
    """Whether a pod of this template belongs on the node, and whether one that is there may stay."""
    spec, meta = template.get("spec") or {}, node["metadata"]
    if spec.get("nodeName") not in (None, "", meta["name"]):
        return False, False
    labels = meta.get("labels") or {}
    if not (spec.get("nodeSelector") or {}).items() <= labels.items():
        return False, False
    required = at(spec, *_REQUIRED)
    if required is not None:
        selector = msgspec.convert(required, NodeSelector)
        if not node_selector_matches(selector, labels, meta["name"]):
            return False, False
    tolerations = [msgspec.convert(t, Toleration) for t in _tolerations(spec)]
    taints = [msgspec.convert(t, Taint) for t in items(node, "spec", "taints")]
    hostile = [t for t in taints if t.effect != "PreferNoSchedule" and not tolerates(tolerations, t)]
    return not hostile, all(t.effect != "NoExecute" for t in hostile)
