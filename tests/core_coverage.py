"""Which lines of the core its own tests reach, measured in the run that tests everything.

A line that a browser test happens to pass is not tested by it. So tracing is on while modules are imported
(definitions are lines too) and during the core's own tests, and off during all others. Each worker writes a
file; `make coverage` combines them.
"""

from collections.abc import Generator
from pathlib import Path

import pytest
from coverage import Coverage

TESTS = Path(__file__).parent
CORE = ("objects", "jobs", "config", "cluster", "placement", "preemption", "quota", "fleet", "scheduler")
ASKING = ("preemption_minimal", "whatif", "explain")
"""Folders of tests that ask the core most of its questions."""
COUNTED = frozenset((*CORE, *ASKING))


def counts(item: pytest.Item) -> bool:
    """Whether what this test reaches counts. Recorded decisions do not: each rule has tests of its own."""
    folder = item.path.relative_to(TESTS).parts[0]
    is_long = any(item.get_closest_marker(name) for name in ("slow", "real"))
    return folder in COUNTED and item.path.name != "test_corpus.py" and not is_long


class CoreCoverage:
    """A plugin of pytest, in each process that runs tests."""

    def __init__(self) -> None:
        self._coverage = Coverage(config_file=str(TESTS.parent / "pyproject.toml"), data_suffix=True)
        self._traces = False
        self._trace(True)

    def _trace(self, wanted: bool) -> None:
        if wanted != self._traces:
            self._traces = wanted
            (self._coverage.start if wanted else self._coverage.stop)()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self._trace(counts(item))
        return (yield)

    def pytest_sessionfinish(self) -> None:
        self._trace(False)
        self._coverage.save()
