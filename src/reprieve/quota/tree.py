"""The quota tree: ClusterQueues are its leaves, Cohorts its inner nodes; usage flows from leaves to root.

A `Cell` is one flavor's resource at one node. It knows the cell above it, so everything the rules need
(what is free, at which height a request fits, which node borrows) is a walk along one chain of cells. Usage
is kept as it changes: adding or removing touches only the cells whose usage really moves.

    subtree(leaf)   = nominal
    subtree(cohort) = nominal + what the children lend
    local           = the part of subtree a lending limit keeps back; the parent never sees it
    usage(cohort)   = sum over children of max(0, usage - local)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from reprieve.quota.shares import Share


UNLIMITED = 2**63 - 1
"""A quota too large to count. It stays unlimited whatever is taken from it, and nothing else is larger."""
LOWEST = -(2**63)


def add(a: int, b: int) -> int:
    """Amounts are int64 that saturate instead of wrapping."""
    if a >= UNLIMITED or b >= UNLIMITED:
        return UNLIMITED
    total = a + b
    if total >= UNLIMITED:
        return UNLIMITED
    return total if total > LOWEST else LOWEST


def subtract(a: int, b: int) -> int:
    """Unlimited less unlimited is nothing; unlimited less anything else is unlimited."""
    if a >= UNLIMITED:
        return 0 if b >= UNLIMITED else UNLIMITED
    if b >= UNLIMITED:
        return LOWEST
    return max(LOWEST, a - b)


def times(number: int, count: int) -> int:
    return min(UNLIMITED, number * count)


class FlavorResource(NamedTuple):
    """What quota is counted in: a resource of a flavor."""

    flavor: str
    resource: str


@lru_cache(maxsize=4096)
def flavor_resource(flavor: str, resource: str) -> FlavorResource:
    """The same object each time: making one costs more than all that is then looked up with it."""
    return FlavorResource(flavor, resource)


class Limits(NamedTuple):
    """Quota as declared at one node."""

    nominal: int = 0
    borrowing: int | None = None
    lending: int | None = None


NO_QUOTA = Limits()
Usage = dict[FlavorResource, int]


class Cell:
    """Quota and usage of one flavor's resource at one node."""

    __slots__ = ("borrowing", "key", "local", "node", "parent", "potential", "subtree", "usage")

    def __init__(self, node: QuotaNode, key: FlavorResource) -> None:
        self.node = node
        self.key = key
        self.parent: Cell | None = None
        self.borrowing: int | None = None
        self.subtree = 0
        self.local = 0
        self.usage = 0
        self.potential = 0
        """The most that could ever be used here, if nothing else was used."""

    def add(self, amount: int) -> None:
        cell = self
        while True:
            free = cell.local - cell.usage
            cell.usage += amount
            cell.node.share = None
            parent = cell.parent
            if parent is None:
                return
            if free > 0:
                amount -= free
                if amount <= 0:
                    return
            cell = parent

    def remove(self, amount: int) -> None:
        cell = self
        while True:
            visible = cell.usage - cell.local
            cell.usage -= amount
            cell.node.share = None
            parent = cell.parent
            if parent is None or visible <= 0:
                return
            if visible < amount:
                amount = visible
            cell = parent

    @property
    def local_available(self) -> int:
        free = subtract(self.local, self.usage)
        return free if free > 0 else 0

    def free(self) -> int:
        """What the node can still use, its own and borrowed; negative when the tree is over-used."""
        parent = self.parent
        if parent is None:
            return subtract(self.subtree, self.usage)
        chain = [self]
        while parent.parent is not None:
            chain.append(parent)
            parent = parent.parent
        above = subtract(parent.subtree, parent.usage)
        while chain:
            cell = chain.pop()
            if cell.borrowing is not None:
                stored = subtract(cell.subtree, cell.local)
                visible = subtract(cell.usage, cell.local)
                limit = add(subtract(stored, visible if visible > 0 else 0), cell.borrowing)
                if limit < above:
                    above = limit
            if cell.local:
                above = add(cell.local_available, above)
        return above

    def available(self) -> int:
        free = self.free()
        return free if free > 0 else 0

    def borrows_with(self, amount: int) -> bool:
        """Whether using this much more takes the node above its own quota."""
        return self.subtree < add(self.usage, amount)

    def exceeds(self) -> bool:
        """Whether the node uses more than its own quota now."""
        return self.usage > self.subtree < UNLIMITED

    def lowest_fit(self, amount: int) -> tuple[int, bool]:
        """(height of the lowest subtree that can fit the amount, whether that is not the whole tree)."""
        if self.parent is None or not self.borrows_with(amount):
            return 0, self.parent is not None
        amount -= self.local_available
        cell = self.parent
        while True:
            if not cell.borrows_with(amount):
                return cell.node.height, cell.parent is not None
            if cell.parent is None:
                return cell.node.height, False
            amount -= cell.local_available
            cell = cell.parent


