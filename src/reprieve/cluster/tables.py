"""The tables of the cluster: what there is to know about it, and nothing that changes it."""

from typing import Any

from reprieve.cluster.arrivals import Arrivals
from reprieve.cluster.budgets import BudgetTable
from reprieve.cluster.claim_users import ClaimUsers
from reprieve.cluster.classes import ClassTable, PodClass
from reprieve.cluster.columns import Ints, Rows
from reprieve.cluster.devices import DeviceTable
from reprieve.cluster.groups import GroupTable
from reprieve.cluster.nodes import NodeTable
from reprieve.cluster.pods import PodTable
from reprieve.cluster.priorities import PriorityTable
from reprieve.cluster.ranking import Ranking
from reprieve.cluster.selectors import SelectorTable
from reprieve.cluster.storage import StorageTable
from reprieve.cluster.usage import Usage

Undo = tuple[Any, ...]


class Tables:
    """`honour_nominations`: whether `status.nominatedNodeName` of a waiting pod reserves capacity for it.

    Without it only nominations made by `nominate` count, as in a scheduler that has just started.
    """

    def __init__(self, honour_nominations: bool = True) -> None:
        self._honour_nominations = honour_nominations
        self.nodes = NodeTable()
        self.pods = PodTable()
        self.classes = ClassTable(self.nodes)
        self.groups = GroupTable()
        self.priorities = PriorityTable()
        self.ranking = Ranking(self.pods, self.groups, self.priorities)
        self.budgets = BudgetTable()
        self.storage = StorageTable(self.nodes)
        self.devices = DeviceTable()
        self._claim_users = ClaimUsers(self.devices, self.pods)
        self._usage = Usage(self.nodes, self.pods, self.classes)
        self._arrivals = Arrivals(self.pods, self.nodes, self.classes, self.groups, self.ranking)
        self.ports = self._usage.ports
        self.touched = self._usage.touched
        self.namespaces: dict[str, dict[str, str]] = {}
        self.selectors = SelectorTable()
        self.residents: list[dict[int, None]] = []
        """Observed pods of each node slot, in order of arrival."""
        self.nominated: dict[str, dict[int, None]] = {}
        """Waiting pods by the name of the node they are nominated for."""
        self.nominated_later: dict[str, dict[int, None]] = {}
        """In a what-if: those that stand aside for pods that were nominated for the same node before."""
        self.moved: list[int] = []
        """Log of slots whose observed pods changed; the table of potential victims reads it."""
        self.version = 0
        """Increases with every change of a priority class, which may change the importance of any pod."""
        self.caches: dict[Any, Any] = {}
        """What placement derived from present usage; set aside when many pods are detached at once."""
        self.lasting: dict[Any, Any] = {}
        """What was derived from nodes and classes alone; adding or removing pods does not change it."""
        self._nomination_of: dict[int, str] = {}
        self._lost: dict[str, dict[int, None]] = {}
        self._undo: list[Undo] = []

    def class_of(self, row: int) -> PodClass:
        return self.classes.all[int(self.pods.cls[row])]

    def demand(self, rows: Rows) -> Ints:
        """What pods request: resources (rows) by pods (columns)."""
        return self.classes.requests[:, self.pods.cls[rows]]
