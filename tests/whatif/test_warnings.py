"""What a plan does not know, it says: in the table, in JSON, and on the page, which asks the same."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import reprieve
from reprieve.cli import main
from reprieve.dashboard.worker import Question, answer
from reprieve.whatif import sentences
from tests.builders import Document, node, pod, pod_group


def namespace(name: str, **labels: str) -> Document:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def reasons(objects: list[Document], target: str = "Pod/default/p") -> str:
    plan: Any = reprieve.plan(objects, target)
    return " ".join(plan.reasons)


LOST = pod("lost", on="gone")
YUNIKORN, VOLCANO = "yunikorn.apache.org/task-group-name", "scheduling.k8s.io/group-name"
WARNING = sentences.nodes_are_missing([("default/lost", "gone")])


def test_a_claim_that_is_not_there_is_named() -> None:
    claimed = pod("p", resourceClaims=[{"name": "gpu", "resourceClaimName": "gpu"}])
    assert 'could not find ResourceClaim "default/gpu"' in reasons([node(), claimed])
    claimed = pod("p", resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "gpu"}])
    assert 'pod "default/p": ResourceClaim not created yet' in reasons([node(), claimed])


def beside(cache: str, selector: Document, *, rule: str = "podAntiAffinity") -> list[Document]:
    """A pod that must not (or must) be on the node of the cache, which is in another namespace."""
    term = {
        "topologyKey": "kubernetes.io/hostname",
        "namespaceSelector": selector,
        "labelSelector": {"matchLabels": {"app": "redis"}},
    }
    required = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    redis = pod("redis", 1, on="n", namespace=cache, labels={"app": "redis"})
    return [node("n", labels={"kubernetes.io/hostname": "n"}), redis, pod("p", affinity={rule: required})]


@pytest.mark.parametrize("selector", [
    {"matchLabels": {"kubernetes.io/metadata.name": "cache"}},
    {"matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "In", "values": ["cache"]}]},
])  # fmt: skip
def test_every_namespace_has_the_label_with_its_name(selector: Document) -> None:
    """An API server sets it. Manifests seldom have it, and the term then selected nobody."""
    given = beside("cache", selector)
    for namespaces in ([], [namespace("cache")]):
        assert reprieve.plan([*given, *namespaces], "Pod/default/p").outcome == "unschedulable"
        assert "Note: " not in reasons([*given, *namespaces])
    near = beside("cache", selector, rule="podAffinity")
    assert reprieve.plan(near, "Pod/default/p").outcome == "scheduled"


def test_labels_of_namespaces_that_decide_and_are_not_known_are_told() -> None:
    told = sentences.labels_for_affinity_unknown(["cache", "default"])
    given = beside("cache", {"matchLabels": {"team": "data"}})
    assert told in reasons(given)
    homes = [namespace("default"), namespace("cache", team="data")]
    assert "Note: " not in reasons([*given, *homes])
    assert reprieve.plan([*given, *homes], "Pod/default/p").outcome == "unschedulable"
    assert "Note: " not in reasons(beside("cache", {}))


def annotated(pod: Document, name: str) -> Document:
    pod["metadata"]["annotations"] = {name: "0.5"}
    return pod


@pytest.mark.parametrize("name", ["gpu-fraction", "gpu-memory"])
def test_a_part_of_a_gpu_that_another_scheduler_would_give_is_told(name: str) -> None:
    """It fits on a node without any GPU, and nobody must take that for an answer."""
    told = sentences.gpu_share_not_read(name, "KAI", ["default/p"])
    assert told in reasons([node(), annotated(pod("p"), name), annotated(pod("other"), name)])


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (YUNIKORN, sentences.gang_not_read(YUNIKORN, "YuniKorn", ["default/p"])),
        (VOLCANO, sentences.gang_is_missing(VOLCANO, "Volcano", ["default/p"])),
    ],
)
def test_a_gang_of_another_scheduler_is_told_unless_the_pod_has_one_here(name: str, told: str) -> None:
    assert told in reasons([node(), annotated(pod("p"), name)])
    here = [pod_group("gang", 1, 0), annotated(pod("p", group="gang"), name)]
    assert "Warning" not in reasons([node(), *here], "PodGroup/default/gang")


def test_volumes_that_every_node_has_need_no_warning() -> None:
    volumes = [
        {"name": "a", "emptyDir": {}},
        {"name": "b", "configMap": {"name": "c"}},
        {"name": "c", "secret": {}},
    ]
    assert "Warning" not in reasons([node(), pod("p", volumes=volumes)])


def test_the_warning_is_in_the_table_in_json_and_in_a_comparison(tmp_path: Path) -> None:
    (tmp_path / "o.json").write_text(json.dumps({"kind": "List", "items": [node(), LOST, pod("p")]}))
    line = ["plan", "-f", str(tmp_path), "--for", "Pod/default/p"]
    for more in ([], ["-o", "json"], ["-o", "yaml"], ["--compare"], ["--compare", "-o", "json"]):
        output = " ".join(CliRunner().invoke(main, [*line, *more]).output.split())
        assert WARNING in output


def test_the_page_gives_the_planners_answer_with_its_warnings() -> None:
    waiting = pod("p")
    question = Question(json.dumps(waiting), "", None, 10, 1 << 30)
    shown = answer(question, [node(), LOST])
    planned: Any = reprieve.plan([node(), LOST, waiting], "Pod/default/p").to_dict()
    assert shown == planned
    assert WARNING in shown["reasons"]
    page = (Path(reprieve.__file__).parent / "dashboard/static/views/whatif.js").read_text()
    assert "list=${plan.reasons}" in page
