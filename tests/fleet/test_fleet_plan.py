"""Which cluster would get a workload, before it is submitted."""

from copy import deepcopy
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from reprieve.cli import main
from reprieve.cli.sources import workers_in
from reprieve.config import Configuration
from reprieve.objects.documents import read_documents
from reprieve.whatif import plan_fleet

EXAMPLE = Path(__file__).parents[2] / "examples" / "30-fleet"
NOW = "2026-08-23T12:00:00Z"
LEAST_COST = Configuration.read(EXAMPLE / "least-cost.yaml").to_dict()


@pytest.fixture
def urgent():
    return next(read_documents(EXAMPLE / "urgent.yaml")).document


@pytest.fixture
def clusters():
    return workers_in(EXAMPLE / "workers")


def test_least_cost_chooses_the_worker_that_loses_least(urgent, clusters) -> None:
    plan = plan_fleet(urgent, clusters, LEAST_COST, NOW).to_dict()
    assert (plan["outcome"], plan["cluster"]) == ("preempts", "us")
    assert {victim["workload"] for victim in plan["victims"]} == {"ml/notebook-a", "ml/notebook-b"}
    costs = {each["cluster"]: each["cost"]["lostPodSeconds"] for each in plan["clusters"]}
    assert costs == {"asia": 288000, "eu": 691200, "us": 3600}


def test_a_worker_with_room_wins_outright(urgent, clusters) -> None:
    clusters["eu"] = [item for item in clusters["eu"] if item["kind"] != "Workload"]
    plan = plan_fleet(urgent, clusters, LEAST_COST, NOW)
    assert plan.chosen is not None
    assert (plan.outcome, plan.chosen.cluster, plan.chosen.victims) == ("scheduled", "eu", [])


def test_first_come_takes_the_workers_in_their_order(urgent, clusters) -> None:
    ordered = {name: clusters[name] for name in ("eu", "us", "asia")}
    chosen = plan_fleet(urgent, ordered, None, NOW).chosen
    assert chosen is not None
    assert chosen.cluster == "eu"


def test_a_worker_without_the_queue_is_named_and_the_others_are_asked(urgent, clusters) -> None:
    clusters["us"] = []
    plan = plan_fleet(urgent, clusters, LEAST_COST, NOW).to_dict()
    assert plan["cluster"] == "asia"
    lost = next(each for each in plan["clusters"] if each["cluster"] == "us")
    assert lost["outcome"] == "unschedulable"
    assert "doesn't exist" in lost["reasons"][0]


def test_no_cluster_can_preempt(urgent, clusters) -> None:
    urgent["spec"]["priority"] = 1
    plan = plan_fleet(urgent, clusters, LEAST_COST, NOW)
    assert (plan.outcome, plan.chosen) == ("unschedulable", None)
    assert plan.to_dict()["cluster"] is None


def test_a_plan_changes_nothing(urgent, clusters) -> None:
    before = deepcopy((urgent, clusters))
    plan_fleet(urgent, clusters, LEAST_COST, NOW)
    assert (urgent, clusters) == before


def test_the_command_prints_a_table_and_answers_yes_or_no() -> None:
    def run(for_: str, fleet: Path) -> Result:
        files = ["-f", str(EXAMPLE / "urgent.yaml"), "--config", str(EXAMPLE / "least-cost.yaml")]
        return CliRunner().invoke(main, ["plan", "--fleet", str(fleet), *files, "--for", for_, "--now", NOW])

    found = run("Workload/ml/urgent", EXAMPLE / "workers")
    assert (found.exit_code, "→ us" in found.output) == (0, True)
    found = run("Workload/ml/other", EXAMPLE / "workers")
    assert (found.exit_code, "no such Workload" in found.output) == (2, True)
    found = run("Workload/ml/urgent", EXAMPLE / "urgent.yaml")
    assert (found.exit_code, "not a folder" in found.output) == (2, True)
