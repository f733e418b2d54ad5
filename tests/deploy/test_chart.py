"""The Helm chart renders what `reprieve manifests` prints, for every choice; Kustomize's base is the same."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields
from itertools import chain, combinations
from pathlib import Path
from typing import Any

import pytest
import yaml
from tools import deploy_files

from reprieve.manifests import RULES, Installation, crds, deployment, monitoring
from reprieve.server.embedded import EmbeddedServer
from tests.server.kubectl_tool import find_kubectl
from tests.waiting import PATIENCE

CHART = deploy_files.DEPLOY / "chart"
HELM = shutil.which("helm", path=str(Path(sys.executable).parent))
VALUES = {
    "image": "image",
    "namespace": None,
    "controllers": "controllers",
    "scheduler_name": "schedulerName",
    "replicas": "replicas",
    "policy_version": "policyVersion",
    "dashboard": "dashboard",
    "webhook": "webhook",
    "tracing": "tracing",
}
"""The chart's value for each choice of an installation; the namespace is the release's."""

Key = tuple[str, str, str, str]


def helm(*arguments: str, environment: Mapping[str, str] = {}) -> subprocess.CompletedProcess[str]:
    assert HELM, "helm comes with the development dependencies: run `make setup`"
    return subprocess.run(
        [HELM, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )


def rendered(tmp_path: Path, values: Mapping[str, Any], namespace: str = "reprieve-system") -> dict[Key, Any]:
    file = tmp_path / "values.yaml"
    file.write_text(yaml.safe_dump(dict(values)), encoding="utf-8")
    answer = helm("template", "reprieve", str(CHART), "--namespace", namespace, "--values", str(file))
    assert answer.returncode == 0, answer.stderr
    return by_key(list(yaml.safe_load_all(answer.stdout)))


def by_key(documents: Sequence[Any]) -> dict[Key, Any]:
    """Objects by identity, in a form in which order and grouping say nothing."""
    found = {}
    for each in documents:
        if each is None:
            continue
        metadata = each["metadata"]
        key = (each["apiVersion"], each["kind"], metadata.get("namespace", ""), metadata["name"])
        assert key not in found, key
        found[key] = normal(each)
    return found


def normal(document: dict[str, Any]) -> dict[str, Any]:
    """Rights as the set that they grant; configuration as what it says."""
    if document["kind"] in ("ClusterRole", "Role"):
        granted = {
            (group, resource, tuple(rule.get("resourceNames", ())), verb)
            for rule in document["rules"]
            for group in rule["apiGroups"]
            for resource in rule["resources"]
            for verb in rule["verbs"]
        }
        return document | {"rules": granted}
    if document["kind"] == "ConfigMap":
        return document | {"data": {name: yaml.safe_load(text) for name, text in document["data"].items()}}
    return document


ALL_CONTROLLERS = list(chain.from_iterable(combinations(RULES, count) for count in (1, 2, 3)))


@pytest.mark.parametrize("dashboard", [False, True], ids=["plain", "dashboard"])
@pytest.mark.parametrize("controllers", ALL_CONTROLLERS, ids=",".join)
def test_the_chart_renders_what_manifests_deploy_prints(tmp_path, controllers, dashboard):
    installation = Installation(controllers=controllers, dashboard=dashboard)
    values = {"controllers": list(controllers), "dashboard": dashboard, "createNamespace": True}
    assert rendered(tmp_path, values) == by_key(deployment(installation))


def test_every_choice_of_an_installation_is_a_value(tmp_path):
    assert {field.name for field in fields(Installation)} == set(VALUES)
    chosen: dict[str, Any] = {
        "image": "registry.example/reprieve:9",
        "namespace": "elsewhere",
        "controllers": ["quota"],
        "scheduler_name": "other",
        "replicas": 3,
        "policy_version": "v1beta1",
        "dashboard": True,
        "webhook": True,
        "tracing": "http://collector.tracing:4318/v1/traces",
    }
    values = {name: chosen[choice] for choice, name in VALUES.items() if name}
    found = rendered(tmp_path, values | {"createNamespace": True}, "elsewhere")
    assert found == by_key(deployment(Installation(**chosen)))


def test_the_defaults_are_those_of_the_command(tmp_path):
    assert rendered(tmp_path, {"createNamespace": True}) == by_key(deployment(Installation()))


def test_monitoring_is_what_manifests_monitoring_prints(tmp_path):
    without = rendered(tmp_path, {})
    values = {"monitoring": {"enabled": True, "runbooks": "https://docs.example/troubleshooting"}}
    found = rendered(tmp_path, values)
    added = {key: each for key, each in found.items() if key not in without}
    assert added == by_key(monitoring(Installation(), "https://docs.example/troubleshooting"))


def test_definitions_come_when_asked_for_and_stay_when_the_release_goes(tmp_path):
    found = rendered(tmp_path, {"crds": {"scheduling": True, "kueue": True}})
    definitions = [each for key, each in found.items() if key[1] == "CustomResourceDefinition"]
    assert all(
        each["metadata"]["annotations"].pop("helm.sh/resource-policy") == "keep" for each in definitions
    )
    for each in definitions:
        if not each["metadata"]["annotations"]:
            del each["metadata"]["annotations"]
    assert by_key(definitions) == by_key(crds())


@pytest.mark.parametrize(
    ("url", "port"),
    [
        ("http://collector.tracing:4318/v1/traces", 4318),
        ("https://collector.example/v1/traces", 443),
        ("http://[fd00::1]/v1/traces", 80),
    ],
)
def test_spans_are_let_out_to_the_collector(tmp_path, url, port):
    found = rendered(tmp_path, {"tracing": url, "createNamespace": True})
    assert found == by_key(deployment(Installation(tracing=url)))
    settings = found["v1", "ConfigMap", "reprieve-system", "reprieve"]["data"]["config.yaml"]
    assert settings["tracing"] == {"endpoint": url}
    policy = found["networking.k8s.io/v1", "NetworkPolicy", "reprieve-system", "reprieve"]
    assert policy["spec"]["egress"][-1] == {"ports": [{"protocol": "TCP", "port": port}]}


def test_settings_are_laid_over_what_the_chart_writes(tmp_path):
    found = rendered(tmp_path, {"config": {"scheduler": {"algorithm": "minimal-cost"}}})
    settings = found["v1", "ConfigMap", "reprieve-system", "reprieve"]["data"]["config.yaml"]
    assert settings["scheduler"]["algorithm"] == "minimal-cost"
    assert settings["scheduler"]["leaderElection"]["name"] == "reprieve"


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"controllers": []}, "controllers"),
        ({"controllers": ["shceduler"]}, "controllers"),
        ({"replicas": 0}, "replicas"),
        ({"replica": 1}, "replica"),
        ({"tracing": "collector:4318"}, "tracing"),
        ({"monitoring": {"enable": True}}, "monitoring"),
    ],
)
def test_a_wrong_value_is_refused_by_its_name(tmp_path, values, named):
    file = tmp_path / "values.yaml"
    file.write_text(yaml.safe_dump(values), encoding="utf-8")
    answer = helm("template", "reprieve", str(CHART), "--values", str(file))
    assert answer.returncode != 0
    assert named in answer.stderr


def test_the_chart_passes_helms_own_review():
    answer = helm("lint", "--strict", str(CHART))
    assert answer.returncode == 0, answer.stdout


def test_the_chart_has_the_programs_version():
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))
    assert f"reprieve:{chart['appVersion']}" == Installation().image
    assert chart["version"] == chart["appVersion"]


def test_every_value_is_described_and_checked():
    values = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
    schema = yaml.safe_load((CHART / "values.schema.json").read_text(encoding="utf-8"))
    assert set(schema["properties"]) - {"global"} == set(values)


def test_the_files_made_of_the_manifests_are_up_to_date():
    stale = [
        path
        for path, content in deploy_files.wanted()
        if (deploy_files.DEPLOY / path).read_text(encoding="utf-8") != content
    ]
    assert not stale, "run `make deploy`"


@pytest.mark.parametrize("made", [deployment, monitoring], ids=["base", "monitoring"])
def test_kubectl_builds_the_kustomize_folders_as_manifests_prints_them(made, request):
    folder = deploy_files.DEPLOY / "kustomize" / request.node.callspec.id
    answer = subprocess.run(
        [find_kubectl(), "kustomize", str(folder)],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert answer.returncode == 0, answer.stderr
    assert by_key(list(yaml.safe_load_all(answer.stdout))) == by_key(made(Installation()))


@pytest.mark.timeout(240)
def test_helm_installs_upgrades_rolls_back_and_removes_it(tmp_path):
    """On an API server: ours. What it keeps in between, Helm compares with what the chart says."""
    with EmbeddedServer() as server:
        here = {"KUBECONFIG": str(server.kubeconfig), "HOME": str(tmp_path), "NO_PROXY": "*", "no_proxy": "*"}
        release = ("reprieve", "--namespace", "reprieve-system")

        def run(*arguments: str) -> str:
            answer = helm(*arguments, environment=here)
            assert answer.returncode == 0, answer.stderr
            return answer.stdout

        installed = run("install", *release, str(CHART), "--create-namespace")
        notes = installed.partition("NOTES:")[2]
        assert "schedulerName: reprieve" in notes
        assert not re.search(r"\{\{|<no value>", notes)
        run(
            "upgrade",
            *release,
            str(CHART),
            "--set",
            "controllers={scheduler,quota}",
            "--set",
            "crds.kueue=true",
        )
        run("rollback", "reprieve", "1", "--namespace", "reprieve-system")
        assert '"revision":"3"' in run("list", "--namespace", "reprieve-system", "--output", "json")
        run("uninstall", *release)
