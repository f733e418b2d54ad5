"""How much input the generating tests try: `REPRIEVE_TEST_SCALE` multiplies it (0.1 at a glance, 20 over
night).
"""

import os

from hypothesis import HealthCheck, settings

SCALE = float(os.environ.get("REPRIEVE_TEST_SCALE", "1"))


def scaled(number: int, least: int = 1) -> int:
    return max(least, int(number * SCALE))


def examples(number: int, least: int = 1) -> settings:
    """Settings of a property test. A quick look (scale below 1) sees the same examples every time, and never
    fewer than `least`.

    Deadlines and health checks judge the machine, not the property.
    """
    return settings(
        max_examples=scaled(number, least),
        deadline=None,
        derandomize=SCALE < 1,
        suppress_health_check=list(HealthCheck),
    )
