"""The entry point of this package: a plan for a pod or a gang."""

import functools
from collections.abc import Callable, Sequence

import msgspec

from reprieve.cluster import NOWHERE, Cluster
from reprieve.config import Configuration
from reprieve.objects import PlanOutcome, Reference, ReprieveError, outcomes, split_key
from reprieve.placement import (
    EVERYWHERE,
    AllocationError,
    Assignment,
    Diagnosis,
    Domain,
    GangPlacement,
    PodFilters,
    diagnose,
    has_devices,
    place,
)
from reprieve.preemption import sentences
from reprieve.preemption.algorithms import select_for_gang
from reprieve.preemption.alternatives import for_gang, for_pod
from reprieve.preemption.devices import come_free_soon
from reprieve.preemption.domain_notes import domain_sentences
from reprieve.preemption.gangs import Gang, GangSearch, place_in_domains
from reprieve.preemption.minimal.decide import decide as minimal_plan
from reprieve.preemption.most_free import at_most
from reprieve.preemption.one_by_one import select_one_by_one
from reprieve.preemption.plan import Alternative, Plan
from reprieve.preemption.pods import MOST_SHOWN, best_choice, choices_for_pod
from reprieve.preemption.preemptor import (
    Preemptor,
    find_composite,
    find_group,
    find_pod,
    group_number,
    must_wait,
    never_preempts,
    pod_refusal,
    whole_tree,
    why_invalid,
)
from reprieve.preemption.reasons import missing, node_name, short_of, short_of_pods, why_unhelped
from reprieve.preemption.rendering import claim_uses, device_uses, plan_of
from reprieve.preemption.trees import is_ready, missing_parent, root_of, unready
from reprieve.preemption.units import Selection
from reprieve.preemption.view import View
from reprieve.preemption.volume_reasons import no_eviction_helps


def decide(
    cluster: Cluster,
    for_: Reference,
    config: Configuration,
    now: int | None = None,
    *,
    alternatives: bool = False,
    expired: Callable[[], bool] | None = None,
    explain: bool = True,
) -> Plan:
    """Where `for_` (a Pod, a PodGroup or a CompositePodGroup) goes and which pods are evicted for it.

    A group in a tree, or a pod in one, is planned for with the whole tree.

    `now` is in microseconds since 1970. With `alternatives` the plan also lists alternatives and their cost;
    each of them is a decision of its own. `expired` ends a search that has used up the caller's time. Without
    `explain` a refusal need not say why: for callers that nobody reads. The cluster is the same afterwards.
    Raises `UnknownTarget` for a target that does not exist.
    """
    view = View(cluster, config, now, expired, explain=explain)
    before, mark = cluster.let_groups_rule(view.groups_rule), cluster.checkpoint()
    try:
        return _decide(view, for_, alternatives)
    except AllocationError as error:
        cluster.rollback(mark)
        return _refused(view, for_, outcomes.UNSCHEDULABLE, sentences.device_filter_failed(str(error)))
    finally:
        cluster.let_groups_rule(before)


def _decide(view: View, for_: Reference, alternatives: bool) -> Plan:
    cluster = view.cluster
    if for_.kind in ("PodGroup", "CompositePodGroup"):
        if not view.groups_exist:
            raise ReprieveError(sentences.gate_is_off(str(for_), "GenericWorkload"))
        if for_.kind == "CompositePodGroup":
            if not view.config.gate("CompositePodGroup"):
                raise ReprieveError(sentences.gate_is_off(str(for_), "CompositePodGroup"))
            return _plan_in_tree(view, for_, find_composite(view, for_.key), alternatives)
        return _plan_in_tree(view, for_, group_number(cluster, for_.key), alternatives)
    row = find_pod(cluster, for_.key)
    group = int(cluster.pods.group[row])
    if view.groups_exist and group >= 0 and cluster.pods.node[row] == NOWHERE:
        if cluster.groups.objects[group] is None:
            name = split_key(cluster.groups.keys[group])[1]
            return _refused(view, for_, outcomes.GATED, sentences.group_is_missing(name))
        return _plan_in_tree(view, for_, group, alternatives)
    return _plan_pod(view, for_, row, alternatives)


