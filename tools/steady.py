"""python tools/steady.py --runs 20 --busy 10 tests/server tests/kube: the same tests again and again.

A test that fails once in twenty runs tells of a race. Of the runs `--busy` many have every core kept busy by
somebody else, which is when races show. One line for each run; of each failure its name, the seed of its
generated input and how to run it again. Exit code 1 if there was any.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

BURNERS_PER_CORE = 2
"""So that a test gets a third of a core."""
_BURN = "import os\nwhile os.getppid() == {parent}:\n    sum(range(100_000))"
"""Ends with whoever started it, however that ends."""
_COUNTED = re.compile(r"(\d+) (passed|failed|error|errors|skipped)")
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.M)


class Run(NamedTuple):
    number: int
    busy: bool
    seed: int
    seconds: float
    code: int
    printed: str

    @property
    def failed(self) -> list[str]:
        return _FAILED.findall(self.printed)

    @property
    def counts(self) -> str:
        """Of the last line that counts; other programs may have said something after it."""
        found = [_COUNTED.findall(line) for line in self.printed.splitlines()]
        last: list[tuple[str, str]] = next((each for each in reversed(found) if each), [])
        return ", ".join(f"{number} {what}" for number, what in last) or "no result"

    def line(self) -> str:
        where = "busy " if self.busy else "quiet"
        said = "ok" if self.code == 0 else f"FAILED ({self.code})"
        return (
            f"run {self.number:3d}  {where}  seed {self.seed}  {self.seconds:6.0f} s  {self.counts}  {said}"
        )


@contextmanager
def busy_cores(number: int) -> Iterator[None]:
    """So many processes that do nothing but work, until the end."""
    command = [sys.executable, "-c", _BURN.format(parent=os.getpid())]
    burners = [subprocess.Popen(command) for _ in range(number)]
    try:
        yield
    finally:
        for each in burners:
            each.kill()
        for each in burners:
            each.wait()


def one_run(number: int, busy: bool, seed: int, selection: Sequence[str], patience: float) -> Run:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "0"]
    command += [f"--hypothesis-seed={seed}", *selection]
    begin = time.monotonic()
    with busy_cores(BURNERS_PER_CORE * (os.cpu_count() or 1) if busy else 0):
        try:
            ended = subprocess.run(command, capture_output=True, text=True, timeout=patience, check=False)
            code, printed = ended.returncode, ended.stdout + ended.stderr
        except subprocess.TimeoutExpired as error:
            said = error.stdout or b""
            code, printed = 124, said.decode(errors="replace") if isinstance(said, bytes) else said
    return Run(number, busy, seed, time.monotonic() - begin, code, printed)


def is_busy(number: int, runs: int, busy: int) -> bool:
    """Spread evenly: the n-th run is busy where the share of busy ones passes a whole number."""
    return (number * busy) // runs > ((number - 1) * busy) // runs


def main(options: argparse.Namespace) -> int:
    options.logs.mkdir(parents=True, exist_ok=True)
    bad: list[Run] = []
    for number in range(1, options.runs + 1):
        busy = is_busy(number, options.runs, options.busy)
        run = one_run(number, busy, options.seed + number, options.selection, options.patience)
        print(run.line(), flush=True)
        if run.code:
            bad.append(run)
            log = options.logs / f"run-{number}.log"
            log.write_text(run.printed, encoding="utf-8")
            for name in run.failed or ["(no test is named)"]:
                print(f"    {name}  --hypothesis-seed={run.seed}  see {log}", flush=True)
    print(f"{options.runs - len(bad)} of {options.runs} runs without a failure")
    return 1 if bad else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python tools/steady.py", description=__doc__)
    parser.add_argument("selection", nargs="...", help="pytest's files and options, after our own")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--busy", type=int, default=10, help="so many of them with busy cores")
    parser.add_argument("--seed", type=int, default=0, help="the first run's seed is one more, and so on")
    parser.add_argument("--patience", type=float, default=3600, help="seconds after which a run is given up")
    parser.add_argument("--logs", type=Path, default=Path("build/steady"), help="where failed runs are kept")
    sys.exit(main(parser.parse_args()))
