"""Quota first: what a queue gives the pods of a target, before a plan looks for nodes.

The order is that of a live cluster. The Workloads of the target go through the admission cycles of `admit`,
as if nothing else waited. Workloads that they preempt lose their quota, and their pods end. What gets quota
starts on the nodes of its flavors; pods without quota do not start.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from datetime import datetime

import msgspec

from reprieve.admission import WorkloadPriorities, complete
from reprieve.config import Configuration
from reprieve.jobs import Asking, JobKinds, asked_by, shape, shape_of, workloads_for
from reprieve.objects import (
    Document,
    Object,
    Pod,
    Reference,
    ResourceFlavor,
    Source,
    Toleration,
    Workload,
    decode_as,
    descendants,
    document_of,
    owners_of,
    raw,
    well_known,
)
from reprieve.preemption import Victim
from reprieve.quota import Eviction, Quota, Rules, injected, load, settle, waiters
from reprieve.whatif.granted import Grant, Share
from reprieve.whatif.quota import decoded, documents_with_quota

_GATES = (well_known.ADMISSION_GATE, well_known.TOPOLOGY_GATE)
"""What gets quota loses these."""
PodSets = Mapping[str, Sequence[Document]]


def decide(
    given: Sequence[Document | Source],
    documents: Sequence[Document | Source],
    target: Reference,
    pods: PodSets,
    config: Configuration,
    now: datetime,
) -> Grant | None:
    queueing = workloads_for(complete(given, claims=False).documents, config.job_kinds())
    own = _Own(queueing.asking, queueing.standing.get(target, ""), target, pods, config.job_kinds())
    if not own.parts:
        return None
    priorities = WorkloadPriorities.read([*map(document_of, given)])
    for each in own.asking:
        priorities.fill_in(each.workload)
    views, notes = decoded([*documents, *(each.workload for each in own.asking)])
    # Others that wait are not asked about: this answers for the moment when it is the target's turn.
    views = [each for each in views if each.key in own.parts or not _waits(each)]
    quota = load(views, Rules.of(config), now)
    steps = settle(quota, now).steps
    evicted = [each for step in steps for each in step.outcome.evicted if each.preemptor.key in own.parts]
    flavors = {each.name: each for each in views if isinstance(each, ResourceFlavor)}
    return _grant(documents, own, quota, evicted, flavors, [*notes])


def _waits(view: Object) -> bool:
    return isinstance(view, Workload) and view.status.admission is None


class _Own:
    """The Workloads of the target, and the pods that each stands for, by pod set."""

    def __init__(
        self, asking: Iterable[Asking], standing: str, target: Reference, pods: PodSets, kinds: JobKinds
    ) -> None:
        refs = {Reference.read(pod) for of_set in pods.values() for pod in of_set}
        self.asking = [
            each for each in asking if each.owner == target or not refs.isdisjoint(owners_of(each.workload))
        ]
        self.parts: dict[str, PodSets] = {}
        if standing:
            self.parts[standing] = pods
        label = next((each.replica_label for each in kinds if each.kind == target.kind), "")
        for each in self.asking:
            self.parts[Reference.read(each.workload).key] = self._part(each, pods, label)

    @staticmethod
    def _part(asking: Asking, pods: PodSets, label: str) -> PodSets:
        owners = raw.items(asking.workload, "metadata", "ownerReferences")
        named = {each["name"] for each in owners if each["kind"] == "Pod"}

        def is_meant(pod: Document) -> bool:
            if asking.replica:
                return bool(raw.at(pod, "metadata", "labels", label) == asking.replica)
            return not named or pod["metadata"]["name"] in named

        return {name: [pod for pod in of_set if is_meant(pod)] for name, of_set in pods.items()}


def _grant(
    documents: Sequence[Document | Source],
    own: _Own,
    quota: Quota,
    evicted: Sequence[Eviction],
    flavors: Mapping[str, ResourceFlavor],
    notes: list[str],
) -> Grant:
    messages = {each.workload: each.message for each in waiters(quota)}
    shares: list[Share] = []
    started: dict[Reference, Document] = {}
    refused: dict[Reference, str] = {}
    left_out: set[Reference] = set()
    admitted: list[Workload] = []
    for key, part in own.parts.items():
        info = quota.cache.workloads.get(key)
        if info is None or info.workload.status.admission is None:
            message = messages.get(key, "")
            shares.append(Share(workload=key, message=message))
            refused |= {Reference.read(pod): message for of_set in part.values() for pod in of_set}
            continue
        share = _share(info.workload)
        shares.append(share)
        admitted.append(info.workload)
        for name, of_set in _by_pod_set(info.workload, part):
            most = share.counts.get(name, len(of_set))
            labels, tolerations = injected(info.workload, name, flavors)
            started |= {Reference.read(pod): _started(pod, labels, tolerations) for pod in of_set[:most]}
            left_out |= {Reference.read(pod) for pod in of_set[most:]}
    after = documents_with_quota(documents, admitted, [each.victim.info.workload for each in evicted])
    absent = refused.keys() | left_out
    return Grant(
        shares,
        [started.get(Reference.read(document_of(each)), each) for each in _without(after, absent)],
        refused,
        left_out,
        _victims(documents, evicted),
        notes,
        [each.workload for each in own.asking],
    )


def _without(documents: Iterable[Document | Source], pods: Set[Reference]) -> Iterator[Document | Source]:
    for each in documents:
        document = document_of(each)
        if document.get("kind") != "Pod" or Reference.read(document) not in pods:
            yield each


def _victims(documents: Sequence[Document | Source], evicted: Sequence[Eviction]) -> tuple[Victim, ...]:
    """Pods of the Workloads that are evicted; a Workload without pods has only its quota to lose."""
    if not evicted:
        return ()
    everything = [*map(document_of, documents)]
    nodes = {
        Reference.read(each): str(node)
        for each in everything
        if each.get("kind") == "Pod" and (node := raw.at(each, "spec", "nodeName"))
    }
    found = {}
    for eviction in evicted:
        info = eviction.victim.info
        owners = {
            Reference(each.kind, info.workload.namespace, each.name)
            for each in info.workload.metadata.owner_references
        }
        for ref in sorted(descendants(everything, owners) & nodes.keys(), key=str):
            found[ref.key] = Victim(
                pod=ref.key,
                node=nodes[ref],
                unit=f"Workload/{info.key}",
                priority=info.priority,
                reason=eviction.message,
            )
    return tuple(found.values())


def _share(workload: Workload) -> Share:
    admission = workload.status.admission
    assert admission is not None
    return Share(
        workload=workload.key,
        cluster_queue=admission.cluster_queue,
        flavors={each.name: dict(each.flavors) for each in admission.pod_set_assignments},
        counts={each.name: each.count for each in admission.pod_set_assignments if each.count is not None},
    )


def _by_pod_set(workload: Workload, part: PodSets) -> Iterator[tuple[str, Sequence[Document]]]:
    """Pods of a job by the names of its pod sets; those of a group by their shape, as in its Workload."""
    names = {each.name for each in workload.spec.pod_sets}
    if names.issuperset(part) or len(names) == 1:
        for name, of_set in part.items():
            yield (name if name in names else next(iter(names))), of_set
        return
    shapes = {shape(asked_by(each.template.spec)): each.name for each in workload.spec.pod_sets}
    found: dict[str, list[Document]] = {}
    for pod in (pod for of_set in part.values() for pod in of_set):
        found.setdefault(shapes.get(shape_of(decode_as(pod, Pod).spec), ""), []).append(pod)
    yield from found.items()


def _started(pod: Document, labels: Mapping[str, str], tolerations: Sequence[Toleration]) -> Document:
    spec = dict(pod["spec"])
    spec["nodeSelector"] = {**(spec.get("nodeSelector") or {}), **labels}
    spec["tolerations"] = [*(spec.get("tolerations") or ()), *msgspec.to_builtins(tolerations)]
    gates = spec.pop("schedulingGates", None) or ()
    if left := [gate for gate in gates if gate.get("name") not in _GATES]:
        spec["schedulingGates"] = left
    return {**pod, "spec": spec}
