"""Who may preempt, and when an earlier preemption must be waited for."""

from collections.abc import Iterable

from reprieve.cluster.columns import Rows
from reprieve.placement import UNRESOLVABLE
from reprieve.placement.single import promised_slot
from reprieve.preemption.view import View

NEVER = "not eligible due to preemptionPolicy=Never."
TERMINATING = "not eligible due to a terminating pod on the nominated node."
ONGOING = "ongoing preemption on nominated nodes"


def pod_refusal(view: View, row: int, codes: Rows) -> str:
    """Why a pod may not preempt now; empty when it may.

    1. Its policy is Never.
    2. On the node it was promised a less important pod is on its way out for it. Unless that node can no longer help.
    """
    if view.cluster.pods.about[row].never_preempts:
        return NEVER
    slot = promised_slot(view.cluster, row)
    if slot is None or codes[slot] == UNRESOLVABLE:
        return ""
    own = int(view.cluster.pods.priority[row])
    return TERMINATING if making_way(view, slot, own) else ""


def gang_is_waiting(view: View, rows: Iterable[int], priority: int) -> bool:
    """Whether less important pods are on their way out on a node that one of the gang's pods was promised."""
    slots = {promised_slot(view.cluster, row) for row in rows} - {None}
    return any(making_way(view, slot, priority) for slot in slots if slot is not None)


def making_way(view: View, slot: int, below: int) -> bool:
    """Whether a pod of lower importance on the node is terminating because it was preempted."""
    preempted, priority = view.cluster.pods.preempted, view.priority
    return any(preempted[row] and priority[row] < below for row in view.cluster.residents[slot])
