"""From what a node objects to, to changes that end the objection: of the cluster, or of the pod itself."""

from collections.abc import Callable, Iterable
from typing import Literal, NamedTuple

from reprieve.cluster import Term, ports_conflict
from reprieve.explain.advice.changes import Change
from reprieve.explain.advice.labels import (
    describes_the_machine,
    missing_from_selector,
    node_labels_for,
    pod_labels_for,
)
from reprieve.explain.advice.node_changes import (
    EndPods,
    FreeOnNode,
    LabelNode,
    RemoveTaints,
    StartPod,
    Uncordon,
)
from reprieve.explain.advice.pod_changes import AllowSkew, AskForLess, Drop, SetPriority, Tolerate
from reprieve.explain.advice.scene import Scene
from reprieve.explain.sentences import changes
from reprieve.objects import Node, PodSpec, Taint, format_amount, tolerates, well_known
from reprieve.placement import Code, DeviceFilter, PodFilters, Reason

Side = Literal["cluster", "pod"]
"""What is to be changed if there is a choice."""
LIFECYCLE_PREFIXES = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")
"""Taints that say that something is wrong with the node: nobody should tolerate those."""


class Question(NamedTuple):
    """One pod and one node that refuses it."""

    scene: Scene
    pod: str
    node: str

    @property
    def unit(self) -> str:
        return str(self.scene.unit)

    @property
    def spec(self) -> PodSpec:
        return self.filters.cls.spec

    @property
    def filters(self) -> PodFilters:
        cluster = self.scene.cluster
        return PodFilters(cluster, cluster.pods.row_of[self.pod], faithful=False)

    @property
    def slot(self) -> int:
        return self.scene.cluster.nodes.slot_of[self.node]

    @property
    def node_view(self) -> Node:
        found = self.scene.cluster.nodes.objects[self.slot]
        assert found is not None  # it is in `slot_of`
        return found

    def others_on(self, slots: Iterable[int]) -> list[int]:
        """Pods of others on these nodes."""
        cluster = self.scene.cluster
        own = set(self.scene.draft.members(self.scene.unit))
        return [row for slot in slots for row in cluster.residents[slot] if cluster.pods.keys[row] not in own]

    def domain(self, key: str) -> list[int]:
        """The nodes that share this node's value of a topology key."""
        ids = self.scene.cluster.nodes.topology(key).ids
        here = ids[self.slot]
        return [slot for slot in range(self.scene.cluster.nodes.slots) if here >= 0 and ids[slot] == here]


def fixes(question: Question, reasons: Iterable[Reason], side: Side) -> list[Change]:
    """Changes for all reasons; empty when one of them has none."""
    found: list[Change] = []
    for reason in reasons:
        these = _fix(question, reason.code, side)
        if not these:
            return []
        found += [each for each in these if each not in found]
    return found


def _fix(question: Question, code: Code, side: Side) -> list[Change]:
    """What ends one objection, on the wanted side if that is possible."""
    if code in NO_FIX:
        return []
    options = FIXES[code](question)
    wanted, other = options if side == "cluster" else options[::-1]
    return wanted or other


Options = tuple[list[Change], list[Change]]
"""(changes of the cluster, changes of the pod)"""


def _conflict(question: Question) -> Options:
    return [], [Drop(unit=question.unit, field="affinity.nodeAffinity")]


def _cordon(question: Question) -> Options:
    """Nobody should tolerate that: somebody wants the node empty."""
    return [Uncordon(node=question.node)], []


def _taints(question: Question) -> Options:
    node, spec = question.node_view, question.spec
    hard = [
        taint
        for taint in node.spec.taints
        if taint.effect in ("NoSchedule", "NoExecute")
        and not tolerates(spec.tolerations, taint)
        and not (taint.key == well_known.UNSCHEDULABLE_TAINT and node.spec.unschedulable)
    ]
    if not hard:
        return _cordon(question)
    broken = [taint.key for taint in hard if taint.key.startswith(LIFECYCLE_PREFIXES)]
    if broken:
        return [RemoveTaints(node=question.node, keys=broken)], []
    return [], [Tolerate(unit=question.unit, tolerations=[toleration(taint) for taint in hard])]


