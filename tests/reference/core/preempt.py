"""Who makes way, unit by unit. Written from the specification, with no thought for speed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from reprieve.objects.selectors import matches
from tests.reference.core.filters import State, dynamic, ports_free, required, shortages, static, unresolvable
from tests.reference.core.model import N, P, World
from tests.reference.core.scores import best

NOBODY = -(2**62)


def started(pod: P) -> float:
    start = pod.obj.status.start_time
    assert start is not None, f"{pod.key} runs since never"
    return start.timestamp()


@dataclass(eq=False)
class U:
    """What goes together."""

    pods: list[P]
    priority: int
    rank: int
    home: dict[P, str]

    @property
    def start(self) -> float:
        return min(started(p) for p in self.pods)

    @property
    def importance(self) -> tuple[int, int, int, float]:
        return -self.priority, -self.rank, -len(self.pods), self.start


@dataclass
class Answer:
    places: dict[P, str]
    victims: list[U]
    broken: int

    @property
    def highest(self) -> int:
        return max((unit.priority for unit in self.victims), default=NOBODY)

    @property
    def disruption(self) -> tuple[int, int, int, int]:
        return self.broken, self.highest, len(self.victims), sum(len(unit.pods) for unit in self.victims)


class Reference:
    def __init__(self, documents: list[dict[str, Any]], algorithm: str) -> None:
        self.world = World(documents)
        self.faithful = algorithm == "kubernetes"

    # --- placing
    # ------------------------------------------------------------------------------------------------------

    def place(self, pod: P) -> tuple[N, State] | None:
        world = self.world
        state = State(world, pod, self.faithful)
        nominated = world.nodes.get(pod.obj.status.nominated_node_name)
        if nominated and static(pod, nominated) and dynamic(state, nominated, []):
            return nominated, state
        feasible = [n for n in world.nodes.values() if static(pod, n) and dynamic(state, n, [])]
        return (best(world, pod, feasible), state) if feasible else None

    def place_gang(self, pods: list[P], minimum: int, running: int) -> list[tuple[P, str, State]] | None:
        placed: list[tuple[P, str, State]] = []
        feasible = len(pods) + running >= minimum
        for done, pod in enumerate(pods, start=1):
            if not feasible:
                break
            found = self.place(pod)
            if found:
                placed.append((pod, found[0].name, found[1]))
                self.world.put(pod, found[0].name)
            feasible = len(pods) - done + running + len(placed) >= minimum
        for pod, _, _ in placed:
            self.world.take(pod)
        return placed if feasible and placed and running + len(placed) >= minimum else None

    # --- units
    # --------------------------------------------------------------------------------------------------------

    def priority(self, pod: P) -> int:
        group = self.world.groups.get(pod.group or "")
        return (group.spec.priority or 0) if group else pod.priority

    def units(self, pods: list[P], below: int) -> list[U]:
        units: list[U] = []
        seen: set[str] = set()
        for pod in pods:
            if self.priority(pod) >= below:
                continue
            group = self.world.groups.get(pod.group or "")
            members = [pod]
            if group and group.disrupted_as_a_whole:
                if group.key in seen:
                    continue
                seen.add(group.key)
                members = [each for each in self.world.running() if each.group == group.key]
            home = {each: each.node or "" for each in members}
            units.append(U(members, self.priority(pod), 2 if pod.group else 1, home))
        return units

    def ordered(self, units: list[U]) -> list[U]:
        if self.faithful:
            return sorted(units, key=lambda unit: unit.importance)
        return sorted(units, key=lambda unit: (*unit.importance, unit.pods[0].key))

    def broken(self, ordered: list[U]) -> dict[U, int]:
        left = [budget.status.disruptions_allowed for budget in self.world.budgets]
        counts = {}
        for unit in ordered:
            counts[unit] = sum(self._breaks(pod, left) for pod in unit.pods)
        return counts

    def _breaks(self, pod: P, left: list[int]) -> bool:
        for number, budget in enumerate(self.world.budgets):
            selector = budget.spec.selector
            if not pod.labels or budget.namespace != pod.namespace or selector is None:
                continue
            if not (selector.match_labels or selector.match_expressions) or not matches(selector, pod.labels):
                continue
            if pod.obj.name in budget.status.disrupted_pods:
                continue
            left[number] -= 1
            if left[number] < 0:
                return True
        return False

    # --- a gang preempts
    # ----------------------------------------------------------------------------------------------

    def for_gang(self, pods: list[P], priority: int, minimum: int, running: int) -> Answer | None:
        units = self.ordered(self.units(self.world.running(), priority))
        if not units:
            return None
        counts = self.broken(units)
        first = self._select(units, counts, pods, minimum, running)
        if first is None or self.faithful or not first.victims:
            return first
        spared = [u for u in units if counts[u] and u not in first.victims]
        rest = [u for u in units if u not in spared]
        levels = sorted({u.priority for u in rest if u.priority <= first.highest})
        low, high = 0, len(levels) - 1
        while low < high:
            middle = (low + high) // 2
            if self._fits_without([u for u in rest if u.priority <= levels[middle]], pods, minimum, running):
                high = middle
            else:
                low = middle + 1
        second = self._select([u for u in rest if u.priority <= levels[high]], counts, pods, minimum, running)
        return first if second is None else min(first, second, key=lambda answer: answer.disruption)

    def _fits_without(self, out: list[U], pods: list[P], minimum: int, running: int) -> bool:
        self._take(out)
        fits = self.place_gang(pods, minimum, running) is not None
        self._put(out)
        return fits

    def _select(
        self, out: list[U], counts: dict[U, int], pods: list[P], minimum: int, running: int
    ) -> Answer | None:
        before = {name: list(node.pods) for name, node in self.world.nodes.items()}
        self._take(out)
        placed = self.place_gang(pods, minimum, running)
        answer = None
        if placed is not None:

            def stays(unit: U) -> bool:
                self._put([unit])
                self._tell(unit, placed, 1)
                if self._gang_stands(placed):
                    return True
                self._take([unit])
                self._tell(unit, placed, -1)
                return False

            victims = self._try([*(u for u in out if counts[u]), *(u for u in out if not counts[u])], stays)
            ordered = [unit for unit in out if unit in victims]
            answer = Answer({p: n for p, n, _ in placed}, ordered, sum(counts[u] for u in ordered))
        for name, node in self.world.nodes.items():
            node.pods = before[name]
            for pod in node.pods:
                pod.node = name
        return answer

    def _try(self, units: list[U], stays: Callable[[U], bool]) -> list[U]:
        """Who cannot stay: one pass as upstream does it, or passes until nobody else can return."""
        victims = [unit for unit in units if not stays(unit)]
        while not self.faithful and victims:
            left = [unit for unit in victims if not stays(unit)]
            if len(left) == len(victims):
                break
            victims = left
        return victims

    def _take(self, units: list[U]) -> None:
        for unit in units:
            for pod in unit.pods:
                self.world.take(pod)

    def _put(self, units: list[U]) -> None:
        for unit in units:
            for pod in unit.pods:
                self.world.put(pod, unit.home[pod])

    def _tell(self, unit: U, placed: list[tuple[P, str, State]], delta: int) -> None:
        for pod in unit.pods:
            for _, _, state in placed:
                state.heard(pod, self.world.nodes[unit.home[pod]], delta)

    def _gang_stands(self, placed: list[tuple[P, str, State]]) -> bool:
        for index, (_, name, state) in enumerate(placed):
            mates = [pod for pod, where, _ in placed[:index] if where == name]
            if not dynamic(state, self.world.nodes[name], mates):
                return False
        return True

    # --- a pod preempts
    # -----------------------------------------------------------------------------------------------

    def for_pod(self, pod: P) -> Answer | None:
        answers = []
        state = State(self.world, pod, self.faithful)
        for node in list(self.world.nodes.values()):
            if static(pod, node) and self._may_help(pod, node, state):
                answer = self._dry_run(pod, node)
                if answer and answer.victims:
                    answers.append(answer)
        return min(answers, key=self._choice) if answers else None

    def _may_help(self, pod: P, node: N, state: State) -> bool:
        """Whether the node's first objection is one that evictions can answer."""
        if not ports_free(pod, node.pods):
            return True
        if shortages(pod, node, []):
            return not (
                unresolvable(pod, node)
                and any(
                    r != "pods" and pod.requests[r] > node.allocatable.get(r, 0)
                    for r in shortages(pod, node, [])
                    if r != "pods"
                )
            )
        if any(rule.topology_key not in node.labels for rule in state.rules):
            first = next(r for r in state.rules if r.topology_key not in node.labels)
            before = state.rules[: state.rules.index(first)]
            return any(not self._rule_allows(state, rule, node) for rule in before)
        if not state._spread_allows(node):
            return True
        terms = required(pod, "pod_affinity")
        if terms and not state.skipped:
            without = State.__new__(State)
            without.__dict__.update(state.__dict__, apart={}, vetoes={})
            return without._affinity_allows(node)
        return True

    def _rule_allows(self, state: State, rule: Any, node: N) -> bool:
        index = state.rules.index(rule)
        counts, least = state.counts[index], state.least[index]
        floor = least.value if len(counts) >= (rule.min_domains or 1) else 0
        here = counts.get(node.labels[rule.topology_key], 0)
        return here + matches(rule.label_selector, state.pod.labels) - floor <= rule.max_skew

    def _dry_run(self, pod: P, node: N) -> Answer | None:
        units = self.units(list(node.pods), pod.priority)
        if not units:
            return None
        state = State(self.world, pod, self.faithful)
        before = {name: list(each.pods) for name, each in self.world.nodes.items()}
        answer = None
        for unit in units:
            self._shift(state, unit, node, -1)
        if dynamic(state, node, []):
            ordered = self.ordered(units)
            counts = self.broken(ordered)

            def stays(unit: U) -> bool:
                self._shift(state, unit, node, 1)
                if dynamic(state, node, []):
                    return True
                self._shift(state, unit, node, -1)
                return False

            tried = [*(u for u in ordered if counts[u]), *(u for u in ordered if not counts[u])]
            victims = self._try(tried, stays)
            final = [unit for unit in ordered if unit in victims]
            answer = Answer({pod: node.name}, final, sum(counts[u] for u in final))
        for name, each in self.world.nodes.items():
            each.pods = before[name]
            for other in each.pods:
                other.node = name
        return answer

    def _shift(self, state: State, unit: U, node: N, delta: int) -> None:
        for pod in unit.pods:
            if unit.home[pod] == node.name:
                if delta > 0:
                    self.world.put(pod, node.name)
                else:
                    self.world.take(pod)
            state.heard(pod, self.world.nodes[unit.home[pod]], delta)

    def _choice(self, answer: Answer) -> tuple[float, ...]:
        pods = [pod for unit in answer.victims for pod in unit.pods]
        value = (lambda pod: pod.priority) if self.faithful else self.priority
        highest = max(map(value, pods))
        starts = [started(p) for p in pods if value(p) == highest]
        return (
            answer.broken,
            value(pods[0]) if self.faithful else highest,
            sum(value(p) + 2**31 for p in pods),
            len(pods),
            -min(starts),
        )


