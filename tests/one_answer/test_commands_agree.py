"""One question, several commands: the same manifests get the same answer from each.

The cases were found where commands contradicted each other. Each answer is the one of a live cluster.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner, Result

from reprieve.cli import main
from reprieve.jobs import sentences as jobs
from reprieve.objects import Reference
from reprieve.whatif import sentences

CASES = Path(__file__).with_name("cases")
NOW = "2026-11-18T12:00:00Z"


def ask(command: str, case: str, *more: str) -> Result:
    (path,) = CASES.glob(f"{case}-*.yaml")
    moment = () if command == "explain" else ("--now", NOW)
    result = CliRunner().invoke(main, [command, *more, "-f", str(path), *moment, "-o", "json"])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.output
    return result


def data(result: Result) -> Any:
    return json.loads(result.stdout)


class Case(NamedTuple):
    name: str
    target: str
    starts: bool
    """Now, by itself or after a preemption."""
    victims: int = 0


NODES = [
    Case("03a", "pod/default/p", starts=False),
    Case("03b", "pod/default/x", starts=True, victims=1),
    Case("03c", "job/default/j", starts=False),
    Case("04a", "pod/default/p", starts=False),
    Case("05a", "pod/default/x", starts=True),
    Case("05b", "pod/default/p", starts=True),
    Case("15", "pod/default/p", starts=True),
    Case("16a", "job/default/j", starts=False),
    Case("16b", "job/default/j", starts=False),
    Case("19b", "statefulset/default/s", starts=True),
]


def planned(case: Case) -> tuple[bool, int]:
    answer = data(ask("plan", case.name, "--for", case.target))
    plans = answer.get("plans", [answer])
    return answer["outcome"] in ("scheduled", "preempts"), sum(len(each["victims"]) for each in plans)


@pytest.mark.parametrize("case", NODES, ids=lambda case: case.name)
def test_a_plan_says_what_happens_on_the_nodes(case: Case) -> None:
    assert planned(case) == (case.starts, case.victims)
    assert ask("plan", case.name, "--for", case.target).exit_code == (0 if case.starts else 1)


@pytest.mark.parametrize("case", NODES, ids=lambda case: case.name)
def test_a_forecast_says_the_same_as_the_plan(case: Case) -> None:
    result = ask("when", case.name, case.target)
    answer = data(result)
    assert (answer["outcome"] == "now", len(answer["victims"])) == (case.starts, case.victims)
    assert result.exit_code == (0 if case.starts else 1)


@pytest.mark.parametrize(
    "case", [case for case in NODES if case.target.startswith("pod/")], ids=lambda c: c.name
)
def test_an_explanation_does_not_contradict_the_plan(case: Case) -> None:
    answer = data(ask("explain", case.name, case.target))
    fits_now = any("fits now" in line for line in answer["wouldHelp"])
    assert fits_now == (case.starts and not case.victims)


@pytest.mark.parametrize("name", ["01a", "01b", "01c", "02"])
def test_the_more_important_job_gets_the_quota(name: str) -> None:
    """Its class was read, and no priority was made of it: all jobs were equal, and the first one won."""
    admitted = data(ask("admit", name))["admitted"]
    assert [key for key in admitted if key.endswith("a") or "-a" in key] == []
    assert len(admitted) == 1
    assert data(ask("when", name, "job/default/b"))["outcome"] == "now"


def test_a_version_that_is_not_read_is_refused_by_all() -> None:
    for command in ("plan", "when"):
        result = ask(command, "13")
        assert result.exit_code == 2
        assert "apiVersion: version 'v2' is not one of v1" in result.output, command


def test_pods_without_their_group_wait_for_it() -> None:
    """They were passed over: "nothing waits for a node"."""
    plans = data(ask("plan", "23"))["items"]
    assert {(each["for"], each["outcome"]) for each in plans} == {
        ("Pod/default/a", "gated"),
        ("Pod/default/b", "gated"),
    }
    assert {each["outcome"] for each in data(ask("when", "23"))["items"]} == {"never"}


def test_a_victim_whose_class_is_missing_is_named_also_for_a_job() -> None:
    reasons = data(ask("plan", "18", "--for", "job/default/j"))["reasons"]
    assert sentences.priority_classes_are_missing(["zzz"]) in reasons


@pytest.mark.parametrize(
    ("name", "note"),
    [
        ("18", sentences.priority_classes_are_missing(["zzz"])),
        ("19a", sentences.nodes_are_missing([("default/v", "gone")])),
    ],
)
def test_what_is_not_known_is_noted_by_a_plan_and_a_forecast(name: str, note: str) -> None:
    assert note in data(ask("plan", name, "--for", "job/default/j"))["reasons"]
    assert note in data(ask("when", name, "job/default/j"))["notes"]


def test_a_pod_waits_for_nodes_that_pods_without_quota_hold() -> None:
    assert data(ask("admit", "08"))["admitted"] == {}
    assert data(ask("when", "08", "pod/default/x"))["outcome"] != "now"


def test_an_unknown_class_is_asked_for_by_every_command() -> None:
    for command, target in (("plan", ("--for", "job/default/j")), ("when", ("job/default/j",))):
        result = ask(command, "12", *target)
        assert result.exit_code == 2
        assert "spec.template.spec.priorityClassName: there is no PriorityClass 'nope'" in result.output


@pytest.mark.parametrize(
    ("name", "target", "rest"), [("14a", "job/default/j", 0), ("14b", "deployment/default/d", 1)]
)
def test_what_starts_in_part_is_said_to(name: str, target: str, rest: int) -> None:
    """The rest of a Job starts when the first half has ended; of a Deployment it never does."""
    planned, forecast = ask("plan", name, "--for", target), ask("when", name, target)
    assert data(planned)["outcome"] == "partial"
    assert sum(each["placed"] for each in data(planned)["podSets"]) == 2
    assert data(forecast)["outcome"] == "partly"
    assert (planned.exit_code, forecast.exit_code) == (1, rest)


@pytest.mark.parametrize(
    ("name", "why"), [("20a", jobs.ASKS_FOR_NO_PODS), ("20b", jobs.is_suspended("spec.suspend"))]
)
def test_a_job_that_starts_no_pods_does_not_start(name: str, why: str) -> None:
    planned, forecast = ask("plan", name, "--for", "job/default/j"), ask("when", name, "job/default/j")
    sentence = sentences.does_not_start(Reference("Job", "default", "j"), why)
    assert data(planned)["reasons"][0] == data(forecast)["sentence"] == sentence
    assert (data(planned)["outcome"], data(forecast)["outcome"]) == ("gated", "never")
    assert planned.exit_code == forecast.exit_code == 1


def test_two_jobs_do_not_get_the_same_device() -> None:
    planned = data(ask("plan", "21"))["items"]
    assert [each["outcome"] for each in planned] == ["scheduled", "unschedulable"]


def test_two_workloads_do_not_get_the_same_quota() -> None:
    planned = data(ask("plan", "11"))["items"]
    assert [each["outcome"] for each in planned] == ["scheduled", "unschedulable"]
    assert len(data(ask("admit", "11"))["admitted"]) == 1


def test_the_overhead_of_a_runtime_class_counts_for_quota_everywhere() -> None:
    for name, target in (("04b", "workload/default/w"), ("04c", "job/default/j")):
        assert data(ask("admit", name))["admitted"] == {}, name
        assert data(ask("when", name, target))["outcome"] != "now", name


@pytest.mark.parametrize("name", ["03c", "04c"])
def test_a_simulation_counts_what_a_server_adds(name: str) -> None:
    (path,) = CASES.glob(f"{name}-*.yaml")
    result = CliRunner().invoke(main, ["simulate", "--trace", str(path), "-f", str(path), "-o", "json"])
    assert all(each["ended"] == 0 for each in json.loads(result.stdout)["configurations"])


class Queued(NamedTuple):
    name: str
    target: str
    placements: dict[str, str]
    victims: frozenset[str] = frozenset()


@pytest.mark.parametrize(
    "case",
    [
        Queued("06", "pod/default/x", {"default/x": "n1"}, frozenset({"default/v0", "default/v2"})),
        Queued("07a", "job/default/b", {"default/b-0": "n1"}),
        Queued("07b", "job/default/j", {}),
        Queued("08", "pod/default/x", {}),
        Queued("09", "job/default/j", {"default/j-0": "n1", "default/j-1": "n1"}),
        Queued("10", "pod/default/x", {}),
    ],
    ids=lambda case: case.name,
)
def test_quota_comes_first_and_says_on_which_nodes(case: Queued) -> None:
    """A plan read no flavor: it named the wrong victims on the wrong node, or said no."""
    planned, forecast = ask("plan", case.name, "--for", case.target), ask("when", case.name, case.target)
    plans = data(planned).get("plans", [data(planned)])
    placements = {pod: node for each in plans for pod, node in each["placements"].items()}
    victims = {victim["pod"] for each in plans for victim in each["victims"]}
    assert (placements, victims) == (case.placements, case.victims)
    assert {each.removeprefix("Pod/") for each in data(forecast)["victims"]} == case.victims
    assert (data(forecast)["outcome"] == "now") == bool(placements)
    assert planned.exit_code == forecast.exit_code == (0 if placements else 1)


def test_a_job_that_may_start_smaller_is_said_to() -> None:
    planned, forecast = (
        data(ask("plan", "09", "--for", "job/default/j")),
        data(ask("when", "09", "job/default/j")),
    )
    assert sentences.starts_smaller(2) in planned["reasons"]
    assert sentences.starts_smaller(2) in forecast["notes"]
    (share,) = planned["quota"]
    assert share["counts"] == {"main": 2}
    assert [each["counts"] for each in data(ask("admit", "09"))["admitted"].values()] == [{"main": 2}]