class QuotaNode:
    """A node of the tree. `cells` may hold more than `declared`: usage of flavors without quota here."""

    __slots__ = ("cells", "declared", "height", "lendable", "limits", "name", "parent", "share", "weight")

    def __init__(self, name: str) -> None:
        self.name = name
        self.parent: CohortNode | None = None
        self.limits: Mapping[FlavorResource, Limits] = {}
        self.weight = 1.0
        self.cells: dict[FlavorResource, Cell] = {}
        self.declared: tuple[Cell, ...] = ()
        """Cells with quota of this node or of a child, the ones that count for fair shares."""
        self.height = 0
        self.lendable: dict[str, int] | None = None
        self.share: Share | None = None
        """Dominant share at the present usage (`shares.share`); forgotten when the usage changes."""

    def cell(self, key: FlavorResource) -> Cell:
        found = self.cells.get(key)
        return found if found is not None else self._new_cell(key)

    def _new_cell(self, key: FlavorResource) -> Cell:
        """A cell for something without quota here; it still lends and borrows through the parent."""
        without: list[QuotaNode] = [self]
        while (parent := without[-1].parent) is not None and key not in parent.cells:
            without.append(parent)
        above = None if parent is None else parent.cells[key]
        for node in reversed(without):
            cell = node.cells[key] = Cell(node, key)
            if above is not None:
                cell.parent, cell.potential = above, above.potential
            above = cell
        return self.cells[key]

    def path(self) -> Iterator[CohortNode]:
        """The ancestors, parent first."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    @property
    def root(self) -> QuotaNode:
        node: QuotaNode = self
        while node.parent is not None:
            node = node.parent
        return node

    def within_nominal(self, keys: Iterable[FlavorResource]) -> bool:
        cells = self.cells
        for key in keys:
            cell = cells.get(key)
            if cell is not None and cell.usage > cell.subtree < UNLIMITED:
                return False
        return True

    def fits_in_quota(self, requests: Mapping[FlavorResource, int]) -> tuple[bool, dict[FlavorResource, int]]:
        """(whether the requests fit in this subtree's own quota, what of them is left for the next one)."""
        fits, rest = True, {}
        for key, amount in requests.items():
            cell = self.cell(key)
            fits = fits and not cell.borrows_with(amount)
            rest[key] = max(0, amount - cell.local_available)
        return fits, rest


class CohortNode(QuotaNode):
    """An inner node. `queues` are only the active ClusterQueues; inactive ones lend, too, as `members`."""

    __slots__ = ("cohorts", "members", "queues")

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.cohorts: list[CohortNode] = []
        self.members: list[QuotaNode] = []
        self.queues: list[QuotaNode] = []


def recompute(root: QuotaNode) -> None:
    """Compute quotas, heights and usage of a whole tree from its nodes' limits and its leaves' usage."""
    nodes = _whole_tree(root)
    for node in reversed(nodes):
        _compute_quota(node)
    for node in nodes:
        _link(node)
    _compute_usage(nodes)


def cohorts_below(root: CohortNode) -> list[CohortNode]:
    """The cohort and all below it, each before its children. A loop: users make chains of any length."""
    found, todo = [], [root]
    while todo:
        cohort = todo.pop()
        found.append(cohort)
        todo.extend(reversed(cohort.cohorts))
    return found


def _whole_tree(root: QuotaNode) -> list[QuotaNode]:
    """All nodes, each before its children."""
    if not isinstance(root, CohortNode):
        return [root]
    return [node for cohort in cohorts_below(root) for node in (cohort, *cohort.members)]


def _children(node: QuotaNode) -> list[QuotaNode]:
    return [*node.cohorts, *node.members] if isinstance(node, CohortNode) else []


def _compute_quota(node: QuotaNode) -> None:
    """From the node's limits and its children, which were computed before."""
    subtree = {key: limits.nominal for key, limits in node.limits.items()}
    heights = [0]
    for child in _children(node):
        for cell in child.declared:
            lent = subtract(cell.subtree, cell.local)
            subtree[cell.key] = add(subtree.get(cell.key, 0), lent)
    if isinstance(node, CohortNode):
        heights += [1 for _ in node.queues] + [1 + cohort.height for cohort in node.cohorts]
    node.height = max(heights)
    node.lendable = None
    node.share = None
    for key, cell in node.cells.items():
        if key not in subtree:
            cell.subtree, cell.local, cell.borrowing = 0, 0, None
    declared = []
    for key, total in subtree.items():
        cell = node.cells.setdefault(key, Cell(node, key))
        limits = node.limits.get(key, NO_QUOTA)
        cell.subtree = total
        cell.local = 0 if limits.lending is None else max(0, subtract(total, limits.lending))
        cell.borrowing = limits.borrowing
        declared.append(cell)
    node.declared = tuple(declared)


def _link(node: QuotaNode) -> None:
    for key, cell in node.cells.items():
        cell.parent = node.parent.cell(key) if node.parent is not None else None
        if cell.parent is None:
            cell.potential = cell.subtree
            continue
        cell.potential = add(cell.local, cell.parent.potential)
        if cell.borrowing is not None:
            cell.potential = min(cell.potential, add(cell.subtree, cell.borrowing))


def _compute_usage(nodes: list[QuotaNode]) -> None:
    for node in nodes:
        if isinstance(node, CohortNode):
            for cell in node.cells.values():
                cell.usage = 0
    for node in reversed(nodes):
        for cell in node.cells.values():
            visible = subtract(cell.usage, cell.local)
            if visible > 0 and cell.parent is not None:
                cell.parent.usage = min(UNLIMITED, cell.parent.usage + visible)
