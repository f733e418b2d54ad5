"""Runs what a page tells its readers to type."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import click
from click.testing import CliRunner

from reprieve.cli import main
from tests.docs.pages import ROOT, Command, files, matches
from tests.waiting import eventually_so

ELSEWHERE = {
    r"(\.venv/bin/)?reprieve demo\b": (
        "a quarter of a minute each; tests/demo runs it, with --step and with --keep"
    ),
    r"make (demo|quick|test|nightly|setup|lock|layers|lint|coverage|soak|site|deploy|dist)\b"
    r"|(\w+=\S+ )?\.venv/bin/python -m pytest\b": (
        "fills a virtual environment, or runs these tests; targets are checked in test_pages"
    ),
    r"(\.venv/bin/)?python bench/": (
        "minutes, and a quiet machine; that the files exist is checked in test_pages"
    ),
    r"docker build\b": "needs a container daemon",
    r"(pip|pipx) install\b|uvx\b|python -m reprieve$": "tests/deploy/test_dist.py does that with the wheel",
    r"kubectl krew\b": "needs krew; tests/deploy/test_dist.py unpacks the archive and checks its sum",
    r"kubectl reprieve\b": "tests/deploy/test_dist.py has kubectl find the plugin",
    r"helm install\b": "tests/deploy installs the chart on an API server",
    r"reprieve manifests monitoring \|": "needs the Prometheus operator's kinds",
    r".*\breprieve mcp\b": "waits for an assistant; tests/cli/test_mcp.py asks it",
    r"make real\b|(\.venv/bin/)?python -m tools\.(real_cluster|fidelity|soak)": (
        "starts programs for minutes; tests/real, test_fidelity and test_soak do what they can"
    ),
    r"\.venv/bin/python -m tools\.fidelity": "half a minute; tests/server/test_fidelity.py does the same",
    r"python -m tests\.kinds_table\b": "runs the tests that show the table; each of them compares its row",
    r"source \.venv/bin/activate$": "the tests run inside it already",
    r".*reprieve completion (zsh|fish)\b": "needs that shell; tests/cli makes the scripts",
}
"""What is not run here, and why."""
LASTING = re.compile(r"^reprieve (up|run)\b(?=.* -)|^reprieve up$")
"""Programs that stay until they are stopped: `staying.py` starts, uses and stops them."""
NAMED = re.compile(r"^reprieve [a-z]+( (crds|deploy|monitoring|import))?$")
"""A command that the text only talks about."""
STORY = [
    "kubectl apply -f examples/02-live-preemption/tenants.yaml",
    "kubectl wait --for=condition=Ready pods --all --timeout=60s",
    "kubectl apply -f examples/02-live-preemption/training.yaml",
    "kubectl wait --for=condition=Ready pods -l app=train --timeout=60s",
    "kubectl create namespace jobs",
    "kubectl apply -f examples/10-flavors-preempt-before-spot",
    "kubectl create namespace reprieve-system",
]
"""What has happened on the cluster of whoever types a command from running text: examples 02 and 10."""
SHELL = re.compile(r"[|<>&;`]|\$\(|^(?!reprieve )")
ASKS = re.compile(r"^(kubectl get\b|kubectl describe\b|reprieve (plan|explain|admit)\b|curl\b)")
PATIENCE_SECONDS = 45.0
PAGE_CONTROLLER = "http://127.0.0.1:8088"
"""Where pages say that a controller listens; the tests' own listens elsewhere."""


def elsewhere(line: str) -> bool:
    return any(re.match(pattern, line) for pattern in ELSEWHERE)


class Folder:
    """Where a page's commands are typed."""

    def __init__(self, path: Path, page: Path, environment: Mapping[str, str] | None = None) -> None:
        self.path = path
        self.environment = dict(environment or {})
        path.mkdir(exist_ok=True)
        if not (path / "examples").exists():
            (path / "examples").symlink_to(ROOT / "examples")
        for name, text in files(page).items():
            (path / name).write_text(text, encoding="utf-8")

    def run(self, command: Command) -> None:
        """Fails when the command does, or when it prints something else than the page shows."""
        patience = PATIENCE_SECONDS if self.environment and ASKS.match(command.line) else 0
        code, printed = 0, ""

        def good() -> bool:
            nonlocal code, printed
            code, printed = self._once(command.line)
            assert "Traceback" not in printed, f"$ {command.line}\n{printed}"
            if command.output.strip():
                return matches(command.output, printed)
            return _answered(command.line, code)

        def story() -> str:
            shown = f"--- printed\n{printed}\n--- shown\n{command.output}"
            return f"$ {command.line}\nexit code {code}\n{shown}"

        eventually_so(good, story, patience)

    def _once(self, line: str) -> tuple[int, str]:
        line = line.replace(PAGE_CONTROLLER, self.environment.get("CONTROLLER", PAGE_CONTROLLER))
        if SHELL.search(line):
            return self._in_shell(line)
        before = Path.cwd()
        os.chdir(self.path)
        try:
            result = CliRunner().invoke(main, self._words(line)[1:], env=self.environment)
        finally:
            os.chdir(before)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise AssertionError(f"`{line}` crashed") from result.exception
        return result.exit_code, result.output

    def _words(self, line: str) -> list[str]:
        """As a shell would hand them over."""
        home = self.environment.get("HOME", "~")
        words = shlex.split(re.sub(r"\$(\w+)", lambda name: self.environment.get(name[1], ""), line))
        return [home + word[1:] if word.startswith("~/") else word for word in words]

    def _in_shell(self, line: str) -> tuple[int, str]:
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", line],
            cwd=self.path,
            env=typing(self.environment),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=120,
            check=False,
        )
        return done.returncode, done.stdout


def typing(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of somebody at a shell, our programs on the PATH."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return {**os.environ, **environment, "PATH": path}


def _answered(line: str, code: int) -> bool:
    """No is an answer, if it is one of ours."""
    return code == 0 or (code == 1 and line.split("|")[-1].strip().startswith("reprieve "))


def unknown(line: str) -> str:
    """What is wrong with the names in a command line of ours; empty when nothing is. Values are not looked
    at.
    """
    for part in re.split(r"\||;|&&|\$\(|\)", line):
        words = part.replace("[", " ").replace("]", " ").split()
        if words[:1] == ["reprieve"] and (problem := _unknown_in(words[1:])):
            return f"`{line}`: {problem}"
    return ""


def _unknown_in(words: list[str]) -> str:
    command: click.Command = main
    context = click.Context(main)
    is_value = False
    for word in words:
        if is_value:
            is_value = False
        elif isinstance(command, click.Group) and re.fullmatch(r"[a-z]+", word):
            found = command.get_command(context, word)
            if found is None:
                return f"there is no command {word!r}"
            command = found
        elif re.match(r"--?[a-z]", word):
            name = word.split("=")[0].rstrip(".,`\"'")
            options = {o: p for p in command.get_params(context) for o in (*p.opts, *p.secondary_opts)}
            if name not in {*options, "--help", "-h"}:
                return f"there is no option {name!r}"
            option = options.get(name)
            is_value = "=" not in word and isinstance(option, click.Option) and not option.is_flag
    return ""
