"""The sentences of a plan, made of the numbers that the decision was made of. Nothing is decided here."""

from collections import Counter
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from reprieve.cluster import LOST, Cluster, Mask, Rows, add_all
from reprieve.objects import Reference
from reprieve.placement import (
    UNSCHEDULABLE,
    Diagnosis,
    GangPlacement,
    PodFilters,
    TreeGroup,
    diagnose,
    filter_texts,
    named,
    static_fit,
)
from reprieve.preemption import sentences
from reprieve.preemption.devices import held_by
from reprieve.preemption.gangs import Gang, GangSearch
from reprieve.preemption.plan import BudgetUse, Reprieved
from reprieve.preemption.reprieve import slack_next_to
from reprieve.preemption.units import COMPOSITE, Candidates, LazyUnits, Selection, VictimUnit, rows_of
from reprieve.preemption.view import View
from reprieve.preemption.volume_reasons import held_by_victim


def unit_name(view: View, unit: VictimUnit) -> str:
    if unit.group >= 0:
        kind = "CompositePodGroup" if unit.rank == COMPOSITE else "PodGroup"
        return f"{kind}/{view.cluster.groups.keys[unit.group]}"
    return f"Pod/{view.cluster.pods.keys[unit.rows[0]]}"


def node_name(view: View, row: int) -> str:
    """The node of a pod; for an unknown node, the name in the pod's spec."""
    slot = int(view.home[row])
    return view.cluster.pods.info[row].node_name if slot == LOST else view.cluster.nodes.names[slot]


MOST_LISTED = 50
"""How many reprieved units a plan lists by name."""


class Leftovers:
    """What is left on the preemptor's nodes once the victims are gone and its pods are there."""

    def __init__(self, view: View, selection: Selection) -> None:
        cluster = view.cluster
        self._view = view
        self._by_importance = view.config.preemption.algorithm != "minimal-cost"
        taken = [pod.devices for pod in selection.assigned if pod.devices]
        self._devices = {
            device
            for requests in named({key: each for own in taken for key, each in own.items()}).values()
            for listed in requests.values()
            for device in listed
        }
        """What the preemptor's claims get."""
        self._assigned = [each for each in selection.assigned if each.filters.volumes is not None]
        self.pods: dict[int, list[int]] = {}
        for each in selection.assigned:
            self.pods.setdefault(each.slot, []).append(each.row)
        self._slots, self._slack = slack_next_to(cluster, selection.assigned)
        """Nodes with a pod of the preemptor, and what is left there of each resource that it requests."""
        victims = rows_of(selection.victims)
        column, here = self._columns(view.home[victims])
        add_all(self._slack, column[here], cluster.classes.requests, cluster.pods.cls[victims[here]])

    def _columns(self, slots: Rows) -> tuple[Rows, Mask]:
        """Which column of the slack belongs to each of these slots, and whether one does."""
        column = np.minimum(np.searchsorted(self._slots, slots), len(self._slots) - 1).astype(np.int32)
        here: Mask = self._slots[column] == slots
        return column, here

    @cached_property
    def slack(self) -> dict[int, list[int]]:
        """The same by node."""
        return dict(zip(self._slots.tolist(), self._slack.T.tolist(), strict=True))

    def reasons(self, rows: Rows, breaks: Sequence[int]) -> list[str]:
        """Why each of these single pods is evicted."""
        homes, demand = self._view.home[rows], self._view.cluster.demand(rows)
        column, here = self._columns(homes)
        short = np.where((demand > 0) & here, demand - self._slack[:, column], 0)
        first = (short > 0).argmax(axis=0)
        amount = short[first, np.arange(len(rows))]
        known: dict[tuple[int, int, int, int], str] = {}
        last_to_go = self._by_importance
        reasons = []
        keys = zip(*(each.tolist() for each in (homes, first, amount)), breaks, strict=True)
        for row, key in zip(rows.tolist(), keys, strict=True):
            found = known.get(key)
            if found is None:
                slot, index, number, beyond = key
                cause = self._short(slot, index, number) if number > 0 else self._refused((row,))
                found = sentences.evicted(cause, 1, beyond, last_to_go)
                if number > 0:  # equal pods of a node share their sentence
                    known[key] = found
            reasons.append(found)
        return reasons

    def reason(self, rows: Sequence[int], breaks: int) -> str:
        """Why the unit of these pods is evicted."""
        shortage = self._shortage(rows)
        cause = self._refused(rows) if shortage is None else self._short(*shortage)
        return sentences.evicted(cause, len(rows), breaks, self._by_importance)

    def _shortage(self, rows: Sequence[int]) -> tuple[int, int, int] | None:
        """(slot, resource, amount): the first shortage if the unit of these pods stayed."""
        cluster = self._view.cluster
        wanted: dict[tuple[int, int], int] = {}
        for row in rows:
            slot = int(self._view.home[row])
            if slot in self.slack:
                for index, number in cluster.class_of(row).requested:
                    wanted[slot, index] = wanted.get((slot, index), 0) + number
        for (slot, index), number in wanted.items():
            if number > self.slack[slot][index]:
                return slot, index, number - self.slack[slot][index]
        return None

    def _short(self, slot: int, index: int, short: int) -> str:
        nodes, keys = self._view.cluster.nodes, self._view.cluster.pods.keys
        guests = self.pods[slot]
        return sentences.node_would_be_short(
            nodes.names[slot], nodes.resources[index], short, keys[guests[0]], len(guests) - 1
        )

    def _refused(self, rows: Sequence[int]) -> str:
        if self._devices and (text := self._holds(rows)):
            return text
        held = held_by_victim(self._view, self._assigned, rows) if self._assigned else ""
        if held:
            return held
        slots = [slot for slot in dict.fromkeys(self._view.home[list(rows)].tolist()) if slot in self.pods]
        return sentences.filters_would_refuse(self._view.cluster.nodes.names[slots[0]] if slots else "")

    def _holds(self, rows: Sequence[int]) -> str:
        """Which devices these pods hold that the preemptor gets, or draws on."""
        held = held_by(self._view, rows)
        taken = [each for each in held if each in self._devices]
        if taken:
            return sentences.holds_devices(taken)
        pools = {each.rpartition("/")[0] for each in self._devices}
        drawn = [each for each in held if each.rpartition("/")[0] in pools]
        return sentences.holds_devices_of_the_pool(drawn) if drawn else ""


