"""`reprieve simulate import`: samples made up for these tests, read back by the reader of the common form."""

import gzip
import os
import threading
from decimal import Decimal
from pathlib import Path

import pytest
from click.testing import CliRunner

from reprieve.cli import main
from reprieve.objects import ReprieveError
from reprieve.simulate import FORMATS, TraceError, common_form, read_foreign, read_trace, ticks, write_common
from reprieve.simulate.importers.records import Fields
from tests.simulate.cluster_dumps import AUDIT, AUDIT_EXPECTED, EVENTS, EVENTS_EXPECTED

ROOT = Path(__file__).parents[2]
SHARED = next((each for each in (ROOT.parent / "shared", ROOT.parents[1] / "shared") if each.is_dir()), None)

PHILLY = """\
timestamp,duration,num_gpus,gpu_time,cluster
2030-05-02 08:00:10,50,12,600,vc_b
2030-05-01 08:00:00,60,1,60,a
2030-05-02 08:00:10,70,0,0,a

"""
CHRONUS = """\
job_id,user,num_gpu,submit_time,iterations,model_name,duration,interval,expect_time_list,expect_value_list,best_effort,job_type
7,vc_x,20,12,1,m,3,1,9,10,0,strict
8,vc_y,1,10,1,m,4,1,10,10,1,best
9,vc_y,2,12,1,m,5,1,30-60,10-5,0,soft
"""
OPENB = """\
name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time
p-1,4000,512,1,250,,LS,Running,30,99,40
p-2,500,64,0,0,,BE,Pending,20,99,
p-3,8000,1024,2,1000,,Burstable,Failed,50,60,55
"""
SURF = """\
id,submission_time,duration,cpu_count,cpu_capacity,mem_capacity,deferrable,deadline
5,1900000002500,1500,4,8400.0,2000,True,1900000012500
6,1900000000000,60000,2,4200.0,1000.5,False,
7,2030-03-17 17:46:41,1000,1,2100.0,1000,,
"""
SPOT = """\
job_name,organization,gpu_model,cpu_request,gpu_request,worker_num,submit_time,duration,job_type
31,org-2,A10,7.5,1,16,100,900,Spot
32,org-3,A10,12,8.0,1,40,80.5,HP
"""
SWF = """\
; Version: 2.2
; MaxProcs: 128
  3 500 10 60 4 -1 -1 8 100 2049 1 11 2 -1 1 -1 -1 -1
  4 480 -1 -1 -1 -1 -1 -1 100 -1 5 -1 -1 -1 1 -1 -1 -1
  5 600 0 30 2 -1.00 -1 -1 -1 -1 0 12 3 -1 1 -1 -1 -1
  5 600 0 10 2 -1 -1 -1 -1 -1 2 12 3 -1 1 -1 -1 -1
"""
SAMPLES = {
    "philly": PHILLY,
    "chronus": CHRONUS,
    "openb": OPENB,
    "surf": SURF,
    "spot-gpu-2026": SPOT,
    "swf": SWF,
    "events": EVENTS,
    "audit": AUDIT,
}
EXPECTED = {
    "philly": [
        "philly-1,0,60,,a,1,,,1,,training,,",
        "philly-0,86410,50,,b,2,,,6,,training,,",
        "philly-2,86410,70,,a,1,,,0,,cpu-only,,",
    ],
    "chronus": [
        "chronus-8,0,240,,y,1,,,1,0,training,,",
        "chronus-7,120,180,,x,4,,,5,2,training,,540",
        "chronus-9,120,300,,y,1,,,2,1,training,,1800",
    ],
    "openb": [
        "p-2,0,,,BE,1,500,64,0,0,batch,pending,",
        "p-1,10,59,,LS,1,4000,512,0.25,2,service,running,",
        "p-3,30,5,,Burstable,1,8000,1024,2,1,batch,failed,",
    ],
    "surf": [
        "surf-6,0,60,,,1,2000,1001,0,1,batch,,",
        "surf-7,1,1,,,1,1000,1000,0,,batch,,",
        "surf-5,2.5,1.5,,,1,4000,2000,0,0,batch,,10",
    ],
    "spot-gpu-2026": [
        "spot-32,0,80.5,,org-3,1,12000,,8,2,,,",
        "spot-31,60,900,,org-2,16,7500,,1,0,,,",
    ],
    "swf": [
        "swf-4,0,,,,,1000,,,,batch,cancelled,",
        "swf-3,20,60,11,2,8,1000,3,,,batch,completed,",
        "swf-5,120,30,12,3,2,1000,,,,batch,failed,",
    ],
    "events": EVENTS_EXPECTED,
    "audit": AUDIT_EXPECTED,
}


