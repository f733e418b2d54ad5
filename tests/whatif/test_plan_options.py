"""`reprieve plan` beyond one node plan: comparisons, fleets, quota."""

import json
from pathlib import Path

from click.testing import CliRunner, Result

from reprieve.cli import main

EXAMPLES = Path(__file__).parents[2] / "examples"
FIRST = ("-f", str(EXAMPLES / "01-first-plan"), "--for", "PodGroup/ml/train")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["plan", *arguments])


def test_a_comparison_shows_all_three_algorithms_and_names_the_cheapest():
    result = run(*FIRST, "--compare")
    assert result.exit_code == 0
    for algorithm in ("kubernetes", "kep-5710", "minimal-cost"):
        assert algorithm in result.output
    assert "Cheapest: minimal-cost" in result.output


def test_a_comparison_in_json_carries_each_bill():
    plans = json.loads(run(*FIRST, "--compare", "-o", "json").output)["plans"]
    assert [plan["cost"]["pods"] for plan in plans] == [7, 7, 6]


def test_a_fleet_plan_names_the_cluster():
    workers, workload = EXAMPLES / "30-fleet/workers", EXAMPLES / "30-fleet/urgent.yaml"
    result = run("--fleet", str(workers), "-f", str(workload), "--for", "Workload/ml/urgent", "-o", "json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.output)["cluster"] == "asia"


def test_a_quota_plan_is_a_table_too():
    result = run("-f", str(EXAMPLES / "10-flavors-preempt-before-spot"), "--for", "Workload/jobs/training")
    assert result.exit_code == 0, result.output
    assert "jobs/batch" in result.output


def test_algorithms_cannot_be_compared_for_quota():
    result = run(
        "-f", str(EXAMPLES / "10-flavors-preempt-before-spot"), "--for", "Workload/jobs/training", "--compare"
    )
    assert result.exit_code == 2
