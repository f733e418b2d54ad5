"""The heads of one cycle and the order in which they get their turn.

Workloads that have quota and look for domains come first.

Classical order:
1. (gate PrioritizePreemptorWorkloads) the workload whose victims are leaving
2. lower borrowing height
3. higher priority
4. earlier queue time
5. UID, key

Fair sharing: a tournament from the leaves to the root, played again after each turn. At each cohort:
1. (gate PrioritizePreemptorWorkloads) the workload whose victims are leaving
2. its side of the tree does not borrow what it requests
3. smaller dominant share, the request included
4. higher priority
5. earlier queue time
6. UID, key
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cmp_to_key
from itertools import chain
from typing import NamedTuple

from reprieve.quota.assignment import Assignment
from reprieve.quota.queue import QueueNode
from reprieve.quota.rules import Rules
from reprieve.quota.shares import Share, compare, share
from reprieve.quota.topology.held import Held
from reprieve.quota.tree import CohortNode, QuotaNode, Usage, cohorts_below
from reprieve.quota.victims.candidates import Victim
from reprieve.quota.workload_info import WorkloadInfo, has_quota


class Entry:
    """A head that may be tried, with the flavors and victims found for it."""

    __slots__ = ("assignment", "held", "info", "is_preemptor", "queue", "second_pass", "victims")

    def __init__(
        self,
        info: WorkloadInfo,
        queue: QueueNode,
        assignment: Assignment,
        victims: list[Victim],
        is_preemptor: bool = False,
        held: tuple[Held, ...] = (),
    ) -> None:
        self.info = info
        self.queue = queue
        self.assignment = assignment
        self.victims = victims
        self.is_preemptor = is_preemptor
        self.held = held
        """What its pods would take of their domains, beyond what they have."""
        self.second_pass = has_quota(info.workload)
        """It has its quota already and is looking for domains."""

    @property
    def usage(self) -> Usage:
        return {} if self.second_pass else self.assignment.usage


def in_order(entries: Sequence[Entry], rules: Rules) -> Iterator[Entry]:
    """The entries one by one; the tree may change between two of them."""
    if len(entries) < 2:
        return iter(entries)
    if rules.fair_sharing:
        first = [entry for entry in entries if entry.second_pass]
        return chain(first, _tournaments((e for e in entries if not e.second_pass), rules))
    return iter(sorted(entries, key=lambda entry: _classical_key(entry, rules)))


def _classical_key(entry: Entry, rules: Rules) -> tuple[object, ...]:
    return (
        not entry.second_pass,
        rules.preemptors_first and not entry.is_preemptor,
        entry.assignment.borrowing,
        *_seniority(entry, rules),
    )


def _seniority(entry: Entry, rules: Rules) -> tuple[object, ...]:
    info = entry.info
    priority = -info.priority if rules.priority_in_entry_order else 0
    return priority, info.queued_at, info.uid, info.key


class _Standing(NamedTuple):
    borrows: bool
    share: Share


_Standings = dict[tuple[int, str], _Standing]


def _tournaments(entries: Iterable[Entry], rules: Rules) -> Iterator[Entry]:
    waiting = {entry.info.key: entry for entry in entries}
    while waiting:
        entry = next(iter(waiting.values()))
        root = entry.queue.root
        if isinstance(root, CohortNode):
            players = [each for each in waiting.values() if each.queue.root is root]
            entry = _winner(root, players, rules)
        del waiting[entry.info.key]
        yield entry


def _winner(root: CohortNode, players: list[Entry], rules: Rules) -> Entry:
    standings: _Standings = {}
    for player in players:
        _record(player, standings)
    by_queue = {id(player.queue): player for player in players}
    winner = _best(root, by_queue, standings, rules)
    assert winner is not None
    return winner


def _record(player: Entry, standings: _Standings) -> None:
    """What the tree would look like from each cohort if the player was let in."""
    usage = player.assignment.usage
    for key, amount in usage.items():
        player.queue.cell(key).add(amount)
    node: QuotaNode = player.queue
    while node.parent is not None:
        borrows = any(amount > 0 and node.cell(key).exceeds() for key, amount in usage.items())
        standings[id(node.parent), player.info.key] = _Standing(borrows, share(node))
        node = node.parent
    for key, amount in usage.items():
        player.queue.cell(key).remove(amount)


def _best(
    cohort: CohortNode, by_queue: dict[int, Entry], standings: _Standings, rules: Rules
) -> Entry | None:
    best: dict[int, Entry | None] = {}
    for each in reversed(cohorts_below(cohort)):
        found = [best[id(child)] for child in each.cohorts]
        found += [by_queue.get(id(queue)) for queue in each.queues]
        players = [player for player in found if player is not None]
        best[id(each)] = min(players, key=cmp_to_key(_comparison(each, standings, rules)), default=None)
    return best[id(cohort)]


def _comparison(cohort: CohortNode, standings: _Standings, rules: Rules) -> Callable[[Entry, Entry], int]:
    def compared(a: Entry, b: Entry) -> int:
        if rules.preemptors_first and a.is_preemptor != b.is_preemptor:
            return -1 if a.is_preemptor else 1
        left, right = standings[id(cohort), a.info.key], standings[id(cohort), b.info.key]
        if rules.nominal_first and left.borrows != right.borrows:
            return 1 if left.borrows else -1
        order = compare(left.share, right.share)
        if order:
            return order
        first, second = _seniority(a, rules), _seniority(b, rules)
        return -1 if first < second else int(first > second)

    return compared
