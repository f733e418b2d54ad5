"""Which cluster would get a workload, before it is submitted."""

from copy import deepcopy
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from reprieve.cli import main
from reprieve.cli.sources import workers_in
from reprieve.config import Configuration
from reprieve.objects import Ignored
from reprieve.objects.documents import read_documents
from reprieve.whatif import plan_fleet, sentences

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


def test_what_was_given_beside_the_workload_is_named_and_so_is_what_a_worker_holds(urgent, clusters) -> None:
    """Nothing that was given is ignored in silence."""
    stray = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}
    queue = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": "q"}}
    clusters["eu"] = [*clusters["eu"], stray, stray]
    plan = plan_fleet(urgent, clusters, LEAST_COST, NOW, others=[stray, queue])
    data = plan.to_dict()
    assert [(each["kind"], each["count"]) for each in data["ignored"]] == [
        ("ConfigMap", 1),
        ("ClusterQueue", 1),
    ]
    held = {each["cluster"]: each.get("ignored") for each in data["clusters"]}
    assert held["us"] is None
    assert [(each["kind"], each["count"]) for each in held["eu"]] == [("ConfigMap", 2)]
    eu = next(each.plan.ignored for each in plan.candidates if each.cluster == "eu" and each.plan)
    assert plan.notes == [sentences.ignored_objects(plan.ignored), sentences.ignored_of_worker("eu", eu)]


def test_the_command_says_which_files_it_did_not_use(tmp_path: Path) -> None:
    (tmp_path / "other.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n")
    asked = ["plan", "--fleet", str(EXAMPLE / "workers"), "-f", str(EXAMPLE / "urgent.yaml")]
    done = CliRunner().invoke(
        main, [*asked, "-f", str(tmp_path / "other.yaml"), "--for", "Workload/ml/urgent"]
    )
    assert done.exit_code == 0, done.output
    left = [Ignored(api_version="v1", kind="ConfigMap", count=1)]
    assert sentences.ignored_objects(left) in done.output


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
