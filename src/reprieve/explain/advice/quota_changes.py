"""What can be changed so that a workload gets quota: as data, in words, and carried out on a draft."""

# ruff: noqa: RUF012 - msgspec gives every instance its own empty dict

from typing import Any

from reprieve.explain.advice.changes import Change
from reprieve.explain.advice.draft import Draft
from reprieve.explain.sentences import changes
from reprieve.objects import QuantityError, Reference, nano, well_known


def _workload_spec(draft: Draft, workload: str) -> dict[str, Any]:
    spec: dict[str, Any] = draft.edit("Workload", workload).setdefault("spec", {})
    return spec


# --- queues -------------------------------------------------------------------------------------------------


class NameQueue(Change, frozen=True, kw_only=True, tag=True):
    workload: str
    queue: str

    def words(self) -> str:
        return changes.name_queue(self.queue)

    def carry_out(self, draft: Draft) -> None:
        _workload_spec(draft, self.workload)["queueName"] = self.queue


class CreateLocalQueue(Change, frozen=True, kw_only=True, tag=True):
    queue: str
    cluster_queue: str

    def words(self) -> str:
        return changes.create_local_queue(self.queue, self.cluster_queue)

    def carry_out(self, draft: Draft) -> None:
        draft.edit("LocalQueue", self.queue)["spec"] = {"clusterQueue": self.cluster_queue}


class CreateClusterQueue(Change, frozen=True, kw_only=True, tag=True):
    queue: str

    def words(self) -> str:
        return changes.create_cluster_queue(self.queue)

    def carry_out(self, draft: Draft) -> None:
        draft.edit("ClusterQueue", self.queue)["spec"] = {"namespaceSelector": {}, "resourceGroups": []}


class Resume(Change, frozen=True, kw_only=True, tag=True):
    queue: str
    """`ClusterQueue/name` or `LocalQueue/namespace/name`."""

    def words(self) -> str:
        return changes.resume(self.queue)

    def carry_out(self, draft: Draft) -> None:
        queue = Reference.parse(self.queue)
        draft.edit(queue.kind, queue.key).setdefault("spec", {})["stopPolicy"] = "None"


class CreateFlavors(Change, frozen=True, kw_only=True, tag=True):
    flavors: list[str]

    def words(self) -> str:
        return changes.create_flavors(self.flavors)

    def carry_out(self, draft: Draft) -> None:
        for name in self.flavors:
            draft.edit("ResourceFlavor", name)


class ActivateChecks(Change, frozen=True, kw_only=True, tag=True):
    checks: list[str]
    missing: bool = False

    def words(self) -> str:
        return (changes.create_checks if self.missing else changes.activate_checks)(self.checks)

    def carry_out(self, draft: Draft) -> None:
        for name in self.checks:
            check = draft.edit("AdmissionCheck", name)
            check.setdefault("spec", {"controllerName": "example.test/check"})
            check["status"] = {
                "conditions": [{"type": well_known.ACTIVE, "status": "True", "reason": "Active"}]
            }


class BreakCycle(Change, frozen=True, kw_only=True, tag=True):
    cohort: str

    def words(self) -> str:
        return changes.break_cycle(self.cohort)

    def carry_out(self, draft: Draft) -> None:
        draft.edit("Cohort", self.cohort).setdefault("spec", {}).pop("parentName", None)


class CorrectQueue(Change, frozen=True, kw_only=True, tag=True):
    queue: str
    problem: str

    def words(self) -> str:
        return changes.correct_queue(self.queue, self.problem)

    def carry_out(self, draft: Draft) -> None:
        """What makes no sense is left out."""
        spec = draft.edit("ClusterQueue", self.queue).setdefault("spec", {})
        seen: set[str] = set()
        for group in spec.get("resourceGroups") or ():
            covered = group.get("coveredResources") or []
            group["flavors"] = [each for each in group.get("flavors") or () if each.get("name") not in seen]
            seen |= {each.get("name") for each in group["flavors"]}
            for flavor in group["flavors"]:
                quotas = [each for each in flavor.get("resources") or () if each.get("name") in covered]
                flavor["resources"] = [_with_sound_amounts(each) for each in quotas]
        if "fairSharing" in spec and not _is_sound((spec["fairSharing"] or {}).get("weight", "1")):
            del spec["fairSharing"]


