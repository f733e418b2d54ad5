"""Whole control planes on this machine: a cluster with its controllers and page, or a manager with workers.

What `reprieve up` and the tour start. It all runs in one process, but the parts talk over HTTP as everywhere.
"""

from reprieve.local.cluster import controllers_of, local_cluster, nodes_ready, stop_signal
from reprieve.local.fleet import local_fleet

__all__ = ["controllers_of", "local_cluster", "local_fleet", "nodes_ready", "stop_signal"]
