"""Which pod goes to which domain: ranks in the order of the assignment's domains, as Kueue gives them. Pure.

Rank r belongs to the domain in whose range of the cumulated counts r lies. The rank is the value of the pod
set's index label. Where a label is missing, double or out of range, or a pod that has its place already sits
elsewhere, pods take the places that are free in the order of their names.
"""

from collections import Counter
from collections.abc import Iterable

from reprieve.objects import Placement, Pod, TopologyRequest, Workload, expanded, whole_number

Selector = dict[str, str]


def placement_of(workload: Workload, pod_set: str) -> Placement | None:
    admission = workload.status.admission
    for each in admission.pod_set_assignments if admission is not None else ():
        if each.name == pod_set and each.topology_assignment is not None:
            return expanded(each.topology_assignment)
    return None


def selectors(
    workload: Workload, pod_set: str, placed: Iterable[Pod], waiting: Iterable[Pod]
) -> dict[str, Selector]:
    """For each waiting pod (by key) the labels of the node that it is to run on; fewer if places run out."""
    placement = placement_of(workload, pod_set)
    if placement is None:
        return {}
    slots = [
        dict(zip(placement.levels, d.values, strict=True)) for d in placement.domains for _ in range(d.pods)
    ]
    request = next((each.topology_request for each in workload.spec.pod_sets if each.name == pod_set), None)
    here, coming = sorted(placed, key=_by_name), sorted(waiting, key=_by_name)
    by_rank = _by_rank(request, [*here, *coming], len(slots))
    if by_rank is not None and all(_sits_at(pod, slots[by_rank[pod.key]]) for pod in here):
        return {pod.key: slots[by_rank[pod.key]] for pod in coming}
    taken = Counter(_place(pod, placement.levels) for pod in here)
    free = []
    for slot in slots:
        key = tuple(slot.values())
        if taken[key]:
            taken[key] -= 1
        else:
            free.append(slot)
    return {pod.key: slot for pod, slot in zip(coming, free, strict=False)}


def strays(workload: Workload, pod_set: str, pods: Iterable[Pod]) -> list[Pod]:
    """Pods without a node that were told a place which the assignment does not have (any more), as far as a
    controller makes them again."""
    placement = placement_of(workload, pod_set)
    if placement is None:
        return []
    places = {domain.values for domain in placement.domains}
    return [
        pod
        for pod in pods
        if not pod.spec.node_name
        and any(owner.controller for owner in pod.metadata.owner_references)
        and all(level in pod.spec.node_selector for level in placement.levels)
        and _place(pod, placement.levels) not in places
    ]


def _by_name(pod: Pod) -> str:
    return pod.name


def _by_rank(request: TopologyRequest | None, pods: list[Pod], count: int) -> dict[str, int] | None:
    """Rank of each pod, or None if the labels do not give every pod its own."""
    if request is None or not request.pod_index_label:
        return None
    ranks: dict[str, int] = {}
    for pod in pods:
        rank = _number(pod, request.pod_index_label)
        if rank is not None and request.sub_group_index_label and request.sub_group_count:
            group = _number(pod, request.sub_group_index_label)
            rank = None if group is None else group * (count // request.sub_group_count) + rank
        if rank is None or rank >= count:
            return None
        ranks[pod.key] = rank
    return ranks if len(set(ranks.values())) == len(ranks) else None


def _number(pod: Pod, label: str) -> int | None:
    return whole_number(pod.metadata.labels.get(label, ""))


def _sits_at(pod: Pod, slot: Selector) -> bool:
    return all(pod.spec.node_selector.get(key) == value for key, value in slot.items())


def _place(pod: Pod, levels: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(pod.spec.node_selector.get(level, "") for level in levels)
