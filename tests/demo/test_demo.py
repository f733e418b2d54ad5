"""The tour keeps its promises: run step by step, as a viewer would run it, with its output piped."""

import re
import subprocess
import sys

import pytest

from reprieve.explain.sentences import answers


@pytest.fixture(scope="module")
def tour() -> str:
    done = subprocess.run(
        [sys.executable, "-m", "reprieve", "demo", "--step"],
        input="\n" * 3,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_gang_in_mode_all_goes_whole_the_notebooks_lose_one_and_the_service_stays(tour: str):
    assert "stayed: notebook-0, web-0, web-1; gone: etl-0, etl-1, notebook-1" in tour


def test_small_pods_run_while_victims_are_still_leaving(tour: str):
    assert "still leaving at that moment: etl-0, etl-1, notebook-1" in tour


def test_the_plan_predicted_the_victims(tour: str):
    plan = tour.split("Who makes way")[1].split("Who was reprieved")[0]
    assert "PodGroup/default/etl" in plan
    assert "Pod/default/notebook-1" in plan


def test_the_explanation_names_the_preemptor(tour: str):
    assert answers.pod_was_preempted("default/etl-0", "PodGroup/default/train", "").removesuffix(".") in tour


def test_the_same_job_preempts_on_stable_or_goes_to_spot(tour: str):
    after = tour.split("06-release.yaml")[1]
    assert "release-a  runs on stable" in after
    assert "release-b  runs on spot" in after
    assert "nightly-a  was preempted and came back on spot" in after
    assert "nightly-b  runs on stable" in after


def test_exactly_one_of_three_clusters_preempts(tour: str):
    counts = [
        line.split()[1]
        for line in tour.splitlines()
        if line.strip().startswith("worker") and "preempted" in line
    ]
    assert sorted(counts) == ["0", "0", "1"]


def test_every_command_says_what_happened_and_every_scene_why(tour: str):
    scenes = re.split(r"^\d\. ", tour, flags=re.M)[1:]
    assert len(scenes) == 4
    for scene in scenes:
        for step in scene.split("\n  $ ")[1:]:
            assert re.search(r"^    \S", step, re.M), step
        assert re.search(r"^  Why: .+\.$", scene, re.M), scene


def test_with_step_it_waits_for_enter_between_the_scenes(tour: str):
    assert tour.count("[Enter] goes on") == 3


def test_commands_are_short_enough_to_be_typed(tour: str):
    commands = re.findall(r"^  \$ (.+)$", tour, re.M)
    assert max(map(len, commands)) < 160
    assert "  export KUBECONFIG=" in tour


def test_piped_output_is_plain(tour: str):
    assert "\x1b[" not in tour


def test_the_tour_is_not_interrupted_by_what_controllers_try_again() -> None:
    script = (
        "import logging, reprieve.demo\n"
        "async def show(*arguments):\n"
        "    for say in (logging.getLogger('reprieve').warning, logging.getLogger('reprieve').error):\n"
        "        say('said by %s', say.__name__)\n"
        "reprieve.demo.show = show\n"
        "from reprieve.cli import main\n"
        "main(['demo'])\n"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stderr
    assert ("said by error" in said, "said by warning" in said) == (True, False)
