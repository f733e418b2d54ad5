"""Which tests reach which line, learnt once for each file of tests and kept under build/.

A test file that changed is measured again. When the core or a shared test helper changed, all files are.
"""

import hashlib
import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import coverage
import pytest
from tools.mutants.rooms import ROOT

KEPT = ROOT / "build/mutants"
CORE = ("objects", "jobs", "config", "cluster", "placement", "preemption", "quota", "scheduler", "fleet")
SELECTED = "not slow and not real"


class Reach(NamedTuple):
    seconds: dict[str, float]
    """How long each test took."""
    lines: dict[str, dict[int, list[str]]]
    """{module's path: {line: tests that run it}}; importing is no test."""

    def of(self, path: Path, lines: Iterable[int] | None) -> list[str]:
        """The tests that run any of these lines, or with None any line of the module."""
        known = self.lines.get(_name(path), {})
        return sorted({test for line in (known if lines is None else lines) for test in known.get(line, ())})


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)


def learn(files: Sequence[Path]) -> Reach:
    """What these files of tests reach; those that nothing is known about yet are run."""
    shared = _digest(_shared())
    kept = {path: KEPT / f"{path.parent.name}-{path.stem}-{_digest([path], shared)}.json" for path in files}
    unknown = [path for path in files if not kept[path].exists()]
    if unknown:
        print(f"running {len(unknown)} files of tests to see what they reach", flush=True)
        KEPT.mkdir(parents=True, exist_ok=True)
        wanted = {_name(path): str(kept[path]) for path in unknown}
        command = [sys.executable, "-m", "tools.mutants.reach", json.dumps(wanted)]
        subprocess.run(command, cwd=ROOT, check=True, stdout=sys.stderr)
    seconds: dict[str, float] = {}
    lines: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    for found in kept.values():
        known = json.loads(found.read_text())
        seconds |= known["seconds"]
        for module, reached in known["lines"].items():
            for line, numbers in reached.items():
                lines[module][int(line)] += [known["tests"][number] for number in numbers]
    return Reach(seconds, lines)


def _shared() -> Iterator[Path]:
    for room in CORE:
        yield from sorted((ROOT / "src/reprieve" / room).rglob("*.py"))
    yield from sorted(path for path in (ROOT / "tests").rglob("*.py") if not path.name.startswith("test_"))


def _digest(paths: Iterable[Path], begin: str = "") -> str:
    digest = hashlib.sha256(begin.encode())
    for path in paths:
        digest.update(str(path).encode() + path.read_bytes())
    return digest.hexdigest()[:16]


class _Watch:
    """A plugin of pytest: says to coverage which test runs, and how long each took."""

    def __init__(self, measured: coverage.Coverage) -> None:
        self._measured = measured
        self.seconds: dict[str, float] = defaultdict(float)
        self.failed: list[str] = []

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._measured.switch_context(item.nodeid)
        try:
            return (yield)
        finally:
            self._measured.switch_context("")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] += report.duration
        if report.outcome == "failed":
            self.failed.append(report.nodeid)


def _measure(wanted: dict[str, str]) -> None:
    """Run the tests, and write what each file reaches into the file that belongs to it."""
    packages = [f"reprieve.{room}" for room in CORE]
    measured = coverage.Coverage(data_file=None, source_pkgs=packages, config_file=False)
    measured.set_option("run:disable_warnings", ["module-not-imported"])
    watch = _Watch(measured)
    measured.start()
    pytest.main(["-q", "-p", "no:cacheprovider", "-m", SELECTED, *wanted], [watch])
    measured.stop()
    if watch.failed:
        raise SystemExit(f"these fail without any mutation: {', '.join(watch.failed)}")
    reached: dict[str, dict[str, dict[int, list[str]]]] = defaultdict(lambda: defaultdict(dict))
    data = measured.get_data()
    for module in data.measured_files():
        for line, contexts in data.contexts_by_lineno(module).items():
            for test in filter(None, contexts):
                of_file = reached[test.partition("::")[0]][_name(Path(module))]
                of_file.setdefault(line, []).append(test)
    for name, kept in wanted.items():
        tests = sorted(test for test in watch.seconds if test.partition("::")[0] == name)
        number = {test: index for index, test in enumerate(tests)}
        lines = {
            module: {line: sorted(number[test] for test in found) for line, found in of_module.items()}
            for module, of_module in reached[name].items()
        }
        seconds = {test: watch.seconds[test] for test in tests}
        Path(kept).write_text(json.dumps({"tests": tests, "seconds": seconds, "lines": lines}))


if __name__ == "__main__":
    _measure(json.loads(sys.argv[1]))
