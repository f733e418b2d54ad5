"""Changes of nodes, and of the pods that others run on them."""

# ruff: noqa: RUF012 - msgspec gives every instance its own empty dict

from reprieve.explain.advice.changes import Change
from reprieve.explain.advice.draft import Draft
from reprieve.explain.sentences import changes
from reprieve.objects import Reference, amount, format_amount, well_known

NEW_NODE = "added-"
"""How the names of nodes begin that a draft adds."""


class LabelNode(Change, frozen=True, kw_only=True, tag=True):
    node: str
    labels: dict[str, str] = {}
    absent: list[str] = []
    """Labels to be taken off."""

    def words(self) -> str:
        return changes.label_node(self.node, self.labels, self.absent)

    def carry_out(self, draft: Draft) -> None:
        labels = draft.edit("Node", self.node).setdefault("metadata", {}).setdefault("labels", {})
        labels |= self.labels
        for key in self.absent:
            labels.pop(key, None)


class Uncordon(Change, frozen=True, kw_only=True, tag=True):
    node: str

    def words(self) -> str:
        return changes.uncordon(self.node)

    def carry_out(self, draft: Draft) -> None:
        draft.edit("Node", self.node).setdefault("spec", {})["unschedulable"] = False
        _untaint(draft, self.node, [well_known.UNSCHEDULABLE_TAINT])


class RemoveTaints(Change, frozen=True, kw_only=True, tag=True):
    """Taints that the node controller puts on a node in trouble."""

    node: str
    keys: list[str]

    def words(self) -> str:
        return changes.remove_taints(self.node, self.keys)

    def carry_out(self, draft: Draft) -> None:
        _untaint(draft, self.node, self.keys)


def _untaint(draft: Draft, node: str, keys: list[str]) -> None:
    spec = draft.edit("Node", node).setdefault("spec", {})
    spec["taints"] = [taint for taint in spec.get("taints") or () if taint.get("key") not in keys]


class FreeOnNode(Change, frozen=True, kw_only=True, tag=True):
    node: str
    amounts: dict[str, str]
    """How much more has to be free than is free now."""

    def words(self) -> str:
        return changes.free_on_node(self.node, self.amounts)

    def carry_out(self, draft: Draft) -> None:
        """To have more free is the same, for whoever comes, as to have more."""
        status = draft.edit("Node", self.node).setdefault("status", {})
        offered = status.get("allocatable") or status.get("capacity") or {}
        for resource, quantity in self.amounts.items():
            total = amount(resource, offered.get(resource, 0)) + amount(resource, quantity)
            offered = {**offered, resource: format_amount(resource, total)}
        status["allocatable"] = offered


class AddNodes(Change, frozen=True, kw_only=True, tag=True):
    count: int = 1
    amounts: dict[str, str]
    """What each of them must offer at least."""
    labels: dict[str, str] = {}

    def words(self) -> str:
        return changes.add_nodes(self.count, self.amounts, self.labels)

    def carry_out(self, draft: Draft) -> None:
        before = sum(1 for _ in draft.of_kind("Node"))
        for number in range(self.count):
            name = f"{NEW_NODE}{before + number}"
            labels = {well_known.HOSTNAME_LABEL: name, **self.labels}
            node = draft.edit("Node", name)
            node["metadata"]["labels"] = labels
            node["status"] = {"allocatable": {"pods": "110", **self.amounts}}


class EndPods(Change, frozen=True, kw_only=True, tag=True):
    pods: list[str]
    why: str = ""
    """What they do that is in the way."""
    leaving: bool = False
    """They are on their way out: nobody has to stop them."""

    def words(self) -> str:
        return changes.end_pods(self.pods, self.why, self.leaving)

    def carry_out(self, draft: Draft) -> None:
        for key in self.pods:
            draft.remove("Pod", key)
        _give_back_devices(draft, set(self.pods))


def _give_back_devices(draft: Draft, gone: set[str]) -> None:
    """As the claim controller does: a claim that lost its last user is allocated no more."""
    for claim in draft.of_kind("ResourceClaim"):
        key = Reference.read(claim).key
        users = (claim.get("status") or {}).get("reservedFor") or []
        namespace = key.partition("/")[0]
        left = [
            each
            for each in users
            if each.get("resource") != "pods" or f"{namespace}/{each.get('name')}" not in gone
        ]
        if len(left) < len(users):
            status = draft.edit("ResourceClaim", key)["status"]
            status["reservedFor"] = left
            if not left:
                status.pop("allocation", None)


class StartPod(Change, frozen=True, kw_only=True, tag=True):
    """Somebody whom the pod wants to be near."""

    namespace: str
    labels: dict[str, str]
    node: str

    def words(self) -> str:
        return changes.start_pod(self.namespace, self.labels, self.node)

    def carry_out(self, draft: Draft) -> None:
        number = sum(1 for _ in draft.of_kind("Pod"))
        pod = draft.edit("Pod", f"{self.namespace}/started-{number}")
        pod["metadata"]["labels"] = dict(self.labels)
        pod["spec"] = {"nodeName": self.node, "containers": [{"name": "main"}]}
        pod["status"] = {"phase": "Running"}
