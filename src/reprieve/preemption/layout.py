"""All pods of all nodes, most important first: a table of (turn on the node, node), kept as pods come and go.

A dry run over every node is then a loop over turns, each a few array operations. Only the columns of nodes whose pods changed are made
again.
"""

import numpy as np

from reprieve.cluster import Ints, Mask, Rows
from reprieve.preemption.importance import importance_keys
from reprieve.preemption.view import View

EMPTY = -1
NEVER_BELOW = 2**62
"""The priority of an empty place in the table: no preemptor is above it."""
MANY = 200
"""With more changed nodes than this the table is made anew."""


class Layout:
    def __init__(self, view: View) -> None:
        self.version = view.cluster.version
        self._read = 0
        self._build(view)

    def refresh(self, view: View) -> None:
        """Catch up with pods that came, went or changed their importance."""
        cluster = view.cluster
        changed = sorted(set(cluster.moved[self._read :]))
        if len(changed) > MANY or self.version != cluster.version:
            self.version = cluster.version
            self._build(view)
            return
        deepest = max((len(cluster.residents[slot]) for slot in changed), default=0)
        if deepest > self.rows.shape[0]:
            self._build(view)
            return
        self._widen(cluster.nodes.slots)
        for slot in changed:
            self._set_column(view, slot)
        self._read = len(cluster.moved)

    def _build(self, view: View) -> None:
        cluster = view.cluster
        slots = cluster.nodes.slots
        rows = np.flatnonzero(view.home >= 0).astype(np.int32)
        columns = view.home[rows]
        keys = importance_keys(view, rows)
        order = np.lexsort([cluster.pods.sequence[rows], *reversed(keys), columns.astype(np.int64)])
        rows, columns = rows[order], columns[order]
        counts = np.bincount(columns, minlength=slots)
        depth = int(counts.max(initial=0)) + 2
        first = np.cumsum(counts) - counts
        turn = np.arange(len(rows)) - first[columns]
        self.rows: Rows = np.full((depth, slots), EMPTY, dtype=np.int32)
        self.rows[turn, columns] = rows
        self.priority: Ints = np.full((depth, slots), NEVER_BELOW, dtype=np.int64)
        self.priority[turn, columns] = view.priority[rows]
        self.demand: dict[int, Ints] = {}
        same = columns[1:] == columns[:-1]
        for key in keys:
            same &= key[order[1:]] == key[order[:-1]]
        self.tied: Mask = np.zeros(slots, dtype=np.bool_)
        """Nodes with two equally important pods."""
        self.tied[columns[1:][same]] = True
        self.special: Mask = np.zeros(slots, dtype=np.bool_)
        """Nodes with pods that do not simply go one by one: of groups that go as a whole, or shielded for a while."""
        self.special[columns[view.whole[rows] | (cluster.pods.min_runtime_end[rows] > 0)]] = True
        self._read = len(cluster.moved)

    def _widen(self, slots: int) -> None:
        """Columns without pods for nodes that came."""
        more = ((0, 0), (0, slots - self.rows.shape[1]))
        if not more[1][1]:
            return
        self.rows = np.pad(self.rows, more, constant_values=EMPTY)
        self.priority = np.pad(self.priority, more, constant_values=NEVER_BELOW)
        self.demand = {index: np.pad(table, more) for index, table in self.demand.items()}
        self.tied = np.pad(self.tied, more[1])
        self.special = np.pad(self.special, more[1])

    def _set_column(self, view: View, slot: int) -> None:
        pods = view.cluster.pods
        rows = np.array(list(view.cluster.residents[slot]), dtype=np.int32)
        keys = importance_keys(view, rows)
        rows = rows[np.lexsort([pods.sequence[rows], *reversed(keys)])]
        column = np.full(self.rows.shape[0], EMPTY, dtype=np.int32)
        column[: len(rows)] = rows
        self.rows[:, slot] = column
        self.priority[:, slot] = NEVER_BELOW
        self.priority[: len(rows), slot] = view.priority[rows]
        for index, table in self.demand.items():
            table[:, slot] = 0
            table[: len(rows), slot] = view.cluster.demand(rows)[index]
        distinct = {tuple(int(key[i]) for key in keys) for i in range(len(rows))}
        self.tied[slot] = len(distinct) < len(rows)
        self.special[slot] = bool((view.whole[rows] | (pods.min_runtime_end[rows] > 0)).any())

    def requested(self, view: View, index: int) -> Ints:
        """What each pod of the table asks of a resource."""
        table = self.demand.get(index)
        if table is None:
            cluster = view.cluster
            amounts = np.append(cluster.classes.requests[index], 0)
            table = amounts[np.where(self.rows >= 0, cluster.pods.cls[self.rows], -1)]
            self.demand[index] = table
        return table


def layout_of(view: View) -> Layout:
    """The table for the observed cluster, from memory where there is one."""
    key = ("layout", view.group_victims)
    found: Layout | None = view.cluster.lasting.get(key)
    if found is None:
        found = view.cluster.lasting[key] = Layout(view)
    else:
        found.refresh(view)
    return found
