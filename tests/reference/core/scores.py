"""Every score, for one pod on one node, and the choice of the best."""

import math

from reprieve.objects.selectors import matches, node_term_matches, tolerates
from tests.reference.core.filters import covers, required, selected, tolerated
from tests.reference.core.model import N, P, World


def best(world: World, pod: P, feasible: list[N]) -> N:
    if len(feasible) == 1:
        return feasible[0]
    parts = [
        (3, scaled([_soft_taints(pod, node) for node in feasible], reverse=True)),
        (2, scaled([_preferred(pod, node) for node in feasible])),
        (1, [_least_allocated(pod, node) for node in feasible]),
        (1, [_balanced(pod, node) for node in feasible]),
        (2, _spread(world, pod, feasible)),
        (2, _affinity(world, pod, feasible)),
    ]
    totals = [sum(weight * scores[i] for weight, scores in parts) for i in range(len(feasible))]
    most = max(totals)
    return feasible[next(i for i in _preorder(len(feasible)) if totals[i] == most)]


def _preorder(size: int, root: int = 0) -> list[int]:
    if root >= size:
        return []
    return [root, *_preorder(size, 2 * root + 1), *_preorder(size, 2 * root + 2)]


def scaled(raw: list[int], reverse: bool = False) -> list[int]:
    most = max(raw)
    if most == 0:
        return [100] * len(raw) if reverse else raw
    return [100 - 100 * each // most if reverse else 100 * each // most for each in raw]


def _soft_taints(pod: P, node: N) -> int:
    soft = [each for each in pod.obj.spec.tolerations if each.effect in ("", "PreferNoSchedule")]
    return sum(t.effect == "PreferNoSchedule" and not tolerates(soft, t) for t in node.obj.spec.taints)


def _preferred(pod: P, node: N) -> int:
    affinity = pod.obj.spec.affinity.node_affinity if pod.obj.spec.affinity else None
    terms = affinity.preferred_during_scheduling_ignored_during_execution if affinity else ()
    return sum(term.weight for term in terms if node_term_matches(term.preference, node.labels, node.name))


def _least_allocated(pod: P, node: N) -> int:
    parts = []
    for i, resource in enumerate(("cpu", "memory")):
        offered = node.allocatable.get(resource, 0)
        wanted = sum(each.filled[i] for each in node.pods) + pod.filled[i]
        if offered:
            parts.append(0 if wanted > offered else (offered - wanted) * 100 // offered)
    return sum(parts) // len(parts) if parts else 0


def _balanced(pod: P, node: N) -> int:
    asked = [pod.requests.get(resource, 0) for resource in ("cpu", "memory")]
    if not any(asked):
        return 0
    after = _evenness([node.used(r) + a for r, a in zip(("cpu", "memory"), asked, strict=True)], node)
    return 50 + (50 + after - _evenness([node.used("cpu"), node.used("memory")], node)) // 2


def _evenness(wanted: list[int], node: N) -> int:
    offered = [node.allocatable.get(resource, 0) for resource in ("cpu", "memory")]
    shares = [min(w / o, 1.0) for w, o in zip(wanted, offered, strict=True) if o]
    uneven = abs((shares[0] - shares[1]) / 2) if len(shares) == 2 else 0.0
    return int((1 - uneven) * 100.0)


def _spread(world: World, pod: P, feasible: list[N]) -> list[int]:
    rules = [r for r in pod.obj.spec.topology_spread_constraints if r.when_unsatisfiable == "ScheduleAnyway"]
    if not rules:
        return [0] * len(feasible)
    complete = [node for node in feasible if all(rule.topology_key in node.labels for rule in rules)]
    raws: dict[str, float] = dict.fromkeys((node.name for node in complete), 0.0)
    for rule in rules:
        selector = rule.label_selector
        counting = selector is not None and (selector.match_labels or selector.match_expressions)

        def count(node: N, selector=selector, counting=counting) -> int:
            return sum(
                bool(counting)
                and p.namespace == pod.namespace
                and not p.terminating
                and matches(selector, p.labels)
                for p in node.pods
            )

        host = rule.topology_key == "kubernetes.io/hostname"
        values = {node.labels[rule.topology_key] for node in complete}
        size = len(complete) if host else len(values)
        for node in complete:
            here = count(node)
            if not host:
                here = sum(
                    count(each)
                    for each in world.nodes.values()
                    if all(r.topology_key in each.labels for r in rules)
                    and each.labels[rule.topology_key] == node.labels[rule.topology_key]
                    and (rule.node_affinity_policy == "Ignore" or selected(pod, each))
                    and (rule.node_taints_policy != "Honor" or tolerated(pod, each))
                )
            raws[node.name] += here * math.log(size + 2) + (rule.max_skew - 1)
    rounded = {name: math.floor(raw + 0.5) for name, raw in raws.items()}
    most, least = max([0, *rounded.values()]), min(rounded.values(), default=0)
    if most == 0:
        return [100 if node.name in rounded else 0 for node in feasible]
    return [100 * (most + least - rounded[n.name]) // most if n.name in rounded else 0 for n in feasible]


def _affinity(world: World, pod: P, feasible: list[N]) -> list[int]:
    sums: dict[tuple[str, str], int] = {}

    def add(key: str, node: N, weight: int) -> None:
        if key in node.labels:
            sums[key, node.labels[key]] = sums.get((key, node.labels[key]), 0) + weight

    for node in world.nodes.values():
        for other in node.pods:
            for term in required(other, "pod_affinity"):
                if covers(world, other, term, pod):
                    add(term.topology_key, node, 1)
            for owner, target in ((pod, other), (other, pod)):
                for sign, side in ((1, "pod_affinity"), (-1, "pod_anti_affinity")):
                    part = getattr(owner.obj.spec.affinity, side) if owner.obj.spec.affinity else None
                    for each in part.preferred_during_scheduling_ignored_during_execution if part else ():
                        if covers(world, owner, each.pod_affinity_term, target):
                            add(each.pod_affinity_term.topology_key, node, sign * each.weight)
    raw = [sum(sums.get(pair, 0) for pair in node.labels.items()) for node in feasible]
    least, most = min(raw), max(raw)
    if not sums or least == most:
        return [0] * len(feasible)
    return [int(100.0 * (float(each - least) / float(most - least))) for each in raw]
