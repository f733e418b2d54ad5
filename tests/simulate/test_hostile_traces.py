"""Traces come from others: what is sent to harm is refused with a sentence, for little work."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from reprieve.cli import main
from reprieve.objects import ReprieveError
from reprieve.simulate import TraceError, read_foreign, read_generator, read_trace
from reprieve.simulate.importers.records import Fields
from reprieve.simulate.trace import text_of
from tests.effort import in_proportion
from tests.scale import examples
from tests.simulate.cluster_dumps import AUDIT, ITEMS

HEAD = "job,submit_s,duration_s\n"


def written(tmp_path: Path, content: str | bytes, name: str = "source") -> Path:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def listed(*items: Any) -> str:
    return json.dumps({"apiVersion": "v1", "items": list(items), "kind": "List"}) + "\n"


def test_a_small_file_that_unpacks_to_a_large_one_is_refused(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("reprieve.simulate.trace.MOST_BYTES", 1_000_000)
    bomb = written(tmp_path, gzip.compress(HEAD.encode() + b"\n" * 3_000_000), "bomb.gz")
    with pytest.raises(TraceError, match=r"bomb.gz: more than 1 MB"):
        text_of(bomb)
    assert text_of(written(tmp_path, gzip.compress(HEAD.encode()), "good.gz")) == HEAD


def test_only_as_much_is_unpacked_as_may_be_there(tmp_path: Path, monkeypatch: Any) -> None:
    """A thousand gigabytes of nothing, as ten thousand members of one file, would never end."""
    monkeypatch.setattr("reprieve.simulate.trace.MOST_BYTES", 1_000_000)
    member = gzip.compress(b"\n" * 100_000_000, compresslevel=9)
    with pytest.raises(TraceError, match="more than 1 MB, unpacked"):
        text_of(written(tmp_path, member * 10, "bomb.gz"))


def test_a_device_without_end_is_refused(monkeypatch: Any) -> None:
    monkeypatch.setattr("reprieve.simulate.trace.MOST_BYTES", 1_000_000)
    with pytest.raises(TraceError, match="/dev/zero: more than 1 MB"):
        text_of("/dev/zero")


def test_a_long_number_that_is_none_is_refused_at_once() -> None:
    def work(size: int) -> Any:
        row = Fields("x", 1, 1, {"n": "1" * size + "x"})

        def read() -> None:
            with pytest.raises(TraceError, match="n is no number"):
                row.amount("n")

        return read

    in_proportion(work, 300)


@pytest.mark.parametrize("total", [1_999_966, 7_999_864, 2 * 999_983])
def test_gpus_are_shared_out_among_pods_without_trying_each_number(total: int) -> None:
    """Twice a large prime: its fewest equal pods are a million."""
    pods, gpus = Fields("x", 1, 1, {"n": str(total)}).gang("n")
    assert pods * gpus == total
    assert gpus == max(each for each in range(1, 9) if total % each == 0)


@pytest.mark.parametrize("number", ["9" * 5000, "٣", "1_0", "²"])
def test_a_number_that_kubernetes_would_not_write_is_refused_with_its_line(
    tmp_path: Path, number: str
) -> None:
    with pytest.raises(TraceError, match=r"source:2: .{10,300}$"):
        read_trace(written(tmp_path, f"{HEAD}a,0,{number}\n"))


@pytest.mark.parametrize(
    "broken",
    [
        "[" * 200_000,
        '{"items": [' + '{"a":' * 100_000,
        '{"items": [{"kind": "Pod", "n": ' + "9" * 5000 + "}]}",
    ],
    ids=["deep", "deep object", "long number"],
)
@pytest.mark.parametrize("format", ["events", "audit"])
def test_json_that_cannot_be_read_is_refused_with_its_line(tmp_path: Path, format: str, broken: str) -> None:
    with pytest.raises(TraceError, match=r"source:1: "):
        read_foreign(format, written(tmp_path, broken + "\n"))


WILD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=4,
)


def replaced(document: Any, draw: Any) -> Any:
    """The document with something wild at one of its places."""
    if not isinstance(document, dict | list) or not document or draw(st.integers(0, 4)) == 0:
        return draw(WILD)
    key = draw(st.sampled_from(sorted(document) if isinstance(document, dict) else range(len(document))))
    made = dict(document) if isinstance(document, dict) else list(document)
    made[key] = replaced(document[key], draw)  # type: ignore[index,call-overload]
    return made


def refused(format: str, path: Path) -> str:
    """Why it is, with file and line; empty if it is not."""
    try:
        read_foreign(format, path)
    except TraceError as error:
        return str(error)
    return ""


@examples(300)
@given(st.data())
def test_whatever_a_cluster_is_said_to_hold_is_read_or_refused(tmp_path_factory: Any, data: Any) -> None:
    path = tmp_path_factory.getbasetemp() / "wild"
    items = [*ITEMS]
    place = data.draw(st.integers(0, len(items) - 1))
    items[place] = replaced(items[place], data.draw)
    path.write_text(listed(*items))
    said = refused("events", path)
    assert not said or said.startswith(f"{path}:")


@examples(300)
@given(st.data())
def test_whatever_an_audit_log_says_is_read_or_refused(tmp_path_factory: Any, data: Any) -> None:
    path = tmp_path_factory.getbasetemp() / "wild"
    lines = [json.loads(line) for line in AUDIT.splitlines()]
    place = data.draw(st.integers(0, len(lines) - 1))
    lines[place] = replaced(lines[place], data.draw)
    path.write_text("".join(f"{json.dumps(each)}\n" for each in lines))
    said = refused("audit", path)
    assert not said or said.startswith(f"{path}:")


GENERATOR = """
cohorts:
- className: cohort
  count: {cohorts}
  queuesSets:
  - className: cq
    count: 1
    nominalQuota: 20
    workloadsSets:
    - count: {count}
      creationIntervalMs: {interval}
      workloads: [{{className: small, runtimeMs: {runtime}, request: 1, podCount: {pods}}}]
