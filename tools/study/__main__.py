"""python -m tools.study: see the package."""

import argparse
import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tools.study.cells import STEADY, Cells, Key, keys, read_answer
from tools.study.tables import PAGE, written


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.study", description="The study of docs/study.md.")
    actions = parser.add_subparsers(dest="action", required=True)
    run = actions.add_parser("run", help="run the cells that are missing")
    run.add_argument("--traces", type=Path, required=True, help="the folder with the public traces")
    run.add_argument("--only", default="", help="cells whose name contains this, e.g. chronus-110")
    run.add_argument("--again", action="store_true", help="also cells that were run before")
    run.add_argument("--processes", type=int, default=2)
    actions.add_parser("write", help="write the tables of docs/study.md")
    options = parser.parse_args()
    if options.action == "run":
        return _run(options)
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), Cells()), encoding="utf-8")
    return 0


def _run(options: argparse.Namespace) -> int:
    cells, commit = Cells(), _commit()
    wanted = [
        each for each in (keys() if options.again else cells.missing()) if options.only in "/".join(each)
    ]
    with ThreadPoolExecutor(options.processes) as pool:
        for key, (seconds, answer) in zip(
            wanted, pool.map(lambda key: _simulate(key, options.traces), wanted), strict=True
        ):
            cells.put(key, read_answer(answer, commit))
            print(f"{'/'.join(key)}: {seconds:.0f} s", flush=True)
    return 0


def _simulate(key: Key, traces: Path) -> tuple[float, dict[str, object]]:
    begun = time.monotonic()
    command = [sys.executable, "-m", "reprieve", "simulate", *key.arguments(traces), "--processes", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return time.monotonic() - begun, json.loads(done.stdout)


def _commit() -> str:
    """The code that is run. What a run itself writes, the cells, is none."""
    known = ["git", "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(known, capture_output=True, text=True, check=True).stdout.strip()
    changed = subprocess.run(["git", "diff", "--quiet", "HEAD", "--", "src", STEADY], check=False).returncode
    return f"{commit}-dirty" if changed else commit


if __name__ == "__main__":
    sys.exit(main())