@pytest.fixture
def write(tmp_path: Path):
    def written(content: str | bytes, name: str = "source") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return written


def imported(*arguments: object):
    return CliRunner().invoke(main, ["simulate", "import", *map(str, arguments)])


def test_every_format_has_a_sample_and_is_named_by_the_help_and_the_page():
    assert set(FORMATS) == set(SAMPLES) == set(EXPECTED)
    page = (ROOT / "docs" / "simulate.md").read_text()
    for each in FORMATS:
        assert each in imported("--help").stdout
        assert f"| `{each}` |" in page


@pytest.mark.parametrize("format", SAMPLES)
def test_a_sample_becomes_the_common_form_sorted_from_zero(write, format):
    content = common_form(read_foreign(format, write(SAMPLES[format])).records)
    assert content.decode().splitlines()[1:] == EXPECTED[format]


@pytest.mark.parametrize("format", SAMPLES)
@pytest.mark.parametrize("out", ["jobs.csv", "jobs.csv.gz"])
def test_what_is_written_is_read_back_and_has_the_same_bytes_each_time(write, tmp_path, format, out):
    source, target = write(SAMPLES[format]), tmp_path / out
    result = imported("--from", format, source, "--out", target)
    assert (result.exit_code, result.stdout) == (0, ""), result.output
    assert f"{target}: {len(EXPECTED[format])} jobs" in result.stderr
    trace = read_trace(target)
    assert len(trace.jobs) + trace.never_ran == len(EXPECTED[format])
    first = target.read_bytes()
    assert imported("--from", format, source, "--out", target).exit_code == 0
    assert target.read_bytes() == first
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted(["source", out])


def test_jobs_keep_what_the_source_says_of_them(write):
    write_common(read_foreign("chronus", write(CHRONUS)).records, target := write("", "jobs.csv"))
    best, strict, soft = read_trace(target).jobs
    assert (strict.pods, strict.gpu, strict.klass, strict.deadline) == (4, 5000, "high", ticks(540))
    assert (soft.klass, best.klass, best.deadline) == ("normal", "low", None)


def test_without_out_the_jobs_are_printed(write):
    result = imported("--from", "swf", write(SWF))
    assert result.exit_code == 0
    assert result.stdout.splitlines()[1:] == EXPECTED["swf"]
    assert "1 job without a run time" in result.stderr
    assert "1 line of status 2 to 4 left out" in result.stderr


def test_gzipped_sources_and_windows_line_ends_are_read(write):
    path = write(gzip.compress(SPOT.replace("\n", "\r\n").encode()))
    assert (
        common_form(read_foreign("spot-gpu-2026", path).records).decode().splitlines()[1:]
        == (EXPECTED["spot-gpu-2026"])
    )
    crlf = write(SWF.replace("\n", "\r\n"), "crlf")
    assert common_form(read_foreign("swf", crlf).records).decode().splitlines()[1:] == EXPECTED["swf"]


@pytest.mark.parametrize(
    ("total", "pods", "each"),
    [(0, 1, 0), (8, 1, 8), (9, 3, 3), (11, 11, 1), (12, 2, 6), (16, 2, 8), (20, 4, 5), (128, 16, 8)],
)
def test_many_gpus_become_the_fewest_equal_pods_of_at_most_eight(total, pods, each):
    assert Fields("f", 1, 0, {"gpus": str(total)}).gang("gpus") == (pods, Decimal(each))


