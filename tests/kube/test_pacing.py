"""The rate limit's two lanes: what is urgent goes first, and what is not still has its turn."""

import asyncio

from reprieve.kube import RateLimit
from reprieve.kube.pacing import OTHERS_TURN
from tests.controllers.virtual_time import run_virtually


def order_of(*urgent: bool) -> list[int]:
    """The numbers of requests that all wait for a token, in the order in which they get one."""
    served: list[int] = []

    async def take(limit: RateLimit, number: int, is_urgent: bool) -> None:
        await limit.take(is_urgent)
        served.append(number)

    async def main() -> None:
        limit = RateLimit(10, 1, clock=asyncio.get_running_loop().time)
        await limit.take()  # the only token that is there
        await asyncio.gather(*(take(limit, *each) for each in enumerate(urgent)))

    run_virtually(main())
    return served


def test_urgent_requests_go_first_and_each_lane_keeps_its_order() -> None:
    assert order_of(False, False, True, False, True) == [2, 4, 0, 1, 3]


def test_a_storm_of_urgent_requests_leaves_the_others_their_turn() -> None:
    served = order_of(False, False, *[True] * 40)
    assert served.index(0) == OTHERS_TURN
    assert served.index(1) == 2 * OTHERS_TURN + 1
