"""Every benchmark starts where it is typed as its page says: `python bench/NAME.py`."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

EACH = """
import runpy, sys
usual = [each for each in sys.path if each]
for path in sys.argv[1:]:
    sys.path[:] = [path.rpartition("/")[0], *usual]
    for name in [each for each in sys.modules if each.partition(".")[0] in ("bench", "tests")]:
        del sys.modules[name]
    runpy.run_path(path, run_name="started")
"""


def test_every_benchmark_finds_what_it_imports(tmp_path: Path) -> None:
    """One did not: it was only ever tried from a folder in which Python looks for modules anyway."""
    paths = sorted(map(str, (ROOT / "bench").glob("*.py")))
    done = subprocess.run([sys.executable, "-c", EACH, *paths], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
