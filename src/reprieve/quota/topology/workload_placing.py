"""All pod sets of a workload: leader and workers, several flavors, replaced nodes, elastic slices."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from reprieve.objects import Domain, Placement, TopologyRequest, Workload, merged
from reprieve.quota import sentences
from reprieve.quota.rules import TopologyRules
from reprieve.quota.topology.columns import Columns
from reprieve.quota.topology.held import Amounts, Held, total
from reprieve.quota.topology.parameters import level_name, sliced
from reprieve.quota.topology.placing import Area, Limit, Placer, sorted_domains
from reprieve.quota.topology.wish import Failure, Seen, Wish, Wishes, lost_nodes

_Assumed = dict[str, dict[str, int]]


class Placed(NamedTuple):
    placements: dict[str, Placement]
    failure: Failure | None


class WorkloadPlacer:
    """Places one workload on the capacity as it is when asked: with usage, or as if there was none."""

    def __init__(
        self,
        workload: Workload,
        columns_of: Callable[[str], Columns],
        rules: TopologyRules,
        pinned_to_pod: bool,
        seen: Seen | None,
    ) -> None:
        """`pinned_to_pod`: its one pod cannot move to another node."""
        self._workload = workload
        self._columns_of = columns_of
        self._rules = rules
        self._pinned_to_pod = pinned_to_pod
        self._seen = seen
        self._placers: dict[str, Placer] = {}

    def place(self, wishes: Wishes, empty: bool = False, explain: bool = False) -> Placed:
        shared: _Assumed = {}
        found: dict[str, Placement] = {}
        failure: Failure | None = None
        for flavor in sorted(wishes):
            placer = self._placer(flavor)
            own = shared if self._rules.overlapping and placer.columns.tree.by_host else {}
            placements, failed = self._flavor(placer, wishes[flavor], own, empty, explain)
            found.update(placements)
            failure = failure or failed
        return Placed(found, failure)

    def possible(self, wishes: Wishes) -> bool:
        """Whether everything has its place now. Asked again and again in a search for victims."""
        if len(wishes) == 1 and not lost_nodes(self._workload) and not self._rules.balanced:
            [(flavor, listed)] = wishes.items()
            groups = _groups(listed)
            if len(groups) == 1 and not (self._rules.elastic and any(w.previous for w in listed)):
                return self._placer(flavor).possible(*_roles(groups[0]))
        return self.place(wishes).failure is None

    def limits(self, wishes: Wishes) -> Iterator[tuple[str, Limit]]:
        """By flavor, for pod sets that do not fit even if all workloads of the flavor were gone."""
        for flavor in sorted(wishes):
            placer = self._placer(flavor)
            for group in _groups(wishes[flavor]):
                found = placer.limit(*_roles(group))
                if found is not None and found.pods < found.wanted:
                    yield flavor, found

    def _placer(self, flavor: str) -> Placer:
        columns = self._columns_of(flavor)
        found = self._placers.get(flavor)
        if found is None or found.columns is not columns:
            found = self._placers[flavor] = Placer(columns, self._rules, self._seen)
        return found

    def _flavor(
        self, placer: Placer, wishes: Sequence[Wish], assumed: _Assumed, empty: bool, explain: bool
    ) -> tuple[dict[str, Placement], Failure | None]:
        found: dict[str, Placement] = {}
        for group in _groups(wishes):
            if lost_nodes(self._workload):
                result = self._replace(placer, group, assumed, explain)
            else:
                result = _Group(placer, group, assumed, self._rules.elastic).place(empty, explain)
            if isinstance(result, Failure):
                return found, result
            found.update(result)
        return found, None

    # --- unhealthy nodes ----------------------------------------------------------------------------

    def _replace(
        self, placer: Placer, group: Sequence[Wish], assumed: _Assumed, explain: bool
    ) -> dict[str, Placement] | Failure:
        found: dict[str, Placement] = {}
        for wish in group:
            if wish.previous is None:
                continue
            if self._pinned_to_pod:
                found[wish.name] = wish.previous
                continue
            result = self._replaced(placer, wish, wish.previous, assumed, explain)
            if isinstance(result, Failure):
                return result
            found[wish.name] = result
        return found

    def _replaced(
        self, placer: Placer, wish: Wish, old: Placement, assumed: _Assumed, explain: bool
    ) -> Placement | Failure:
        node = self._workload.status.unhealthy_nodes[0].name
        tree = placer.columns.tree
        lost = [domain for domain in old.domains if domain.values[-1] == node]
        rest = [domain for domain in old.domains if domain.values[-1] != node]
        wish = wish._replace(pods=lost[-1].pods if lost else 0)
        stale = next((domain for domain in rest if domain.key not in tree.leaf_of), None)
        if stale is not None:
            return Failure(wish, sentences.stale_domain(stale.values[0]))
        area = _area(placer.columns, wish, rest)
        result = placer.place(_whole_slices(wish, area), None, assumed, False, area, explain)
        if isinstance(result, Failure):
            return result
        new = result[wish.name]
        if not new.domains:
            return Failure(wish, sentences.no_replacement_found(node))
        _assume(assumed, wish, new)
        return Placement(new.levels, merged(sorted_domains(tree, [*new.domains, *rest])))


def _area(columns: Columns, wish: Wish, rest: Sequence[Domain]) -> Area | None:
    """Where the replacement must be so that slices and the required domain stay whole."""
    tree, request = columns.tree, wish.request
    name = level_name(request, tree.levels, wish.implied)
    if name is None or name not in tree.levels or not rest or request is None:
        return None
    slices = request.slices
    if slices and slices[0].size <= 0:
        return None
    if slices and wish.pods % slices[0].size:
        broken = slices[0]
        if len(slices) > 1:
            broken = next(each for each in reversed(slices) if wish.pods % each.size)
        return _incomplete(columns, rest, wish.pods, broken.size, broken.topology)
    if request.required is None:
        return None
    leaf = tree.leaf_of[rest[0].key]
    level = tree.levels.index(name)
    return Area(level, tree.ancestor(leaf, level))


def _incomplete(
    columns: Columns, rest: Iterable[Domain], missing: int, size: int, level_label: str
) -> Area | None:
    """The domain in which the missing pods complete a slice."""
    tree = columns.tree
    if level_label not in tree.levels:
        return None
    level = tree.levels.index(level_label)
    pods: dict[int, int] = {}
    for domain in rest:
        place = tree.ancestor(tree.leaf_of[domain.key], level)
        pods[place] = pods.get(place, 0) + domain.pods
    return next((Area(level, place) for place, has in pods.items() if (has + missing) % size == 0), None)


def _whole_slices(wish: Wish, area: Area | None) -> Wish:
    """Part of a slice is replaced: the innermost size that divides the pods keeps them together."""
    request = wish.request
    if request is None or area is None or not sliced(request) or not wish.pods % request.slices[0].size:
        return wish
    fitting = next((each for each in reversed(request.slices) if wish.pods % each.size == 0), None)
    simpler = TopologyRequest(
        required=request.required,
        preferred=request.preferred,
        unconstrained=request.unconstrained,
        pod_set_group_name=request.pod_set_group_name,
        pod_set_slice_required_topology=fitting.topology if fitting is not None else None,
        pod_set_slice_size=fitting.size if fitting is not None else 1,
    )
    return wish._replace(request=simpler)


class _Group:
    """Pod sets that are placed together: workers, and perhaps a leader."""

    def __init__(self, placer: Placer, wishes: Sequence[Wish], assumed: _Assumed, elastic: bool) -> None:
        self._placer = placer
        self._wishes = wishes
        self._assumed = assumed
        self._workers, self._leader = _roles(wishes)
        self._elastic = elastic

    def place(self, empty: bool, explain: bool) -> dict[str, Placement] | Failure:
        old = self._workers.previous
        if self._elastic and old is not None and not self._stale(old) and not self._stale_leader():
            if self._workers.pods > old.pods:
                return self._grown(old, empty, explain)
            return self._kept(_first_pods(old, self._workers.pods))
        found = self._placer.place(self._workers, self._leader, self._assumed, empty, explain=explain)
        if isinstance(found, Failure):
            return found
        for wish in self._wishes:
            if wish.name in found:
                _assume(self._assumed, wish, found[wish.name])
        return found

    def _stale(self, old: Placement) -> bool:
        leaf_of = self._placer.columns.tree.leaf_of
        return any(domain.key not in leaf_of for domain in old.domains)

    def _stale_leader(self) -> bool:
        leader = self._leader
        return leader is not None and leader.previous is not None and self._stale(leader.previous)

    def _grown(self, old: Placement, empty: bool, explain: bool) -> dict[str, Placement] | Failure:
        """The pods there are stay; only the new ones are placed, around them."""
        workers, leader = self._workers, self._leader
        _assume(self._assumed, workers, old)
        kept = leader.previous if leader is not None else None
        if leader is not None and kept is not None:
            _assume(self._assumed, leader, kept)
        more = workers._replace(pods=workers.pods - old.pods, previous=None)
        new = self._placer.place(
            more, leader if kept is None else None, self._assumed, empty, explain=explain
        )
        if isinstance(new, Failure):
            return new
        tree = self._placer.columns.tree
        extra = new[workers.name]
        _assume(self._assumed, workers, extra)
        whole = merged(sorted_domains(tree, [*extra.domains, *old.domains]))
        found = {workers.name: Placement(extra.levels, whole)}
        if leader is not None:
            found[leader.name] = kept if kept is not None else new[leader.name]
            if kept is None:
                _assume(self._assumed, leader, new[leader.name])
        return found

    def _kept(self, old: Placement) -> dict[str, Placement]:
        found = {self._workers.name: old}
        _assume(self._assumed, self._workers, old)
        leader = self._leader
        if leader is not None and leader.previous is not None:
            found[leader.name] = leader.previous
            _assume(self._assumed, leader, leader.previous)
        return found


def _roles(group: Sequence[Wish]) -> tuple[Wish, Wish | None]:
    """(workers, leader). Of two pod sets the smaller one leads; if they are equal, the second."""
    if len(group) < 2:
        return group[0], None
    first, second = group[0], group[1]
    return (second, first) if second.pods > first.pods else (first, second)


def _groups(wishes: Sequence[Wish]) -> list[list[Wish]]:
    found: dict[object, list[Wish]] = {}
    for index, wish in enumerate(wishes):
        found.setdefault(index if wish.group is None else wish.group, []).append(wish)
    return list(found.values())


def _assume(assumed: _Assumed, wish: Wish, placement: Placement) -> None:
    for key, amounts in total([Held(wish.flavor, wish.single, placement.domains)]).items():
        _add(assumed.setdefault(key, {}), amounts)


def _add(sums: dict[str, int], amounts: Amounts) -> None:
    for resource, number in amounts.items():
        sums[resource] = sums.get(resource, 0) + number


def _first_pods(old: Placement, count: int) -> Placement:
    """The first pods of a placement, in its order."""
    kept, left = [], count
    for domain in old.domains:
        if left <= 0:
            break
        kept.append(domain._replace(pods=min(domain.pods, left)))
        left -= domain.pods
    return Placement(old.levels, tuple(kept))
