"""What rows and slots are called."""

from reprieve.cluster import LOST
from reprieve.preemption.units import VictimUnit
from reprieve.preemption.view import View


def unit_name(view: View, unit: VictimUnit) -> str:
    if unit.group >= 0:
        return f"PodGroup/{view.cluster.groups.keys[unit.group]}"
    return f"Pod/{view.cluster.pods.keys[unit.rows[0]]}"


def node_name(view: View, row: int) -> str:
    """The node a pod runs on; for a node nobody has seen, the name it states."""
    slot = int(view.home[row])
    return view.cluster.pods.info[row].node_name if slot == LOST else view.cluster.nodes.names[slot]


def pods_text(number: int) -> str:
    return f"{number} pod{'s' * (number != 1)}"