"""
USUAL = {"cohorts": 1, "count": 1, "interval": 100, "runtime": 200, "pods": 1}


@pytest.mark.parametrize(
    "wrong",
    [
        {"count": 10**12},
        {"cohorts": 10**9},
        {"cohorts": 10**4, "count": 10**4},
        {"count": -1},
        {"interval": -1},
        {"interval": 10**30},
        {"runtime": -5},
        {"runtime": 10**40},
        {"pods": 0},
        {"pods": 10**9},
    ],
    ids=str,
)
def test_a_generator_that_would_never_end_is_refused(tmp_path: Path, wrong: dict[str, int]) -> None:
    path = written(tmp_path, GENERATOR.format(**{**USUAL, **wrong}), "generator.yaml")
    with pytest.raises(ReprieveError, match=r"generator.yaml: "):
        read_generator(path)


def test_a_generator_that_is_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReprieveError, match=r"generator.yaml: "):
        read_generator(written(tmp_path, b"cohorts: \xff\xfe", "generator.yaml"))


EVIL = "\x1b[2J\x1b]0;owned\x07"


def test_no_trace_steers_a_terminal(tmp_path: Path) -> None:
    path = written(tmp_path, f"job,submit_s,duration_s,queue,user\na{EVIL},0,60,q{EVIL},u{EVIL}\n", "t.csv")
    for arguments in (
        ["simulate", "--trace", str(path), "--nodes", "n=1:cpu=1"],
        ["simulate", "--trace", str(path), "--nodes", "n=1:cpu=1", "-o", "json"],
        ["simulate", "--trace", str(path), "--nodes", "n=1:cpu=1", "-o", "html"],
        ["simulate", "import", "--from", "swf", str(path)],
        ["simulate", "import", "--from", "openb", str(path)],
    ):
        result = CliRunner().invoke(main, arguments)
        assert result.output, arguments
        assert "\x1b" not in result.output, arguments
