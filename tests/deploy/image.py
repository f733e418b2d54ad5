"""The container image, built from `deploy/Dockerfile` by Buildah on a base that is made of this machine.

No registry of images is needed: the base has this Python, the libraries that it and the packages load, and a
shell. Buildah runs the steps with `chroot`, so that it works inside a container, too.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.docs.pages import ROOT
from tests.programs import program
from tests.waiting import PATIENCE

LIBRARY = re.compile(r"(?:=> )?(/\S+) \(0x")
LOADED_BY_PACKAGES = frozenset(
    (
        "libstdc++.so.6",
        "libgcc_s.so.1",
        "libpthread.so.0",
        "libdl.so.2",
        "librt.so.1",
        "libutil.so.1",
        "libm.so.6",
    )
)
"""What the shared objects in wheels may ask of a system (PEP 600)."""
PROGRAMS = ("/bin/sh", "/usr/bin/env", "/usr/bin/id")


class Images:
    """Buildah with a store of its own, gone with the folder."""

    built = "localhost/reprieve"

    def __init__(self, folder: Path) -> None:
        self._program = program("buildah", "buildah")
        self._store = folder / "store"
        self.folder = folder

    def __call__(self, command: str, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        roots = ["--root", str(self._store), "--runroot", f"{self._store}-run", "--storage-driver", "vfs"]
        ended = subprocess.run(
            [self._program, *roots, command, *arguments],
            capture_output=True,
            text=True,
            check=False,
            timeout=10 * PATIENCE,
            env=os.environ | {"BUILDAH_ISOLATION": "chroot"},
        )
        assert ended.returncode == 0 or not check, f"buildah {command}: {ended.stdout[-2000:]}{ended.stderr}"
        return ended

    def base(self) -> str:
        """An image with Python, made of what this machine runs."""
        root = self.folder / "base"
        _assemble(root)
        container = self("from", "scratch").stdout.strip()
        self("add", container, str(root), "/")
        self("config", "--env", "PATH=/usr/local/bin:/usr/bin:/bin", container)
        name = "localhost/reprieve-test-base"
        self("commit", container, name)
        return name

    def build(self, base: str, wheels: Path) -> None:
        """The image of the Dockerfile; what it installs comes from a folder instead of an index."""
        settings = self.folder / "pip.conf"
        settings.write_text("[global]\nno-index = true\nfind-links = /wheels\n", encoding="utf-8")
        self(
            "build", "--isolation", "chroot", "--pull-never", "--build-arg", f"BASE={base}",
            "--volume", f"{wheels}:/wheels:ro", "--volume", f"{settings}:/etc/pip.conf:ro",
            "--file", str(ROOT / "deploy/Dockerfile"), "--tag", self.built, str(ROOT),
        )  # fmt: skip

    def settings(self, image: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self("inspect", "--type", "image", image).stdout)
        settings: dict[str, Any] = found["OCIv1"]["config"]
        return settings


def download(folder: Path) -> Path:
    """The locked packages as wheels, and what builds ours."""
    pip = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--only-binary",
        ":all:",
        "--dest",
        str(folder),
    ]
    locked = ["--require-hashes", "--requirement", str(ROOT / "requirements/image.lock")]
    for what in (locked, ["setuptools>=80", "wheel"]):
        subprocess.run([*pip, *what], check=True, timeout=10 * PATIENCE)
    return folder


def _assemble(root: Path) -> None:
    python = Path(sys.executable).resolve()
    library = Path(sysconfig.get_path("stdlib"))
    local = root / "usr/local"
    shutil.copytree(
        library,
        local / "lib" / library.name,
        ignore=shutil.ignore_patterns(
            "site-packages", "dist-packages", "__pycache__", "test", "tests", "config-*"
        ),
    )
    (local / "bin").mkdir(parents=True)
    shutil.copy2(python, local / "bin/python3")
    modules = list(library.glob("lib-dynload/*.so"))
    programs = [Path(name) for name in PROGRAMS]
    for path in (*programs, *_libraries([python, *modules, *programs])):
        _place(root, path)
    # The interpreter looks for its own library beside itself wherever it was built to be.
    for path in _libraries([python]):
        if path.name.startswith("libpython"):
            _place(root, path, "/usr/lib/" + path.name)
    for folder in ("tmp", "etc", "proc", "sys", "dev", "var/tmp", "root"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    (root / "tmp").chmod(0o1777)
    (root / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/sh\n", encoding="utf-8")


def _libraries(programs: Iterable[Path]) -> set[Path]:
    """What the dynamic linker loads for them, and for the packages that are going to be installed."""
    found: set[Path] = set()
    for path in programs:
        said = subprocess.run(
            ["ldd", str(path)], capture_output=True, text=True, check=False, timeout=PATIENCE
        )
        found |= {Path(name) for name in LIBRARY.findall(said.stdout)}
    cached = subprocess.run(
        ["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    for line in cached.stdout.splitlines():
        if line.split(" ")[0].strip() in LOADED_BY_PACKAGES:
            found.add(Path(line.rpartition("=> ")[2]))
    return found


def _place(root: Path, path: Path, where: str = "") -> None:
    target = root / (where or str(path)).lstrip("/")
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.exists():
        shutil.copy2(path, target)
