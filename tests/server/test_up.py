"""`reprieve up` as a process: ready, useful at once, gone on Ctrl-C, and the state is there next
time.
"""

import base64
import json
import os
import re
import signal
import socket
import ssl
import stat
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.waiting import PATIENCE, eventually_so


class Up:
    """A running `reprieve up`."""

    def __init__(self, process: subprocess.Popen[str], lines: list[str], kubeconfig: Path) -> None:
        self.process = process
        self.lines = lines
        self.kubeconfig = kubeconfig

    @property
    def text(self) -> str:
        return "".join(self.lines)

    def get(self, path: str) -> Any:
        """GET with the token of the kubeconfig."""
        return request(self.kubeconfig, path)

    def stop(self, number: int = signal.SIGINT) -> str:
        self.process.send_signal(number)
        rest, _ = self.process.communicate(timeout=PATIENCE)
        return rest


def request(kubeconfig: Path, path: str, body: Any = None) -> Any:
    config = yaml.safe_load(kubeconfig.read_text())
    server, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    context = ssl.create_default_context(
        cadata=base64.b64decode(server["certificate-authority-data"]).decode()
    )
    call = urllib.request.Request(
        server["server"] + path,
        data=json.dumps(body).encode() if body is not None else None,
        headers={"Authorization": f"Bearer {user['token']}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(call, context=context, timeout=PATIENCE) as answer:
        return json.load(answer)


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-c", "from reprieve.cli import main; main()", "up", *arguments]


@contextmanager
def up(tmp_path: Path, *arguments: str) -> Iterator[Up]:
    kubeconfig = tmp_path / "kubeconfig"
    process = subprocess.Popen(
        command(f"--kubeconfig={kubeconfig}", *arguments),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    lines: list[str] = []
    assert process.stdout is not None
    try:
        for line in process.stdout:
            lines.append(line)
            if "Ready" in line:
                break
        yield Up(process, lines, kubeconfig)
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()


def refused(*arguments: str) -> str:
    done = subprocess.run(
        command(*arguments),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 2, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert "Ready" not in done.stdout  # which it never was
    return done.stderr


BARE = ("--controllers", "none")


def test_it_says_when_it_is_ready_and_where_it_is(tmp_path: Path) -> None:
    with up(
        tmp_path, "--nodes", "h100=8:cpu=96,memory=1Ti,nvidia.com/gpu=8", "--nodes", "cpu=2:cpu=8"
    ) as running:
        assert re.search(r"API server\s+https://127\.0\.0\.1:\d+", running.text)
        assert "8 x h100 (96 cpu, 1Ti memory, 8 nvidia.com/gpu), 2 x cpu (8 cpu)" in running.text
        assert f"export KUBECONFIG={running.kubeconfig}" in running.text
        nodes = running.get("/api/v1/nodes")["items"]
        assert len(nodes) == 10


def test_the_kubeconfig_is_private(tmp_path: Path) -> None:
    with up(tmp_path, *BARE) as running:
        assert stat.S_IMODE(running.kubeconfig.stat().st_mode) == 0o600


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_stops_cleanly_when_told_to(tmp_path: Path, number: int) -> None:
    with up(tmp_path, *BARE) as running:
        said = running.stop(number)
        assert running.process.returncode == 0
        assert "Stopped" in said
        assert "Traceback" not in said


def test_the_state_is_kept_in_the_data_directory(tmp_path: Path) -> None:
    data = tmp_path / "data"
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "kept"}}
    with up(tmp_path, *BARE, "--data-dir", str(data), "--nodes", "a=1:cpu=1") as running:
        request(running.kubeconfig, "/api/v1/namespaces/default/configmaps", config_map)
        before = running.get("/api/v1/namespaces/default/configmaps/kept")
        assert f"the state is in {data}" in running.stop()
    with up(tmp_path, *BARE, "--data-dir", str(data), "--nodes", "b=1:cpu=1") as running:
        assert running.get("/api/v1/namespaces/default/configmaps/kept") == before
        names = [n["metadata"]["name"] for n in running.get("/api/v1/nodes")["items"]]
        assert names == ["a-0", "b-0"]


def test_the_same_data_cannot_be_used_twice(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with up(tmp_path, *BARE, "--data-dir", str(data)):
        assert "data" in refused("--data-dir", str(data))


@pytest.mark.parametrize("option", ["--port", "--dashboard-port"])
def test_a_port_in_use_is_told(option: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert f"cannot listen on 127.0.0.1:{port}" in refused(option, str(port))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--nodes", "h100"], "no resources"),
        (["--nodes", "h100=8:cpu=lots"], "no amount"),
        (["--port", "99999"], "99999"),
        (["--run-for", "soon"], "soon"),
    ],
)
def test_bad_options_are_explained(arguments: list[str], said: str) -> None:
    assert said in refused(*arguments)


def test_no_nodes_at_all(tmp_path: Path) -> None:
    with up(tmp_path, *BARE, "--nodes", "none") as running:
        assert running.get("/api/v1/nodes")["items"] == []


def test_pods_are_scheduled_and_jobs_run_to_their_end(tmp_path: Path) -> None:
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": {"template": template}}
    with up(tmp_path, "--run-for", "200ms", "--nodes", "a=1:cpu=1") as running:
        dashboard = re.search(r"Dashboard\s+(http://127\.0\.0\.1:\d+/)", running.text)
        assert dashboard is not None
        request(running.kubeconfig, "/apis/batch/v1/namespaces/default/jobs", job)
        eventually_so(
            lambda: running.get("/apis/batch/v1/namespaces/default/jobs/j")["status"].get("succeeded"),
            lambda: running.get("/api/v1/pods"),
        )
        with urllib.request.urlopen(dashboard[1], timeout=PATIENCE) as page:
            assert b"<html" in page.read()
        assert "Stopped" in running.stop()
        assert running.process.returncode == 0


def test_a_manager_and_its_workers(tmp_path: Path) -> None:
    with up(tmp_path, "--workers", "2", "--nodes", "a=1:cpu=1") as running:
        for name, nodes in (("manager", 0), ("worker1", 1), ("worker2", 1)):
            kubeconfig = running.kubeconfig.with_name(f"kubeconfig-{name}")
            assert f"kubectl --kubeconfig {kubeconfig}" in running.text
            assert len(request(kubeconfig, "/api/v1/nodes")["items"]) == nodes
        running.stop()
        assert running.process.returncode == 0