def _plan_in_tree(view: View, for_: Reference, number: int, alternatives: bool) -> Plan:
    """A plan for a group with the whole tree that it is in, or on its own."""
    groups = view.cluster.groups
    if not view.config.gate("CompositePodGroup") or not (
        number in groups.trees.objects or groups.trees.parent(number)
    ):
        return _plan_group(view, for_, find_group(view, groups.keys[number]), alternatives)
    root = root_of(view, number)
    if root is None:
        missing = missing_parent(view, number)
        text = sentences.tree_is_incomplete(str(for_), str(missing))
        return _refused(view, for_, outcomes.GATED, sentences.parent_is_missing(missing.key), text)
    return _plan_group(view, for_, whole_tree(view, root), alternatives)


def _plan_pod(view: View, for_: Reference, row: int, alternatives: bool) -> Plan:
    cluster = view.cluster
    if cluster.pods.node[row] != NOWHERE:
        where = {cluster.pods.keys[row]: node_name(view, row)}
        return _scheduled(view, for_, where, sentences.pod_is_on_a_node(str(for_)))
    if cluster.pods.info[row].gated:
        return _refused(view, for_, outcomes.GATED, sentences.GATED)
    filters = PodFilters(cluster, row, view.faithful)
    slot = place(filters, view.scoring)
    if slot is not None:
        where = {cluster.pods.keys[row]: cluster.nodes.names[slot]}
        text = sentences.pod_fits(str(for_), cluster.nodes.names[slot])
        devices = filters.devices.allocations(slot) if filters.devices is not None else {}
        return _scheduled(view, for_, where, text, [Assignment(row, slot, filters, devices)])
    if not view.explains and _is_hopeless_pod(view, filters, row):
        return _refused(view, for_, outcomes.UNSCHEDULABLE, sentences.NO_VICTIMS)
    if filters.devices is not None and filters.devices.early:
        text = sentences.devices_refused(str(filters.devices.refusal))
        return _refused(view, for_, outcomes.UNSCHEDULABLE, text)
    diagnosis = diagnose(filters, view.scoring)
    if diagnosis.error:
        return _refused(view, for_, outcomes.UNSCHEDULABLE, diagnosis.error)
    if diagnosis.over_claims:
        text = sentences.preemption_not_reached(diagnosis.message)
        return _refused(view, for_, outcomes.UNSCHEDULABLE, text, *no_eviction_helps(diagnosis))
    if filters.devices is not None and come_free_soon(
        view, (row,), lambda: place(filters, view.scoring) is not None
    ):
        return _refused(view, for_, outcomes.UNSCHEDULABLE, diagnosis.message, sentences.DEVICES_COME_FREE)
    refusal = pod_refusal(view, row, diagnosis.code)
    if refusal:
        text = sentences.preemption_refused(diagnosis.message, refusal)
        return _refused(view, for_, outcomes.UNSCHEDULABLE, text)
    most = MOST_SHOWN if alternatives else 1
    hopeless = view.explains and _is_hopeless_pod(view, filters, row)
    choices = [] if hopeless else choices_for_pod(view, filters, diagnosis, most)
    chosen = best_choice(view, choices) if choices else None
    if view.config.preemption.algorithm == "minimal-cost":
        gang = Gang((row,), int(cluster.pods.priority[row]), 1, 0)
        cheapest = _minimal_cost(view, for_, gang, lambda _ceiling: chosen, EVERYWHERE, whole=False)
        if cheapest is not None:
            return cheapest
        chosen = None  # it needs a leader evicted, and a member of its group is within its minimum run time
    if chosen is None:
        text = diagnosis.message
        if diagnosis.nodes:
            text = sentences.preemption_refused(text, _why_unhelped(view, row, diagnosis))
        return _refused(view, for_, outcomes.UNSCHEDULABLE, text, *no_eviction_helps(diagnosis))
    plan = plan_of(view, for_, chosen, gang=False, without=diagnosis.message)
    return _with(plan, for_pod(view, choices, chosen)) if alternatives else plan


