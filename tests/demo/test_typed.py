"""Every command that the tour prints works when somebody types it while the tour is kept running."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.programs import program
from tests.waiting import PATIENCE

pytestmark = pytest.mark.slow


def test_every_command_that_the_tour_prints_works_when_typed():
    kubectl = Path(program("kubectl", "kubernetes-client")).parent
    tour = subprocess.Popen(
        [sys.executable, "-m", "reprieve", "demo", "--keep", "--port", "0"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert tour.stdout is not None
        printed = []
        for line in tour.stdout:
            printed.append(line)
            if "Everything goes on until Ctrl-C" in line:
                break
        text = "".join(printed)
        environment = {
            **os.environ,
            "KUBECONFIG": re.findall(r"export KUBECONFIG=(\S+)", text)[0],
            "PATH": f"{Path(sys.executable).parent}:{kubectl}:{os.environ['PATH']}",
        }
        commands = re.findall(r"^  \$ (.+)$", text, re.MULTILINE)
        assert len(commands) > 8
        for command in commands:
            done = subprocess.run(
                command,
                shell=True,
                env=environment,
                capture_output=True,
                text=True,
                timeout=PATIENCE,
                check=False,
            )
            assert done.returncode == 0, f"$ {command}\n{done.stdout}{done.stderr}"
    finally:
        tour.send_signal(signal.SIGINT)
        tour.wait(timeout=PATIENCE)
