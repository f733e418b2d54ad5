"""`--nodes`: a first answer without writing a Node."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from reprieve.cli import main

FOLDER = Path(__file__).parents[2] / "examples"
JOB = FOLDER / "20-any-job/statefulset.yaml"


def ask(*arguments: str) -> Result:
    return CliRunner().invoke(main, [*arguments, "-o", "json"])


@pytest.mark.parametrize("command", ["plan", "when"])
@pytest.mark.parametrize(("spec", "code"), [("n=3:cpu=32,memory=256Gi", 0), ("n=1:cpu=100m,memory=1Gi", 1)])
def test_manifests_are_asked_about_on_nodes_that_a_word_describes(command: str, spec: str, code: int) -> None:
    result = ask(command, "-f", str(JOB), "--nodes", spec)
    assert result.exit_code == code, result.output


def test_nodes_come_on_top_of_those_of_the_manifests() -> None:
    given = ("-f", str(FOLDER / "20-any-job/cluster.yaml"), "-f", str(JOB))
    plain, more = (
        json.loads(ask("plan", *given, *each).stdout) for each in ((), ("--nodes", "new=1:cpu=64"))
    )
    assert plain["outcome"] == more["outcome"] == "scheduled"


def test_quota_is_answered_with_them() -> None:
    assert ask("admit", "-f", str(FOLDER / "12-cohort-reclaim"), "--nodes", "n=1:cpu=64").exit_code in (0, 1)


@pytest.mark.parametrize("command", ["plan", "when", "admit"])
def test_a_wrong_description_is_named_with_its_option(command: str) -> None:
    result = ask(command, "-f", str(JOB), "--nodes", "gpu")
    assert result.exit_code == 2
    assert "--nodes: 'gpu'" in result.stderr
