"""The one door of this package: a plan for a pod or a gang."""

from reprieve.cluster import NOWHERE, Cluster
from reprieve.config import Configuration
from reprieve.objects.errors import ReprieveError
from reprieve.placement import Assignment, Cycle, diagnose, place
from reprieve.preemption import plan as outcomes
from reprieve.preemption.algorithms import select_for_gang
from reprieve.preemption.eligibility import NEVER, ONGOING, gang_is_waiting, pod_refusal
from reprieve.preemption.gangs import GangSearch, place_in_domains
from reprieve.preemption.plan import Plan
from reprieve.preemption.pods import best_choice, choices_for_pod
from reprieve.preemption.selection import Selection
from reprieve.preemption.subject import Asker, find_group, find_pod, never_preempts, parse_target, why_invalid
from reprieve.preemption.telling import node_name, plan_of
from reprieve.preemption.view import View

GATED = "Scheduling is blocked due to non-empty scheduling gates"
TOO_FEW = "waiting for minCount pods from a gang to appear in scheduling queue"
NO_VICTIMS = "No preemption victims found for incoming preemptor"


def decide(cluster: Cluster, for_: str, config: Configuration, now: int | None = None) -> Plan:
    """Where `for_` (`Pod/NS/NAME` or `PodGroup/NS/NAME`) goes and who makes way. `now` is in microseconds since 1970.

    The cluster is the same afterwards. Raises `UnknownTarget` for something that is not there.
    """
    view = View(cluster, config, now)
    kind, key = parse_target(for_)
    if kind == "PodGroup":
        if not view.groups_exist:
            raise ReprieveError(f"cannot plan for {for_}: the feature gate GenericWorkload is off")
        return _plan_group(view, for_, find_group(view, key))
    row = find_pod(cluster, key)
    group = int(cluster.pods.group[row])
    if view.groups_exist and group >= 0 and cluster.pods.node[row] == NOWHERE:
        if cluster.groups.objects[group] is None:
            name = cluster.groups.keys[group].rpartition("/")[2]
            return _refused(
                for_, outcomes.GATED, f'waiting for pods\'s pod group "{name}" to appear in scheduling queue'
            )
        return _plan_group(view, for_, find_group(view, cluster.groups.keys[group]))
    return _plan_pod(view, for_, row)


def _plan_pod(view: View, for_: str, row: int) -> Plan:
    cluster = view.cluster
    pods = cluster.pods
    if pods.node[row] != NOWHERE:
        return Plan(for_=for_, outcome=outcomes.SCHEDULED, placements={pods.keys[row]: node_name(view, row)})
    if pods.about[row].gated:
        return _refused(for_, outcomes.GATED, GATED)
    cycle = Cycle(cluster, row, view.faithful)
    slot = place(cycle, view.scoring)
    if slot is not None:
        return _scheduled(view, for_, [Assignment(row, slot, cycle)])
    diagnosis = diagnose(cycle, view.scoring)
    refusal = pod_refusal(view, row, diagnosis.code)
    if refusal:
        return _refused(for_, outcomes.UNSCHEDULABLE, f"{diagnosis.message} preemption: {refusal}")
    choices = choices_for_pod(view, cycle, diagnosis)
    if not choices:
        return _refused(for_, outcomes.UNSCHEDULABLE, diagnosis.message)
    return plan_of(view, for_, best_choice(view, choices), gang=False)


def _plan_group(view: View, for_: str, asker: Asker) -> Plan:
    cluster = view.cluster
    if any(cluster.pods.about[row].gated for row in asker.waiting):
        return _refused(for_, outcomes.GATED, GATED)
    if len(asker.waiting) + len(asker.running) < asker.gang.min_count:
        return _refused(for_, outcomes.UNSCHEDULABLE, TOO_FEW)
    invalid = why_invalid(view, asker)
    if invalid:
        return _refused(for_, outcomes.UNSCHEDULABLE, invalid)
    if not asker.waiting:
        return _scheduled(view, for_, [])
    placement = place_in_domains(view, asker.gang, asker.domains)
    if placement.feasible:
        return _scheduled(view, for_, placement.assigned)
    if never_preempts(view, asker):
        return _refused(for_, outcomes.UNSCHEDULABLE, f"{placement.status}, pod group preemption: {NEVER}")
    if gang_is_waiting(view, asker.waiting, asker.gang.priority):
        nominations = {cluster.pods.keys[row]: cluster.pods.about[row].nominated for row in asker.waiting}
        return Plan(
            for_=for_, outcome=outcomes.PREEMPTS, placements=nominations, ongoing=True, message=ONGOING
        )
    search = GangSearch(view, asker.gang, asker.domains)
    if not view.group_victims or not len(search.candidates):
        return _refused(
            for_, outcomes.UNSCHEDULABLE, f"{placement.status}, pod group preemption: {NO_VICTIMS}"
        )
    found = select_for_gang(search)
    if not isinstance(found, Selection):
        return _refused(
            for_, outcomes.UNSCHEDULABLE, f"{placement.status}, pod group preemption: {found.status}"
        )
    return plan_of(view, for_, found, gang=True)


def _scheduled(view: View, for_: str, assigned: list[Assignment]) -> Plan:
    keys, names = view.cluster.pods.keys, view.cluster.nodes.names
    return Plan(
        for_=for_,
        outcome=outcomes.SCHEDULED,
        placements={keys[each.row]: names[each.slot] for each in assigned},
        algorithm=view.config.preemption.algorithm,
    )


def _refused(for_: str, outcome: str, text: str) -> Plan:
    return Plan(for_=for_, outcome=outcome, message=text, reasons=(text,))
