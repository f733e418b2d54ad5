"""What all tests share: settings of generated input, its seed, and the coverage of the core."""

import os

import pytest
from hypothesis import HealthCheck, settings

from tests.core_coverage import CoreCoverage
from tests.scale import SCALE, SEED

# Property tests without settings of their own are like those with them (`tests.scale`).
settings.register_profile("reprieve", deadline=None, suppress_health_check=list(HealthCheck))
settings.load_profile("reprieve")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Before Hypothesis's own plugin reads its option."""
    if config.option.hypothesis_seed is None:
        config.option.hypothesis_seed = SEED
    starts_workers = bool(getattr(config.option, "numprocesses", 0))
    if os.environ.get("REPRIEVE_TEST_COVERAGE") and not starts_workers:
        config.pluginmanager.register(CoreCoverage(), "core-coverage")


def _generated(config: pytest.Config) -> str:
    seed = config.option.hypothesis_seed
    return f"generated input: scale {SCALE:g}, seed {seed}; REPRIEVE_TEST_SEED={seed} repeats it"


def pytest_report_header(config: pytest.Config) -> str:
    return _generated(config)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Again at the end, where whoever reads a failure looks."""
    terminalreporter.write_line(_generated(terminalreporter.config))
