"""What can be said about the optimum: the distance between what a plan costs and what no plan undercuts."""

import math

from reprieve.preemption.minimal.model import NOBODY

Price = tuple[int, int, float]
"""(violations, highest priority, weighted sum) of victims."""

OPTIMAL = "no plan is cheaper"
RELAXED = "; the bound leaves rules between pods on different nodes out"


def gap(price: Price, floor: Price, *, relaxed: bool) -> str:
    """How far from the optimum a plan of this price can be, when nothing undercuts the floor.

    `relaxed`: the floor was found without the rules that reach beyond a node, so that the true distance may be smaller.
    """
    if floor >= price:
        return OPTIMAL
    return f"{_distance(price, floor)}{RELAXED if relaxed else ''}"


def _distance(price: Price, floor: Price) -> str:
    if floor[0] < price[0]:
        return f"a plan with {floor[0]} instead of {price[0]} budget violations is not ruled out"
    if floor[1] < price[1]:
        if floor[1] <= NOBODY:
            return "a plan without victims is not ruled out"
        return f"a plan with no victim above priority {floor[1]} is not ruled out"
    hundredths = math.ceil(10_000 * (1 - floor[2] / price[2]))  # rounded up: it must stay true
    return f"at most {max(hundredths, 1) / 100:.2f} % from the optimum"