def plan(documents: list[dict[str, Any]], for_: str, algorithm: str) -> dict[str, Any]:
    """The comparable part of a plan."""
    reference = Reference(documents, algorithm)
    kind, _, key = for_.partition("/")
    if kind == "Pod":
        pod = next(each for each in reference.world.pods if each.key == key)
        found = reference.place(pod)
        if found:
            return _told("scheduled", {pod: found[0].name}, None)
        never = pod.obj.spec.preemption_policy == "Never"
        answer = None if never else reference.for_pod(pod)
        return _told("preempts" if answer else "unschedulable", {}, answer)
    group = reference.world.groups[key]
    members = [pod for pod in reference.world.pods if pod.group == key]
    waiting = [pod for pod in members if not pod.node]
    running = len(members) - len(waiting)
    faithful = algorithm == "kubernetes"
    unequal = any(pod.priority != (group.spec.priority or 0) for pod in members)
    if len(members) < group.min_count or (unequal and faithful):
        return _told("unschedulable", {}, None)
    if faithful and len({pod.obj.spec.preemption_policy == "Never" for pod in members}) > 1:
        return _told("unschedulable", {}, None)
    placed = reference.place_gang(waiting, group.min_count, running)
    if placed is not None:
        return _told("scheduled", {pod: name for pod, name, _ in placed}, None)
    policies = (
        [pod.obj.spec.preemption_policy for pod in waiting] if faithful else [group.spec.preemption_policy]
    )
    if "Never" in policies:
        return _told("unschedulable", {}, None)
    answer = reference.for_gang(waiting, group.spec.priority or 0, group.min_count, running)
    return _told("preempts" if answer else "unschedulable", {}, answer)


def _told(outcome: str, places: dict[P, str], answer: Answer | None) -> dict[str, Any]:
    where = answer.places if answer else places
    return {
        "outcome": outcome,
        "placements": {pod.key: node for pod, node in where.items()},
        "victims": sorted(pod.key for unit in answer.victims for pod in unit.pods) if answer else [],
        "pdbViolations": answer.broken if answer else 0,
    }