def _with_sound_amounts(quota: dict[str, Any]) -> dict[str, Any]:
    limits = ("borrowingLimit", "lendingLimit")
    found = {k: v for k, v in quota.items() if k not in limits or v is None or _is_sound(v)}
    return found if _is_sound(found.get("nominalQuota", "0")) else {**found, "nominalQuota": "0"}


def _is_sound(quantity: Any) -> bool:
    try:
        return nano(quantity) >= 0
    except QuantityError:
        return False


class RaiseQuota(Change, frozen=True, kw_only=True, tag=True):
    queue: str
    flavor: str
    resource: str
    nominal: str
    now: str = "0"

    def words(self) -> str:
        return changes.raise_quota(self.queue, self.flavor, self.resource, self.now, self.nominal)

    def carry_out(self, draft: Draft) -> None:
        spec = draft.edit("ClusterQueue", self.queue).setdefault("spec", {})
        for group in spec.get("resourceGroups") or ():
            for flavor in group.get("flavors") or ():
                for quota in flavor.get("resources") or ():
                    if (flavor.get("name"), quota.get("name")) == (self.flavor, self.resource):
                        quota["nominalQuota"] = self.nominal


class CoverResource(Change, frozen=True, kw_only=True, tag=True):
    queue: str
    flavor: str
    resource: str
    nominal: str

    def words(self) -> str:
        return changes.cover_resource(self.queue, self.flavor, self.resource, self.nominal)

    def carry_out(self, draft: Draft) -> None:
        groups = (
            draft.edit("ClusterQueue", self.queue).setdefault("spec", {}).setdefault("resourceGroups", [])
        )
        group = next((each for each in groups if self._has_flavor(each)), None)
        if group is None:
            group = {"coveredResources": [], "flavors": [{"name": self.flavor, "resources": []}]}
            groups.append(group)
            draft.edit("ResourceFlavor", self.flavor)
        group["coveredResources"] = [*group["coveredResources"], self.resource]
        for flavor in group["flavors"]:
            nominal = self.nominal if flavor["name"] == self.flavor else "0"
            flavor.setdefault("resources", []).append({"name": self.resource, "nominalQuota": nominal})

    def _has_flavor(self, group: dict[str, Any]) -> bool:
        return any(each.get("name") == self.flavor for each in group.get("flavors") or ())


class AllowNamespace(Change, frozen=True, kw_only=True, tag=True):
    """The queue's namespace selector does not match."""

    queue: str
    namespace: str
    labels: dict[str, str] = {}
    """Empty: the queue has to change."""

    def words(self) -> str:
        if self.labels:
            return changes.label_namespace(self.namespace, self.labels)
        return changes.select_namespace(self.queue, self.namespace)

    def carry_out(self, draft: Draft) -> None:
        if self.labels:
            labels = draft.edit("Namespace", self.namespace)["metadata"].setdefault("labels", {})
            labels |= self.labels
        else:
            draft.edit("Namespace", self.namespace)
            draft.edit("ClusterQueue", self.queue).setdefault("spec", {})["namespaceSelector"] = {}


# --- workloads ----------------------------------------------------------------------------------------------


class EndWorkloads(Change, frozen=True, kw_only=True, tag=True):
    workloads: list[str]

    def words(self) -> str:
        return changes.end_workloads(self.workloads)

    def carry_out(self, draft: Draft) -> None:
        for key in self.workloads:
            draft.remove("Workload", key)


class Activate(Change, frozen=True, kw_only=True, tag=True):
    workload: str

    def words(self) -> str:
        return changes.activate(self.workload)

    def carry_out(self, draft: Draft) -> None:
        _workload_spec(draft, self.workload)["active"] = True


class OpenGates(Change, frozen=True, kw_only=True, tag=True):
    workload: str
    gates: list[str]

    def words(self) -> str:
        return changes.open_gates(self.gates)

    def carry_out(self, draft: Draft) -> None:
        status = draft.edit("Workload", self.workload).setdefault("status", {})
        status["preemptionGates"] = [{"name": name, "position": well_known.GATE_OPEN} for name in self.gates]


