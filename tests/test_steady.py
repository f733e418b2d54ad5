"""`tools/steady.py`: the same tests again and again, some of them beside busy cores."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tools.steady import BURNERS_PER_CORE, busy_cores, is_busy

ROOT = Path(__file__).parents[1]
FLAKE = """
import pathlib
MARK = pathlib.Path(__file__).with_name("ran")

def test_fails_the_second_time():
    times = int(MARK.read_text()) if MARK.exists() else 0
    MARK.write_text(str(times + 1))
    assert times != 1
"""


def test_a_failure_is_named_with_its_seed_and_is_the_exit_code(tmp_path: Path) -> None:
    (tmp_path / "test_flake.py").write_text(FLAKE)
    options = ["--runs", "3", "--busy", "0", "--seed", "40", "--logs", str(tmp_path / "logs")]
    # An option of pytest with a value of its own: the value was taken for a file.
    selection = [str(tmp_path / "test_flake.py"), f"--rootdir={tmp_path}", "-m", "not slow"]
    done = subprocess.run(
        [sys.executable, "tools/steady.py", *options, *selection],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    first, second, name, third, last = done.stdout.splitlines()
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 passed  ok" in first
    assert "seed 42" in second
    assert "FAILED" in second
    assert "test_fails_the_second_time  --hypothesis-seed=42" in name
    assert "1 passed  ok" in third
    assert last == "2 of 3 runs without a failure"
    assert "assert 1 != 1" in (tmp_path / "logs/run-2.log").read_text()


@pytest.mark.parametrize(("runs", "busy"), [(20, 10), (3, 1), (5, 5), (5, 0), (7, 3)])
def test_as_many_runs_are_busy_as_were_asked_for(runs: int, busy: int) -> None:
    assert sum(is_busy(number, runs, busy) for number in range(1, runs + 1)) == busy


def test_the_busy_processes_end_with_the_run() -> None:
    with busy_cores(BURNERS_PER_CORE):
        listed = _children()
        assert len(listed) == BURNERS_PER_CORE
    assert not _children()


def _children() -> list[str]:
    done = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    return [line for line in done.stdout.splitlines() if f"os.getppid() == {os.getpid()}" in line]
