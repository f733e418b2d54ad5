"""The cluster in memory: columns for nodes and pods, tables for groups, budgets and priorities, an undo log.

    cluster = Cluster()
    for obj in objects:                       # typed views from `reprieve.objects`, in any order
        cluster.set(obj)                      # add or update; kinds that no decision reads are ignored
    cluster.remove(Pod, "dev/notebook-0")     # by type and key
    cluster.assume("ml/train-0", "node-3")    # the scheduler binds: the pod counts there from now on
    cluster.forget("ml/train-0")              # the binding failed
    cluster.nominate("ml/train-0", "node-3")  # set the node aside for the pod; "" withdraws the nomination

`reprieve.preemption.decide(cluster, for_, config, now)` returns a `Plan` and leaves the cluster as it was:
supposed changes run under `checkpoint()` and `rollback()`. Nothing here does I/O or reads a clock.
"""

from reprieve.cluster.attached import AttachedTable
from reprieve.cluster.classes import PodClass
from reprieve.cluster.columns import LOST, NOWHERE, Ints, Mask, Rows, add_all
from reprieve.cluster.device_holders import DeviceId, PoolId, Shares
from reprieve.cluster.devices import DeviceTable
from reprieve.cluster.hierarchy import MOST_LEVELS
from reprieve.cluster.in_tree import plugin_of, required_by_driver
from reprieve.cluster.nodes import CPU, EPHEMERAL, MAX_AMOUNT, MEMORY, PODS, NodeTable, Topology
from reprieve.cluster.pod_volumes import PodVolumes
from reprieve.cluster.pods import NOT_STARTED, PodClaims, ticks
from reprieve.cluster.ports import ports_conflict
from reprieve.cluster.priorities import resolve
from reprieve.cluster.state import Cluster
from reprieve.cluster.storage import NOT_OWNER, StorageTable, belongs, owns
from reprieve.cluster.terms import Spread, Term
from reprieve.cluster.unknown_classes import missing_classes, unknown_class

__all__ = [
    "CPU",
    "EPHEMERAL",
    "LOST",
    "MAX_AMOUNT",
    "MEMORY",
    "MOST_LEVELS",
    "NOT_OWNER",
    "NOT_STARTED",
    "NOWHERE",
    "PODS",
    "AttachedTable",
    "Cluster",
    "DeviceId",
    "DeviceTable",
    "Ints",
    "Mask",
    "NodeTable",
    "PodClaims",
    "PodClass",
    "PodVolumes",
    "PoolId",
    "Rows",
    "Shares",
    "Spread",
    "StorageTable",
    "Term",
    "Topology",
    "add_all",
    "belongs",
    "missing_classes",
    "owns",
    "plugin_of",
    "ports_conflict",
    "required_by_driver",
    "resolve",
    "ticks",
    "unknown_class",
]
