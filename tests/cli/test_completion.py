"""What a shell offers when somebody presses Tab after a target."""

import socket
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from reprieve.cli import main

FIRST = "examples/01-first-plan"
ROOT = Path(__file__).parents[2]


def offered(words: str, incomplete: str) -> list[str]:
    complete = ShellComplete(main, {}, "reprieve", "_REPRIEVE_COMPLETE")
    return [item.value for item in complete.get_completions(words.split(), incomplete)]


@pytest.fixture(autouse=True)
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """At the root of the repository, without any cluster."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("KUBECONFIG", raising=False)


def test_kinds_come_first() -> None:
    assert offered("explain", "po") == ["pod/", "podgroup/"]
    assert {"job/", "deployment/", "node/"} <= set(offered("explain", ""))


def test_names_come_from_the_files_that_were_given() -> None:
    assert offered(f"explain -f {FIRST}", "podgroup/m") == ["podgroup/ml/train"]
    assert offered(f"explain -f {FIRST}", "pg/ml/") == ["pg/ml/train"]
    assert "node/node-1" in offered(f"explain -f {FIRST}", "nod")
    assert offered(f"plan -f {FIRST} --for", "podgroup/ml/") == ["podgroup/ml/train"]


@pytest.mark.parametrize("where", ["-f no/such/folder", "--kubeconfig no/such/file", "", "-f -"])
def test_what_cannot_be_read_offers_nothing_and_says_nothing(
    where: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert offered(f"explain {where}", "pod/") == []
    assert capfd.readouterr() == ("", "")


@pytest.mark.timeout(100)
def test_a_cluster_that_does_not_answer_keeps_nobody_waiting(tmp_path: Path) -> None:
    """It takes connections and says nothing: a request on its own would wait for minutes."""
    silent = socket.create_server(("127.0.0.1", 0))
    config = {
        "clusters": f"[{{name: c, cluster: {{server: 'http://127.0.0.1:{silent.getsockname()[1]}'}}}}]",
        "contexts": "[{name: c, context: {cluster: c, user: u}}]",
        "users": "[{name: u, user: {}}]",
        "current-context": "c",
    }
    path = tmp_path / "kubeconfig"
    path.write_text("".join(f"{key}: {value}\n" for key, value in config.items()))
    with silent:
        assert offered(f"explain --kubeconfig {path}", "pod/") == []
