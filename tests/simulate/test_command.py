"""`reprieve simulate`: what it prints, its exit codes, and bad input."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from reprieve.cli import main
from reprieve.cli.formats import schema
from tests.cli.json_schema import misfits

EXAMPLE = Path(__file__).parents[2] / "examples" / "40-simulate"
TRACE = f"--trace {EXAMPLE / 'jobs.csv'}"
NODES = "--nodes gpu=4:nvidia.com/gpu=8"


def simulate(line, *more):
    return CliRunner().invoke(main, ["simulate", *line.split(), *more])


def test_the_answer_is_what_its_schema_says_and_the_same_each_time():
    line = f"{TRACE} {NODES} --until 4h --processes 1 --compare fifo --compare kep-5710 -o json"
    first, second = (simulate(line, "--assert", "goodput > 0.1") for _ in range(2))
    assert first.exit_code == 0, first.output
    assert first.stdout_bytes == second.stdout_bytes
    found = json.loads(first.stdout)
    described = schema("Simulation")
    assert list(misfits(found, described, described)) == []
    assert [each["policy"] for each in found["configurations"]] == ["fifo", "kep-5710"]
    assert found["assertions"][0]["holds"]


def test_an_assertion_that_does_not_hold_gives_exit_code_one():
    result = simulate(f"{TRACE} {NODES} --until 2h", "--assert", "goodput > 2")
    assert result.exit_code == 1
    assert "kep-5710: goodput > 2: does not hold" in result.stderr


def test_a_table_shows_classes_and_says_what_was_drawn():
    result = simulate(f"{TRACE} {NODES} --until 2h")
    assert result.exit_code == 0, result.output
    for text in ("jobs.csv: 160 jobs", "By class", "goodput", "high"):
        assert text in result.stdout
    assert "decisions in" in result.stderr


def test_a_table_of_short_jobs_is_in_minutes_and_shows_small_losses_and_who_never_ended(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text(
        "job,submit_s,duration_s,gpu_per_pod,pods,priority_hint\n"
        "gang,0,100,4,2,0\nurgent,10,100,4,1,2\nhuge,20,50,99,1,1\n"
    )
    said = simulate(f"--trace {path} --nodes gpu=2:nvidia.com/gpu=4").stdout
    assert "Waiting and completion (minutes: mean / p50 / p99)" in said
    rows = {tuple(line.split()[:2]): line.split()[2:] for line in said.splitlines() if "kep-5710" in line}
    assert rows["kep-5710", "high"][:2] == ["1", "1.67"]
    assert rows["kep-5710", "normal"][:5] == ["0", "of", "1", "-", "-"]
    assert rows["kep-5710", "low"][-2:] == ["0.022", "0.9091"]


def test_queues_and_generator_files_are_simulated_too():
    queues = simulate(f"-f {EXAMPLE / 'queues.yaml'} {TRACE} {NODES} --until 2h -o json")
    assert json.loads(queues.stdout)["configurations"][0]["admissions"] > 0
    generator = simulate(f"--trace {EXAMPLE / 'generator.yaml'} --cycle-every 10ms --checkpoint 0s -o json")
    assert json.loads(generator.stdout)["configurations"][0]["ended"] == 120


WRONG = {
    "no nodes": (TRACE, "there is nothing to run on"),
    "no trace": (f"--trace none.csv {NODES}", "none.csv: No such file"),
    "a policy": (f"{TRACE} {NODES} --compare kubernets", "did you mean 'kubernetes'?"),
    "a scenario": (f"{TRACE} --scenario phily-90", "did you mean 'philly-90'?"),
    "a duration": (f"{TRACE} {NODES} --grace=-5s", "is negative"),
    "nodes": (f"{TRACE} --nodes gpu", "no resources"),
    "an assertion": (f"{TRACE} {NODES} --until 1h --assert goodput", "write METRIC < NUMBER"),
}


@pytest.mark.parametrize(("line", "problem"), WRONG.values(), ids=WRONG)
def test_bad_input_gives_exit_code_two_and_a_sentence(line, problem):
    result = simulate(line)
    assert result.exit_code == 2
    assert problem in result.stderr


def test_a_wrong_row_is_named_and_nothing_is_simulated(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text("job,submit_s,duration_s\na,0,10\nb,-5,10\n")
    result = simulate(f"--trace {path} {NODES}")
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"{path}:3: submit_s is negative: -5" in result.stderr


def test_several_configurations_are_compared_and_none_is_dropped_silently(tmp_path):
    for name, algorithm in (("ours", "minimal-cost"), ("theirs", "kubernetes")):
        (tmp_path / f"{name}.yaml").write_text(
            "apiVersion: reprieve.dev/v1alpha1\nkind: ReprieveConfiguration\n"
            f"preemption: {{algorithm: {algorithm}}}\n"
        )
    both = f"{TRACE} {NODES} --until 1h --config {tmp_path / 'ours.yaml'} --config {tmp_path / 'theirs.yaml'}"
    result = simulate(f"{both} --processes 1 -o json")
    assert result.exit_code == 0, result.output
    assert [each["policy"] for each in json.loads(result.stdout)["configurations"]] == ["ours", "theirs"]
    result = simulate(f"{both} --compare kep-5710")
    assert result.exit_code == 2
    assert "--config is there twice; what --compare names starts from one configuration" in result.stderr


def test_node_events_must_name_nodes_that_exist(tmp_path):
    path = tmp_path / "events.csv"
    path.write_text("time_s,event,node\n10,fail,gpu-9\n")
    result = simulate(f"{TRACE} {NODES} --node-events {path}")
    assert result.exit_code == 2
    assert "there is no node 'gpu-9'" in result.stderr


def test_an_end_before_the_first_job_is_refused(tmp_path):
    """As somebody writes it who has cut some weeks out of a longer trace."""
    path = tmp_path / "jobs.csv"
    path.write_text("job,submit_s,duration_s\na,3590959,10\n")
    result = simulate(f"--trace {path} --nodes g=1:cpu=1 --until 4h")
    assert result.exit_code == 2
    assert "--until: 4h is before the first job comes, at 3,590,959 s; the clock begins" in result.output


def test_manifests_that_the_simulation_does_not_read_are_named(tmp_path):
    """Without the queue that somebody meant, the answer would be about another cluster."""
    meant = tmp_path / "queue.yaml"
    meant.write_text("apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQeue\nmetadata: {name: q}\n")
    node = tmp_path / "node.yaml"
    node.write_text(
        "apiVersion: v1\nkind: Node\nmetadata: {name: one}\nspec: {unschedulabel: true}\n"
        "status: {allocatable: {nvidia.com/gpu: '8', pods: '110'}}\n"
    )
    said = json.loads(simulate(f"{TRACE} -f {tmp_path} --until 1h -o json").stdout)["notes"]
    assert any(each.startswith("Note: ignored: 1 ClusterQeue") and "did you mean" in each for each in said)
    assert any("nobody reads" in each and "spec.unschedulabel" in each for each in said)
    fleet = f"{TRACE} -f {EXAMPLE / 'queues.yaml'} --cluster eu={tmp_path} --until 1h -o json"
    assert json.loads(simulate(fleet).stdout)["notes"][-2:] == said[-2:]
    plain = simulate(f"{TRACE} {NODES} -f {EXAMPLE / 'queues.yaml'} --until 1h -o json")
    assert json.loads(plain.stdout)["notes"] == []


@pytest.mark.parametrize("output", ["table", "json", "html"])
def test_a_trace_of_which_no_queue_takes_a_job_is_an_answer(tmp_path, output):
    path = tmp_path / "jobs.csv"
    path.write_text("job,submit_s,duration_s,gpu_per_pod,queue\na,0,100,4,elsewhere\n")
    result = simulate(f"--trace {path} {NODES} -f {EXAMPLE / 'queues.yaml'} -o {output}")
    assert (result.exit_code, result.exception) == (0, None)
    assert "no queue takes it" in " ".join(result.stdout.split())


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (f"-f {EXAMPLE / 'queues.yaml'} --mtbf 1h", "--mtbf: there is no node that could fail"),
        ("--nodes gpu=4:nvidia.com/gpu=8 --cycle-every 1s", "--cycle-every: there is no quota"),
        (
            "--nodes gpu=4:nvidia.com/gpu=8 --announce-checkpoints --checkpoint 0",
            "--announce-checkpoints: with --checkpoint 0 no job saves its work",
        ),
    ],
)
def test_an_option_that_would_do_nothing_is_refused(line: str, told: str):
    result = simulate(f"{TRACE} {line}")
    assert result.exit_code == 2
    assert told in result.stderr
