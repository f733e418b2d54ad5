"""`tools/mutants`: which small wrong changes it makes, and whether it knows that a test notices them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tools.mutants.__main__ import EQUIVALENT, draw, known_equivalent, score, trial_of
from tools.mutants.drawing import mutants, untouched
from tools.mutants.judging import chosen
from tools.mutants.reach import Reach
from tools.mutants.rooms import ROOT

LIMIT = '''
"""Text 1."""
MOST: dict[1, 2] = {}

def limit(a: list[3], b):
    """Text 2."""
    if a < b and not b:
        raise ValueError(4)
    for each in sorted(a, key=len):
        if each:
            continue
        a[each] = f"{5 + 6}"
    return max(a, 7)
'''
CHANGES = {
    ("a < b and (not b)", "True"),
    ("a < b and (not b)", "False"),
    ("a < b and (not b)", "a < b or not b"),
    ("a < b and (not b)", "a < b"),
    ("a < b and (not b)", "not b"),
    ("a < b", "a <= b"),
    ("not b", "b"),
    ("sorted(a, key=len)", "sorted(a)"),
    ("sorted(a, key=len)", "sorted(a, key=len, reverse=True)"),
    ("each", "True"),
    ("each", "False"),
    ("continue", "break"),
    ("continue", "pass"),
    ("a[each] = f'{5 + 6}'", "pass"),
    ("return max(a, 7)", "pass"),
    ("return max(a, 7)", "return None"),
    ("max(a, 7)", "min(a, 7)"),
    ("7", "8"),
}


def written(folder: Path, text: str, name: str = "lib") -> Path:
    (folder / "src").mkdir(exist_ok=True)
    path = folder / "src" / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    return path


def test_every_rule_is_changed_and_no_text_type_or_error(tmp_path: Path) -> None:
    found = mutants(written(tmp_path, LIMIT))
    assert {(each.before, each.after) for each in found} == CHANGES
    assert len({each.source for each in found}) == len(found)
    for each in found:
        assert sum(a != b for a, b in zip(each.source.split("\n"), LIMIT.split("\n"), strict=True)) == 1
        assert (each.function, each.imported) == ("limit", False)
        assert each.line in each.statement


def test_what_runs_at_import_is_known_as_such(tmp_path: Path) -> None:
    text = "MOST = 3\n\nclass Box:\n    size = 4\n\n    def room(self, more=5):\n        return 6\n"
    found = {each.before: (each.function, each.imported) for each in mutants(written(tmp_path, text))}
    assert found["3"] == ("", True)
    assert found["4"] == ("Box", True)
    assert found["5"] == ("Box", True)
    assert found["6"] == ("Box.room", False)


def test_the_same_mutants_are_drawn_when_code_elsewhere_has_changed(tmp_path: Path) -> None:
    path = written(tmp_path, LIMIT)
    before = draw([path], 9, 1)
    assert before == draw([path], 9, 1)
    assert {each.key for each in before} != {each.key for each in draw([path], 9, 2)}
    written(tmp_path, f"def more(c):\n    return c + 1\n{LIMIT}")
    after = {each.key for each in draw([path], 9, 1) if each.function == "limit"}
    assert after
    assert after <= {each.key for each in before}


def test_a_mutant_is_tried_on_its_rooms_tests_first_and_then_on_the_quickest() -> None:
    seconds = {"tests/a/x": 5.0, "tests/b/slow": 30.0, "tests/b/y": 0.2, "tests/a/z": 1.0, "tests/b/w": 0.1}
    assert list(chosen([*seconds], seconds, "tests/a")) == [
        "tests/a/z",
        "tests/a/x",
        "tests/b/w",
        "tests/b/y",
    ]
    assert list(chosen(["tests/b/slow"], seconds, "tests/a")) == ["tests/b/slow"]


def test_a_sentence_is_tried_on_its_table_which_no_test_reaches() -> None:
    """The table is made when its file is imported."""
    seconds = {"tests/quota/test_sentences.py::test_a": 0.1, "tests/quota/test_rules.py::test_b": 0.1}
    tried = {}
    for file in ("src/reprieve/quota/sentences.py", "src/reprieve/quota/demand.py"):
        mutant = untouched(ROOT / file)._replace(statement=range(1, 2))
        tried[file] = [*trial_of("quota", mutant, Reach(seconds, {})).tests]
    assert [*tried.values()] == [["tests/quota/test_sentences.py::test_a"], []]


JUDGE = """
import json, sys
from pathlib import Path
from tools.mutants import judging
from tools.mutants.drawing import mutants, untouched
judging.PATIENCE = 6.0
root = Path(sys.argv[1])
path = root / "src/lib.py"
tests = {"test_lib.py::test_down": 0.1, "test_lib.py::test_any": 0.1}
trials = [judging.Trial(each, tests) for each in [untouched(path), *mutants(path)]]
found = judging.judge(trials, 2, root)
rows = [[*each.trial.mutant.key[2:], each.outcome, each.by] for each in found]
print(json.dumps(rows))
"""
LIB = """
def down(n):
    while n > 1:
        n -= 1
    return n

