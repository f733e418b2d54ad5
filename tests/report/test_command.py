"""`reprieve simulate --out`, `-o html` and `--plots`."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from reprieve.cli import main
from reprieve.report import plots

EXAMPLE = Path(__file__).parents[2] / "examples" / "40-simulate"
LINE = f"simulate --trace {EXAMPLE / 'jobs.csv'} --nodes gpu=4:nvidia.com/gpu=8 --until 2h --processes 1"


def simulate(line: str):
    return CliRunner().invoke(main, f"{LINE} {line}".split())


def test_the_report_goes_to_a_file_and_the_table_to_the_screen(tmp_path):
    out = tmp_path / "report.html"
    result = simulate(f"--compare fifo --compare kep-5710 --out {out} --plots {tmp_path / 'figures'}")
    assert result.exit_code == 0, result.output
    assert "Waiting and completion" in result.stdout
    assert f"report in {out}" in result.stderr
    assert "12 pictures in" in result.stderr
    text = out.read_text()
    assert text.startswith("<!doctype html>")
    assert "kep-5710 instead of fifo" in text
    assert (tmp_path / "figures" / "use.svg").exists()


def test_the_report_can_be_the_answer_and_is_the_same_each_time():
    first, second = simulate("-o html"), simulate("-o html")
    assert first.exit_code == 0, first.output
    assert first.stdout_bytes == second.stdout_bytes
    assert first.stdout.startswith("<!doctype html>")


def test_nodes_of_a_fleet_are_named_with_their_cluster(tmp_path):
    clusters = "--cluster eu=gpu=1:nvidia.com/gpu=8 --cluster us=gpu=1:nvidia.com/gpu=8"
    trace = f"--trace {EXAMPLE / 'jobs.csv'} -f {EXAMPLE / 'queues.yaml'} --until 1h --processes 1"
    out = tmp_path / "report.html"
    result = CliRunner().invoke(main, f"simulate {trace} {clusters} --out {out}".split())
    assert result.exit_code == 0, result.output
    assert '"nodes":["eu/gpu-0","us/gpu-0"]' in out.read_text()


WRONG = {
    "a folder": ("--out {at}", "is a folder; name a file in it"),
    "no folder": ("--out {at}/none/report.html", "there is no folder"),
    "no folder for pictures": ("--plots {at}/file", "is not a folder"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_written_is_said_before_anything_is_simulated(name, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr("reprieve.simulate.compare", lambda *_: pytest.fail("simulated"))
    line, said = WRONG[name]
    result = simulate(line.format(at=tmp_path))
    assert result.exit_code == 2
    assert said in result.stderr


def test_pictures_without_matplotlib_are_refused_before_the_simulation(tmp_path, monkeypatch):
    monkeypatch.setattr(plots, "find_spec", lambda name: None)
    result = simulate(f"--plots {tmp_path}")
    assert result.exit_code == 2
    assert "pip install 'reprieve[plots]'" in result.stderr
