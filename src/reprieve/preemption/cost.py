"""What a preemption costs, term by term, so that it can be added up from the plan.

Plans are compared by these, in this order:

1. budget violations;
2. the highest priority of a victim unit;
3. the weighted sum of
   - `units` and `pods` disrupted: one for each;
   - `lostWork`: the pod's share of the cluster times the years since its last checkpoint, or its start;
   - `restart`: the pod's share of the cluster times the time it takes to come back, in years;
   - `preemptionCost`: what `reprieve.dev/preemption-cost` says, of the pods and of a group that leaves as a
     whole;
   - `cascade`: the pod's share of the cluster if it would displace others when it comes back: no node that
     admits it has free capacity for it now, and on one that is large enough a less important pod runs.

A pod's share is the average, over cpu, memory and every extended resource on offer, of its request divided by
what all nodes offer. All running pods together have a share of at most one, and a year is long: with the
default weights the number of pods decides, then that of units (a hundred of them weigh as much as a pod), and
what is lost decides between plans that disrupt equally much. A pod that is already terminating costs nothing.
Nothing here reads a clock or decides anything.
"""

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from reprieve.cluster import CPU, EPHEMERAL, NOT_STARTED, PODS, Mask, PodClass, Rows
from reprieve.objects import HIGHEST_COST, Reference, well_known
from reprieve.placement import static_fit
from reprieve.preemption.plan import Cost, Plan, Victim
from reprieve.preemption.units import single_unit
from reprieve.preemption.view import View
from reprieve.preemption.violations import count_violations

YEAR = 365 * 24 * 3600
RESTART_SECONDS = 300
"""How long a victim takes to work again elsewhere: scheduling, image pulls, initialisation."""
_NO_NEIGHBOUR = 2**62
"""The lowest priority on a node without pods: above every priority there is."""
DIGITS = 9
"""Decimals in a plan; the sums are sums of what is shown."""

Floats = NDArray[np.float64]
Notes = list[tuple[int, Mapping[str, str]]]


