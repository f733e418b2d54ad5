"""The nodes of a generator file: a tree of domains, every leaf a node.

    topology:
      name: default
      levels:
      - {name: block, count: 1, nodeLabel: cloud/block}
      - {name: rack, count: 10, nodeLabel: cloud/rack}
      - {name: node, count: 64, nodeLabel: kubernetes.io/hostname, capacity: {cpu: "96", memory: 256Gi}}
    resourceFlavor: {name: tas, nodeLabel: tas-node-group, topologyName: default}

Counts multiply. The lowest level has the capacity of each node. A flavor with a topology is on all its nodes.
"""

from itertools import product
from math import prod
from typing import Any, dataclass_transform

import msgspec

from reprieve.objects import Document, ReprieveError, counted, well_known
from reprieve.simulate.jobs import TopologyRequest

GROUP = "tas"
"""The value of the flavor's label on every node."""
MOST_NODES = 100_000
CONSTRAINTS = ("required", "preferred", "balanced")


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Part(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Of a generator file: frozen, camelCase in the file, and nothing is left out in silence."""


class Capacity(Part):
    cpu: str | int = "96"
    memory: str | int = "256Gi"


class Level(Part):
    name: str
    count: int
    node_label: str
    capacity: Capacity = Capacity()


class Topology(Part):
    name: str
    levels: tuple[Level, ...]


class Flavor(Part):
    name: str
    node_label: str = ""
    topology_name: str = ""


def checked(topology: Topology | None, flavor: Flavor) -> None:
    """Refuses what would place nothing, with the field and its value."""
    if flavor.topology_name and (topology is None or topology.name != flavor.topology_name):
        raise ReprieveError(f"resourceFlavor.topologyName: there is no topology {flavor.topology_name!r}")
    if flavor.topology_name and not flavor.node_label:
        raise ReprieveError("resourceFlavor.nodeLabel: a flavor with a topology needs one")
    if topology is None:
        return
    for index, level in enumerate(topology.levels):
        if level.count < 1:
            raise ReprieveError(f"topology.levels[{index}].count: must be at least 1, is {level.count}")
    number = prod(level.count for level in topology.levels)
    if len(topology.levels) < 2 or number > MOST_NODES:
        levels = counted(len(topology.levels), "level")
        raise ReprieveError(
            f"topology.levels: at least 2 levels and at most {MOST_NODES:,} nodes; "
            f"there are {levels} and {number:,} nodes"
        )


def nodes_of(topology: Topology, flavor: Flavor) -> list[Document]:
    """Named by their place: node-b0-r2-n15. Domains of one level have the same names below each domain."""
    capacity = topology.levels[-1].capacity
    offer = {"cpu": str(capacity.cpu), "memory": str(capacity.memory), "pods": "110"}
    found = []
    for place in product(*(range(level.count) for level in topology.levels)):
        name = "-".join(
            ["node", *(f"{level.name[:1]}{at}" for level, at in zip(topology.levels, place, strict=True))]
        )
        labels = {
            level.node_label: f"{level.name}-{at}" for level, at in zip(topology.levels, place, strict=True)
        }
        labels |= {well_known.HOSTNAME_LABEL: name} | (
            {flavor.node_label: GROUP} if flavor.node_label else {}
        )
        status = {"allocatable": offer, "conditions": [{"type": "Ready", "status": "True"}]}
        meta = {"name": name, "labels": labels}
        found.append({"apiVersion": "v1", "kind": "Node", "metadata": meta, "status": status})
    return found


def flavor_spec(flavor: Flavor) -> dict[str, Any]:
    if not flavor.topology_name:
        return {}
    return {"nodeLabels": {flavor.node_label: GROUP}, "topologyName": flavor.topology_name}


def request_of(
    constraint: str, level: str, slice_size: int, topology: Topology | None
) -> TopologyRequest | None:
    """What `tasConstraint`, `tasLevel` and `sliceSize` of a workload mean; without a level nothing."""
    if not level:
        return None
    known = [each.node_label for each in topology.levels] if topology is not None else []
    if level not in known:
        raise ReprieveError(f"tasLevel: no level of the topology has the nodeLabel {level!r}")
    match constraint:
        case "required":
            return TopologyRequest(required=level)
        case "preferred":
            return TopologyRequest(preferred=level)
        case "balanced":
            return TopologyRequest(pod_set_slice_required_topology=level, pod_set_slice_size=slice_size)
    raise ReprieveError(f"tasConstraint: must be one of {', '.join(CONSTRAINTS)}, is {constraint!r}")
