"""Everything the quota controller has seen, in the form its parts need, kept in step with the informers.

Handlers run in the informers' tasks, in order, and only take note. Two things are guarded here:
- A write that is on its way has already been counted. Until its answer is there, what the watch says of
  that workload is the past and is not listened to; afterwards older versions are not, either.
- An open gate whose opening has not been noted yet (see `reprieve.fleet.lease`) counts as closed.
"""

from collections.abc import Callable, Collection
from datetime import datetime
from typing import Any

from msgspec.structs import replace

from reprieve.admission import WorkloadPriorities
from reprieve.controllers import revision_of
from reprieve.controllers.quota.lifecycle import with_closed_gate
from reprieve.controllers.quota.owners import Owners, Touch
from reprieve.fleet import Lease, LeaseState, gate_is_open, key_of, lease_of
from reprieve.jobs import JobKinds
from reprieve.kube import Change
from reprieve.objects import (
    AdmissionCheck,
    ClusterQueue,
    Cohort,
    Document,
    LimitRange,
    LocalQueue,
    Namespace,
    Node,
    Object,
    Pod,
    PodSet,
    PriorityClass,
    ResourceClaimTemplate,
    ResourceFlavor,
    RuntimeClass,
    Topology,
    Workload,
    WorkloadPriorityClass,
    decode_as,
    namespace_labels,
    well_known,
)
from reprieve.quota import Quota, is_true


