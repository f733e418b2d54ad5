"""`reprieve.admit`, `reprieve admit` and quota plans over the examples and small manifests."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import reprieve
from reprieve.cli import main
from reprieve.cli.layout import Screen
from reprieve.cli.tables import render_quota_plan
from reprieve.config import Configuration
from reprieve.objects.documents import read_documents
from reprieve.whatif import sentences
from tests import builders
from tests.builders import cluster_queue, flavor, local_queue
from tests.strategies.quota import workload

EXAMPLES = Path(__file__).parents[2] / "examples"
NOW = "2026-08-23T12:00:00Z"
PREEMPT_FIRST = EXAMPLES / "10-flavors-preempt-before-spot"
SPOT_FIRST = EXAMPLES / "11-flavors-spot-before-preempting"


def documents(folder: Path) -> list[dict[str, Any]]:
    return [source.document for source in read_documents(folder)]


def config(folder: Path) -> Configuration | None:
    path = folder / "config.yaml"
    return Configuration.read(path) if path.exists() else None


def plan(folder: Path, workload: str) -> dict[str, Any]:
    answer: dict[str, Any] = reprieve.plan(
        documents(folder), f"Workload/{workload}", config=config(folder), now=NOW
    ).to_dict()
    return answer


def admit(folder: Path) -> dict[str, Any]:
    answer: dict[str, Any] = reprieve.admit(documents(folder), config=config(folder), now=NOW).to_dict()
    return answer


def test_important_jobs_preempt_on_stable_nodes_before_they_try_spot() -> None:
    answer = plan(PREEMPT_FIRST, "jobs/training")
    assert answer["outcome"] == "preempts"
    assert answer["flavors"] == {"main": {"cpu": "stable"}}
    assert [(v["workload"], v["reason"]) for v in answer["victims"]] == [("jobs/batch", "InClusterQueue")]
    settled = admit(PREEMPT_FIRST)["admitted"]
    assert settled["jobs/training"]["flavors"] == {"main": {"cpu": "stable"}}
    assert settled["jobs/batch"]["flavors"] == {"main": {"cpu": "spot"}}


def test_the_other_way_round_spot_is_tried_before_anybody_is_preempted() -> None:
    answer = plan(SPOT_FIRST, "jobs/training")
    assert (answer["outcome"], answer["flavors"], answer["victims"]) == (
        "scheduled",
        {"main": {"cpu": "spot"}},
        [],
    )
    assert admit(SPOT_FIRST)["evicted"] == []


def test_the_proposals_own_spelling_means_the_same() -> None:
    objects = documents(PREEMPT_FIRST)
    queue = next(o for o in objects if o["kind"] == "ClusterQueue")
    queue["spec"]["flavorFungibility"] = {"whenCanBorrow": "Borrow", "whenCanPreempt": "Preempt"}
    assert reprieve.plan(objects, "Workload/jobs/training", now=NOW).to_dict()["outcome"] == "preempts"


def test_a_queue_reclaims_its_quota_from_the_latest_borrower() -> None:
    answer = plan(EXAMPLES / "12-cohort-reclaim", "speech/transcribe")
    assert [(v["workload"], v["reason"]) for v in answer["victims"]] == [
        ("web/crawl-c", "InCohortReclamation")
    ]


def test_with_fair_sharing_the_largest_borrower_makes_way_and_without_nobody_does() -> None:
    folder = EXAMPLES / "13-fair-sharing"
    assert {v["reason"] for v in plan(folder, "beta/b-more")["victims"]} == {"InCohortFairSharing"}
    shares = {name: queue["weightedShare"] for name, queue in admit(folder)["queues"].items()}
    assert shares == {"alpha": 250, "beta": 84, "gamma": 84}
    plain = reprieve.plan(documents(folder), "Workload/beta/b-more", now=NOW).to_dict()
    assert (plain["outcome"], plain["victims"]) == ("unschedulable", [])


def test_a_closed_gate_signals_and_waits_while_others_pass() -> None:
    folder = EXAMPLES / "14-preemption-gate"
    assert plan(folder, "jobs/training")["outcome"] == "gated"
    answer = admit(folder)
    assert answer["evicted"] == []
    assert "jobs/small" in answer["admitted"]
    assert answer["waiting"]["jobs/training"]["reason"] == "PreemptionGated"


def test_a_strict_queue_lets_nobody_pass_a_gated_head() -> None:
    folder = EXAMPLES / "14-preemption-gate"
    objects = documents(folder)
    next(o for o in objects if o["kind"] == "ClusterQueue")["spec"]["queueingStrategy"] = "StrictFIFO"
    answer = reprieve.admit(objects, config=config(folder), now=NOW).to_dict()
    assert answer["unadmitted"] == ["jobs/small", "jobs/training"]


def test_borrowed_and_lent_amounts_balance() -> None:
    lines = {
        name: queue["quota"][0] for name, queue in admit(EXAMPLES / "12-cohort-reclaim")["queues"].items()
    }
    assert {name: (q["nominal"], q["used"], q["borrowed"]) for name, q in lines.items()} == {
        "speech": ("4", "4", "0"),
        "vision": ("4", "3", "0"),
        "web": ("4", "6", "2"),
    }


def test_what_one_queue_borrows_another_lends() -> None:
    own = partial(cluster_queue, cohort="c")
    objects = [flavor(), own("giver", 4), own("other", 2), own("taker", 1)]
    objects.append(local_queue("lq0", "taker"))
    objects.append(workload("big", 0, {"cpu": 4}, 1, 0, 10))
    lines = {n: q["quota"][0] for n, q in reprieve.admit(objects, now=NOW).to_dict()["queues"].items()}
    assert {n: (q["borrowed"], q["lent"]) for n, q in lines.items()} == {
        "giver": ("0", "2"),
        "other": ("0", "1"),
        "taker": ("3", "0"),
    }


def test_a_workload_may_be_admitted_with_fewer_pods() -> None:
    objects = documents(SPOT_FIRST)
    training = next(o for o in objects if o["metadata"]["name"] == "training")
    training["spec"]["podSets"][0].update({"count": 12, "minCount": 2})
    answer = reprieve.plan(objects, "Workload/jobs/training", now=NOW).to_dict()
    assert answer["mode"] == "NoFit"
    assert answer["withPartialAdmission"]["counts"] == {"main": 8}
    assert answer["outcome"] == "scheduled"


def test_a_plan_for_fewer_pods_is_there_even_when_no_pod_is_left_to_go_without() -> None:
    objects = documents(SPOT_FIRST)
    training = next(o for o in objects if o["metadata"]["name"] == "training")
    training["spec"]["podSets"][0].update({"count": 4, "minCount": 2})
    training.setdefault("status", {})["reclaimablePods"] = [{"name": "main", "count": 2}]
    answer = reprieve.plan(objects, "Workload/jobs/training", now=NOW).to_dict()
    assert answer["counts"] == {"main": 2}
    assert answer["withPartialAdmission"]["counts"] == answer["counts"]
    assert answer["withPartialAdmission"]["mode"] == answer["mode"]


@pytest.mark.parametrize(
    ("folder", "code", "sentence"),
    [(PREEMPT_FIRST, 0, "makes way for jobs/training"), (EXAMPLES / "14-preemption-gate", 1, "it's gated")],
)
def test_the_command_shows_tables_and_ends_with_yes_or_no(folder: Path, code: int, sentence: str) -> None:
    arguments = ["admit", "-f", str(folder), "--now", NOW]
    if (folder / "config.yaml").exists():
        arguments += ["--config", str(folder / "config.yaml")]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == code, result.output
    assert sentence in result.output
    assert "borrowed" in result.output


def test_the_command_prints_json_that_equals_the_function() -> None:
    result = CliRunner().invoke(main, ["admit", "-f", str(SPOT_FIRST), "--now", NOW, "-o", "json"])
    assert json.loads(result.output) == json.loads(json.dumps(admit(SPOT_FIRST)))


def test_unreadable_manifests_end_with_two(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text(
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: [1]\n"
    )
    result = CliRunner().invoke(main, ["admit", "-f", str(tmp_path)])
    assert result.exit_code == 2
    assert "metadata" in result.output


def test_a_quota_plan_is_drawn_with_its_victims(capsys: pytest.CaptureFixture[str]) -> None:
    render_quota_plan(Screen(None), plan(PREEMPT_FIRST, "jobs/training"))
    drawn = capsys.readouterr().out
    assert "fits once others made way" in drawn
    assert "jobs/batch" in drawn
    assert "InClusterQueue" in drawn


def test_a_queue_that_chooses_by_labels_that_nobody_knows_is_said() -> None:
    """Without the Namespace it was told as a misconfiguration of the workload."""
    queue = cluster_queue()
    queue["spec"]["namespaceSelector"] = {"matchLabels": {"team": "a"}}
    given = [flavor(), queue, local_queue(), builders.workload("w")]
    told = sentences.labels_for_queues_unknown(["default"])
    assert told in reprieve.admit(given).notes.sentences
    space = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "default", "labels": {"team": "a"}},
    }
    assert reprieve.admit([*given, space]).notes.sentences == ()
    for known in ({}, {"matchLabels": {"kubernetes.io/metadata.name": "other"}}):
        queue["spec"]["namespaceSelector"] = known
        assert reprieve.admit(given).notes.sentences == ()