def unseen():
    return 9
"""
TESTS = """
from hypothesis import given, strategies as st
from lib import down

def test_down():
    assert down(4) == 1

@given(st.integers(-5, 5))
def test_any(n):
    assert down(n) <= 1
"""


def test_a_mutant_is_killed_survives_or_hangs(tmp_path: Path) -> None:
    """In a process of its own: what judges forks, and must not have imported what it mutates."""
    path = written(tmp_path, LIB)
    (tmp_path / "test_lib.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = src\n")
    command = [sys.executable, "-c", JUDGE, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found = {
        (before, after): (how, by.removeprefix("test_lib.py::"))
        for before, after, how, by in json.loads(done.stdout)
    }
    assert found == {
        ("", ""): ("survived", ""),
        ("n > 1", "n >= 1"): ("killed", "test_down"),
        ("1", "2"): ("killed", "test_down"),
        ("n -= 1", "pass"): ("timed out", "test_down"),
        ("n -= 1", "n += 1"): ("timed out", "test_down"),
        ("return n", "pass"): ("killed", "test_down"),
        ("return n", "return None"): ("killed", "test_down"),
        ("return 9", "pass"): ("survived", ""),
        ("return 9", "return None"): ("survived", ""),
        ("9", "10"): ("survived", ""),
    }  # fmt: skip
    assert path.read_text() == LIB
    assert not list(tmp_path.rglob("*.json"))


def test_equivalent_mutants_are_named_by_their_text_with_a_reason(tmp_path: Path) -> None:
    listed = tmp_path / "equivalent.toml"
    listed.write_text(
        '[[mutant]]\nfile = "src/lib.py"\nin = "down"\nbefore = "a"\nafter = "b"\nwhy = "same"\n'
    )
    assert known_equivalent(listed) == {("src/lib.py", "down", "a", "b"): "same"}


def test_every_mutant_that_is_listed_as_equivalent_can_still_be_made() -> None:
    known = known_equivalent(EQUIVALENT)
    made = {each.key for file in {key[0] for key in known} for each in mutants(ROOT / file, known)}
    assert known.keys() <= made, "what no longer exists is taken off the list"
    assert all(why.strip() for why in known.values())


@pytest.mark.parametrize(
    ("outcomes", "share"),
    [
        ("", 100),
        ("killed", 100),
        ("survived", 0),
        ("killed survived timed-out killed", 75),
        ("equivalent killed", 100),
    ],
)
def test_the_score_counts_those_that_were_noticed_and_not_the_equivalent_ones(
    outcomes: str, share: int
) -> None:
    rows: list[dict[str, object]] = [{"outcome": each.replace("-", " ")} for each in outcomes.split()]
    assert score(rows)[0] == share
