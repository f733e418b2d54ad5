"""Trees of groups as kube-scheduler 1.38 decides them, naively: one group, one domain, one pod at a time."""

from typing import Any

from reprieve.objects.decode import decode_all
from reprieve.objects.scheduling import CompositePodGroup, PodGroup
from tests.reference.core.filters import State, dynamic, static
from tests.reference.core.model import N, P
from tests.reference.core.preempt import Answer, Reference, U
from tests.reference.core.scores import best

Group = PodGroup | CompositePodGroup
Placed = list[tuple[P, str, State]]


class TreeReference(Reference):
    """For trees without running members, in clusters in which only resources matter."""

    def __init__(self, documents: list[dict[str, Any]]) -> None:
        super().__init__(documents, "kubernetes")
        composites = [each for each in decode_all(documents) if isinstance(each, CompositePodGroup)]
        self.composites = {each.key: each for each in composites}
        self.within = list(self.world.nodes.values())

    def plan(self, root: str) -> dict[str, Any]:
        group = self.composites[root]
        priority = group.spec.priority or 0
        if not self.ready(group):
            return told("unschedulable")
        placed = self.tree(group)
        if placed is not None and placed[0]:
            return told("scheduled", placed[0])
        units = self.ordered(self.units(self.world.running(), priority))
        answer = self._select(units, self.broken(units), [], 0, 0) if units else None
        return told("unschedulable") if answer is None else told("preempts", [], answer)

    def ready(self, group: Group) -> bool:
        if isinstance(group, PodGroup):
            return len(self.waiting(group)) >= group.min_count
        return sum(map(self.ready, self.children(group))) >= group.min_group_count

    def waiting(self, group: PodGroup) -> list[P]:
        return [pod for pod in self.world.pods if pod.group == group.key]

    def children(self, group: CompositePodGroup) -> list[Group]:
        everybody: list[Group] = [*self.world.groups.values(), *self.composites.values()]
        below = (each for each in everybody if each.parent_key == group.key)
        return sorted(below, key=lambda each: each.name)

    # --- placing

    def place_gang(self, pods: list[P], minimum: int, running: int) -> Placed | None:
        """The whole tree: real places first, then those of groups that failed, which count as well."""
        root = next(each for each in self.composites.values() if each.name == "tree")
        found = self.tree(root)
        return None if found is None or not found[0] else [*found[0], *found[1]]

    def tree(self, root: CompositePodGroup) -> tuple[Placed, Placed] | None:
        ok, placed, phantoms = self.evaluate(root)
        return (placed, phantoms) if ok else None

    def evaluate(self, group: Group) -> tuple[bool, Placed, Placed]:
        """(whether it succeeded, its places, places of groups that failed); nothing stays."""
        outer, tried = self.within, []
        for nodes in self.domains(group, outer):
            self.within = nodes
            tried.append((nodes, self.inside(group)))
        self.within = outer
        good = [(nodes, found) for nodes, found in tried if found[0]]
        if not good:
            return tried[0][1] if tried else (False, [], [])
        most = max(len(found[1]) for _, found in good)
        scores = [self.score(nodes, found[1], most) for nodes, found in good]
        return good[scores.index(max(scores))][1] if len(good) > 1 else good[0][1]

    def domains(self, group: Group, nodes: list[N]) -> list[list[N]]:
        key = group.topology_key
        if not key:
            return [nodes]
        values = sorted({node.labels[key] for node in nodes if key in node.labels})
        return [[node for node in nodes if node.labels.get(key) == value] for value in values]

    def score(self, nodes: list[N], placed: Placed, most: int) -> int:
        parts = []
        for index, resource in enumerate(("cpu", "memory")):
            offered = sum(node.allocatable.get(resource, 0) for node in nodes)
            if offered:
                pods = [pod for node in nodes for pod in node.pods] + [pod for pod, _, _ in placed]
                wanted = sum(pod.filled[index] for pod in pods)
                parts.append(100 * min(wanted, offered) // offered)
        return 100 * len(placed) // most + (sum(parts) // len(parts) if parts else 0)

    def inside(self, group: Group) -> tuple[bool, Placed, Placed]:
        if isinstance(group, PodGroup):
            return self.leaf(group)
        children = self.children(group)
        scheduled, remaining = 0, len(children)
        placed: Placed = []
        phantoms: Placed = []
        for child in children:
            if scheduled + remaining < group.min_group_count:
                break
            ok, here, lost = self.evaluate(child)
            remaining -= 1
            scheduled += ok
            phantoms += lost
            if ok:
                placed += here
                for pod, name, _ in here:
                    self.world.put(pod, name)
            else:
                phantoms += here
        for pod, _, _ in placed:
            self.world.take(pod)
        return scheduled >= group.min_group_count, placed, phantoms

    def leaf(self, group: PodGroup) -> tuple[bool, Placed, Placed]:
        placed: Placed = []
        pods = self.waiting(group)
        for done, pod in enumerate(pods):
            if len(placed) + len(pods) - done < group.min_count:
                break
            state = State(self.world, pod, True)
            feasible = [node for node in self.within if static(pod, node) and dynamic(state, node, [])]
            if feasible:
                name = best(self.world, pod, feasible).name
                placed.append((pod, name, state))
                self.world.put(pod, name)
        for pod, _, _ in placed:
            self.world.take(pod)
        return len(placed) >= group.min_count, placed, []

    # --- units

    def chain(self, pod: P) -> list[Group]:
        found: list[Group] = []
        group: Group | None = self.world.groups.get(pod.group or "")
        while group is not None:
            found.append(group)
            group = self.composites.get(group.parent_key)
        return found

    def priority(self, pod: P) -> int:
        chain = self.chain(pod)
        return (chain[-1].spec.priority or 0) if chain else pod.priority

    def units(self, pods: list[P], below: int) -> list[U]:
        units: list[U] = []
        seen: set[tuple[type, str]] = set()
        for pod in pods:
            if self.priority(pod) >= below:
                continue
            whole = [each for each in self.chain(pod) if each.disrupted_as_a_whole]
            members, rank = [pod], 2 if pod.group else 1
            if whole:
                top = whole[-1]
                if (type(top), top.key) in seen:
                    continue
                seen.add((type(top), top.key))
                members = [each for each in self.world.running() if top in self.chain(each)]
                rank = 3 if isinstance(top, CompositePodGroup) else 2
            units.append(U(members, self.priority(pod), rank, {each: each.node or "" for each in members}))
        return units


def told(outcome: str, placed: Placed | None = None, answer: Answer | None = None) -> dict[str, Any]:
    places = {pod.key: name for pod, name, _ in placed or []}
    if answer is not None:
        places = {pod.key: name for pod, name in answer.places.items()}
    victims = [pod.key for unit in answer.victims for pod in unit.pods] if answer else []
    return {"outcome": outcome, "placements": places, "victims": sorted(victims)}
