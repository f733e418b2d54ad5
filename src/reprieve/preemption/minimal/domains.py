"""Which of many topology domains to search first, and which cannot hold a better plan.

One translation covers all domains. A bound that takes little time says for each of them what a plan there
costs at least: the most promising domain is searched first, and those that cannot beat it are not searched.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from reprieve.preemption.cost import Ledger
from reprieve.preemption.gangs import Gang
from reprieve.preemption.minimal.optimality import rough_floor
from reprieve.preemption.minimal.problem import Score
from reprieve.preemption.minimal.prune import restricted
from reprieve.preemption.minimal.scope import Scope
from reprieve.preemption.minimal.translation import Translation, translate
from reprieve.preemption.view import View


class Promising(NamedTuple):
    """The domains by their bounds, lowest first, in the numbers of one translation."""

    translation: Translation
    scopes: list[tuple[Score | None, Scope]]  # None: there is no plan


def by_promise(view: View, ledger: Ledger, gang: Gang, scopes: Sequence[Scope]) -> Promising | None:
    """The scopes of a gang in the order in which to search them; None when they are not all domains."""
    masks = [scope.within(scope.rows[0]) for scope in scopes]
    known = [mask for mask in masks if mask is not None]
    if len(known) < len(masks):
        return None
    everywhere = scopes[0]._replace(masks=(np.logical_or.reduce(known),))
    translation = translate(view, ledger, gang, everywhere, None)
    floors = [
        rough_floor(restricted(translation.problem, np.flatnonzero(mask[translation.slots])))
        for mask in known
    ]
    order = sorted(range(len(scopes)), key=lambda at: (floors[at] is None, floors[at] or Score(0, 0, 0), at))
    return Promising(translation, [(floors[at], scopes[at]) for at in order])