class Observed:
    def __init__(
        self,
        quota: Quota,
        touch: Touch,
        now: Callable[[], datetime],
        schedulers: Collection[str] = (),
        kinds: JobKinds | None = None,
    ) -> None:
        """`schedulers`: those that place no pod of a group in a queue before it has quota."""
        self.quota = quota
        self.owners = Owners(kinds or JobKinds(), touch, schedulers)
        self.raw: dict[str, Document] = {}
        self.workloads: dict[str, Workload] = {}
        self.nodes: dict[str, Node] = {}
        self.placed: dict[str, dict[str, Pod]] = {}
        """Pods that name the workload whose domains they get, by its key."""
        self.priorities = WorkloadPriorities()
        self._runtime_classes: dict[str, RuntimeClass] = {}
        self.queue_documents: dict[str, Document] = {}
        self.local_queue_documents: dict[str, Document] = {}
        self.writing: set[str] = set()
        self._witnessed: set[str] = set()
        self._touch = touch
        self._now = now

    # Workloads

    def workload_changed(self, change: Change) -> None:
        key = key_of(change.new)
        if change.type != "DELETED":
            self.see_workload(change.new)
        elif key in self.raw and self.raw[key]["metadata"].get("uid") == change.new["metadata"].get("uid"):
            self.forget_workload(key)

    def see_workload(self, document: Document, again: bool = False) -> None:
        """Take note of a workload, unless it is known already or something newer is on its way.

        `again`: even a version that is known, to take back a decision that did not come true.
        """
        key = key_of(document)
        known = self.raw.get(key)
        if key in self.writing or (known is not None and _is_old(document, known, again)):
            return
        workload = decode_as(
            {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", **document}, Workload
        )
        self.owners.workload_changed(key, self.workloads.get(key), workload)
        self.raw[key], self.workloads[key] = document, workload
        if not gate_is_open(document):
            self._witnessed.add(key)
        self.quota.put_workload(self._counted(key, workload), self._now())
        self._touch_workload(key, workload)

    def forget_workload(self, key: str) -> None:
        workload = self.workloads.pop(key, None)
        self.raw.pop(key, None)
        self._witnessed.discard(key)
        self.quota.drop_workload(key, self._now())
        if workload is not None:
            self.owners.workload_changed(key, workload, None)
            self._touch_workload(key, workload)

    def lease(self, key: str) -> Lease:
        """What to do about the workload's open gate; one never seen closed by this process is not trusted."""
        return lease_of(self.raw[key], key in self._witnessed, self._now())

    def _counted(self, key: str, workload: Workload) -> Workload:
        """As quota sees it: with the overhead of runtime classes, its gate closed if it counts so."""
        workload = self._masked(key, workload)
        names = {each.template.spec.runtime_class_name for each in workload.spec.pod_sets}
        if names.isdisjoint(self._runtime_classes):
            return workload
        sets = tuple(map(self._with_overhead, workload.spec.pod_sets))
        return replace(workload, spec=replace(workload.spec, pod_sets=sets))

    def _with_overhead(self, pod_set: PodSet) -> PodSet:
        known = self._runtime_classes.get(pod_set.template.spec.runtime_class_name)
        if known is None:
            return pod_set
        template = replace(pod_set.template, spec=known.complete(pod_set.template.spec))
        return replace(pod_set, template=template)

    def runtime_class_changed(self, change: Change) -> None:
        """The workloads that name it ask for something else now."""
        name = change.new["metadata"]["name"]
        if change.type == "DELETED":
            self._runtime_classes.pop(name, None)
        else:
            self._runtime_classes[name] = RuntimeClass.read(change.new)
        for key, workload in self.workloads.items():
            if any(each.template.spec.runtime_class_name == name for each in workload.spec.pod_sets):
                self.quota.put_workload(self._counted(key, workload), self._now())

    def _masked(self, key: str, workload: Workload) -> Workload:
        if self.lease(key).state not in (LeaseState.NOTE, LeaseState.CLOSE):
            return workload
        return with_closed_gate(workload)

    def _touch_workload(self, key: str, workload: Workload) -> None:
        self._touch(f"workload/{key}")
        if key in self.placed:
            self._touch(f"topology/{key}")
        self.owners.touch_behind(key, workload)
        self._touch(f"localqueue/{workload.namespace}/{workload.spec.queue_name}")
        for queue in {self.queue_of(workload), self._held_in(workload)}:
            self._touch(f"clusterqueue/{queue}")

    def queue_of(self, workload: Workload) -> str:
        """The ClusterQueue behind the workload's LocalQueue."""
        local = self.local_queue_documents.get(f"{workload.namespace}/{workload.spec.queue_name}") or {}
        return str((local.get("spec") or {}).get("clusterQueue", ""))

    @staticmethod
    def _held_in(workload: Workload) -> str:
        return workload.status.admission.cluster_queue if workload.status.admission is not None else ""

    # Pods and nodes

    def pod_changed(self, change: Change) -> None:
        pod: Pod = change.new
        gone = change.type == "DELETED"
        if gone:
            self.quota.cache.capacity.drop_pod(pod.key)
        else:
            self.quota.cache.capacity.put_pod(pod)
        named = pod.metadata.annotations.get(well_known.WORKLOAD_ANNOTATION)
        if named:
            self._place(f"{pod.namespace}/{named}", pod, gone)
        self.owners.pod_changed(change)

    def _place(self, workload: str, pod: Pod, gone: bool) -> None:
        pods = self.placed.setdefault(workload, {})
        if gone:
            pods.pop(pod.key, None)
        else:
            pods[pod.key] = pod
        if not pods:
            del self.placed[workload]
        self._touch(f"topology/{workload}")

    def node_changed(self, change: Change) -> None:
        """Workloads that were sent to it look again, and those that wait for a place may be tried again."""
        node: Node = change.new
        capacity = self.quota.cache.capacity
        if change.type == "ADDED":
            for key, workload in self.workloads.items():
                if is_true(workload, well_known.NO_NODE_FITS):
                    self._touch(f"workload/{key}")
        if change.type == "DELETED":
            self.nodes.pop(node.name, None)
            capacity.drop_node(node.name)
        else:
            self.nodes[node.name] = node
            if not capacity.put_node(node):
                return
        if capacity.unused:
            return
        for key, info in self.quota.cache.workloads.items():
            if any(domain.values[-1:] == (node.name,) for held in info.held for domain in held.domains):
                self._touch(f"workload/{key}")
        self.quota.flush_all(self._now())
        self._touch_queues()

    # Queues and what they refer to

    def queue_changed(self, change: Change) -> None:
        name, now = change.new["metadata"]["name"], self._now()
        if change.type == "DELETED":
            self.queue_documents.pop(name, None)
            self.quota.drop_cluster_queue(name, now)
        else:
            known = self.queue_documents.get(name)
            self.queue_documents[name] = change.new
            if known is None or known.get("spec") != change.new.get("spec"):
                self.quota.put_cluster_queue(_typed(change.new, ClusterQueue), now)
                self.touch_all_workloads()
        self._touch_queues()

    def local_queue_changed(self, change: Change) -> None:
        key, now = key_of(change.new), self._now()
        if change.type == "DELETED":
            self.local_queue_documents.pop(key, None)
            self.quota.drop_local_queue(key, now)
        else:
            known = self.local_queue_documents.get(key)
            self.local_queue_documents[key] = change.new
            if known is None or known.get("spec") != change.new.get("spec"):
                self.quota.put_local_queue(_typed(change.new, LocalQueue), now)
                self.touch_all_workloads()
        self._touch(f"localqueue/{key}")

    def parameter_changed(self, change: Change) -> None:
        """Flavors, cohorts, checks, classes, namespaces, limits: waiting workloads may be tried again."""
        thing: Object = change.new
        if change.type == "DELETED":
            self._drop(thing)
        else:
            self._put(thing)
        self.quota.flush_all(self._now())
        self._touch_queues()
        if isinstance(thing, AdmissionCheck):
            self.touch_all_workloads()

    def _put(self, thing: Any) -> None:
        quota, now = self.quota, self._now()
        match thing:
            case ResourceFlavor():
                quota.cache.put_flavor(thing)
            case Topology():
                quota.cache.put_topology(thing)
            case Cohort():
                quota.cache.put_cohort(thing)
            case AdmissionCheck():
                quota.cache.put_check(thing)
            case Namespace():
                quota.put_namespace(thing.name, namespace_labels(thing.name, thing.metadata.labels))
            case LimitRange():
                quota.put_limit_range(thing)
            case ResourceClaimTemplate():
                quota.put_claim_template(thing, now)
            case WorkloadPriorityClass():
                self.priorities.workload_classes[thing.name] = thing.value
                quota.put_priority_class("WorkloadPriorityClass", thing.name, thing.value, now)
            case PriorityClass():
                self.priorities.pod_classes.put(thing)
                quota.put_priority_class("PriorityClass", thing.name, thing.value, now)

    def _drop(self, thing: Any) -> None:
        quota, now = self.quota, self._now()
        match thing:
            case ResourceFlavor():
                quota.cache.drop_flavor(thing.name)
            case Topology():
                quota.cache.drop_topology(thing.name)
            case Cohort():
                quota.cache.drop_cohort(thing.name)
            case AdmissionCheck():
                quota.cache.drop_check(thing.name)
            case Namespace():
                quota.namespaces.pop(thing.name, None)
            case LimitRange():
                quota.drop_limit_range(thing.namespace, thing.name)
            case ResourceClaimTemplate():
                quota.drop_claim_template(thing.key, thing.namespace, now)
            case WorkloadPriorityClass():
                self.priorities.workload_classes.pop(thing.name, None)
                quota.drop_priority_class("WorkloadPriorityClass", thing.name, now)
            case PriorityClass():
                self.priorities.pod_classes.remove(thing.name)
                quota.drop_priority_class("PriorityClass", thing.name, now)

    def touch_all_workloads(self) -> None:
        for key in self.workloads:
            self._touch(f"workload/{key}")

    def _touch_queues(self) -> None:
        for name in self.queue_documents:
            self._touch(f"clusterqueue/{name}")


def _typed(document: Document, view: type[Any]) -> Any:
    return decode_as({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": view.__name__, **document}, view)


def _is_old(document: Document, known: Document, again: bool) -> bool:
    if document["metadata"].get("uid") != known["metadata"].get("uid"):
        return False
    seen, before = revision_of(document), revision_of(known)
    return seen < before or (seen == before and not again)
