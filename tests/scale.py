"""How much input the generating tests try, and from which seed.

`REPRIEVE_TEST_SCALE` multiplies the amount: a third in every run (the default), a tenth at a glance, twenty
over night. Every run draws other input. It prints its seed, and `REPRIEVE_TEST_SEED` repeats it.
"""

import os
import random

from hypothesis import HealthCheck, settings

SCALE = float(os.environ.get("REPRIEVE_TEST_SCALE", "0.33"))
SEED = os.environ.setdefault("REPRIEVE_TEST_SEED", str(random.SystemRandom().randrange(2**32)))
"""Set in the environment, so that all processes of one run draw from the same seed."""


def scaled(number: int, least: int = 1) -> int:
    return max(least, int(number * SCALE))


def examples(number: int, least: int = 1) -> settings:
    """Settings of a property test; a quick look (scale below 1) never sees fewer examples than `least`.

    Deadlines and health checks judge the machine, not the property.
    """
    return settings(
        max_examples=scaled(number, least), deadline=None, suppress_health_check=list(HealthCheck)
    )
