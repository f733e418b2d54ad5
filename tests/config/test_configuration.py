"""The configuration: defaults, files, and refusals that name the field."""

from pathlib import Path
from typing import Any

import pytest

from reprieve.config import Configuration, ConfigurationError


def refused(document: dict[str, Any]) -> list[str]:
    with pytest.raises(ConfigurationError) as caught:
        Configuration.load(document)
    return [str(problem) for problem in caught.value.problems]


def test_nothing_given_is_all_defaults() -> None:
    config = Configuration.load(None)
    assert config == Configuration.load({}) == Configuration()
    assert config.preemption.algorithm == "kep-5710"
    assert config.preemption.time_budget == 0.2
    assert config.placement.scoring_strategy.type == "LeastAllocated"
    assert config.fair_sharing is None
    assert config.fleet.single_cluster_preemption_timeout == 300
    assert config.scheduler.scheduler_name == "reprieve"


def test_a_loaded_configuration_loads_as_itself() -> None:
    config = Configuration.load({"preemption": {"algorithm": "minimal-cost"}})
    assert Configuration.load(config) is config


def test_what_is_written_out_is_read_back() -> None:
    given = {
        "apiVersion": "reprieve.dev/v1alpha1",
        "kind": "ReprieveConfiguration",
        "featureGates": {"SchedulerAsyncPreemption": False},
        "preemption": {
            "algorithm": "minimal-cost",
            "timeBudget": "1m30s",
            "weights": {"lostWork": 2.5, "pods": 3},
        },
        "placement": {
            "scoringStrategy": {
                "type": "RequestedToCapacityRatio",
                "shape": [{"utilization": 0, "score": 10}],
            }
        },
        "fairSharing": {"preemptionStrategies": ["LessThanInitialShare"]},
        "fleet": {"gatePolicy": "least-cost", "dispatcher": "Incremental", "grace": "0"},
        "scheduler": {"leaderElection": {"enabled": False}},
    }
    config = Configuration.load(given)
    assert config.preemption.time_budget == 90
    assert config.preemption.weights.lost_work == 2.5
    assert Configuration.load(config.to_dict()) == config


def test_fair_sharing_is_on_when_it_is_mentioned() -> None:
    assert Configuration.load({"fairSharing": None}).fair_sharing is None
    on = Configuration.load({"fairSharing": {}}).fair_sharing
    assert on is not None
    assert on.preemption_strategies == ("LessThanOrEqualToFinalShare", "LessThanInitialShare")


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ({"preemtion": {}}, "preemtion: unknown field; did you mean 'preemption'?"),
        ({"fleet": {"stepsize": 3}}, "fleet.stepsize: unknown field; did you mean 'stepSize'?"),
        ({"scheduler": {"leaderElection": {"on": True}}}, "scheduler.leaderElection.on: unknown field"),
        (
            {"preemption": {"weights": {"pod": 1}}},
            "preemption.weights.pod: unknown field; did you mean 'pods'?",
        ),
        (
            {"preemption": {"algorithm": "best"}},
            "expected one of kep-5710, kubernetes, minimal-cost; got 'best'",
        ),
        ({"preemption": {"timeBudget": 5}}, "preemption.timeBudget: expected a duration"),
        ({"preemption": {"timeBudget": "soon"}}, "preemption.timeBudget: expected a duration"),
        ({"preemption": {"timeBudget": "-1s"}}, "preemption.timeBudget: must not be negative, got -1s"),
        ({"preemption": {"weights": {"pods": -1}}}, "preemption.weights.pods: must be at least 0, got -1"),
        ({"preemption": []}, "preemption: expected an object, got list []"),
        ({"records": {"ringSize": 0}}, "records.ringSize: must be at least 1, got 0"),
        ({"kind": "Configuration"}, "kind: expected ReprieveConfiguration, got 'Configuration'"),
        ({"apiVersion": "v1"}, "apiVersion: expected reprieve.dev/v1alpha1, got 'v1'"),
        (
            {"fairSharing": {"preemptionStrategies": []}},
            "fairSharing.preemptionStrategies: expected one strategy",
        ),
        (
            {
                "fairSharing": {
                    "preemptionStrategies": ["LessThanInitialShare", "LessThanOrEqualToFinalShare"]
                }
            },
            "expected one strategy",
        ),
        (
            {"placement": {"scoringStrategy": {"shape": [{"utilization": 0, "score": 1}]}}},
            "only RequestedToCapacityRatio has a shape",
        ),
        (
            {"placement": {"scoringStrategy": {"type": "RequestedToCapacityRatio"}}},
            "needs at least one point",
        ),
        (
            {"placement": {"scoringStrategy": {"resources": [{"name": "cpu", "weight": 0}]}}},
            "resources[0].weight: must be at least 1",
        ),
        (
            {"scheduler": {"initialBackoff": "20s"}},
            "scheduler.initialBackoff: 20s is longer than scheduler.maxBackoff, which is 10s",
        ),
        ({"scheduler": {"leaderElection": {"renewDeadline": "1m"}}}, "renewDeadline: 1m0s is longer than"),
        (
            {"preemption": {"returnPause": "5h"}},
            "preemption.returnPause: 5h0m0s is longer than preemption.maxReturnPause, which is 4h0m0s",
        ),
    ],
)
def test_a_wrong_field_is_refused_with_its_path(document: dict[str, Any], problem: str) -> None:
    lines = refused(document)
    assert len(lines) == 1
    assert problem in lines[0]


def test_a_shape_rises() -> None:
    points = [{"utilization": 50, "score": 1}, {"utilization": 50, "score": 2}]
    (line,) = refused(
        {"placement": {"scoringStrategy": {"type": "RequestedToCapacityRatio", "shape": points}}}
    )
    assert "utilization must rise" in line


def test_all_problems_are_named_at_once() -> None:
    assert len(refused({"a": 1, "preemption": {"b": 2, "algorithm": 3}, "fleet": {"grace": True}})) == 4


def test_a_file_is_read_and_named_in_its_errors(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("kind: ReprieveConfiguration\npreemption: {algorithm: minimal-cost}\n")
    assert Configuration.read(path).preemption.algorithm == "minimal-cost"
    path.write_text("preemption: {algoritm: x}\n")
    with pytest.raises(
        ConfigurationError, match=r"config.yaml: preemption.algoritm: unknown field; did you mean"
    ):
        Configuration.read(path)
    path.write_text("a: 1\n---\nb: 2\n")
    with pytest.raises(ConfigurationError, match="expected one document, found 2"):
        Configuration.read(path)
