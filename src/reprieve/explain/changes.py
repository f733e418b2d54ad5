"""What can be changed so that a pod or a group runs: as data, in words, and carried out on a draft.

A change claims nothing by itself. A remedy (`remedy`) is a list of changes together with what they bring, and
it is only given after they were carried out on a copy of the cluster.
"""

import copy
from typing import Any

import msgspec

from reprieve.explain.draft import Draft
from reprieve.objects import Document, Reference, amount, counted, format_amount, some, well_known

NAMED = 3
NEW_NODE = "added-"
"""How the names of nodes begin that a draft adds."""
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


class Change(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel", tag_field="change"
):
    """One change of one object. `change` says which one it is."""

    def words(self) -> str:
        """What to do, as part of a sentence."""
        raise NotImplementedError

    def carry_out(self, draft: Draft) -> None:
        raise NotImplementedError


def whose(unit: str) -> str:
    return {"Pod": "the pod", "PodGroup": "its pods", "Workload": "its pod template"}[unit.partition("/")[0]]


def amounts_in_words(amounts: dict[str, str], more: str = "") -> str:
    """`2 cpu, 1Gi memory and 1 pod slot`; with `more`, `2 more cpu` and so on."""
    nouns = {r: ("pod slot" if q == "1" else "pod slots") if r == "pods" else r for r, q in amounts.items()}
    return listed([" ".join(filter(None, (q, more, nouns[r]))) for r, q in amounts.items()])


def listed(parts: list[str]) -> str:
    """`a, b and c`."""
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)


def pairs(labels: dict[str, str]) -> str:
    return ", ".join(f"{key}={value}" for key, value in labels.items())


# --- nodes --------------------------------------------------------------------------------------------------


class LabelNode(Change, frozen=True, kw_only=True, tag=True):
    node: str
    labels: dict[str, str] = {}
    absent: list[str] = []
    """Labels to be taken off."""

    def words(self) -> str:
        parts = [f"label node {self.node} with {pairs(self.labels)}"] if self.labels else []
        if self.absent:
            parts.append(f"take the label {', '.join(self.absent)} off node {self.node}")
        return listed(parts)

    def carry_out(self, draft: Draft) -> None:
        labels = draft.edit("Node", self.node).setdefault("metadata", {}).setdefault("labels", {})
        labels |= self.labels
        for key in self.absent:
            labels.pop(key, None)


class Uncordon(Change, frozen=True, kw_only=True, tag=True):
    node: str

    def words(self) -> str:
        return f"make node {self.node} schedulable again (kubectl uncordon {self.node})"

    def carry_out(self, draft: Draft) -> None:
        draft.edit("Node", self.node).setdefault("spec", {})["unschedulable"] = False
        _untaint(draft, self.node, [well_known.UNSCHEDULABLE_TAINT])


class RemoveTaints(Change, frozen=True, kw_only=True, tag=True):
    """Taints that the node controller puts on a node in trouble."""

    node: str
    keys: list[str]

    def words(self) -> str:
        return f"bring node {self.node} back into service (taint {', '.join(self.keys)})"

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
        return f"free {amounts_in_words(self.amounts, 'more')} on node {self.node}"

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
        what = "a node" if self.count == 1 else f"{self.count} nodes"
        each = " each" if self.count > 1 else ""
        labels = f", labelled {pairs(self.labels)}" if self.labels else ""
        offered = amounts_in_words({r: q for r, q in self.amounts.items() if r != "pods"}) or "a pod slot"
        return f"add {what} with {offered} free{each}{labels}"

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
        one = len(self.pods) == 1
        stop = "" if self.leaving else f", or stop {'it' if one else 'them'}"
        why = f" ({self.why})" if self.why else ""
        return f"wait until {some(self.pods, NAMED)} {'ends' if one else 'end'}{stop}{why}"

    def carry_out(self, draft: Draft) -> None:
        for key in self.pods:
            draft.remove("Pod", key)


class StartPod(Change, frozen=True, kw_only=True, tag=True):
    """Somebody whom the pod wants to be near."""

    namespace: str
    labels: dict[str, str]
    node: str

    def words(self) -> str:
        labels = f" labelled {pairs(self.labels)}" if self.labels else ""
        return f"start a pod{labels} in namespace {self.namespace} on node {self.node}"

    def carry_out(self, draft: Draft) -> None:
        number = sum(1 for _ in draft.of_kind("Pod"))
        pod = draft.edit("Pod", f"{self.namespace}/started-{number}")
        pod["metadata"]["labels"] = dict(self.labels)
        pod["spec"] = {"nodeName": self.node, "containers": [{"name": "main"}]}
        pod["status"] = {"phase": "Running"}


# --- pods ---------------------------------------------------------------------------------------------------


