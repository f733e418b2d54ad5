"""How much input the generating tests try: `REPRIEVE_TEST_SCALE` multiplies it (0.1 at a glance, 20 over
night).
"""

import os

from hypothesis import HealthCheck, settings

SCALE = float(os.environ.get("REPRIEVE_TEST_SCALE", "1"))


def scaled(number: int, least: int = 1) -> int:
    return max(least, int(number * SCALE))


def examples(number: int, least: int = 1) -> settings:
    """Settings of a property test; a quick look (scale below 1) never sees fewer examples than `least`.

    Up to the usual size every run sees the same examples: a failure is the change's and comes back. Runs of a
    larger scale look further. Deadlines and health checks judge the machine, not the property.
    """
    return settings(
        max_examples=scaled(number, least),
        deadline=None,
        derandomize=SCALE <= 1,
        suppress_health_check=list(HealthCheck),
    )
