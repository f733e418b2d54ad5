"""Another arrangement of volumes where the greedy one fails: a claim gives way if it can have another volume.

kube-scheduler never looks back, and so refuses pods that could run: the smaller claim takes the only volume
that would have suited the larger one. Here claims that cannot be provisioned are matched by augmenting paths.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np

from reprieve.cluster import Mask, Rows
from reprieve.placement.volumes.pools import NONE, Pool

Options = list[list[tuple[int, int]]]
"""For each claim the volumes it may have on a node, as (number of the pool, rank), smallest first."""


class Searching(Protocol):
    """A claim that looks for a volume."""

    pool: Pool
    eligible: Mask
    pick: Rows


def rearranged(
    searches: Sequence[Searching], can_provision: Sequence[Mask], failed: Mask
) -> Iterator[tuple[int, list[int]]]:
    """Failed nodes on which every claim finds a volume after all or can be provisioned, with the picks."""
    # Among as many volumes as there are claims, a claim always finds one that nobody else needs.
    depth = len(searches)
    options: dict[int, Options] = defaultdict(lambda: [[] for _ in searches])
    pools = list({id(each.pool): each.pool for each in searches}.values())
    for index, each in enumerate(searches):
        slots, ranks = each.pool.choices(each.eligible, depth)
        here = failed[slots]
        number = next(n for n, pool in enumerate(pools) if pool is each.pool)
        order = np.argsort(ranks[here], kind="stable")
        for slot, rank in zip(slots[here][order].tolist(), ranks[here][order].tolist(), strict=True):
            options[slot][index].append((number, rank))
    for slot in np.flatnonzero(failed).tolist():
        picks = [int(each.pick[slot]) for each in searches]
        kept = [
            pick if pick >= len(each.pool.volumes) else NONE
            for each, pick in zip(searches, picks, strict=True)
        ]
        needy = [
            index for index in range(len(searches)) if kept[index] == NONE and not can_provision[index][slot]
        ]
        matched = _match(options[slot], needy)
        if matched is not None:
            yield slot, [matched.get(index, kept[index]) for index in range(len(searches))]


def _match(options: Options, needy: list[int]) -> dict[int, int] | None:
    """A volume for each of these claims, or None."""
    holder: dict[tuple[int, int], int] = {}

    def place(index: int, seen: set[tuple[int, int]]) -> bool:
        for volume in options[index]:
            if volume in seen:
                continue
            seen.add(volume)
            if volume not in holder or place(holder[volume], seen):
                holder[volume] = index
                return True
        return False

    if not all(place(index, set()) for index in needy):
        return None
    return {index: rank for (_, rank), index in holder.items()}
