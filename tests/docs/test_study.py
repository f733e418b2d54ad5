"""The tables of docs/study.md are written from what was run, and judged as the page says."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from tools.study.cells import SCENARIOS, Cell, Cells, Key, keys, read_answer
from tools.study.tables import PAGE, missed, written

from reprieve.cli import main

EXAMPLE = Path(__file__).parents[2] / "examples" / "40-simulate"
BASE = Cell(300.0, 10, 0.99, 0.96, "1", 100.0, 1.0, 2.0, "abc")


def test_the_page_says_what_the_cells_say():
    page = PAGE.read_text(encoding="utf-8")
    assert page.count("<!-- study: ") == page.count("<!-- end -->") == 9
    assert written(page, Cells()) == page


def test_a_cell_is_read_from_the_answer_of_the_command():
    line = (
        f"simulate --trace {EXAMPLE / 'gaps.csv'} --nodes gpu=1:nvidia.com/gpu=1 -o json --compare kubernetes"
    )
    result = CliRunner().invoke(main, line.split())
    assert result.exit_code == 0, result.output
    cell = read_answer(json.loads(result.stdout), "abc")
    assert (round(cell.lost, 2), cell.preemptions, round(cell.goodput, 4)) == (0.92, 11, 0.8136)
    assert (cell.lowest, cell.lowest_class, cell.p99_high, cell.commit) == (cell.goodput, "1", 0.0, "abc")


def test_what_is_run_is_what_the_page_tells_to_run():
    key = Key("chronus-110", "never", "steady")
    said = "--trace T/chronus-mix1.csv.gz --scenario chronus-110 --checkpoint 0s"
    assert key.arguments(Path("T")) == f"{said} --compare examples/40-simulate/steady.yaml -o json".split()
    said = "--trace T/openb.csv.gz --scenario openb-60 --announce-checkpoints --compare minimal-cost -o json"
    assert Key("openb-60", "half-hour", "minimal-cost, announced").arguments(Path("T")) == said.split()
    assert len(list(keys())) == len(SCENARIOS) * (5 + 4)


AIMS = {
    "a third less": (BASE._replace(lost=200.0), []),
    "not quite": (BASE._replace(lost=200.1), ["loss"]),
    "longer waits": (BASE._replace(lost=1.0, p99_high=101.0), ["p99"]),
    "a class below": (BASE._replace(lost=1.0, lowest=0.9499), ["goodput"]),
    "all of it": (BASE._replace(lowest=0.5, p99_high=1e6), ["loss", "p99", "goodput"]),
}


@pytest.mark.parametrize(("cell", "parts"), AIMS.values(), ids=AIMS)
def test_the_aim(cell, parts):
    assert missed(BASE, cell) == parts


def test_cells_are_kept_in_the_order_of_the_page(tmp_path):
    path = tmp_path / "cells.json"
    first, *_, last = keys()
    cells = Cells(path)
    cells.put(last, BASE)
    cells.put(first, BASE)
    assert [Key(*name.split("/")) for name in json.loads(path.read_text())] == [first, last]
    assert Cells(path).get(last) == BASE
    assert len(Cells(path).missing()) == len(list(keys())) - 2
