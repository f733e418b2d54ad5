"""Packages of npm that tests need: fetched once into a cache outside the project, never part of it."""

import fcntl
import os
import subprocess
import tarfile
from pathlib import Path

import pytest

from tests.programs import program

FETCH_SECONDS = 300


def package_file(name: str, version: str, path: str) -> str:
    """The text of one file of a package, exactly this version. Without it the test fails."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "reprieve-tests" / "npm"
    packed = folder / f"{name}-{version}.tgz"
    if not packed.exists():
        _fetch(name, version, packed)
    with tarfile.open(packed) as archive:
        held = archive.extractfile(f"package/{path}")
        assert held is not None, f"{name} {version} has no file {path}"
        return held.read().decode()


def _fetch(name: str, version: str, packed: Path) -> None:
    npm = program("npm", "npm")
    packed.parent.mkdir(parents=True, exist_ok=True)
    with packed.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # several test processes, one download
        if packed.exists():
            return
        command = [npm, "pack", f"{name}@{version}", "--silent"]
        done = subprocess.run(
            command, cwd=packed.parent, capture_output=True, text=True, check=False, timeout=FETCH_SECONDS
        )
    if not packed.exists():
        pytest.fail(
            f"{name} {version} is needed and could not be fetched: {done.stderr.strip()[-300:]}; "
            f"run `npm pack {name}@{version}` in {packed.parent} where npm reaches its packages"
        )
