"""Runs what a page tells its readers to type."""

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from click.testing import CliRunner

from reprieve.cli import main
from tests.docs.pages import ROOT, Command, files, matches

LASTING = re.compile(
    r"^(reprieve (up|run|demo|manifests deploy)\b|make\b|docker\b|git\b|pip\b|kubectl port-forward\b)"
)
"""Programs that stay, or that set up a machine: only their names and options are checked."""
TEMPLATE = re.compile(r"\b(NAMESPACE|NAME|NODE|QUEUE|POD|FILE)\b")
SHELL = re.compile(r"[|<>&;$`]|^(?!reprieve )")
ASKS = re.compile(r"^(kubectl get\b|kubectl describe\b|reprieve (plan|explain|admit)\b|curl\b)")
PATIENCE_SECONDS = 45.0


class Folder:
    """Where a page's commands are typed."""

    def __init__(self, path: Path, page: Path, environment: dict[str, str] | None = None) -> None:
        self.path = path
        self.environment = environment or {}
        (path / "examples").symlink_to(ROOT / "examples")
        for name, text in files(page).items():
            (path / name).write_text(text, encoding="utf-8")

    def run(self, command: Command) -> None:
        """Fails when the command does, or when it prints something else than the page shows."""
        if LASTING.match(command.line) or TEMPLATE.search(command.line):
            return
        deadline = time.monotonic() + (PATIENCE_SECONDS if self.environment else 0)
        while True:
            code, printed = self._once(command.line)
            good = (
                matches(command.output, printed) if command.output.strip() else _answered(command.line, code)
            )
            if good or time.monotonic() > deadline or not ASKS.match(command.line):
                break
            time.sleep(0.3)
        assert "Traceback" not in printed, f"$ {command.line}\n{printed}"
        assert good, (
            f"$ {command.line}\nexit code {code}\n--- printed\n{printed}\n--- shown\n{command.output}"
        )

    def _once(self, line: str) -> tuple[int, str]:
        if SHELL.search(line) or self.environment:
            return self._in_shell(line)
        before = Path.cwd()
        os.chdir(self.path)
        try:
            result = CliRunner().invoke(main, shlex.split(line)[1:])
        finally:
            os.chdir(before)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise AssertionError(f"`{line}` crashed") from result.exception
        return result.exit_code, result.output

    def _in_shell(self, line: str) -> tuple[int, str]:
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", line],
            cwd=self.path,
            env={
                **os.environ,
                **self.environment,
                "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=120,
            check=False,
        )
        return done.returncode, done.stdout


def _answered(line: str, code: int) -> bool:
    """No is an answer, if it is one of ours."""
    return code == 0 or (code == 1 and line.split("|")[-1].strip().startswith("reprieve "))


@contextmanager
def cluster(up: str, at: Path) -> Iterator[dict[str, str]]:
    """What `up` starts, for as long as it is needed; the environment in which its users type.

    The page's port of the dashboard is replaced by a free one: `$CONTROLLER` is its address.
    """
    port = _free_port()
    arguments = shlex.split(re.sub(r"--(dashboard-port|kubeconfig)[ =]\S+", "", up))[1:]
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "reprieve",
            *arguments,
            f"--kubeconfig={at}/kubeconfig",
            f"--dashboard-port={port}",
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        _until_ready(process)
        threading.Thread(target=process.stdout.read if process.stdout else None, daemon=True).start()
        yield {
            "KUBECONFIG": str(at / "kubeconfig"),
            "CONTROLLER": f"http://127.0.0.1:{port}",
            "HOME": str(at),
        }
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=30)


def _until_ready(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    seen = ""
    for line in process.stdout:
        seen += line
        if "Ready" in line:
            return
    raise AssertionError(f"the cluster did not start:\n{seen}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def unknown(line: str) -> str:
    """What is wrong with the names in a command line of ours; empty when nothing is. Values are not looked at."""
    for part in re.split(r"\||;|&&|\$\(|\)", line):
        words = part.replace("[", " ").replace("]", " ").split()
        if words[:1] == ["reprieve"] and (problem := _unknown_in(words[1:])):
            return f"`{line}`: {problem}"
    return ""


def _unknown_in(words: list[str]) -> str:
    command: click.Command = main
    context = click.Context(main)
    for word in words:
        if isinstance(command, click.Group) and re.fullmatch(r"[a-z]+", word):
            found = command.get_command(context, word)
            if found is None:
                return f"there is no command {word!r}"
            command = found
        elif re.match(r"--?[a-z]", word):
            name = word.split("=")[0].rstrip(".,`\"'")
            options = {o for p in command.get_params(context) for o in (*p.opts, *p.secondary_opts)}
            if name not in options | {"--help", "-h"}:
                return f"there is no option {name!r}"
    return ""