class Tolerate(Change, frozen=True, kw_only=True, tag=True):
    unit: str
    tolerations: list[dict[str, str]]

    def words(self) -> str:
        taints = listed([_taint(each) for each in self.tolerations])
        what = "a toleration" if len(self.tolerations) == 1 else "tolerations"
        return f"add {what} for {taints} to {whose(self.unit)}"

    def carry_out(self, draft: Draft) -> None:
        for spec in draft.pod_specs(Reference.parse(self.unit)):
            spec["tolerations"] = [*(spec.get("tolerations") or ()), *map(dict, self.tolerations)]


def _taint(toleration: dict[str, str]) -> str:
    """`key=value:effect`, as kubectl writes taints."""
    value = f"={toleration['value']}" if toleration.get("value") else ""
    return f"{toleration['key']}{value}:{toleration['effect']}"


class Drop(Change, frozen=True, kw_only=True, tag=True):
    """Do without a requirement of the pod."""

    unit: str
    field: str
    """`nodeSelector`, `topologySpreadConstraints`, `hostPort`, or a part of `affinity`."""
    keys: list[str] = []
    """Of a node selector; of spread constraints their topology keys. Empty: all of it."""

    def words(self) -> str:
        of = whose(self.unit)
        if self.field == "hostPort":
            return f"do without hostPort in {of}"
        if self.field.startswith("affinity."):
            return f"do without spec.{self.field}.{REQUIRED} in {of}"
        return f"do without {', '.join(self.keys) or 'all'} in spec.{self.field} of {of}"

    def carry_out(self, draft: Draft) -> None:
        for spec in draft.pod_specs(Reference.parse(self.unit)):
            if self.field == "hostPort":
                _drop_ports(spec)
            elif self.field.startswith("affinity."):
                side = (spec.get("affinity") or {}).get(self.field.removeprefix("affinity.")) or {}
                side.pop(REQUIRED, None)
            elif self.field == "topologySpreadConstraints":
                for each in spec.get(self.field) or ():
                    if not self.keys or each.get("topologyKey") in self.keys:
                        each["whenUnsatisfiable"] = "ScheduleAnyway"
            else:
                kept = {
                    k: v for k, v in (spec.get(self.field) or {}).items() if self.keys and k not in self.keys
                }
                spec[self.field] = kept


def _drop_ports(spec: dict[str, Any]) -> None:
    spec["hostNetwork"] = False
    for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
        for port in container.get("ports") or ():
            port.pop("hostPort", None)


class AllowSkew(Change, frozen=True, kw_only=True, tag=True):
    unit: str
    topology_key: str
    max_skew: int

    def words(self) -> str:
        key = self.topology_key
        return f"raise maxSkew to {self.max_skew} in the spread constraint over {key} of {whose(self.unit)}"

    def carry_out(self, draft: Draft) -> None:
        for spec in draft.pod_specs(Reference.parse(self.unit)):
            for each in spec.get("topologySpreadConstraints") or ():
                if each.get("topologyKey") == self.topology_key:
                    each["maxSkew"] = max(self.max_skew, each.get("maxSkew", 1))


class AskForLess(Change, frozen=True, kw_only=True, tag=True):
    unit: str
    resource: str
    most: str

    def words(self) -> str:
        if self.most == "0":
            return f"do without {self.resource} in {whose(self.unit)}"
        return f"ask for at most {self.most} {self.resource} in {whose(self.unit)}"

    def carry_out(self, draft: Draft) -> None:
        """All of it in one container."""
        for spec in draft.pod_specs(Reference.parse(self.unit)):
            (spec.get("overhead") or {}).pop(self.resource, None)
            containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
            for part in (spec, *containers):
                for side in ("requests", "limits"):
                    ((part.get("resources") or {}).get(side) or {}).pop(self.resource, None)
            if containers and self.most != "0":
                resources = containers[0].setdefault("resources", {})
                resources["requests"] = {**(resources.get("requests") or {}), self.resource: self.most}


class SetPriority(Change, frozen=True, kw_only=True, tag=True):
    unit: str
    priority: int

    def words(self) -> str:
        return f"give it a priority above {self.priority - 1}"

    def carry_out(self, draft: Draft) -> None:
        unit = Reference.parse(self.unit)
        owners = [draft.edit(unit.kind, unit.key)] if unit.kind != "Pod" else []
        pods = [draft.edit("Pod", key) for key in draft.members(unit)] if unit.kind != "Workload" else []
        for document in (*owners, *pods):
            spec = document.setdefault("spec", {})
            for field in ("priorityClassName", "priorityClassRef", "priorityClassSource"):
                spec.pop(field, None)
            spec["priority"] = self.priority


