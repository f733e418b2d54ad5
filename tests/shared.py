"""What several workers of one run need and one of them makes."""

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """The folder of this name, which the first worker to ask fills; the others wait for it.

    Tests of one module run in any worker, so a fixture of a module may be set up in each of them. That is
    right for a server and too much for a container image.
    """
    own = factory.getbasetemp()
    root = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    folder = root / name
    with (root / f"{name}.lock").open("a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.seek(0)
        if not lock.read():
            folder.mkdir()
            make(folder)
            lock.write("made")
    return folder