class Ungate(Change, frozen=True, kw_only=True, tag=True):
    """The annotation by which somebody else holds the workload."""

    workload: str
    by: str

    def words(self) -> str:
        return changes.ungate(self.by)

    def carry_out(self, draft: Draft) -> None:
        metadata = draft.edit("Workload", self.workload)["metadata"]
        (metadata.get("annotations") or {}).pop(well_known.ADMISSION_GATED_BY_ANNOTATION, None)


class PassChecks(Change, frozen=True, kw_only=True, tag=True):
    workload: str
    checks: list[str]

    def words(self) -> str:
        return changes.pass_checks(self.checks)

    def carry_out(self, draft: Draft) -> None:
        for check in (
            draft.edit("Workload", self.workload).setdefault("status", {}).get("admissionChecks") or ()
        ):
            if check.get("name") in self.checks:
                check["state"] = well_known.READY


class WaitUntil(Change, frozen=True, kw_only=True, tag=True):
    workload: str
    time: str = ""

    def words(self) -> str:
        return changes.wait_until(self.time)

    def carry_out(self, draft: Draft) -> None:
        status = draft.edit("Workload", self.workload).setdefault("status", {})
        status.pop("requeueState", None)
        kept = [each for each in status.get("conditions") or () if each.get("type") in KEPT_CONDITIONS]
        status["conditions"] = kept


KEPT_CONDITIONS = (well_known.PREEMPTED, well_known.FINISHED)
"""Those that a workload keeps when it is queued again."""


class AddPodSets(Change, frozen=True, kw_only=True, tag=True):
    workload: str

    def words(self) -> str:
        return changes.add_pod_set(self.workload)

    def carry_out(self, draft: Draft) -> None:
        pod_set = {"name": "main", "count": 1, "template": {"spec": {"containers": [{"name": "main"}]}}}
        _workload_spec(draft, self.workload)["podSets"] = [pod_set]


class FewerPods(Change, frozen=True, kw_only=True, tag=True):
    workload: str
    pod_set: str
    count: int

    def words(self) -> str:
        return changes.fewer_pods(self.pod_set, self.count)

    def carry_out(self, draft: Draft) -> None:
        for each in _workload_spec(draft, self.workload).get("podSets") or ():
            if each.get("name", "main") == self.pod_set:
                each["count"] = self.count
                each.pop("minCount", None)


class CreatePriorityClass(Change, frozen=True, kw_only=True, tag=True):
    kind: str
    name: str

    def words(self) -> str:
        return changes.create_priority_class(self.kind, self.name)

    def carry_out(self, draft: Draft) -> None:
        draft.edit(self.kind, self.name)["value"] = 0


class KeepToLimits(Change, frozen=True, kw_only=True, tag=True):
    """Requests above limits, or outside what a LimitRange allows."""

    workload: str
    problem: str

    def words(self) -> str:
        return changes.keep_to_limits(self.problem)

    def carry_out(self, draft: Draft) -> None:
        unit = Reference.of("Workload", self.workload)
        ranges = [
            item
            for each in draft.of_kind("LimitRange")
            if Reference.read(each).namespace == unit.namespace
            for item in (each.get("spec") or {}).get("limits") or ()
        ]
        for spec in draft.pod_specs(unit):
            for number, container in enumerate(
                [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
            ):
                resources = container.setdefault("resources", {})
                for item in (item for item in ranges if item.get("type") == "Container"):
                    _keep_within(resources, item.get("min") or {}, item.get("max") or {})
                    _keep_within(resources, {}, item.get("default") or {})
                for item in (item for item in ranges if item.get("type") == "Pod"):
                    _keep_within(
                        resources, item.get("min") or {} if number == 0 else {}, item.get("max") or {}
                    )
                    if number:
                        resources["requests"] = {}
                _keep_within(resources, {}, resources.get("limits") or {})


def _keep_within(resources: dict[str, Any], least: dict[str, Any], most: dict[str, Any]) -> None:
    """Bring requests between two bounds; limits follow."""
    requests = dict(resources.get("requests") or {})
    for name, bound in least.items():
        if nano(requests.get(name, 0)) < nano(bound):
            requests[name] = bound
            if name in (resources.get("limits") or {}):
                resources["limits"] = {**resources["limits"], name: bound}
    for name, bound in most.items():
        if name in requests and nano(requests[name]) > nano(bound):
            requests[name] = bound
    resources["requests"] = requests