WRONG: dict[str, tuple[str, tuple[str, str], int, str]] = {
    "a negative time": ("chronus", ("7,vc_x,20,12", "7,vc_x,20,-12"), 2, "submit_time is negative: -12"),
    "a negative duration": ("spot-gpu-2026", (",80.5,", ",-1,"), 3, "duration is negative: -1"),
    "a missing time": ("philly", ("2030-05-01 08:00:00", ""), 3, "timestamp is missing"),
    "a missing duration": ("surf", (",60000,", ",,"), 3, "duration is missing"),
    "a time zone": ("philly", ("01 08:00:00", "01 08:00:00+02:00"), 3, "timestamp has a time zone"),
    "no time": ("philly", ("2030-05-01 08:00:00", "May"), 3, "timestamp is no time: 'May'"),
    "not a number": ("openb", ("p-1,4000", "p-1,nan"), 2, "cpu_milli is no number: 'nan'"),
    "out of range": ("openb", ("p-1,4000", "p-1,1e13"), 2, "cpu_milli is out of range: 1e13"),
    "out of range in seconds": ("chronus", (",m,3,", ",m,1e12,"), 2, "'chronus-7' is out of range"),
    "half a GPU": ("philly", (",1,60,", ",1.5,60,"), 3, "num_gpus must be a whole number, is 1.5"),
    "no workers": ("spot-gpu-2026", (",1,16,", ",1,0,"), 2, "from 1 to 1,000,000 pods, not 0"),
    "too many GPUs": ("philly", (",1,60,", ",99999999,60,"), 3, "99,999,999 GPUs are more than"),
    "an unknown class": ("openb", (",LS,", ",XS,"), 2, "qos must be one of LS, Guaranteed"),
    "ran, never scheduled": ("openb", ("30,99,40", "30,99,"), 2, "scheduled_time is missing"),
    "deleted too early": ("openb", ("30,99,40", "30,39,40"), 2, "deletion_time is earlier"),
    "a deadline in the past": ("surf", ("1900000012500", "1900000000000"), 2, "deadline is earlier"),
    "a name twice": ("openb", ("p-3", "p-1"), 4, "the job 'p-1' is there twice, first in line 2"),
    "an unknown column": ("openb", ("qos", "qoz"), 1, "unknown column 'qoz'; did you mean 'qos'?"),
    "a missing column": ("philly", ("gpu_time,cluster", "gpu_time"), 1, "the column cluster is missing"),
    "too few fields": ("spot-gpu-2026", (",80.5,HP", ""), 3, "7 fields instead of 9; was the file cut off"),
    "an open quote": ("openb", ("p-3", '"p-3'), 4, "this is no CSV"),
    "SWF: too few fields": ("swf", ("  5 600 0 30 2", "  5 600 0"), 5, "16 fields instead of 18"),
    "SWF: no submission": ("swf", ("3 500", "3 -1"), 3, "submit time is missing"),
    "SWF: a negative time": ("swf", ("10 60 4", "10 -60 4"), 3, "run time is negative: -60"),
    "SWF: no processors": ("swf", ("0 30 2", "0 30 -1"), 5, "the job ran, and neither"),
    "SWF: a status": ("swf", ("2049 1 11", "2049 9 11"), 3, "status must be one of 0, 1, 2, 3, 4, 5"),
    "SWF: a date": ("swf", ("3 500", "3 2030-01-01"), 3, "submit time is no number: '2030-01-01'"),
}


@pytest.mark.parametrize(("format", "change", "line", "problem"), WRONG.values(), ids=WRONG)
def test_a_wrong_row_is_named_by_file_and_line_and_nothing_is_written(
    write, tmp_path, format, change, line, problem
):
    assert change[0] in SAMPLES[format]
    source, target = write(SAMPLES[format].replace(change[0], change[1], 1)), write("as it was", "jobs.csv")
    result = imported("--from", format, source, "--out", target)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"{source}:{line}: " in result.stderr
    assert problem in result.stderr
    assert target.read_text() == "as it was"
    assert len(list(tmp_path.iterdir())) == 2


TIMES = {
    "philly": ("timestamp", "duration"),
    "chronus": ("submit_time", "duration", "expect_time_list"),
    "openb": ("creation_time", "deletion_time", "scheduled_time"),
    "surf": ("submission_time", "duration", "deadline"),
    "spot-gpu-2026": ("submit_time", "duration"),
}
MAY_BE_MISSING = {("openb", "deletion_time"), ("openb", "scheduled_time"), ("surf", "deadline")}


@pytest.mark.parametrize(("format", "column"), [(each, column) for each in TIMES for column in TIMES[each]])
@pytest.mark.parametrize("wrong", ["-5", "", "soon", "inf", "1e400", "5 6"])
def test_no_time_of_any_row_is_taken_unseen(write, format, column, wrong):
    """Also where it means nothing: the deadline of a best-effort job, the end of a pod that never began."""
    if not wrong and (format, column) in MAY_BE_MISSING:
        return
    head, *lines = SAMPLES[format].splitlines()
    rows = [each.split(",") for each in lines if each]
    line = 3  # of chronus a best-effort job, of openb a pod that was never scheduled
    rows[line - 2][head.split(",").index(column)] = wrong
    path = write("\n".join([head, *map(",".join, rows)]) + "\n")
    with pytest.raises(TraceError) as error:
        read_foreign(format, path)
    assert str(error.value).startswith(f"{path}:{line}: {column} ")