def toleration(taint: Taint) -> dict[str, str]:
    value = {"operator": "Equal", "value": taint.value} if taint.value else {"operator": "Exists"}
    return {"key": taint.key, **value, "effect": taint.effect}


def _selection(question: Question) -> Options:
    spec, labels = question.spec, question.node_view.metadata.labels
    wanted = node_labels_for(spec, labels, question.node)
    cluster: list[Change] = []
    if wanted is not None and not any(map(describes_the_machine, (*wanted.labels, *wanted.absent))):
        cluster = [LabelNode(node=question.node, labels=wanted.labels, absent=wanted.absent)]
    selector, affinity = missing_from_selector(spec, labels, question.node)
    pod: list[Change] = [Drop(unit=question.unit, field="nodeSelector", keys=selector)] if selector else []
    if affinity:
        pod.append(Drop(unit=question.unit, field="affinity.nodeAffinity"))
    return cluster, pod


def _ports(question: Question) -> Options:
    cluster = question.scene.cluster
    wanted = question.filters.cls.ports
    users = [
        cluster.pods.keys[row]
        for row in question.others_on([question.slot])
        if ports_conflict(wanted, cluster.class_of(row).ports)
    ]
    why = changes.ports_in_use(sorted({str(port[2]) for port in wanted}), question.node)
    cure: list[Change] = [EndPods(pods=users, why=why)] if users else []
    return cure, [Drop(unit=question.unit, field="hostPort")]


def _resources(question: Question) -> Options:
    """All that is short on the node at once: more free capacity, or a smaller pod."""
    free = question.scene.free(question.node)
    short = {
        resource: number - free.get(resource, 0)
        for resource, number in question.scene.requests(question.pod).items()
        if number > free.get(resource, 0)
    }
    more = {resource: format_amount(resource, number) for resource, number in short.items()}
    less: list[Change] = [
        AskForLess(unit=question.unit, resource=resource, most=format_amount(resource, free[resource]))
        for resource in short
        if resource != "pods" and free.get(resource, 0) > 0
    ]
    nodes = question.scene.cluster.nodes
    total = dict(zip(nodes.resources, nodes.allocatable[:, question.slot].tolist(), strict=False))
    large = all(question.scene.requests(question.pod)[each] <= total.get(each, 0) for each in short)
    # What a node does not have, nobody can free there.
    room: list[Change] = [FreeOnNode(node=question.node, amounts=more)] if large else []
    return room, less if len(less) == len(short) else []


def _spread_label(question: Question) -> Options:
    spread = question.filters.spread
    keys = spread.missing_keys(question.slot) if spread is not None else []
    return [], [Drop(unit=question.unit, field="topologySpreadConstraints", keys=keys)]


def _spread_skew(question: Question) -> Options:
    spread = question.filters.spread
    wide = {key: skew for key, skew in (spread.skews(question.slot) if spread else {}).items() if skew > 1}
    return [], [
        AllowSkew(unit=question.unit, topology_key=key, max_skew=skew) for key, skew in wide.items()
    ] or [Drop(unit=question.unit, field="topologySpreadConstraints")]


def _affinity(question: Question) -> Options:
    cls, node = question.filters.cls, question.node_view
    labels = pod_labels_for([term.selector for term in cls.affinity])
    namespaces = [
        each for each in (cls.namespace, *_namespaces(cls.affinity)) if _covered(each, cls.affinity)
    ]
    keyed = all(term.key in node.metadata.labels for term in cls.affinity)
    cluster: list[Change] = []
    if labels is not None and namespaces and keyed:
        cluster = [StartPod(namespace=namespaces[0], labels=labels, node=question.node)]
    return cluster, [Drop(unit=question.unit, field="affinity.podAffinity")]


def _namespaces(terms: Iterable[Term]) -> list[str]:
    return sorted({name for term in terms for name in term.namespaces})


