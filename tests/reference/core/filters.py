"""Every filter, for one pod on one node. `State` is what PreFilter remembers; it hears of every pod that
comes or goes later.
"""

from reprieve.objects.core import PodAffinityTerm, Taint
from reprieve.objects.selectors import matches, node_selector_matches, tolerates
from tests.reference.core.model import N, P, World

CORDON = Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")


def selected(pod: P, node: N) -> bool:
    spec = pod.obj.spec
    if any(node.labels.get(key) != value for key, value in spec.node_selector.items()):
        return False
    affinity = spec.affinity.node_affinity if spec.affinity else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity else None
    return required is None or node_selector_matches(required, node.labels, node.name)


def tolerated(pod: P, node: N) -> bool:
    hard = [taint for taint in node.obj.spec.taints if taint.effect in ("NoSchedule", "NoExecute")]
    return all(tolerates(pod.obj.spec.tolerations, taint) for taint in hard)


def static(pod: P, node: N) -> bool:
    if node.obj.spec.unschedulable and not tolerates(pod.obj.spec.tolerations, CORDON):
        return False
    return tolerated(pod, node) and selected(pod, node)


def ports(pod: P) -> list[tuple[str, str, int]]:
    return [
        (port.host_ip or "0.0.0.0", port.protocol, port.host_port)
        for container in pod.obj.spec.containers
        for port in container.ports
        if port.host_port
    ]


def ports_free(pod: P, others: list[P]) -> bool:
    for ip, protocol, number in ports(pod):
        for other in others:
            for ip2, protocol2, number2 in ports(other):
                if (protocol, number) == (protocol2, number2) and ("0.0.0.0" in (ip, ip2) or ip == ip2):
                    return False
    return True


def shortages(pod: P, node: N, extra: list[P]) -> list[str]:
    short = []
    for resource, number in {**pod.requests, "pods": 1}.items():
        more = sum(1 if resource == "pods" else each.requests.get(resource, 0) for each in extra)
        if number and node.allocatable.get(resource, 0) - node.used(resource) - more < number:
            short.append(resource)
    return short


def unresolvable(pod: P, node: N) -> bool:
    """Larger than the whole node."""
    return any(number > node.allocatable.get(resource, 0) for resource, number in pod.requests.items())


# --- pods about other pods ----------------------------------------------------------------------------------


def required(pod: P, side: str) -> tuple[PodAffinityTerm, ...]:
    affinity = pod.obj.spec.affinity
    part = getattr(affinity, side) if affinity else None
    return part.required_during_scheduling_ignored_during_execution if part else ()


def covers(world: World, owner: P, term: PodAffinityTerm, other: P) -> bool:
    names = term.namespaces or ((owner.namespace,) if term.namespace_selector is None else ())
    inside = other.namespace in names or matches(
        term.namespace_selector, world.namespaces.get(other.namespace, {})
    )
    return inside and matches(term.label_selector, other.labels)


class Least:
    """Upstream's memory of the smallest count: two domains. `exact` looks at all of them."""

    def __init__(self, counts: dict[str, int], exact: bool) -> None:
        self.counts, self.exact = counts, exact
        self.kept = sorted(counts.items(), key=lambda item: (item[1], item[0]))[:2]

    def heard(self, domain: str) -> None:
        count = self.counts[domain]
        names = [name for name, _ in self.kept]
        if domain in names:
            self.kept[names.index(domain)] = (domain, count)
        elif len(self.kept) < 2 or count < self.kept[1][1]:
            self.kept = [*self.kept[:1], (domain, count)]
        self.kept.sort(key=lambda item: item[1])

    @property
    def value(self) -> int:
        counts = self.counts.values() if self.exact else [count for _, count in self.kept]
        return min(counts, default=0)


