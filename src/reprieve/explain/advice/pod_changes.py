"""Changes of a pod, of the pods of a group or of a workload's pod template, and of the group itself."""

# ruff: noqa: RUF012 - msgspec gives every instance its own empty list

import copy
from typing import Any

from reprieve.explain.advice.changes import Change
from reprieve.explain.advice.draft import Draft
from reprieve.explain.sentences import changes
from reprieve.objects import Document, Reference, well_known

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


class Tolerate(Change, frozen=True, kw_only=True, tag=True):
    unit: str
    tolerations: list[dict[str, str]]

    def words(self) -> str:
        return changes.tolerate(self.unit, self.tolerations)

    def carry_out(self, draft: Draft) -> None:
        for spec in draft.pod_specs(Reference.parse(self.unit)):
            spec["tolerations"] = [*(spec.get("tolerations") or ()), *map(dict, self.tolerations)]


class Drop(Change, frozen=True, kw_only=True, tag=True):
    """Do without a requirement of the pod."""

    unit: str
    field: str
    """`nodeSelector`, `topologySpreadConstraints`, `hostPort`, or a part of `affinity`."""
    keys: list[str] = []
    """Of a node selector; of spread constraints their topology keys. Empty: all of it."""

    def words(self) -> str:
        if self.field == "hostPort":
            return changes.drop_host_ports(self.unit)
        if self.field.startswith("affinity."):
            return changes.drop_affinity(self.unit, f"{self.field}.{REQUIRED}")
        return changes.drop_keys(self.unit, self.field, self.keys)

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
        return changes.allow_skew(self.unit, self.topology_key, self.max_skew)

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
        return changes.ask_for_less(self.unit, self.resource, self.most)

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
        return changes.set_priority(self.priority)

    def carry_out(self, draft: Draft) -> None:
        unit = Reference.parse(self.unit)
        owners = _owners(draft, unit)
        pods = [draft.edit("Pod", key) for key in draft.members(unit)] if unit.kind != "Workload" else []
        for document in (*owners, *pods):
            spec = document.setdefault("spec", {})
            for field in ("priorityClassName", "priorityClassRef", "priorityClassSource"):
                spec.pop(field, None)
            spec["priority"] = self.priority


class AllowPreemption(Change, frozen=True, kw_only=True, tag=True):
    unit: str

    def words(self) -> str:
        return changes.allow_preemption(self.unit)

    def carry_out(self, draft: Draft) -> None:
        unit = Reference.parse(self.unit)
        owners = _owners(draft, unit)
        for document in (*owners, *(draft.edit("Pod", key) for key in draft.members(unit))):
            document.setdefault("spec", {})["preemptionPolicy"] = "PreemptLowerPriority"


def _owners(draft: Draft, unit: Reference) -> list[Document]:
    """The groups or the workload that say the same as the pods, ready to be changed."""
    if unit.kind == "Pod":
        return []
    below = draft.below(unit.key) if unit.kind == "CompositePodGroup" else []
    return [draft.edit(each.kind, each.key) for each in (unit, *below)]


class UseScheduler(Change, frozen=True, kw_only=True, tag=True):
    unit: str
    name: str

    def words(self) -> str:
        return changes.use_scheduler(self.unit, self.name)

    def carry_out(self, draft: Draft) -> None:
        for key in draft.members(Reference.parse(self.unit)):
            draft.edit("Pod", key).setdefault("spec", {})["schedulerName"] = self.name


class RemoveGates(Change, frozen=True, kw_only=True, tag=True):
    unit: str
    gates: list[str]

    def words(self) -> str:
        return changes.remove_gates(self.gates)

    def carry_out(self, draft: Draft) -> None:
        for spec in draft.pod_specs(Reference.parse(self.unit)):
            spec.pop("schedulingGates", None)


class EndProtection(Change, frozen=True, kw_only=True, tag=True):
    """Somebody less important may not be preempted yet."""

    unit: str

    def words(self) -> str:
        return changes.end_protection(self.unit)

    def carry_out(self, draft: Draft) -> None:
        unit = Reference.parse(self.unit)
        annotations = draft.edit(unit.kind, unit.key)["metadata"].get("annotations") or {}
        annotations.pop(well_known.MIN_RUNTIME_ANNOTATION, None)


# --- groups -------------------------------------------------------------------------------------------------


class CreateGroup(Change, frozen=True, kw_only=True, tag=True):
    group: str

    def words(self) -> str:
        return changes.create_group(self.group)

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
        return changes.create_pods(self.group, self.count)

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
        return changes.lower_min_count(self.group, self.min_count)

    def carry_out(self, draft: Draft) -> None:
        spec = draft.edit("PodGroup", self.group).setdefault("spec", {})
        spec["schedulingPolicy"] = {"gang": {"minCount": self.min_count}}


class SameForAll(Change, frozen=True, kw_only=True, tag=True):
    """All pods of a group must agree with it."""

    group: str
    field: str
    value: str | int

    def words(self) -> str:
        return changes.same_for_all(self.group, self.field, self.value)

    def carry_out(self, draft: Draft) -> None:
        for key in draft.members(Reference.of("PodGroup", self.group)):
            spec = draft.edit("Pod", key).setdefault("spec", {})
            spec[self.field] = self.value
            if self.field == "priority":
                spec.pop("priorityClassName", None)