def _is_hopeless_pod(view: View, filters: PodFilters, row: int) -> bool:
    """Whether the pod finds no place even with everybody gone who is less important."""
    return filters.plain and at_most(view, (filters.cls,), view.cluster.pods.priority.item(row)) == 0


def _why_unhelped(view: View, row: int, diagnosis: Diagnosis) -> str:
    mark = view.cluster.checkpoint()
    try:
        return why_unhelped(view, row, diagnosis)
    except AllocationError as error:  # in what-ifs only: the attempt itself was a refusal
        view.cluster.rollback(mark)
        return sentences.device_filter_failed(str(error))


def _plan_group(view: View, for_: Reference, preemptor: Preemptor, alternatives: bool) -> Plan:
    cluster = view.cluster
    if any(cluster.pods.info[row].gated for row in preemptor.waiting):
        return _refused(view, for_, outcomes.GATED, sentences.GATED)
    if lacking := _lacks_pods(for_, preemptor):
        return _refused(view, for_, outcomes.UNSCHEDULABLE, *lacking)
    invalid = why_invalid(view, preemptor)
    if invalid:
        return _refused(view, for_, outcomes.UNSCHEDULABLE, invalid)
    if not preemptor.waiting:
        text = sentences.group_is_on_nodes(str(for_), len(preemptor.running))
        return _scheduled(view, for_, {}, text)
    if not view.explains and _is_hopeless(view, preemptor):
        return _refused(view, for_, outcomes.UNSCHEDULABLE, sentences.NO_VICTIMS)
    placement = place_in_domains(view, preemptor.gang, preemptor.domains)
    if placement.feasible:
        where = {cluster.pods.keys[each.row]: cluster.nodes.names[each.slot] for each in placement.assigned}
        text = sentences.group_fits(str(for_), len(where), len(preemptor.waiting))
        return _scheduled(view, for_, where, text, placement.assigned)
    plan = _preempt_for_group(view, for_, preemptor, placement, alternatives)
    if not alternatives or plan.ongoing or placement.broken:
        return plan
    return msgspec.structs.replace(plan, reasons=(*plan.reasons, *domain_sentences(view, preemptor, plan)))


def _is_hopeless(view: View, preemptor: Preemptor) -> bool:
    """Whether the gang finds no place even with everybody gone who is less important.

    One that is nominated may wait for victims on their way out, whatever else has changed.
    """
    gang, pods = preemptor.gang, view.cluster.pods
    if gang.tree is not None or any(pods.info[row].nominated_node for row in gang.rows):
        return False
    classes = {pods.cls.item(row) for row in gang.rows}
    most = at_most(view, [view.cluster.classes[each] for each in classes], gang.priority)
    return most is not None and most + gang.running < gang.min_count


def _lacks_pods(for_: Reference, preemptor: Preemptor) -> tuple[str, ...]:
    """Why a group is not even tried yet; empty when enough pods exist."""
    gang = preemptor.gang
    if gang.tree is not None:
        if is_ready(gang.tree):
            return ()
        name = preemptor.group.name
        return sentences.below_quorum(name), *map(short_of_pods, unready(gang.tree))
    known, wanted = len(preemptor.waiting) + gang.running, max(1, gang.min_count)
    if known >= wanted:
        return ()
    return sentences.TOO_FEW_PODS, sentences.has_too_few_pods(str(for_), known, wanted)


