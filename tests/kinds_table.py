"""The table "kind | plan | quota | fleet | resumed after kill -9" of docs/jobs.md, as the tests show it.

A test that has shown something of a kind calls `show`: if the page says anything else, the test fails.
`python -m tests.kinds_table` runs these tests, writes down what they show and makes the table of it.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from reprieve.jobs import JobKind

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "jobs.md"
COLUMNS = ("plan", "quota", "fleet", "resumed after kill -9")
HEADER = f"| Kind | {' | '.join(COLUMNS)} |"
RECORD = "REPRIEVE_KINDS_RECORD"
"""The file to which `show` adds a line, in place of comparing."""
TESTS = (
    "tests/jobs/test_kinds.py::test_a_plan_for_a_job_places_its_pods_and_speaks_of_the_job",
    "tests/controllers/test_any_kind.py",
    "tests/controllers/test_fleet_kinds.py",
    "tests/controllers/test_kill_9.py",
)


def title(kind: JobKind) -> str:
    """Two projects have a Job."""
    return f"{kind.kind} of Volcano" if kind.group == "batch.volcano.sh" else kind.kind


def show(shown: JobKind, column: str, value: str) -> None:
    assert column in COLUMNS
    kind = title(shown)
    if record := os.environ.get(RECORD):
        with Path(record).open("a") as lines:
            lines.write(json.dumps([kind, column, value]) + "\n")
        return
    said = written().get(kind, {}).get(column)
    assert said == value, f"docs/jobs.md, {kind}, {column}: {said}; write it with python -m tests.kinds_table"


def written() -> dict[str, dict[str, str]]:
    """What the page says: by kind and column."""
    found: dict[str, dict[str, str]] = {}
    for line in PAGE.read_text().partition(HEADER)[2].splitlines()[2:]:
        if not line.startswith("|"):
            break
        kind, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        found[kind] = dict(zip(COLUMNS, cells, strict=True))
    return found


def write(shown: dict[str, dict[str, str]]) -> None:
    rows = [HEADER, "|---" * (len(COLUMNS) + 1) + "|"]
    for kind, cells in sorted(shown.items()):
        rows.append(f"| {kind} | {' | '.join(cells.get(column, 'no') for column in COLUMNS)} |")
    before, _, after = PAGE.read_text().partition(HEADER)
    rest = after.partition("\n\n")[2]
    table = "\n".join(rows)
    PAGE.write_text(f"{before}{table}\n\n{rest}")


def main() -> None:
    shown: dict[str, dict[str, str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "shown.jsonl"
        record.touch()
        command = [sys.executable, "-m", "pytest", "-q", *TESTS]
        done = subprocess.run(command, cwd=ROOT, env={**os.environ, RECORD: str(record)}, check=False)
        for line in record.read_text().splitlines():
            kind, column, value = json.loads(line)
            shown.setdefault(kind, {})[column] = value
    write(shown)
    raise SystemExit(done.returncode)


if __name__ == "__main__":
    main()