def reprieved_units(view: View, selection: Selection) -> tuple[Reprieved, ...]:
    """Units on the preemptor's nodes that could have been evicted, and why they stay."""
    names = view.cluster.nodes.names
    slots = {each.slot for each in selection.assigned}
    if isinstance(selection.reprieved, LazyUnits):
        return _reprieved_pods(view, selection, selection.reprieved.rows, slots)
    listed = []
    for unit in selection.reprieved:
        here = [s for s in dict.fromkeys(int(view.home[row]) for row in unit.rows) if s in slots]
        if not here:
            continue
        breaks = unit.rows[0] in selection.violations
        reason = sentences.reprieved(names[here[0]], breaks_budget=breaks)
        nodes = tuple(dict.fromkeys(node_name(view, row) for row in unit.rows))
        listed.append(
            Reprieved(unit=unit_name(view, unit), nodes=nodes, priority=unit.priority, reason=reason)
        )
        if len(listed) == MOST_LISTED:
            break
    return tuple(listed)


def _reprieved_pods(view: View, selection: Selection, rows: Rows, slots: set[int]) -> tuple[Reprieved, ...]:
    """The same for single pods, read from the columns."""
    keys, names = view.cluster.pods.keys, view.cluster.nodes.names
    hot = np.zeros(view.cluster.nodes.slots + 2, dtype=np.bool_)  # the last ones: nowhere, and lost
    hot[list(slots)] = True
    near = rows[hot[view.home[rows]]][:MOST_LISTED]
    columns = near, view.home[near], view.priority[near]
    return tuple(
        Reprieved(
            unit=f"Pod/{keys[row]}",
            nodes=(names[slot],),
            priority=priority,
            reason=sentences.reprieved(names[slot], breaks_budget=row in selection.violations),
        )
        for row, slot, priority in zip(*(column.tolist() for column in columns), strict=True)
    )


def budget_uses(view: View, selection: Selection) -> tuple[BudgetUse, ...]:
    """How the plan uses each budget that covers a victim or a reprieved unit."""
    cluster = view.cluster
    if not cluster.budgets.all:
        return ()
    victims = _under_budgets(cluster, rows_of(selection.victims))
    spared = _under_budgets(cluster, rows_of(selection.reprieved))
    uses = []
    for number, budget in enumerate(cluster.budgets.all):
        taken, kept = victims[number], spared[number]
        if not taken and not kept:
            continue
        allowed = budget.status.disruptions_allowed
        text = sentences.budget_use(budget.key, allowed, taken, kept)
        uses.append(BudgetUse(budget=budget.key, allowed=allowed, victims=taken, sentence=text))
    return tuple(uses)


