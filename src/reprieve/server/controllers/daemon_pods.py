"""Which nodes run a pod of a DaemonSet, and what such a pod looks like. Pure."""

import copy

import msgspec

from reprieve.objects import (
    Document,
    NodeSelector,
    Taint,
    Toleration,
    node_selector_matches,
    tolerates,
    well_known,
)
from reprieve.server.controllers.pods import pod_from_template
from reprieve.server.controllers.revisions import HASH, REVISION_LABEL
from reprieve.server.documents import at, items

_NODE_NAME = "metadata.name"
_ALWAYS_TOLERATED = (
    (well_known.NOT_READY_TAINT, "NoExecute"),
    (well_known.UNREACHABLE_TAINT, "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    (well_known.UNSCHEDULABLE_TAINT, "NoSchedule"),
)
_REQUIRED = ("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")


def daemon_pod(owner: Document, template: Document, revision: Document, node: str) -> Document:
    """A pod that only one node can run."""
    pod = pod_from_template(owner, template)
    pod["metadata"]["labels"][REVISION_LABEL] = revision["metadata"]["labels"][HASH]
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


def should_run(template: Document, node: Document) -> tuple[bool, bool]:
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
