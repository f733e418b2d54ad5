"""The cluster in memory: columns for nodes and pods, tables for groups, budgets and priorities, and a cheap undo.

    cluster = Cluster()
    for obj in objects:                      # typed views, from `reprieve.objects.decode`, in any order
        cluster.set(obj)                     # add or update: Node, Pod, PodGroup, PodDisruptionBudget, PriorityClass, Namespace
    cluster.remove(Pod, "dev/notebook-0")    # by type and key
    cluster.assume("ml/train-0", "node-3")   # the scheduler binds: the pod counts there until the API says so, too
    cluster.forget("ml/train-0")             # the binding failed
    cluster.nominate("ml/train-0", "node-3") # a promise; "" withdraws it

A decision is asked of `reprieve.preemption.decide(cluster, "PodGroup/ml/train", config, now)`: it returns a `Plan` (placements,
victims, reasons) and leaves the cluster as it was. Supposed changes run under `checkpoint()` and `rollback()`.
Nothing here does I/O or reads a clock.
"""

from reprieve.cluster.columns import LOST, NOWHERE
from reprieve.cluster.state import Cluster

__all__ = ["LOST", "NOWHERE", "Cluster"]