def _covered(namespace: str, terms: Iterable[Term]) -> bool:
    return all(namespace in term.namespaces for term in terms)


def _anti_affinity(question: Question) -> Options:
    cluster, cls = question.scene.cluster, question.filters.cls
    rivals = [
        row
        for term in cls.anti_affinity
        for row in question.others_on(question.domain(term.key))
        if _covers(question, term, row)
    ]
    names = sorted({cluster.pods.keys[row] for row in rivals})
    return (
        [EndPods(pods=names, why=changes.KEPT_AWAY_FROM)] if names else [],
        [Drop(unit=question.unit, field="affinity.podAntiAffinity")],
    )


def _covers(question: Question, term: Term, row: int) -> bool:
    cluster = question.scene.cluster
    other = cluster.class_of(row)
    return term.covers(other.namespace, cluster.namespaces.get(other.namespace, {}), other.labels)


def _vetoed(question: Question) -> Options:
    cluster, cls = question.scene.cluster, question.filters.cls
    home = cluster.namespaces.get(cls.namespace, {})
    names = []
    for row in question.others_on(range(cluster.nodes.slots)):
        for term in cluster.class_of(row).anti_affinity:
            near = int(cluster.pods.node[row]) in question.domain(term.key)
            if near and term.covers(cls.namespace, home, cls.labels):
                names.append(cluster.pods.keys[row])
    return ([EndPods(pods=sorted(set(names)), why=changes.KEPT_AWAY_BY)] if names else [], [])


def _kept(question: Question) -> Options:
    """Room is kept for pods that are nominated: there must be enough for them as well, or it goes first."""
    cluster = question.scene.cluster
    rows = question.filters.nominated(question.slot)
    free, wanted = question.scene.free(question.node), dict(question.scene.requests(question.pod))
    for row in rows:
        for resource, number in question.scene.requests(cluster.pods.keys[row]).items():
            wanted[resource] = wanted.get(resource, 0) + number
    short = {r: format_amount(r, n - free.get(r, 0)) for r, n in wanted.items() if n > free.get(r, 0)}
    names = sorted(cluster.pods.keys[row] for row in rows)
    room: list[Change] = (
        [FreeOnNode(node=question.node, amounts=short)]
        if short
        else [EndPods(pods=names, why=changes.node_kept_for_them(question.node))]
    )
    highest = max((int(cluster.pods.priority[row]) for row in rows), default=0)
    return room, [SetPriority(unit=question.unit, priority=highest + 1)]


def _devices(question: Question) -> Options:
    """As few pods as give back the devices that the pod needs on the node, the least important first."""
    cluster, devices = question.scene.cluster, question.filters.devices
    if devices is None or devices.refusal or devices.error:
        return [], []
    own = set(question.scene.draft.members(question.scene.unit))
    found = [cluster.pods.row_of[key] for key in devices.holders(question.slot) if key not in own]
    rows = sorted(found, key=lambda row: (int(cluster.pods.priority[row]), cluster.pods.keys[row]))
    mark = cluster.checkpoint()
    before, cluster.devices.evictions_free = cluster.devices.evictions_free, True
    ending: dict[int, int] = {}
    try:
        for row in rows:
            if devices.allows(question.slot):
                break
            ending[row] = int(cluster.pods.node[row])
            cluster.detach(row)
        if not devices.allows(question.slot):
            return [], []
        needed = _needed(question, devices, ending)
    finally:
        cluster.rollback(mark)
        cluster.devices.evictions_free = before
    why = changes.devices_held(len(needed), question.node)
    return ([EndPods(pods=[cluster.pods.keys[row] for row in needed], why=why)] if needed else []), []


def _needed(question: Question, devices: DeviceFilter, ending: dict[int, int]) -> list[int]:
    """Of these pods, each with its node, those next to whom the pod would not get its devices."""
    cluster, kept = question.scene.cluster, []
    for row, home in reversed(ending.items()):
        mark = cluster.checkpoint()
        cluster.attach(row, home)
        if not devices.allows(question.slot):
            cluster.rollback(mark)
            kept.append(row)
    return kept[::-1]


