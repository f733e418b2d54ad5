"""What is to be placed. Knows no arrays: quota without topology loads none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from reprieve.objects import Placement, PodSpec, TopologyRequest, UnhealthyNode, Workload
from reprieve.quota.topology.held import Amounts

Seen = set[tuple[str, str]]
"""Flavors and pod sets of one workload that were looked at in this cycle."""


class Wish(NamedTuple):
    """A pod set as placement sees it."""

    name: str
    flavor: str
    pods: int
    single: Amounts
    """Requests of one pod."""
    spec: PodSpec
    """With what admission checks added."""
    request: TopologyRequest | None
    implied: bool
    group: str | None
    previous: Placement | None = None
    """Of the slice that this workload replaces."""


class Failure(NamedTuple):
    wish: Wish
    text: str


Wishes = Mapping[str, Sequence[Wish]]
"""By flavor."""


def lost_nodes(workload: Workload) -> tuple[UnhealthyNode, ...]:
    """Nodes that have to be replaced. One that holds no quota has none, whatever its status still says: it is
    placed anew, and never admitted without domains because of an old mark (kueue#15536)."""
    return workload.status.unhealthy_nodes if workload.status.admission is not None else ()
