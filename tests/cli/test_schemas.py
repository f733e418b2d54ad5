"""Every answer is what its JSON Schema says, and the schema names every field of it."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from reprieve.cli import main
from reprieve.cli.formats import FORMATS, schema
from reprieve.cli.schema import NAMES
from reprieve.records import Decision
from tests.builders import node, pod
from tests.cli.json_schema import misfits

EXAMPLES = Path(__file__).parents[2] / "examples"
LEAST_COST = f"-f {EXAMPLES}/05-least-cost --for PodGroup/ml/train"
FLEET = f"--fleet {EXAMPLES}/30-fleet/workers -f {EXAMPLES}/30-fleet/urgent.yaml --for Workload/ml/urgent"
JOBS = EXAMPLES / "20-any-job"
SEVERAL = f"-f {JOBS}/cluster.yaml -f {JOBS}/rayjob.yaml -f {JOBS}/job.yaml"
ANSWERS = {
    f"plan -f {EXAMPLES}/01-first-plan --for PodGroup/ml/train": "Plan",
    f"plan -f {EXAMPLES}/01-first-plan --for Pod/ml/train-0": "Plan",
    f"plan -f {EXAMPLES}/03-protected-workload --for Pod/jobs/urgent": "Plan",
    f"plan -f {EXAMPLES}/04-one-rack --for PodGroup/ml/ring": "Plan",
    f"plan {LEAST_COST} --config {EXAMPLES}/05-least-cost/config.yaml": "Plan",
    f"plan -f {EXAMPLES}/01-first-plan --for PodGroup/ml/train --compare": "PlanComparison",
    f"plan {LEAST_COST} --compare": "PlanComparison",
    f"plan -f {EXAMPLES}/20-any-job/cluster.yaml -f {EXAMPLES}/20-any-job/rayjob.yaml": "JobPlan",
    f"plan -f {EXAMPLES}/10-flavors-preempt-before-spot --for Workload/jobs/training": "QuotaPlan",
    f"plan {SEVERAL}": "PlanList",
    f"when {SEVERAL}": "ForecastList",
    f"plan -f {EXAMPLES}/12-cohort-reclaim --for Workload/web/crawl-c": "QuotaPlan",
    f"plan -f {EXAMPLES}/14-preemption-gate --for Workload/jobs/training": "QuotaPlan",
    f"plan {FLEET}": "FleetPlan",
    f"plan {FLEET} --config {EXAMPLES}/30-fleet/least-cost.yaml": "FleetPlan",
    f"admit -f {EXAMPLES}/10-flavors-preempt-before-spot": "Admissions",
    f"admit -f {EXAMPLES}/12-cohort-reclaim": "Admissions",
    f"admit -f {EXAMPLES}/13-fair-sharing --config {EXAMPLES}/13-fair-sharing/config.yaml": "Admissions",
    f"admit -f {EXAMPLES}/14-preemption-gate": "Admissions",
    f"explain podgroup/ml/train -f {EXAMPLES}/01-first-plan": "Explanation",
    f"explain pod/dev/notebook-0 -f {EXAMPLES}/01-first-plan": "Explanation",
    f"explain node/node-1 -f {EXAMPLES}/01-first-plan": "Explanation",
    f"explain workload/web/crawl-c -f {EXAMPLES}/12-cohort-reclaim": "Explanation",
    f"explain clusterqueue/web -f {EXAMPLES}/12-cohort-reclaim": "Explanation",
    f"when -f {EXAMPLES}/41-when/cluster.yaml -f {EXAMPLES}/41-when/job.yaml --futures 9": "Forecast",
    f"when workload/ml/tune -f {EXAMPLES}/41-when/queues.yaml": "Forecast",
    f"validate -f {EXAMPLES}/01-first-plan": "Validation",
    f"simulate --trace {EXAMPLES}/40-simulate/generator.yaml --until 2s": "Simulation",
    "validate -f {broken}": "Validation",
}


def checked(document: Any, name: str) -> None:
    described = schema(name)
    assert list(misfits(document, described, described)) == []


@pytest.mark.parametrize("line", ANSWERS, ids=lambda line: line.replace(f"{EXAMPLES}/", ""))
def test_an_answer_is_what_its_schema_says(line: str, tmp_path: Path) -> None:
    broken = pod("p", priority="missing") | {"spec": {"containers": [], "priority": "high"}}
    (tmp_path / "broken.json").write_text(
        json.dumps([broken, node(), node(), {"kind": "Unknown", "apiVersion": "a/v1"}])
    )
    result = CliRunner().invoke(main, [*line.format(broken=tmp_path / "broken.json").split(), "-o", "json"])
    assert result.exit_code in (0, 1, 2), result.output
    checked(json.loads(result.stdout), ANSWERS[line])


def test_every_format_has_an_answer_here_and_a_name_on_the_command_line() -> None:
    assert tuple(FORMATS) == NAMES
    assert {*ANSWERS.values(), "Decision"} == set(FORMATS)


def test_a_decision_record_is_what_its_schema_says() -> None:
    record = Decision(
        time=datetime(2026, 1, 1, tzinfo=UTC),
        controller="scheduler",
        for_="Pod/a/b",
        outcome="preempts",
        placements={"a/b": "n"},
        victims=[{"pod": "a/c", "node": "n"}],
        cost={"pods": 1},
    )
    checked(json.loads(json.dumps(record.to_dict(), default=str)), "Decision")


@pytest.mark.parametrize("name", NAMES)
def test_the_command_prints_the_schema(name: str) -> None:
    result = CliRunner().invoke(main, ["schema", name.lower()])
    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    assert printed == json.loads(json.dumps(schema(name)))
    assert printed["title"] == name


def test_what_does_not_fit_is_found() -> None:
    """So that the checks above cannot pass by looking away."""
    described = schema("Admissions")
    result = CliRunner().invoke(main, ["admit", "-f", str(EXAMPLES / "12-cohort-reclaim"), "-o", "json"])
    document = json.loads(result.stdout)
    for path, value, message in (
        ("kind", "Plan", "'Plan'"),
        ("extra", 1, "does not name extra"),
        ("unadmitted", "x", "is no array"),
        ("cycles", [{}], "cycle is missing"),
    ):
        assert message in " ".join(misfits({**document, path: value}, described, described))
    document.pop("queues")
    assert "queues is missing" in " ".join(misfits(document, described, described))