def _attached(question: Question) -> Options:
    """As few pods as give back enough slots of the driver, the least important first."""
    pods, filters, ending = question.scene.cluster.pods, question.filters.forked(), []
    volumes = filters.volumes
    if volumes is None or volumes.refusal or volumes.limits is None:
        return [], []
    for row in sorted(question.others_on([question.slot]), key=lambda each: int(pods.priority[each])):
        if volumes.matters(row):
            volumes.limits.change(row, question.slot, -1)
            ending.append(pods.keys[row])
        if ending and volumes.limits.allows(question.slot):
            why = changes.no_more_volumes(question.node, volumes.limits.drivers)
            return [EndPods(pods=ending, why=why)], []
    return [], []


def _disks(question: Question) -> Options:
    volumes, pods = question.filters.volumes, question.scene.cluster.pods
    if volumes is None or volumes.refusal or volumes.restrictions is None:
        return [], []
    rivals = [row for row in question.others_on([question.slot]) if row in volumes.restrictions.rivals]
    keys = [pods.keys[row] for row in rivals]
    return ([EndPods(pods=keys, why=changes.DISK_NOT_SHARED)] if keys else []), []


def _claims_in_use(question: Question) -> Options:
    volumes, pods = question.filters.volumes, question.scene.cluster.pods
    if volumes is None or volumes.refusal or volumes.restrictions is None:
        return [], []
    keys = [pods.keys[row] for row in sorted(volumes.restrictions.users())]
    return ([EndPods(pods=keys, why=changes.CLAIM_FOR_ONE_POD)] if keys else []), []


FIXES: dict[Code, Callable[[Question], Options]] = {
    Code.CORDONED: _cordon,
    Code.TAINTED: _taints,
    Code.NOT_SELECTED: _selection,
    Code.OUTSIDE: _conflict,
    Code.PORTS_TAKEN: _ports,
    Code.TOO_MANY_PODS: _resources,
    Code.INSUFFICIENT: _resources,
    Code.SPREAD_LABEL: _spread_label,
    Code.SPREAD_SKEW: _spread_skew,
    Code.AFFINITY: _affinity,
    Code.ANTI_AFFINITY: _anti_affinity,
    Code.VETOED: _vetoed,
    Code.KEPT: _kept,
    Code.CONFLICT: _conflict,
    Code.TOO_MANY_VOLUMES: _attached,
    Code.DISK_IN_USE: _disks,
    Code.CLAIM_IN_USE: _claims_in_use,
    Code.CANNOT_ALLOCATE: _devices,
    Code.CLAIM_UNAVAILABLE: _devices,
}
NO_FIX = frozenset(
    {
        Code.VOLUME_FAR,
        Code.NO_VOLUME,
        Code.STORAGE_FULL,
        Code.VOLUME_LOST,
        Code.VOLUME_ZONE,
        Code.DRIVER_NOT_INSTALLED,
        Code.UNBOUND_IMMEDIATE,
        Code.VOLUME_NOT_FOUND,
        Code.VOLUME_CLAIM_NOT_FOUND,
        Code.VOLUME_CLAIM_NOT_MADE,
        Code.VOLUME_CLAIM_LOST,
        Code.VOLUME_CLAIM_DELETED,
        Code.VOLUME_CLAIM_OF_ANOTHER,
        Code.INVALID_POOLS,
        Code.STALE_EXTENDED,
        Code.CLAIM_NAMES_NOTHING,
        Code.CLAIM_NOT_MADE,
        Code.CLAIM_NOT_FOUND,
        Code.CLAIM_DELETED,
        Code.CLAIM_OF_ANOTHER_POD,
        Code.CLAIM_OF_ANOTHER_GROUP,
        Code.CLAIM_BEING_ALLOCATED,
        Code.UNKNOWN_REQUEST_TYPE,
        Code.NO_SUCH_CLASS,
        Code.ATTEMPT_FAILS,
    }
)
"""Missing claims, volumes out of reach, filters that fail: what to do, their own objects have to say."""
