"""Who may preempt, and when an earlier preemption must be waited for."""

from collections.abc import Sequence

import numpy as np

from reprieve.cluster import Rows
from reprieve.placement import EVERYWHERE, UNRESOLVABLE, Domain, nominated_slot
from reprieve.preemption.gangs import Gang, place_in_domains
from reprieve.preemption.preemptor import Preemptor
from reprieve.preemption.view import View

NEVER = "not eligible due to preemptionPolicy=Never."
TERMINATING = "not eligible due to a terminating pod on the nominated node."
ONGOING = "ongoing preemption on nominated nodes"


def pod_refusal(view: View, row: int, codes: Rows) -> str:
    """Why a pod may not preempt now; empty when it may.

    1. Its policy is Never.
    2. On the node it was promised a less important pod is on its way out for it. Unless that node can no longer help (KEP-5710:
       unless the pod would still not fit there afterwards).
    """
    if view.cluster.pods.info[row].never_preempts:
        return NEVER
    slot = nominated_slot(view.cluster, row)
    if slot is None or codes[slot] == UNRESOLVABLE:
        return ""
    own = int(view.cluster.pods.priority[row])
    waits = making_way(view, slot, own) and (
        view.faithful or _waiting_helps(view, Gang((row,), own, 1, 0), EVERYWHERE)
    )
    return TERMINATING if waits else ""


def must_wait(view: View, asker: Preemptor) -> bool:
    """Whether less important pods are on their way out on a node that one of the gang's pods was promised.

    KEP-5710 adds: once they are gone there must be room. When there will not be, the gang starts from scratch.
    """
    slots = {slot for row in asker.waiting if (slot := nominated_slot(view.cluster, row)) is not None}
    if not any(making_way(view, slot, asker.gang.priority) for slot in slots):
        return False
    return view.faithful or _waiting_helps(view, asker.gang, asker.domains)


def _waiting_helps(view: View, gang: Gang, domains: Sequence[Domain]) -> bool:
    """Whether there is room for the preemptor, where it was promised or elsewhere, once whoever is on the way out is gone."""
    cluster = view.cluster
    leaving = np.flatnonzero(cluster.pods.preempted[: cluster.pods.rows] & (view.home >= 0)).astype(np.int32)
    mark = cluster.checkpoint()
    cluster.detach_all(leaving)
    placement = place_in_domains(view, gang, domains)
    cluster.rollback(mark)
    return placement.feasible


def making_way(view: View, slot: int, below: int) -> bool:
    """Whether a pod of lower importance on the node is terminating because it was preempted."""
    preempted, priority = view.cluster.pods.preempted, view.priority
    return any(preempted[row] and priority[row] < below for row in view.cluster.residents[slot])