def _under_budgets(cluster: Cluster, rows: Rows) -> Counter[int]:
    """How many of these pods each budget covers, by its number."""
    found: Counter[int] = Counter()
    for number, pods in enumerate(np.bincount(cluster.pods.cls[rows]).tolist()):
        if pods:
            for budget in cluster.budgets.covering(cluster.classes.all[number]):
                found[budget] += pods
    return found


def answer(view: View, for_: Reference, selection: Selection) -> list[str]:
    """The first sentences of a plan that preempts."""
    units, pods = len(selection.victims), selection.pods
    nodes = set(view.home[rows_of(selection.victims)].tolist())
    if not units:
        return [sentences.fits_without_evictions(str(for_))]
    return [
        sentences.fits_once_others_made_way(str(for_), units, pods, len(nodes)),
        sentences.nobody_above_is_touched(selection.highest),
    ]


def missing(view: View, search: GangSearch) -> list[str]:
    """What a gang lacks even with every lower unit gone, in numbers."""
    cluster = view.cluster
    with search.placed_without(search.everyone()) as placement:
        placed, gang = len(placement.assigned), search.gang
        if gang.tree is not None:
            return [*_lacking_in_tree(search, placement), *_totals(view, gang.rows)]
        lower, pods = len(search.candidates), len(gang.rows)
        short = max(gang.min_count - gang.running - placed, 1)
        lines = [sentences.gang_lacks_nodes(lower, placed, pods, short, gang.min_count)]
        lines += _totals(view, gang.rows)
    lines += [sentences.first_pod_without_a_node(cluster.pods.keys[row]) for row in placement.failed[:1]]
    return lines


def _lacking_in_tree(search: GangSearch, placement: GangPlacement) -> list[str]:
    found = len(placement.phantoms) + len(placement.assigned)
    return [sentences.tree_lacks_nodes(len(search.candidates), found, len(search.gang.rows))]


def short_of_pods(group: TreeGroup) -> str:
    """What a group of a tree lacks before anybody tries to place it."""
    if group.children is None:
        known = len(group.rows) + group.counted
        return sentences.has_too_few_pods(group.name, known, max(1, group.minimum))
    return sentences.has_too_few_ready_groups(group.name, len(group.children), group.minimum)


def short_of(gang: Gang, placement: GangPlacement) -> str:
    """Why a gang does not start as things are."""
    if gang.tree is not None:
        return sentences.without_preemption_in_tree(placement.status)
    placed, pods = len(placement.assigned), len(gang.rows)
    return sentences.short_without_preemption(placed, pods, gang.running, gang.min_count)


def why_unhelped(view: View, row: int, diagnosis: Diagnosis) -> str:
    """kube-scheduler's message for a pod that no eviction helps: what is missing with all lower pods gone."""
    cluster = view.cluster
    candidates = Candidates(view, int(cluster.pods.priority[row]))
    tried = diagnosis.code == UNSCHEDULABLE
    lower = np.zeros(cluster.nodes.slots + 2, dtype=np.bool_)
    lower[candidates.home] = True
    lower = lower[: cluster.nodes.slots]
    before = PodFilters(cluster, row, view.faithful).volumes
    mark = cluster.checkpoint()
    cluster.detach_all(candidates.rows)
    filters = PodFilters(cluster, row, view.faithful)
    cluster.rollback(mark)
    if before is not None and filters.volumes is not None:
        filters.volumes.emptied(before, candidates.rows)
    mark = cluster.checkpoint()
    cluster.detach_all(candidates.rows)
    still = diagnose(filters, view.scoring, tried & lower)
    cluster.rollback(mark)
    counts = still.counts
    counts[sentences.NO_VICTIMS_FOR_POD] = int((tried & ~lower).sum())
    counts[sentences.NOT_HELPFUL] = diagnosis.nodes - int(tried.sum())
    return filter_texts.every_node_objects(diagnosis.nodes, counts)


def _totals(view: View, rows: Sequence[int]) -> list[str]:
    """For each resource that is short: what the pods request, and what is free where they may go."""
    cluster = view.cluster
    nodes = cluster.nodes
    admitting = nodes.known & False
    for cls in {int(cluster.pods.cls[row]) for row in rows}:
        admitting |= static_fit(cluster, cluster.classes[cls]).fine
    if not admitting.any():
        return [sentences.NO_NODE_ADMITS_ITS_PODS]
    lines = []
    free = nodes.free()
    for index, name in enumerate(nodes.resources):
        wanted = sum(int(cluster.classes.requests[index, cluster.pods.cls[row]]) for row in rows)
        left = int(free[index][admitting].clip(min=0).sum())
        if wanted > left:
            takers = int(admitting.sum())
            lines.append(sentences.asks_for_more_than_can_be_free(name, wanted, left, takers))
    return lines