class AllowPreemption(Change, frozen=True, kw_only=True, tag=True):
    unit: str

    def words(self) -> str:
        return f"set preemptionPolicy: PreemptLowerPriority in {whose(self.unit)}"

    def carry_out(self, draft: Draft) -> None:
        unit = Reference.parse(self.unit)
        owners = [draft.edit(unit.kind, unit.key)] if unit.kind != "Pod" else []
        for document in (*owners, *(draft.edit("Pod", key) for key in draft.members(unit))):
            document.setdefault("spec", {})["preemptionPolicy"] = "PreemptLowerPriority"


class UseScheduler(Change, frozen=True, kw_only=True, tag=True):
    unit: str
    name: str

    def words(self) -> str:
        return f"set schedulerName: {self.name} in {whose(self.unit)}"

    def carry_out(self, draft: Draft) -> None:
        for key in draft.members(Reference.parse(self.unit)):
            draft.edit("Pod", key).setdefault("spec", {})["schedulerName"] = self.name


class RemoveGates(Change, frozen=True, kw_only=True, tag=True):
    unit: str
    gates: list[str]

    def words(self) -> str:
        noun = "gate" if len(self.gates) == 1 else "gates"
        return f"have the scheduling {noun} {', '.join(self.gates)} removed by whoever put it there"

    def carry_out(self, draft: Draft) -> None:
        for spec in draft.pod_specs(Reference.parse(self.unit)):
            spec.pop("schedulingGates", None)


class EndProtection(Change, frozen=True, kw_only=True, tag=True):
    """Somebody less important may not be preempted yet."""

    unit: str

    def words(self) -> str:
        return f"wait until the minimum run time of {self.unit} is over ({well_known.MIN_RUNTIME_ANNOTATION})"

    def carry_out(self, draft: Draft) -> None:
        unit = Reference.parse(self.unit)
        annotations = draft.edit(unit.kind, unit.key)["metadata"].get("annotations") or {}
        annotations.pop(well_known.MIN_RUNTIME_ANNOTATION, None)


# --- groups -------------------------------------------------------------------------------------------------


class CreateGroup(Change, frozen=True, kw_only=True, tag=True):
    group: str

    def words(self) -> str:
        return f"create PodGroup {self.group}, which spec.schedulingGroup names"

    def carry_out(self, draft: Draft) -> None:
        group = draft.edit("PodGroup", self.group)
        pods = [draft.find("Pod", key) or {} for key in draft.members(Reference.of("PodGroup", self.group))]
        fields = ("priority", "priorityClassName", "preemptionPolicy")
        spec = (pods[0].get("spec") or {}) if pods else {}
        group["spec"] = {
            "schedulingPolicy": {"gang": {"minCount": 1}},
            **{field: spec[field] for field in fields if field in spec},
        }


class CreatePods(Change, frozen=True, kw_only=True, tag=True):
    group: str
    count: int

    def words(self) -> str:
        return f"create {counted(self.count, 'more pod')} of PodGroup {self.group}"

    def carry_out(self, draft: Draft) -> None:
        members = draft.members(Reference.of("PodGroup", self.group))
        namespace, _, name = self.group.rpartition("/")
        model: Document = copy.deepcopy(draft.find("Pod", members[0]) or {}) if members else {}
        spec = {"schedulingGroup": {"podGroupName": name}, "containers": [{"name": "main"}]}
        spec |= model.get("spec") or _priority_of(draft, self.group)
        spec.pop("nodeName", None)
        for number in range(self.count):
            pod = draft.edit("Pod", f"{namespace}/{name}-more-{number}")
            pod["metadata"]["labels"] = (model.get("metadata") or {}).get("labels") or {}
            pod["spec"] = copy.deepcopy(spec)


def _priority_of(draft: Draft, group: str) -> dict[str, Any]:
    spec = (draft.find("PodGroup", group) or {}).get("spec") or {}
    return {k: spec[k] for k in ("priority", "priorityClassName", "preemptionPolicy") if k in spec}


class LowerMinCount(Change, frozen=True, kw_only=True, tag=True):
    group: str
    min_count: int

    def words(self) -> str:
        return f"lower minCount of PodGroup {self.group} to {self.min_count}"

    def carry_out(self, draft: Draft) -> None:
        spec = draft.edit("PodGroup", self.group).setdefault("spec", {})
        spec["schedulingPolicy"] = {"gang": {"minCount": self.min_count}}


class SameForAll(Change, frozen=True, kw_only=True, tag=True):
    """All pods of a group must agree with it."""

    group: str
    field: str
    value: str | int

    def words(self) -> str:
        return f"give all pods of PodGroup {self.group} the same {self.field}: {self.value}"

    def carry_out(self, draft: Draft) -> None:
        for key in draft.members(Reference.of("PodGroup", self.group)):
            spec = draft.edit("Pod", key).setdefault("spec", {})
            spec[self.field] = self.value
            if self.field == "priority":
                spec.pop("priorityClassName", None)
