"""Nothing that was given is ignored in silence: not by plans, admission runs, explanations or the page."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result

import reprieve
from reprieve.cli import main
from reprieve.dashboard.worker import Question, answer
from reprieve.objects import Ignored, ReprieveError, Source, ignored_sentence
from reprieve.whatif import overlay, sentences
from tests.builders import cluster_queue, document, flavor, local_queue, node, pod, workload

QUEUES = [flavor(), cluster_queue(), local_queue()]


def other(api_version: str, kind: str, name: str = "x") -> dict[str, Any]:
    return {**document(kind, name), "apiVersion": api_version}


DEPLOYMENT = other("apps/v1", "Deployment")
JOB = other("batch/v1", "Job")
MAPS = [other("v1", "ConfigMap", "a"), other("v1", "ConfigMap", "b")]
PDO = other("v1", "Pdo")
NO_SUCH_KIND = "there is no kind 'Pdo' in v1; did you mean 'Pod'?"
NO_QUEUE = sentences.names_no_queue("")
LEFT_JOB = Ignored(api_version="batch/v1", kind="Job", count=1, why=NO_QUEUE)


def run(folder: Path, documents: list[dict[str, Any]], *command: str) -> Result:
    path = folder / "m.json"
    path.write_text(json.dumps(documents))
    return CliRunner().invoke(main, [*command, "-f", str(path)])


def test_a_node_plan_names_what_it_does_not_read() -> None:
    given = [node("n1"), pod("p"), *MAPS, DEPLOYMENT, PDO]
    found = reprieve.plan(given, "Pod/default/p").to_dict()
    assert list(found["ignored"]) == [
        {"apiVersion": "v1", "kind": "ConfigMap", "count": 2},
        {"apiVersion": "apps/v1", "kind": "Deployment", "count": 1, "why": sentences.NOT_PLANNED},
        {
            "apiVersion": "v1",
            "kind": "Pdo",
            "count": 1,
            "why": NO_SUCH_KIND,
        },
    ]
    left = msgspec.convert(found["ignored"], list[Ignored])
    assert found["reasons"][-1] == sentences.ignored_objects(left)


def test_a_plan_that_reads_everything_says_nothing() -> None:
    found = reprieve.plan([node("n1"), pod("p")], "Pod/default/p").to_dict()
    assert "ignored" not in found
    assert not any("ignored" in reason for reason in found["reasons"])


def test_quota_plans_and_admission_runs_name_what_they_do_not_read() -> None:
    given = [*QUEUES, workload("w"), JOB]
    expected = [{"apiVersion": "batch/v1", "kind": "Job", "count": 1, "why": NO_QUEUE}]
    plan = reprieve.plan(given, "Workload/default/w").to_dict()
    assert plan["ignored"] == expected
    assert plan["reasons"][-1] == sentences.ignored_objects([LEFT_JOB])
    assert reprieve.admit(given).to_dict()["ignored"] == expected


def test_on_top_of_a_cluster_only_what_was_submitted_is_named() -> None:
    cluster = [*QUEUES, workload("w"), node("n1")]
    submitted = Source("w.yaml", "1", workload("v"))
    assert reprieve.admit(overlay(cluster, [submitted])).notes.ignored == ()


def test_a_file_of_which_nothing_can_be_used_gets_no_answer() -> None:
    """`admit --kubeconfig K -f job.yaml` said that every workload has quota."""
    objects = overlay([*QUEUES, workload("w")], [Source("job.yaml", "1", JOB)])
    with pytest.raises(ReprieveError) as refused:
        reprieve.admit(objects)
    assert str(refused.value) == sentences.nothing_can_be_used([LEFT_JOB])


@pytest.mark.parametrize(
    "command",
    [["plan", "--for", "pod/default/p"], ["admit"], ["explain", "pod/default/p"]],
    ids=lambda c: c[0],
)
def test_commands_fail_when_nothing_can_be_used(tmp_path: Path, command: list[str]) -> None:
    answer = run(tmp_path, [PDO], *command)
    assert answer.exit_code == 2
    left = Ignored(api_version="v1", kind="Pdo", count=1, why=NO_SUCH_KIND)
    assert sentences.nothing_can_be_used([left]) in answer.output


def test_admit_and_explain_say_it_beside_their_answer(tmp_path: Path) -> None:
    answer = run(tmp_path, [*QUEUES, workload("w"), JOB], "admit")
    assert answer.exit_code == 0
    assert f"note: {ignored_sentence([LEFT_JOB])}" in answer.stderr
    answer = run(tmp_path, [node("n1"), pod("p"), *MAPS], "explain", "pod/default/p", "-o", "json")
    maps = Ignored(api_version="v1", kind="ConfigMap", count=2)
    assert f"note: {ignored_sentence([maps])}" in answer.stderr
    assert json.loads(answer.stdout)["ignored"] == [{"apiVersion": "v1", "kind": "ConfigMap", "count": 2}]


def test_fields_that_nobody_reads_are_warned_about(tmp_path: Path) -> None:
    misspelt = pod("p", priorityClasName="high")
    answer = run(tmp_path, [node("n1"), misspelt], "plan", "--for", "pod/default/p", "-o", "json")
    field = "spec.priorityClasName: unknown field; did you mean 'priorityClassName'?"
    said = sentences.fields_nobody_reads([f"{tmp_path}/m.json:1.2: {field}"])
    assert json.loads(answer.stdout)["reasons"][-1] == said


def test_what_a_server_has_stored_is_not_looked_through_for_misspelt_fields(tmp_path: Path) -> None:
    stored = pod("p", fromTheFuture=1, metadata={"uid": "u"})
    answer = run(tmp_path, [node("n1"), stored], "plan", "--for", "pod/default/p", "-o", "json")
    assert len(json.loads(answer.stdout)["reasons"]) == 1


def test_the_what_if_of_the_page_names_what_it_does_not_read() -> None:
    manifest = json.dumps([pod("p"), DEPLOYMENT])
    question = Question(manifest, "pod/default/p", None, 10, 1 << 30)
    found = answer(question, [node("n1"), *QUEUES])
    assert [each["kind"] for each in found["ignored"]] == ["Deployment"]
    assert found["reasons"][-1] == sentences.ignored_objects(msgspec.convert(found["ignored"], list[Ignored]))
