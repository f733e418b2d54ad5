"""Reading traces: the common form, and everything that can be wrong with a file."""

import gzip
from pathlib import Path

import pytest

from reprieve.objects import ReprieveError
from reprieve.simulate import COLUMNS, TraceError, read_node_events, read_trace, ticks

HEAD = ",".join(COLUMNS) + "\n"
GOOD = "a,0,10,ana,q,2,500,64,0.5,2,training,failed,30\n"


@pytest.fixture
def write(tmp_path: Path):
    def written(content: str | bytes, name: str = "jobs.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return written


def test_a_row_becomes_a_job(write):
    (job,) = read_trace(write(HEAD + GOOD)).jobs
    assert (job.name, job.submit, job.duration, job.user, job.queue) == ("a", 0, ticks(10), "ana", "q")
    assert (job.pods, job.cpu, job.memory, job.gpu, job.gpus) == (2, 500, 64, 500, 1000)
    assert (job.klass, job.priority, job.kind, job.outcome) == ("high", 1000, "training", "failed")
    assert job.deadline == ticks(30)


def test_only_three_columns_are_needed_in_any_order(write):
    (job,) = read_trace(write("duration_s,job,submit_s\n5,a,1.5\n")).jobs
    assert (job.name, job.submit, job.duration, job.pods, job.gpu) == ("a", ticks(1.5), ticks(5), 1, 0)


def test_a_compressed_file_that_was_cut_off_says_in_which_line(write):
    rows = "".join(f"j{number},{number},{number * number % 977}\n" for number in range(3000))
    packed = gzip.compress(f"job,submit_s,duration_s\n{rows}".encode())
    with pytest.raises(TraceError, match="damaged or was cut off") as caught:
        read_trace(write(packed[: len(packed) // 2]))
    line = int(str(caught.value).split(": ")[0].rsplit(":", 1)[1])
    assert 1000 < line < 2000
    with pytest.raises(TraceError, match=r":1: .*damaged or was cut off"):
        read_trace(write(packed[:20]))


def test_gzipped_files_are_read_whatever_their_name(write):
    assert len(read_trace(write(gzip.compress((HEAD + GOOD).encode()))).jobs) == 1


def test_windows_line_ends_and_a_byte_order_mark_are_read(write):
    assert len(read_trace(write("\ufeff" + (HEAD + GOOD).replace("\n", "\r\n"))).jobs) == 1


def test_a_row_without_a_run_time_is_counted_and_left_out(write):
    trace = read_trace(write(HEAD + "a,0,,,,1,,,1,0,,pending,\n" + GOOD.replace("a", "b", 1)))
    assert (len(trace.jobs), trace.never_ran) == (1, 1)
    assert trace.notes == ("1 row without duration_s left out: the trace does not say how long they ran",)


def test_a_trace_without_priorities_says_so_or_draws_them(write):
    path = write("job,submit_s,duration_s\n" + "".join(f"j{n},{n},1\n" for n in range(100)))
    assert {job.priority for job in read_trace(path).jobs} == {0}
    assert "all jobs are equal" in read_trace(path).notes[0]
    drawn = read_trace(path, drawn=True)
    assert {job.klass for job in drawn.jobs} == {"high", "normal", "low"}
    assert "drawn" in drawn.notes[0]


WRONG = {
    "negative submit": (GOOD.replace("a,0", "a,-1"), 2, "submit_s is negative: -1"),
    "negative duration": (GOOD.replace(",10,", ",-10,"), 2, "duration_s is negative: -10"),
    "no submit": (GOOD.replace("a,0", "a,"), 2, "submit_s is missing"),
    "a date": (GOOD.replace("a,0", "a,2026-01-01T00:00:00"), 2, "without dates or zones"),
    "not a number": (GOOD.replace("a,0", "a,nan"), 2, "submit_s is out of range"),
    "infinite": (GOOD.replace(",10,", ",inf,"), 2, "duration_s is out of range"),
    "in another unit": (
        GOOD.replace("a,0", "a,999999999999"),
        2,
        "submit_s is more than 100 years: 999999999999; times are seconds",
    ),
    "hardly any GPU": (
        GOOD.replace(",0.5,2", ",0.0004,2"),
        2,
        "gpu_per_pod is less than a thousandth: 0.0004",
    ),
    "no name": (GOOD.replace("a", "", 1), 2, "the job has no name"),
    "a slash": (GOOD.replace("a", "team/a", 1), 2, "the job 'team/a' has a / in its name"),
    "twice": (GOOD + GOOD, 3, "the job 'a' is there twice, first in line 2"),
    "not sorted": (
        GOOD.replace("a,0", "b,9") + GOOD,
        3,
        "is earlier than the row before; sort the rows by it",
    ),
    "no pods": (GOOD.replace(",2,500", ",0,500"), 2, "pods must be from 1 to 1,000,000, is 0"),
    "half a pod": (GOOD.replace(",2,500", ",1.5,500"), 2, "pods must be a whole number, is 1.5"),
    "a strange class": (
        GOOD.replace("0.5,2", "0.5,7"),
        2,
        "priority_hint must be 0 (low), 1 (normal) or 2 (high)",
    ),
    "too few fields": (GOOD + "b,1,10\n", 3, "3 fields instead of 13; was the file cut off here?"),
    "too many fields": (GOOD.replace("\n", ",\n"), 2, "14 fields instead of 13"),
    "cut off": (
        GOOD + GOOD.replace("a", "b", 1).rstrip("\n"),
        3,
        "the last line has no end: the file was cut off",
    ),
    "an open quote": (GOOD + '"b,1', 3, "this is no CSV"),
}


@pytest.mark.parametrize(("rows", "line", "problem"), WRONG.values(), ids=WRONG)
def test_a_wrong_row_is_an_error_with_file_and_line(write, rows, line, problem):
    path = write(HEAD + rows)
    with pytest.raises(TraceError) as error:
        read_trace(path)
    assert str(error.value).startswith(f"{path}:{line}: ")
    assert problem in str(error.value)


HEADS = {
    "empty": (b"", ":1: the file is empty"),
    "unknown column": (
        b"job,submit_s,duraton_s\n",
        ":1: unknown column 'duraton_s'; did you mean 'duration_s'?",
    ),
    "column twice": (b"job,job,submit_s,duration_s\n", ":1: the column job is there twice"),
    "column missing": (b"job,submit_s\n", ":1: the column duration_s is missing"),
    "semicolons": (b"job;submit_s;duration_s\n", ":1: the columns are separated by ';' here; write commas"),
    "not text": (b"job\n\na\xff", ":3: byte 6 is not UTF-8"),
    "gzip cut off": (gzip.compress((HEAD + GOOD).encode())[:-12], "damaged or was cut off"),
}


@pytest.mark.parametrize(("content", "problem"), HEADS.values(), ids=HEADS)
def test_a_file_that_is_no_trace_is_refused_whole(write, content, problem):
    path = write(content)
    with pytest.raises(TraceError) as error:
        read_trace(path)
    assert str(error.value).startswith(str(path))
    assert problem in str(error.value)


def test_a_file_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(TraceError, match="No such file"):
        read_trace(tmp_path / "none.csv")


def test_node_events_are_read(write):
    found = read_node_events(write("time_s,event,node\n5,fail,n0\n9.5,return,n0\n"))
    assert [tuple(each) for each in found] == [(ticks(5), "fail", "n0"), (ticks(9.5), "return", "n0")]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("time,event,node\n", ":1: the first line must be time_s,event,node"),
        ("time_s,event,node\n5,fial,n0\n", ":2: unknown event 'fial'; did you mean 'fail'?"),
        ("time_s,event,node\n-5,fail,n0\n", ":2: time_s must be seconds since the first job, is '-5'"),
        ("time_s,event,node\n5,fail\n", ":2: 2 fields instead of 3"),
        ("time_s,event,node\n5,fail,n1", ":2: the last line has no end: the file was cut off"),
        ('time_s,event,node\n5,fail,"n1\n', ":2: this is no CSV"),
        ("time_s,event,node\n1e12,fail,n0\n", ":2: time_s must be seconds"),
        ("time_s,event,node\n1_0,fail,n0\n", ":2: time_s must be seconds"),
        (b"time_s,event,node\n5,fail,\xff\n", ":2: byte 25 is not UTF-8"),
    ],
)
def test_wrong_node_events_are_an_error_with_file_and_line(write, content, problem):
    with pytest.raises(ReprieveError) as error:
        read_node_events(write(content))
    assert problem in str(error.value)


def test_an_event_of_a_node_that_is_not_there_is_an_error_with_file_and_line(write):
    path = write("time_s,event,node\n5,fail,n0\n6,fail,n9\n")
    with pytest.raises(ReprieveError, match=r":3: there is no node n9$"):
        read_node_events(path, lambda event: "" if event.node == "n0" else f"there is no node {event.node}")
