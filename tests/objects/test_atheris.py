"""A short coverage-guided run; the corpus of beginnings is one sample of every kind."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.objects.samples import PATH
from tests.scale import scaled

pytest.importorskip("atheris")
RUNS = scaled(2000)


def test_a_coverage_guided_fuzzer_finds_no_crash(tmp_path: Path) -> None:
    for number, text in enumerate(PATH.read_text().split("---\n")):
        (tmp_path / f"{number}.yaml").write_text(text)
    command = [
        sys.executable,
        "-m",
        "tests.objects.atheris_target",
        f"-runs={RUNS}",
        "-seed=1",
        "-max_len=4096",
        str(tmp_path),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=280)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert f"Done {RUNS} runs" in done.stderr
