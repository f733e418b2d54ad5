"""What would help, what that brings, and in numbers what stands in the way."""

from collections.abc import Iterable, Mapping, Sequence

from reprieve.explain.sentences.pieces import listed
from reprieve.objects import nearest, some

_NAMED = 3

# --- nothing has to be changed ------------------------------------------------------------------------------

QUOTA_IS_FREE = "Its quota is free now; the next cycle gives it."
ADMITTED_NEXT = "Only time: it has its quota, and the quota controller admits it next."
VICTIMS_ARE_LEAVING = (
    "Only time: it is nominated to its nodes and starts when those pods have ended; "
    "a finalizer or a long grace period can delay them."
)


def fits_now(nodes: Sequence[str]) -> str:
    return f"It fits now{f' (on {some(nodes, _NAMED)})' if nodes else ''}; the next cycle places it."


def preemption_would_help(victims: Sequence[str]) -> str:
    return f"A preemption would make room: {some(victims, _NAMED)} would make way."


def why_victim(pod: str, reason: str) -> str:
    return f"{pod}: {reason}."


# --- quota comes first --------------------------------------------------------------------------------------

QUOTA_FIRST = "Quota: it is not tried on any node, and preempts nobody, before its Workload is admitted."


def workload_is_admitted(workload: str) -> str:
    return f"Workload {workload} is admitted: the quota controller releases its pods."


def waits_for_workload(workload: str) -> str:
    return f"It waits for Workload {workload}; what would help that:"


# --- nothing can be advised ---------------------------------------------------------------------------------

BLIND = (
    "What would help cannot be said from what you may see: what looks free may be taken. "
    "Ask somebody who may list pods and nodes of the whole cluster."
)
HOPELESS = "No change that Reprieve can try on a copy of the cluster would help."


def no_plan(error: str) -> str:
    return f"No plan can be made from what is visible: {error}"


# --- remedies: changes (`changes`) and what they bring ------------------------------------------------------

IS_ADMITTED = "it is admitted"


def remedy(changes: Sequence[str], result: str) -> str:
    if len(changes) == 1:
        return f"{changes[0][:1].upper()}{changes[0][1:]}: then {result}."
    return f"All of this together: {'; '.join(changes)}. Then {result}."


def it_fits(nodes: Sequence[str], victims: Sequence[str]) -> str:
    return f"it fits{_where(nodes)}{_who_makes_way(victims)}"


def its_pods_fit(nodes: Sequence[str], victims: Sequence[str]) -> str:
    return f"its pods fit{_where(nodes)}{_who_makes_way(victims)}"


def gets_quota(victims: Sequence[str]) -> str:
    return f"it gets its quota{_who_makes_way(victims)}"


def _where(nodes: Sequence[str]) -> str:
    return f" on {some(nodes, _NAMED)}" if nodes else ""


def _who_makes_way(victims: Sequence[str]) -> str:
    return f", and {some(victims, _NAMED)} would make way" if victims else ""


# --- what stands in the way on nodes ------------------------------------------------------------------------


def no_node_has_label(key: str, value: str) -> str:
    return f"No node has the label {key}={value}, for which spec.nodeSelector asks."


def only_others_have(wanted: str, resource: str, nodes: Sequence[str]) -> str:
    verb = "has" if len(nodes) == 1 else "have"
    return f"{_nobody_has(wanted, resource)}; {some(nodes, _NAMED)} {verb}, and would not take it."


def no_node_has(wanted: str, resource: str, offered: Iterable[str]) -> str:
    """`offered`: what nodes do have, in case another name was meant."""
    return f"{_nobody_has(wanted, resource)}{nearest(resource, offered) or '.'}"


def no_node_is_large_enough(wanted: str, resource: str, most: str, node: str) -> str:
    asked = f"It asks for {wanted} {resource}"
    return f"{asked}, and no node that would take it has more than {most} ({node})."


def no_node_is_free_enough(wanted: str, resource: str, most: str, node: str) -> str:
    return f"It needs {wanted} {resource} free on one node; the most there is now is {most} ({node})."


def _nobody_has(wanted: str, resource: str) -> str:
    return f"It asks for {wanted} {resource}, and no node that would take it has any"


# --- what stands in the way of quota ------------------------------------------------------------------------

DEACTIVATED = "it is deactivated (spec.active: false)"


def never_enough_quota(
    pod_set: str, resource: str, asked: str, before: str, queue: str, most: Mapping[str, str]
) -> str:
    """`before`: what the pod sets before it ask for, empty for none; `most`: by flavor."""
    others = f", and those before it for {before}" if before else ""
    amounts = [f"{amount} in flavor {flavor}" for flavor, amount in most.items()]
    return (
        f"Pod set {pod_set} asks for {asked} {resource}{others}; ClusterQueue {queue} can never have more "
        f"than {listed(amounts)}, with all that it may borrow: to wait is in vain."
    )


def quota_held_by(holders: Sequence[tuple[int, str]]) -> str:
    """By workloads, each after its priority."""
    names = some([f"{workload} (priority {priority})" for priority, workload in holders], 5)
    return f"The quota that it lacks is held by {names}."


def no_such_workload(workload: str) -> str:
    return f"there is no Workload {workload}"
