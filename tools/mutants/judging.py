"""Whether a test notices a mutant.

Each mutant has a process of its own, forked from one that has imported what is slow to import and nothing of
ours. There an import hook hands out the mutated text of the module; no file is written.
"""

import importlib.machinery
import importlib.util
import os
import resource
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import CodeType, ModuleType
from typing import NamedTuple

import hypothesis
import pytest
from tools.mutants.drawing import Mutant
from tools.mutants.rooms import ROOT

MOST_TESTS = 400
MOST_SECONDS = 20.0
"""How long the tests that one mutant is tried on may take without it."""
PATIENCE = 30.0
"""So many seconds more, and five times as many as that, and the mutant hangs: that is noticed, too."""
_MEMORY = 6 * 2**30
_WARM = ("numpy", "numpy.testing", "msgspec", "yaml", "click", "rich", "aiohttp", "cryptography", "re2")
KILLED, SURVIVED, TIMED_OUT = "killed", "survived", "timed out"


class Verdict(NamedTuple):
    mutant: Mutant
    outcome: str
    reached: int
    """How many tests run its line."""
    tried: int
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
    """A plugin of pytest: of all tests in the files only the chosen ones, in their order."""

    def __init__(self, tests: Sequence[str]) -> None:
        self._place = {test: place for place, test in enumerate(tests)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted(
            (item for item in items if item.nodeid in self._place), key=lambda item: self._place[item.nodeid]
        )


def warm_up() -> None:
    for name in _WARM:
        importlib.import_module(name)
    if "reprieve" in sys.modules:
        raise SystemExit("what was imported before a mutant is made cannot be mutated")


def chosen(tests: Sequence[str], seconds: dict[str, float], folder: str) -> list[str]:
    """Of the tests that reach a mutant those it is tried on: the room's own first, then the quickest."""
    ordered = sorted(tests, key=lambda test: (not test.startswith(folder), seconds[test], test))
    found: list[str] = []
    total = 0.0
    for test in ordered[:MOST_TESTS]:
        total += seconds[test]
        if total <= MOST_SECONDS or not found:
            found.append(test)
    return found


def judge(
    mutant: Mutant, module: str, reached: int, tests: Sequence[str], expected: float, root: Path = ROOT
) -> Verdict:
    """Try the mutant on these tests, which take so many seconds without it."""
    begin = time.monotonic()
    if not tests:
        return Verdict(mutant, SURVIVED, reached, 0, 0.0)
    sys.stdout.flush()
    child = os.fork()
    if not child:
        _in_child(mutant, module, tests, root)
    outcome = _wait(child, PATIENCE + 5 * expected)
    return Verdict(mutant, outcome, reached, len(tests), time.monotonic() - begin)


def _in_child(mutant: Mutant, module: str, tests: Sequence[str], root: Path) -> None:
    code = 3
    try:
        os.setsid()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for number in range(3):
            os.dup2(nowhere, number)
        os.chdir(root)
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        # What fails is not shrunk: that it fails is all we ask.
        phases = [hypothesis.Phase.explicit, hypothesis.Phase.generate]
        hypothesis.settings.register_profile(
            "mutants", phases=phases, database=None, report_multiple_bugs=False
        )
        hypothesis.settings.load_profile("mutants")
        sys.meta_path.insert(0, _Finder(module, mutant.path, mutant.source))  # type: ignore[arg-type]
        sys.dont_write_bytecode = False
        files = dict.fromkeys(test.partition("::")[0] for test in tests)
        options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", f"--rootdir={root}"]
        code = int(pytest.main([*options, *files], [_Chosen(tests)]))
    finally:
        os._exit(code)


def _wait(child: int, patience: float) -> str:
    """How the child ended; it is ended, with all that it started, when patience is."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            if code == pytest.ExitCode.NO_TESTS_COLLECTED:
                raise SystemExit(
                    "none of the chosen tests was found: what is kept under build/mutants is old"
                )
            return SURVIVED if code == pytest.ExitCode.OK else KILLED
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return TIMED_OUT