def _preempt_for_group(
    view: View, for_: Reference, preemptor: Preemptor, placement: GangPlacement, alternatives: bool
) -> Plan:
    status = placement.status
    if placement.broken:
        return _refused(view, for_, outcomes.UNSCHEDULABLE, status)
    refused = functools.partial(sentences.group_preemption_refused, status)
    if never_preempts(view, preemptor):
        return _refused(view, for_, outcomes.UNSCHEDULABLE, refused(sentences.NEVER_PREEMPTS))
    if must_wait(view, preemptor):
        pods = view.cluster.pods
        nominations = {pods.keys[row]: pods.info[row].nominated_node for row in preemptor.waiting}
        return Plan(
            for_=str(for_),
            outcome=outcomes.PREEMPTS,
            placements=nominations,
            ongoing=True,
            message=sentences.ONGOING,
            reasons=(sentences.STILL_LEAVING,),
            algorithm=view.config.preemption.algorithm,
        )
    if not view.group_victims:
        older = select_one_by_one(view, preemptor.gang, preemptor.domains)
        if older is None:
            return _refused(view, for_, outcomes.UNSCHEDULABLE, refused(sentences.NO_VICTIMS))
        return plan_of(view, for_, older, gang=True, without=status, short="")
    if has_devices(view.cluster, preemptor.gang.rows) and come_free_soon(
        view,
        preemptor.gang.rows,
        lambda: place_in_domains(view, preemptor.gang, preemptor.domains).feasible,
    ):
        return _refused(view, for_, outcomes.UNSCHEDULABLE, status, sentences.DEVICES_COME_FREE)
    search = GangSearch(view, preemptor.gang, preemptor.domains)
    if not len(search.candidates):
        text = refused(sentences.NO_VICTIMS)
        return _refused(view, for_, outcomes.UNSCHEDULABLE, text, *missing(view, search))
    find = functools.cache(functools.partial(select_for_gang, search))
    if view.config.preemption.algorithm == "minimal-cost":
        cheapest = _minimal_cost(view, for_, preemptor.gang, find, preemptor.domains, whole=True)
        if cheapest is not None:
            return cheapest
        if isinstance(find(None), Selection):
            text, led = refused(sentences.NO_VICTIMS), sentences.ROOM_ONLY_WHERE_A_LEADER_RUNS
            return _refused(view, for_, outcomes.UNSCHEDULABLE, text, led)
    found = find(None)
    if isinstance(found, GangPlacement):
        text = refused(found.status)
        return _refused(view, for_, outcomes.UNSCHEDULABLE, text, *missing(view, search))
    short = short_of(preemptor.gang, placement)
    plan = plan_of(view, for_, found, gang=True, without=status, short=short)
    return _with(plan, for_gang(view, preemptor, found)) if alternatives else plan


def _minimal_cost(
    view: View,
    for_: Reference,
    gang: Gang,
    find: Callable[[int | None], Selection | GangPlacement | None],
    domains: Sequence[Domain],
    *,
    whole: bool,
) -> Plan | None:
    """`find` returns the choice of `kep-5710`, given a ceiling; it is called only where that is needed."""

    def start(ceiling: int | None) -> Selection | None:
        found = find(ceiling)
        return found if isinstance(found, Selection) and not found.cut_short else None

    inside = [each.nodes for each in domains]
    return minimal_plan(view, for_, gang, start, whole=whole, domains=inside, expired=view.expired)


def _with(plan: Plan, others: tuple[Alternative, ...]) -> Plan:
    return msgspec.structs.replace(plan, alternatives=others)


def _scheduled(
    view: View, for_: Reference, where: dict[str, str], text: str, assigned: Sequence[Assignment] = ()
) -> Plan:
    return Plan(
        for_=str(for_),
        outcome=outcomes.SCHEDULED,
        placements=where,
        volumes=claim_uses(view, assigned),
        devices=device_uses(assigned),
        reasons=(text,),
        algorithm=view.config.preemption.algorithm,
    )


def _refused(view: View, for_: Reference, outcome: PlanOutcome, text: str, *more: str) -> Plan:
    algorithm = view.config.preemption.algorithm
    return Plan(for_=str(for_), outcome=outcome, message=text, reasons=(text, *more), algorithm=algorithm)