class State:
    def __init__(self, world: World, pod: P, faithful: bool) -> None:
        self.world, self.pod, self.faithful = world, pod, faithful
        self.near: dict[tuple[str, str], int] = {}
        self.apart: dict[tuple[str, str], int] = {}
        self.vetoes: dict[tuple[str, str], int] = {}
        for node in world.nodes.values():
            for other in node.pods:
                self._affinity(other, node, 1)
        own = required(pod, "pod_affinity") or required(pod, "pod_anti_affinity")
        self.skipped = faithful and not own and not any(self.vetoes.values())
        spec = pod.obj.spec
        self.rules = [r for r in spec.topology_spread_constraints if r.when_unsatisfiable == "DoNotSchedule"]
        self.counts: list[dict[str, int]] = []
        self.least: list[Least] = []
        for rule in self.rules:
            counts: dict[str, int] = {}
            for node in world.nodes.values():
                if self._counted(rule, node):
                    counts.setdefault(node.labels[rule.topology_key], 0)
                    selector = rule.label_selector
                    if selector and (selector.match_labels or selector.match_expressions):
                        counts[node.labels[rule.topology_key]] += sum(
                            other.namespace == pod.namespace
                            and not other.terminating
                            and matches(selector, other.labels)
                            for other in node.pods
                        )
            self.counts.append(counts)
            self.least.append(Least(counts, exact=not faithful))

    def heard(self, other: P, node: N, delta: int) -> None:
        """A pod came to the node (+1) or left it (-1)."""
        if not self.skipped:
            self._affinity(other, node, delta)
        for rule, counts, least in zip(self.rules, self.counts, self.least, strict=True):
            selector = rule.label_selector
            empty = selector is not None and not (selector.match_labels or selector.match_expressions)
            if not self.faithful and (other.terminating or empty):
                continue
            if (
                other.namespace == self.pod.namespace
                and matches(rule.label_selector, other.labels)
                and self._counted(rule, node)
            ):
                domain = node.labels[rule.topology_key]
                counts[domain] = counts.get(domain, 0) + delta
                least.heard(domain)

    def allows(self, node: N) -> bool:
        return self._spread_allows(node) and (self.skipped or self._affinity_allows(node))

    def _counted(self, rule, node: N) -> bool:
        if any(each.topology_key not in node.labels for each in self.rules):
            return False
        if rule.node_affinity_policy != "Ignore" and not selected(self.pod, node):
            return False
        return rule.node_taints_policy != "Honor" or tolerated(self.pod, node)

    def _spread_allows(self, node: N) -> bool:
        for rule, counts, least in zip(self.rules, self.counts, self.least, strict=True):
            if rule.topology_key not in node.labels:
                return False
            floor = least.value if len(counts) >= (rule.min_domains or 1) else 0
            here = counts.get(node.labels[rule.topology_key], 0)
            if here + matches(rule.label_selector, self.pod.labels) - floor > rule.max_skew:
                return False
        return True

    def _affinity(self, other: P, node: N, delta: int) -> None:
        world, pod = self.world, self.pod
        for term in required(other, "pod_anti_affinity"):
            if covers(world, other, term, pod):
                self._add(self.vetoes, term, node, delta)
        terms = required(pod, "pod_affinity")
        if terms and all(covers(world, pod, term, other) for term in terms):
            for term in terms:
                self._add(self.near, term, node, delta)
        for term in required(pod, "pod_anti_affinity"):
            if covers(world, pod, term, other):
                self._add(self.apart, term, node, delta)

    def _add(self, counts: dict[tuple[str, str], int], term: PodAffinityTerm, node: N, delta: int) -> None:
        if term.topology_key in node.labels:
            pair = (term.topology_key, node.labels[term.topology_key])
            counts[pair] = counts.get(pair, 0) + delta

    def _affinity_allows(self, node: N) -> bool:
        world, pod = self.world, self.pod
        pairs = set(node.labels.items())
        terms = required(pod, "pod_affinity")
        if any(term.topology_key not in node.labels for term in terms):
            return False
        lonely = any(not self.near.get((t.topology_key, node.labels[t.topology_key])) for t in terms)
        if lonely and (any(self.near.values()) or not all(covers(world, pod, term, pod) for term in terms)):
            return False
        return not any(
            count > 0 and pair in pairs for pair, count in (*self.apart.items(), *self.vetoes.items())
        )


def dynamic(state: State, node: N, extra: list[P]) -> bool:
    """Ports, room, spread and affinity. `extra`: pods of the gang that are supposed there and known to the
    state.
    """
    pod = state.pod
    return ports_free(pod, [*node.pods, *extra]) and not shortages(pod, node, extra) and state.allows(node)
