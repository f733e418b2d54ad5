"""Programs that stay until they are stopped: starts them, waits until they are ready, does what they say
next, stops them.

Ports that a page names are replaced by free ones, so that several of these can run on one machine.
"""

import re
import shlex
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.docs.shell import Folder, typing
from tests.waiting import PATIENCE, eventually_so

READY_SECONDS = PATIENCE


@contextmanager
def cluster(up: str, at: Path) -> Iterator[dict[str, str]]:
    """What `up` starts, for as long as it is needed; the environment in which its users type."""
    port = _free_port()
    line = f"{re.sub(r'--(dashboard-port|kubeconfig)[ =][^ ]+', '', up)} --kubeconfig={at}/.kube/config"
    with _started(f"{line} --dashboard-port={port}", at) as process:
        _until_printed(process, "Ready")
        yield {
            "KUBECONFIG": f"{at}/.kube/config",
            "CONTROLLER": f"http://127.0.0.1:{port}",
            "HOME": str(at),
        }


def use(line: str, folder: Folder) -> None:
    """Start, wait, use, stop; fails unless all of it goes well."""
    line = re.sub(r"--(dashboard-port|port)[ =]\d+", lambda option: f"--{option[1]}={_free_port()}", line)
    if line.startswith("reprieve up"):
        with _started(line, folder.path) as process:
            printed = _until_printed(process, "Ready")
            for typed in re.findall(r"^  (kubectl .*?)(?:\s+#.*)?$", printed, re.M):
                exported = re.search(r"export KUBECONFIG=(\S+)", printed)
                _type(typed, folder.path, {"KUBECONFIG": exported[1] if exported else ""})
    else:
        port = _free_port()
        with _started(f"{line} --listen=127.0.0.1:{port}", folder.path, folder.environment) as process:
            token = re.search(r"--token-file[ =](\S+)", line)
            secret = (folder.path / token[1]).read_text().strip() if token else ""
            for path in ("/readyz", "/metrics", *(("/api/state", "/") if "--dashboard" in line else ())):
                _until_answered(process, f"http://127.0.0.1:{port}{path}", secret)


@contextmanager
def _started(
    line: str, at: Path, environment: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[str]]:
    environment = {"HOME": str(at), **(environment or {})}
    home = environment["HOME"]
    words = [home + word[1:] if word.startswith("~/") else word for word in shlex.split(line)]
    process = subprocess.Popen(
        [sys.executable, "-m", *words],
        cwd=at,
        env=typing(environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield process
        assert process.poll() is None, f"`{line}` did not stay"
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=PATIENCE)
    assert process.returncode == 0, f"`{line}` ended with {process.returncode}"


def _until_printed(process: subprocess.Popen[str], word: str) -> str:
    assert process.stdout is not None
    seen = ""
    for line in process.stdout:
        seen += line
        if word in line:
            threading.Thread(target=process.stdout.read, daemon=True).start()
            return seen
    raise AssertionError(f"it did not start:\n{seen}")


def _until_answered(process: subprocess.Popen[str], address: str, secret: str = "") -> None:
    request = urllib.request.Request(address, headers={"Authorization": f"Bearer {secret}"})

    def answers() -> bool:
        assert process.poll() is None, f"it ended before {address} answered"
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, ConnectionError):
            return False

    eventually_so(answers, f"{address} answers", READY_SECONDS)


def _type(line: str, at: Path, environment: Mapping[str, str]) -> None:
    done = subprocess.run(
        shlex.split(line),
        cwd=at,
        env=typing(environment),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, f"$ {line}\n{done.stdout}{done.stderr}"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