class Terms(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What one victim pod adds, before weights."""

    share: float = 0.0
    lost_work: float = 0.0
    restart: float = 0.0
    preemption_cost: float = 0.0
    cascade: float = 0.0


class BilledVictim(Victim, frozen=True, kw_only=True, rename="camel"):
    cost: Terms = Terms()


class Bill(Cost, frozen=True, kw_only=True, rename="camel"):
    """The cost of a plan with all terms. A group's own `preemptionCost` is part of its first pod's."""

    lost_work: float = 0.0
    restart: float = 0.0
    preemption_cost: float = 0.0
    cascade: float = 0.0
    total: float = 0.0
    """units, pods and the four terms, each times its weight."""
    weights: dict[str, float] = msgspec.field(default_factory=dict)
    optimality: str = ""
    """How far from the cheapest plan this one can be; only `minimal-cost` says."""


class Columns(NamedTuple):
    """Terms of many pods at once."""

    share: Floats
    lost_work: Floats
    restart: Floats
    preemption_cost: Floats
    cascade: Floats
    pods: Floats  # one for each that is not terminating already


class Ledger:
    """Computes the terms from the cluster as it is now; present free capacity decides about cascades."""

    def __init__(self, view: View) -> None:
        self.view = view
        nodes = view.cluster.nodes
        total = nodes.allocatable[:, nodes.order].sum(axis=1)
        counted = [r for r in range(len(nodes.resources)) if r not in (EPHEMERAL, PODS) and total[r] > 0]
        self._counted = np.array(counted, np.int64)
        self._total = total[self._counted].astype(np.float64)
        self._admitting: dict[object, Mask] = {}
        self._neighbours: dict[bytes, int] = {}
        """The cheapest neighbour of classes that differ in labels at most."""

    def columns(self, rows: Rows) -> Columns:
        share, noted = self._shares(rows), self._notes(rows)
        lost = share * self.seconds(rows) / YEAR
        restart = share * RESTART_SECONDS / YEAR
        stated = np.zeros(len(rows))
        for at, notes in noted:
            stated[at] = _number(notes.get(well_known.PREEMPTION_COST_ANNOTATION, ""))
        cascade = np.where(self._displaces(rows), share, 0.0)
        alive = (~self.view.cluster.pods.terminating[rows]).astype(np.float64)
        return Columns(share, lost * alive, restart * alive, stated * alive, cascade * alive, alive)

    def weights(self, rows: Rows, unit_of: NDArray[np.int64], groups: dict[int, int]) -> Floats:
        """The weighted sum of each unit. `unit_of`: the unit of each pod; `groups`: units that are groups."""
        weights = self.view.config.preemption.weights
        columns = self.columns(rows)
        own = (
            weights.lost_work * columns.lost_work
            + weights.restart * columns.restart
            + weights.preemption_cost * columns.preemption_cost
            + weights.cascade * columns.cascade
            + weights.pods * columns.pods
        )
        total: Floats = np.bincount(unit_of, own).astype(np.float64)
        alive = np.bincount(unit_of, columns.pods) > 0
        total[alive] += weights.units
        for unit, group in groups.items():
            if alive[unit]:
                total[unit] += weights.preemption_cost * self.group_cost(group)
        return np.maximum(total, 0.0)

    def group_cost(self, group: int) -> float:
        """The preemption cost in the annotations of the group's own object."""
        found = self.view.cluster.groups.object(group)
        return (
            _number(found.metadata.annotations.get(well_known.PREEMPTION_COST_ANNOTATION, ""))
            if found is not None
            else 0.0
        )

    def _shares(self, rows: Rows) -> Floats:
        if not len(self._counted):
            return np.zeros(len(rows))
        requests = self.view.cluster.demand(rows)
        known = self._counted < len(requests)
        parts = requests[self._counted[known]] / self._total[known][:, None]
        shares: Floats = parts.sum(axis=0) / len(self._counted)
        return shares

    def seconds(self, rows: Rows) -> Floats:
        """Seconds of work that each pod would lose: since its last checkpoint, or its start; 0 without a
        current time."""
        if self.view.now is None:
            return np.zeros(len(rows))
        cluster, now = self.view.cluster, self.view.now
        since = np.minimum(cluster.pods.start[rows], now)
        since = np.maximum(since, cluster.pods.checkpoint[rows])
        group = cluster.pods.group[rows]
        if len(cluster.groups.keys):
            since = np.maximum(since, np.where(group >= 0, cluster.groups.checkpoint[group], 0))
        seconds: Floats = np.maximum(now - since, 0) / 1_000_000
        return seconds

    def _notes(self, rows: Rows) -> Notes:
        """Positions and annotations of those pods that have any of Reprieve's annotations."""
        info, noted = self.view.cluster.pods.info, self.view.cluster.pods.noted
        if not noted:
            return []
        return [(at, info[row].annotations) for at, row in enumerate(rows.tolist()) if row in noted]

    def _displaces(self, rows: Rows) -> NDArray[np.bool_]:
        """Whether each pod would have to displace another to run again.

        Of the nodes that admit it at all (cordons, taints, selectors, node affinity) none has free capacity
        for it now, and on one that is large enough a less important pod runs.
        """
        cluster = self.view.cluster
        classes = cluster.pods.cls[rows]
        lowest = np.full(len(cluster.classes.all), _NO_NEIGHBOUR, np.int64)
        for number in np.flatnonzero(np.bincount(classes)).tolist():
            cls = cluster.classes.all[number]
            if cls.shape not in self._neighbours:
                self._neighbours[cls.shape] = self._cheapest_neighbour(cls)
            lowest[number] = self._neighbours[cls.shape]
        result: NDArray[np.bool_] = self.view.priority[rows] > lowest[classes]
        return result

    def _cheapest_neighbour(self, cls: PodClass) -> int:
        """The lowest priority on nodes large enough for the class; `_NO_NEIGHBOUR` if it fits now."""
        nodes = self.view.cluster.nodes
        fits, large = self._admitted(cls).copy(), self._admitted(cls).copy()
        for resource, number in cls.requested:
            fits &= self._free[resource] >= number
            large &= nodes.allocatable[resource, : nodes.slots] >= number
        return _NO_NEIGHBOUR if fits.any() else int(self._lowest[large].min(initial=_NO_NEIGHBOUR))

    def _admitted(self, cls: PodClass) -> Mask:
        """Nodes that admit the class; classes with the same demands on nodes share the result."""
        affinity = cls.spec.affinity
        wish = (
            tuple(sorted(cls.spec.node_selector.items())),
            msgspec.json.encode(affinity.node_affinity if affinity else None),
            cls.spec.tolerations,
        )
        if wish not in self._admitting:
            self._admitting[wish] = static_fit(self.view.cluster, cls).fine
        return self._admitting[wish]

    @cached_property
    def _free(self) -> NDArray[np.int64]:
        nodes = self.view.cluster.nodes
        return nodes.free(np.arange(nodes.slots, dtype=np.int32))

    @cached_property
    def _lowest(self) -> NDArray[np.int64]:
        """The lowest priority of a pod on each node."""
        view = self.view
        rows = np.flatnonzero(view.home >= 0)
        lowest = np.full(view.cluster.nodes.slots, _NO_NEIGHBOUR, np.int64)
        np.minimum.at(lowest, view.home[rows], view.priority[rows])
        return lowest


def _number(text: str) -> float:
    """A cost as written, within bounds that can be added up; text that is no finite number counts as 0."""
    try:
        number = float(text) if text else 0.0
    except ValueError:
        return 0.0
    return max(-HIGHEST_COST, min(number, HIGHEST_COST)) if math.isfinite(number) else 0.0


def billed(view: View, plan: Plan, optimality: str = "", ledger: Ledger | None = None) -> Plan:
    """The plan of any algorithm with every term of its cost, and budgets counted for its victims alone.

    `ledger`: one that was used before in this decision.
    """
    terms = _terms(Ledger(view) if ledger is None else ledger, plan.victims)
    victims = tuple(
        BilledVictim(**msgspec.structs.asdict(victim) | {"cost": own})
        for victim, own in zip(plan.victims, terms, strict=True)
    )
    broken = _violations(view, plan.victims)
    cost = bill(view, victims, msgspec.structs.replace(plan.cost, budget_violations=broken), optimality)
    return msgspec.structs.replace(plan, victims=victims, cost=cost)


def with_lost_hours(view: View, plan: Plan) -> Plan:
    """The plan with what its victims have worked for nothing, in hours of what they request."""
    cluster = view.cluster
    leaving = [cluster.pods.row_of[victim.pod] for victim in plan.victims if not victim.terminating]
    rows = np.array(leaving, np.int32)
    hours = Ledger(view).seconds(rows) / 3600
    lost = {}
    for index, (name, requests) in enumerate(
        zip(cluster.nodes.resources, cluster.demand(rows), strict=False)
    ):
        worked = float((requests * hours).sum()) / (1000 if index == CPU else 1)
        if (index == CPU or "/" in name) and worked > 0:
            lost[name] = round(worked, 3)
    unknown = int((cluster.pods.start[rows] == NOT_STARTED).sum()) if view.now is not None else len(rows)
    return msgspec.structs.replace(plan, lost_hours=lost, without_start=unknown)


def bill(view: View, victims: Sequence[BilledVictim], cost: Cost, optimality: str) -> Bill:
    """Add up what the victims cost."""
    weights = view.config.preemption.weights
    leaving = [victim for victim in victims if not victim.terminating]
    sums = {
        name: round(math.fsum(getattr(victim.cost, name) for victim in leaving), DIGITS)
        for name in ("lost_work", "restart", "preemption_cost", "cascade")
    }
    units = len({victim.unit for victim in leaving})
    total = weights.units * units + weights.pods * len(leaving)
    total += math.fsum(getattr(weights, name) * value for name, value in sums.items())
    return Bill(
        budget_violations=cost.budget_violations,
        highest_priority=cost.highest_priority,
        units=units,
        pods=len(leaving),
        groups=cost.groups,
        lost_work=sums["lost_work"],
        restart=sums["restart"],
        preemption_cost=sums["preemption_cost"],
        cascade=sums["cascade"],
        total=round(total, DIGITS),
        weights=msgspec.to_builtins(weights),
        optimality=optimality,
    )


def _terms(ledger: Ledger, victims: Sequence[Victim]) -> list[Terms]:
    """What each victim pod adds."""
    cluster = ledger.view.cluster
    rows = np.array([cluster.pods.row_of[victim.pod] for victim in victims], np.int32)
    columns = ledger.columns(rows)
    numbers = {name: np.round(getattr(columns, name), DIGITS).tolist() for name in Terms.__struct_fields__}
    counted: set[str] = set()
    for at, victim in enumerate(victims):
        if victim.unit in counted:
            continue
        counted.add(victim.unit)
        if not victim.unit.startswith("Pod/"):
            group = cluster.groups.number_of_unit(Reference.parse(victim.unit))
            numbers["preemption_cost"][at] += ledger.group_cost(group)
    return [Terms(**dict(zip(numbers, each, strict=True))) for each in zip(*numbers.values(), strict=True)]


def _violations(view: View, victims: Sequence[Victim]) -> int:
    """Pods that break a budget, counted from the most important unit down."""
    cluster = view.cluster
    if not cluster.budgets.all:
        return 0
    rows: dict[str, list[int]] = {}
    for victim in victims:
        rows.setdefault(victim.unit, []).append(cluster.pods.row_of[victim.pod])
    units = [single_unit(view, own[0])._replace(rows=tuple(own)) for own in rows.values()]
    leaving = [unit for unit in units if not all(cluster.pods.terminating[row] for row in unit.rows)]
    return sum(count_violations(view, leaving).values())
