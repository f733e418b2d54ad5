"""Whole-number arithmetic of quotas: int64 that saturates instead of wrapping.

A quota too large to count is `UNLIMITED`. It stays unlimited whatever is taken from it, and nothing else is larger.
"""

from reprieve.objects import Quantity, amount

UNLIMITED = 2**63 - 1
LOWEST = -(2**63)
_MOST_MILLI = UNLIMITED // 1000 * 1000  # from this many thousandths of a core on, cpu is unlimited


def quota_amount(resource: str, quantity: Quantity) -> int:
    """A quota as the tree computes with it: cpu in thousandths, everything else in whole units."""
    number = amount(resource, quantity)
    if resource == "cpu" and number >= _MOST_MILLI:
        return UNLIMITED
    return number


def add(a: int, b: int) -> int:
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
