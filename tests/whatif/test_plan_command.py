"""`reprieve plan`: what people see, what programs read, and how bad input is answered."""

import json
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

import reprieve
from reprieve.cli import main
from reprieve.kube import Resource
from reprieve.whatif import sentences

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
FIRST = str(EXAMPLES / "01-first-plan")


def run(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(main, ["plan", *arguments], input=stdin)


def test_the_table_shows_victims_nodes_and_reasons() -> None:
    result = run("-f", FIRST, "--for", "PodGroup/ml/train")
    assert result.exit_code == 0, result.output
    for text in (
        "PodGroup/ml/train fits if others make way",
        "Where it goes",
        "Who makes way",
        "if it stayed, node-1 would be",
        "Who was reprieved",
        "web/shop allows 0 of its pods to be disrupted; the plan takes 0 and spares 3.",
        "What it costs",
        "7 pods in 5 units make way, none with a priority above 100.",
        "Other ways",
        "cheaper",
    ):
        assert text in result.output
    assert "\x1b[" not in result.output


@pytest.mark.parametrize(
    ("folder", "target", "now", "code", "victims"),
    [
        ("03-protected-workload", "Pod/jobs/urgent", "2026-11-15T12:05:00Z", 1, set()),
        ("03-protected-workload", "Pod/jobs/urgent", "2026-11-15T12:20:00Z", 0, {"jobs/just-started"}),
        ("04-one-rack", "PodGroup/ml/ring", "2026-11-15T12:00:00Z", 0, {"prod/batch-0", "prod/batch-1"}),
    ],
)
def test_the_examples_answer_as_their_readme_says(
    folder: str, target: str, now: str, code: int, victims: set[str]
) -> None:
    result = run("-f", str(EXAMPLES / folder), "--for", target, "--now", now, "-o", "json")
    assert result.exit_code == code
    assert {victim["pod"] for victim in json.loads(result.output)["victims"]} == victims


def test_json_yaml_and_python_give_the_same_answer() -> None:
    now = "2026-11-15T12:00:00Z"
    arguments = ("-f", FIRST, "--for", "PodGroup/ml/train", "--now", now)
    as_json = json.loads(run(*arguments, "-o", "json").output)
    as_yaml = yaml.safe_load(run(*arguments, "-o", "yaml").output)
    documents = [
        each for path in sorted(Path(FIRST).glob("*.yaml")) for each in yaml.safe_load_all(path.read_text())
    ]
    in_python = reprieve.plan(documents, "PodGroup/ml/train", now=now).to_dict()
    assert as_json == as_yaml == json.loads(json.dumps(in_python))
    assert as_json["apiVersion"] == "reprieve.dev/v1alpha1"
    assert as_json["kind"] == "Plan"


def test_manifests_are_read_from_standard_input() -> None:
    text = "\n---\n".join(path.read_text() for path in sorted(Path(FIRST).glob("*.yaml")))
    assert run("-f", "-", "--for", "PodGroup/ml/train", stdin=text).exit_code == 0


def test_a_configuration_chooses_the_algorithm(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(
        "apiVersion: reprieve.dev/v1alpha1\nkind: ReprieveConfiguration\npreemption: {algorithm: "
        "kubernetes}\n"
    )
    result = run("-f", FIRST, "--for", "PodGroup/ml/train", "--config", str(config), "-o", "json")
    assert json.loads(result.output)["algorithm"] == "kubernetes"


POD = """
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: a}
spec: {containers: [{name: c, resources: {requests: {cpu: "%s"}}}]}
"""


GROUP = """
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: g, namespace: a}
spec: {schedulingPolicy: %s}
"""


@pytest.mark.parametrize("policy", ["{basic: {}}", "{gang: {minCount: 1}}"])
def test_a_group_without_pods_does_not_fit(policy: str) -> None:
    result = run("-f", "-", "--for", "PodGroup/a/g", stdin=GROUP % policy)
    assert result.exit_code == 1
    assert "PodGroup/a/g has 0 pods and needs 1 at once." in result.output


def test_no_is_exit_code_one() -> None:
    result = run("-f", "-", "--for", "Pod/a/p", stdin=POD % "1")
    assert result.exit_code == 1
    assert "does not fit" in result.output


@pytest.mark.parametrize(
    ("stdin", "target", "words"),
    [
        (POD % "-1", "Pod/a/p", ("requests[cpu]", "negative")),
        (POD % "lots", "Pod/a/p", ("lots",)),
        (POD % "1" + "---" + POD % "1", "Pod/a/p", ("Pod/a/p", "twice")),
        (POD % "1", "Pod/a/q", ("a/q", "a/p")),
        (POD % "1", "PodGroup/a/q", ("PodGroup", "a/q")),
        (POD % "1", "Deployment/a/q", (sentences.no_such_job("Deployment", "a/q", []),)),
        ("a: [", "Pod/a/p", ("<stdin>",)),
        (
            GROUP % "{gang: {minCount: -3}}",
            "PodGroup/a/g",
            ("PodGroup/a/g", "gang.minCount", sentences.min_count_too_low(-3)),
        ),
    ],
)
def test_bad_input_is_a_clear_error_and_exit_code_two(
    stdin: str, target: str, words: tuple[str, ...]
) -> None:
    result = run("-f", "-", "--for", target, stdin=stdin)
    assert result.exit_code == 2
    assert "Traceback" not in result.output
    for word in words:
        assert word in result.output


def test_neither_files_nor_a_cluster_is_a_usage_error() -> None:
    result = run("--for", "Pod/a/p")
    assert result.exit_code == 2
    assert "--kubeconfig" in result.output


ODD = """
apiVersion: v1
kind: Node
metadata: {name: node}
status: {allocatable: {cpu: "9E", pods: "10"}}
---
apiVersion: v1
kind: Pod
metadata: {name: lost, namespace: a}
spec: {nodeName: nowhere, containers: [{name: c}]}
---
apiVersion: v1
kind: Pod
metadata: {name: orphan, namespace: a}
spec:
  nodeName: node
  schedulingGroup: {podGroupName: gone}
  priorityClassName: unknown
  containers: [{name: c}]
---
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: a}
spec: {containers: [{name: c}]}
"""


def test_odd_objects_are_taken_by_a_documented_rule_with_a_warning() -> None:
    result = run("-f", "-", "--for", "Pod/a/p", "-o", "json", stdin=ODD)
    reasons = json.loads(result.output)["reasons"]
    assert result.exit_code == 0
    assert sentences.nodes_are_missing([("a/lost", "nowhere")]) in reasons
    assert sentences.groups_are_missing(["a/gone"]) in reasons
    assert sentences.priority_classes_are_missing(["unknown"]) in reasons
    assert sentences.amounts_above_most(["node"]) in reasons


def test_a_live_cluster_is_only_read(monkeypatch: pytest.MonkeyPatch) -> None:
    documents = list(yaml.safe_load_all(ODD))
    asked: list[tuple[str, str | None]] = []

    def read_cluster(kubeconfig: str, context: str | None, kinds: list[Resource]) -> list[dict[str, object]]:
        asked.append((kubeconfig, context))
        assert {kind.kind for kind in kinds} >= {"Pod", "LimitRange", "ResourceClaimTemplate"}
        assert "ClusterQueue" not in {kind.kind for kind in kinds}
        return documents

    monkeypatch.setattr("reprieve.kube.read_cluster", read_cluster)
    result = run("--kubeconfig", "kube.yaml", "--for", "Pod/a/p", "-o", "json")
    assert result.exit_code == 0
    assert asked == [("kube.yaml", None)]
    assert json.loads(result.output)["placements"] == {"a/p": "node"}


def test_the_help_has_examples() -> None:
    assert "Examples:" in run("--help").output
