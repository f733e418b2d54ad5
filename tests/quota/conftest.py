"""Number of examples: `REPRIEVE_TEST_SCALE` multiplies it."""

import os

from hypothesis import HealthCheck, settings

SCALE = float(os.environ.get("REPRIEVE_TEST_SCALE", "1"))


def examples(number: int) -> settings:
    checks = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    return settings(
        max_examples=max(1, int(number * SCALE)),
        deadline=None,
        suppress_health_check=checks,
        derandomize=False,
    )
