"""Runs in the records: a ring, the lines of the file, and what is no run."""

from datetime import UTC, datetime

import pytest

from reprieve.records import Decision, DecisionLog, Run
from reprieve.records.run import runs_in

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


def run(name="train", seconds=60.0, **more):
    return Run(ran=f"Job/ml/{name}", time=NOW, seconds=seconds, **{"end": "ended", **more})


def decision(name="train"):
    return Decision(time=NOW, controller="scheduler", for_=f"Pod/ml/{name}", outcome="scheduled")


def test_the_file_keeps_runs_next_to_decisions_and_they_are_read_again(tmp_path):
    log = DecisionLog(path=tmp_path / "records")
    log.add(decision())
    log.add_run(run(uid="u", queue="research"))
    log.add(decision("other"))
    log.close()
    again = DecisionLog(path=tmp_path / "records")
    assert [*again.runs] == [run(uid="u", queue="research")]
    assert [each.for_ for each in again.find()] == ["Pod/ml/other", "Pod/ml/train"]
    assert again.add(decision()).id == "3"


def test_only_so_many_runs_are_kept():
    log = DecisionLog()
    for number in range(10_050):
        log.add_run(run(f"nightly-{number}"))
    assert len(log.runs) == 10_000
    assert log.runs[0].ran == "Job/ml/nightly-50"


@pytest.mark.parametrize(
    "line",
    [
        b'{"ran": "Job/ml/a", "time": "2026-01-01T00:00:00Z", "seconds": -1, "end": "ended"}',
        b'{"ran": "Job/ml/a", "time": "2026-01-01T00:00:00Z", "seconds": 1e300, "end": "ended"}',
        b'{"ran": "train", "time": "2026-01-01T00:00:00Z", "seconds": 1, "end": "ended"}',
        b'{"ran": "Job/ml/a", "time": "2026-01-01T00:00:00Z", "seconds": 1, "end": "asleep"}',
        b'{"ran": "Job/ml/a", "time": "2026-01-',
        b"\xff\xfe",
    ],
)
def test_a_line_that_is_no_run_is_skipped(line):
    good = b'{"ran":"Job/ml/a","time":"2026-01-01T00:00:00Z","seconds":1.5,"end":"ended"}'
    assert [each.seconds for each in runs_in([line, good])] == [1.5]
