"""Whether a test notices a mutant.

Each mutant has a process of its own, forked from one that has imported what is slow to import and nothing of
ours. There an import hook hands out the mutated text of the module; no file is written. The child says over
a pipe how each test ended, so that one that hangs is known by its own time, not by that of all tests.
"""

import contextlib
import importlib.machinery
import importlib.util
import os
import resource
import selectors
import signal
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import CodeType, ModuleType
from typing import NamedTuple

import hypothesis
import pytest
from tools.mutants.drawing import Mutant
from tools.mutants.rooms import ROOT, module_of

MOST_TESTS = 400
MOST_SECONDS = 20.0
"""How long the tests that one mutant is tried on may take without it."""
PATIENCE = 20.0
"""A test that takes so many seconds more than five times as long as without the mutant hangs."""
_MEMORY = 6 * 2**30
_WARM = ("numpy", "numpy.testing", "msgspec", "yaml", "click", "rich", "aiohttp", "cryptography", "re2")
KILLED, SURVIVED, TIMED_OUT = "killed", "survived", "timed out"


class Trial(NamedTuple):
    """A mutant and the tests that it is tried on, with how long each takes without it."""

    mutant: Mutant
    tests: Mapping[str, float]
    reached: int = 0
    """How many tests run its line; there may be more of them than it is tried on."""


class Verdict(NamedTuple):
    trial: Trial
    outcome: str
    by: str
    """The test that noticed; empty for none."""
    seconds: float


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, name: str, path: Path, source: str) -> None:
        super().__init__(name, str(path))
        self._source = source

    def get_code(self, _fullname: str) -> CodeType:
        return compile(self._source, self.path, "exec", dont_inherit=True)


class _Finder:
    """Finds one module: the mutated one."""

    def __init__(self, name: str, path: Path, source: str) -> None:
        self._name, self._path, self._source = name, path, source

    def find_spec(
        self, name: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != self._name:
            return None
        loader = _Loader(name, self._path, self._source)
        return importlib.util.spec_from_file_location(name, self._path, loader=loader)


class _Chosen:
    """A plugin of pytest: runs only the chosen tests, in their order, and says how each of them ended."""

    def __init__(self, tests: Iterable[str], told: int) -> None:
        self._place = {test: place for place, test in enumerate(tests)}
        self._told = told

    def pytest_configure(self) -> None:
        """After `conftest.py` has set the profile that the tests' own settings begin with."""
        # What fails is neither shrunk nor kept: that it fails is all we ask.
        phases = [hypothesis.Phase.explicit, hypothesis.Phase.generate]
        hypothesis.settings.register_profile(
            "mutants", hypothesis.settings(), phases=phases, database=None, report_multiple_bugs=False
        )
        hypothesis.settings.load_profile("mutants")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted(
            (item for item in items if item.nodeid in self._place), key=lambda item: self._place[item.nodeid]
        )

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._tell("failed", report.nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._tell("failed", report.nodeid)
        elif report.when == "teardown":
            self._tell("ended", report.nodeid)

    def _tell(self, how: str, test: str) -> None:
        os.write(self._told, f"{how} {test}\n".encode())


def warm_up() -> None:
    for name in _WARM:
        importlib.import_module(name)
    if "reprieve" in sys.modules:
        raise SystemExit("what was imported before a mutant is made cannot be mutated")


def chosen(tests: Sequence[str], seconds: Mapping[str, float], folder: str) -> dict[str, float]:
    """Of the tests that reach a mutant those it is tried on: the room's own first, then the quickest."""
    ordered = sorted(tests, key=lambda test: (not test.startswith(folder), seconds[test], test))
    found: dict[str, float] = {}
    left = MOST_SECONDS
    for test in ordered[:MOST_TESTS]:
        if seconds[test] <= left or not found:
            found[test] = seconds[test]
            left -= seconds[test]
    return found


def judge(trials: Iterable[Trial], jobs: int = 1, root: Path = ROOT) -> Iterator[Verdict]:
    """Try the mutants, so many at a time; the verdicts come as they are reached."""
    waiting = iter(trials)
    with selectors.DefaultSelector() as running:
        while True:
            while len(running.get_map()) < jobs and (trial := next(waiting, None)) is not None:
                if trial.tests:
                    attempt = _Attempt(trial, root)
                    running.register(attempt.told, selectors.EVENT_READ, attempt)
                else:
                    yield Verdict(trial, SURVIVED, "", 0.0)
            if not running.get_map():
                return
            ready = {key.fileobj for key, _ in running.select(timeout=0.5)}
            for key in list(running.get_map().values()):
                verdict = key.data.verdict(key.fileobj in ready)
                if verdict is not None:
                    running.unregister(key.fileobj)
                    os.close(key.fd)
                    yield verdict


class _Attempt:
    """A child that tries one mutant."""

    def __init__(self, trial: Trial, root: Path) -> None:
        self._trial = trial
        self._begin = time.monotonic()
        self._heard = b""
        self._renew()
        self.told, telling = os.pipe()
        os.set_blocking(self.told, False)
        sys.stdout.flush()
        self._child = os.fork()
        if not self._child:
            os.close(self.told)
            _in_child(trial, root, telling)
        os.close(telling)

    def _renew(self) -> None:
        ended = self._heard.count(b"ended ")
        seconds = list(self._trial.tests.values())
        next_one = seconds[ended] if ended < len(seconds) else 0.0
        self._deadline = time.monotonic() + PATIENCE + 5 * next_one

    def verdict(self, ready: bool) -> Verdict | None:
        """What came of it, or None as long as it goes on; `ready`: the child has said something, or ended."""
        if ready:
            self._hear()
        ended, status = os.waitpid(self._child, os.WNOHANG)
        if ended:
            self._hear()
            return self._end(_outcome(status))
        if time.monotonic() > self._deadline:
            os.killpg(self._child, signal.SIGKILL)
            os.waitpid(self._child, 0)
            return self._end(TIMED_OUT)
        return None

    def _hear(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while heard := os.read(self.told, 2**16):
                self._heard += heard
                self._renew()

    def _end(self, outcome: str) -> Verdict:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._child, signal.SIGKILL)  # what its tests started and did not end
        told = self._heard.decode().splitlines()
        failed = [line.removeprefix("failed ") for line in told if line.startswith("failed ")]
        if outcome == TIMED_OUT:
            failed = [test for test in self._trial.tests if f"ended {test}" not in told]
        by = failed[0] if failed and outcome != SURVIVED else ""
        return Verdict(self._trial, outcome, by, time.monotonic() - self._begin)


def _outcome(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    if code == pytest.ExitCode.NO_TESTS_COLLECTED:
        raise SystemExit("none of the chosen tests was found: what is kept under build/mutants is old")
    return SURVIVED if code == pytest.ExitCode.OK else KILLED


def _in_child(trial: Trial, root: Path, telling: int) -> None:
    code = 3
    try:
        os.setsid()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for number in range(3):
            os.dup2(nowhere, number)
        os.chdir(root)
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        mutant = trial.mutant
        sys.meta_path.insert(0, _Finder(module_of(mutant.path, root), mutant.path, mutant.source))  # type: ignore[arg-type]
        files = dict.fromkeys(test.partition("::")[0] for test in trial.tests)
        options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", f"--rootdir={root}"]
        code = int(pytest.main([*options, *files], [_Chosen(trial.tests, telling)]))
    finally:
        os._exit(code)