def test_of_several_deadlines_all_are_looked_at(write):
    for wrong in ("30-soon", "30--60", "30-"):
        with pytest.raises(TraceError, match=r":4: expect_time_list is "):
            read_foreign("chronus", write(CHRONUS.replace("30-60", wrong)))


@pytest.mark.parametrize("format", SAMPLES)
def test_a_file_cut_off_inside_any_line_is_refused(write, format):
    sample = SAMPLES[format]
    pace = 1 + len(sample) // 1000  # what a cluster says of itself is long
    for length in (each for each in range(0, len(sample), pace) if not sample[:each].endswith("\n")):
        path = write(sample[:length])
        with pytest.raises(TraceError) as error:
            read_foreign(format, path)
        assert str(error.value).startswith(str(path))


def test_files_that_are_no_trace_are_refused(write, tmp_path):
    for content, problem in {
        b"": ":1: the file is empty",
        PHILLY.splitlines()[0].encode() + b"\n": "there is no job in it",
        b"timestamp\xff": "is not UTF-8",
        gzip.compress(PHILLY.encode())[:-12]: "damaged or was cut off",
        b"PAR1\x15": "make it CSV first",
    }.items():
        with pytest.raises(TraceError) as error:
            read_foreign("philly", write(content))
        assert problem in str(error.value)
    with pytest.raises(TraceError, match="No such file"):
        read_foreign("swf", tmp_path / "none.swf")
    with pytest.raises(ReprieveError, match="unknown format 'phily'; did you mean 'philly'"):
        read_foreign("phily", write(PHILLY))


def test_the_source_is_never_overwritten_and_a_folder_must_exist(write, tmp_path):
    source = write(SWF)
    same = imported("--from", "swf", source, "--out", source)
    assert (same.exit_code, source.read_text()) == (2, SWF)
    assert "is the file that is imported" in same.stderr
    nowhere = imported("--from", "swf", source, "--out", tmp_path / "none" / "jobs.csv")
    assert nowhere.exit_code == 2
    assert "No such file or directory" in nowhere.stderr


def test_the_import_of_openb_is_the_conversion_of_the_reference_row_by_row():
    if SHARED is None or not (SHARED / "traces" / "original").is_dir():
        pytest.skip("the reference (../shared/traces) is not here; the sample above was compared")
    source = SHARED / "traces" / "original" / "openb_pod_list_default.csv"
    expected = gzip.decompress((SHARED / "traces" / "openb.csv.gz").read_bytes()).decode()
    found = common_form(read_foreign("openb", source).records).decode()
    assert found.splitlines() == expected.splitlines()


def test_a_time_that_the_common_form_would_refuse_is_refused_with_its_line(tmp_path):
    path = tmp_path / "tasks.csv"
    path.write_text("timestamp,duration,num_gpus,cluster\n2017-10-01,10,1,a\n2017-10-02,9e11,1,a\n")
    with pytest.raises(TraceError, match=r":3: the job 'philly-1' has a time of 28,539 years; is this file"):
        read_foreign("philly", path)


def test_a_pipe_is_read_once_and_whole(tmp_path):
    """What was looked at first would be missing from a pipe that is opened again."""
    rows = "".join(f"2017-10-01,{number + 1},1,a\n" for number in range(5000))
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=("timestamp,duration,num_gpus,cluster\n" + rows,))
    writer.start()
    found = read_foreign("philly", pipe)
    writer.join()
    assert len(found.records) == 5000


@pytest.mark.parametrize(
    ("name", "gpu", "problem"),
    [
        ("a/b", "1000", "the job 'a/b' has a / in its name"),
        ("a", "0.2", "the job 'a' asks for less than a thousandth of a GPU: 0.0002"),
    ],
)
def test_what_the_common_form_could_not_be_read_with_is_refused_with_its_line(tmp_path, name, gpu, problem):
    path = tmp_path / "pods.csv"
    head = (
        "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,"
        "creation_time,deletion_time,scheduled_time\n"
    )
    path.write_text(f"{head}{name},1,1,1,{gpu},,LS,Running,0,5,0\n")
    with pytest.raises(TraceError) as error:
        read_foreign("openb", path)
    assert str(error.value).startswith(f"{path}:2: {problem}")
