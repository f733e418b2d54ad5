"""System programs that tests need: found on the PATH, or installed from the distribution when we may."""

import fcntl
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest


def program(name: str, package: str) -> str:
    """The program's path. Without it, and without the right to install it, the test fails and says what to
    do.
    """
    found = shutil.which(name)
    if found is None and os.geteuid() == 0 and shutil.which("apt-get"):
        with (Path(tempfile.gettempdir()) / "reprieve-tests-apt.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # several test processes, one package database
            found = shutil.which(name) or _install(name, package)
    if found is None:
        pytest.fail(
            f"{name} is needed and could not be installed; install it by hand (Debian: apt-get install "
            f"{package}) and run the tests again"
        )
    return found


def _install(name: str, package: str) -> str | None:
    wait = ["-o", "DPkg::Lock::Timeout=300"]
    for command in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", package]):
        subprocess.run(["apt-get", *wait, *command], check=False, capture_output=True, timeout=600)
    return shutil.which(name)
