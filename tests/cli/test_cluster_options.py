"""Which cluster is asked: --kubeconfig, --context, $KUBECONFIG, as kubectl and `explain` have them."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from reprieve.cli import main
from reprieve.server import EmbeddedServer
from reprieve.server.security import kubeconfig
from tests.builders import node, pod

ASKING = ("plan --for Pod/default/p", "admit", "explain pod/default/p")


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddedServer]:
    with EmbeddedServer(controllers=False) as server:
        server.run(server.api.create("nodes", node("n1")))
        server.run(server.api.create("pods", pod("p"), "default"))
        yield server


@pytest.fixture
def config(server: EmbeddedServer, tmp_path: Path) -> str:
    """Two contexts; the current one leads nowhere."""
    found = yaml.safe_load(kubeconfig(server.url, server.reader_token, server.ca, "here"))
    nowhere = {"name": "nowhere", "cluster": {"server": "http://127.0.0.1:1"}}
    found["clusters"].append(nowhere)
    found["contexts"].append({"name": "nowhere", "context": {"cluster": "nowhere"}})
    found["current-context"] = "nowhere"
    path = tmp_path / "config"
    path.write_text(yaml.safe_dump(found))
    return str(path)


def ask(line: str, *more: str, home: str, env: str | None = None) -> Result:
    return CliRunner().invoke(main, [*line.split(), *more], env={"KUBECONFIG": env, "HOME": home})


def test_a_plan_needs_no_option_where_kubectl_needs_none(config: str, tmp_path: Path) -> None:
    result = ask(ASKING[0], "--context", "here", "-o", "json", home=str(tmp_path), env=config)
    assert result.exit_code == 0, result.output
    assert json.loads(result.output)["placements"] == {"default/p": "n1"}
    (tmp_path / ".kube").mkdir()
    (tmp_path / ".kube" / "config").write_text(
        Path(config).read_text().replace("current-context: nowhere", "current-context: here")
    )
    assert ask(ASKING[0], "-o", "json", home=str(tmp_path)).exit_code == 0


@pytest.mark.parametrize("line", ASKING)
def test_every_question_takes_a_context_and_says_the_same_of_a_wrong_one(
    line: str, config: str, tmp_path: Path
) -> None:
    for how in (["--kubeconfig", config], []):
        result = ask(line, *how, "--context", "elsewhere", home=str(tmp_path), env=config)
        assert result.exit_code == 2
        assert "context 'elsewhere' does not exist (known: here, nowhere)" in result.stderr


def test_a_context_puts_the_manifests_on_top_of_that_cluster(config: str, tmp_path: Path) -> None:
    (tmp_path / "more.json").write_text(json.dumps(pod("more")))
    line = "plan --for Pod/default/more"
    alone = ask(line, "-f", f"{tmp_path}/more.json", home=str(tmp_path), env=config)
    assert alone.exit_code == 1
    assert "there is no Node in what was read" in alone.stderr
    onto = ask(line, "-f", f"{tmp_path}/more.json", "--context", "here", home=str(tmp_path), env=config)
    assert onto.exit_code == 0, onto.output


@pytest.mark.parametrize("line", ASKING[:2])
def test_without_manifests_and_without_a_kubeconfig_both_are_named(line: str, tmp_path: Path) -> None:
    result = ask(line, home=str(tmp_path))
    assert result.exit_code == 2
    assert (
        "give manifests with -f, or a cluster with --kubeconfig, KUBECONFIG or ~/.kube/config"
        in result.stderr
    )
