"""What `make dist` builds works without the source tree: wheel, kubectl's plugin, chart, list of contents."""

import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml
from tools import dist

from tests.deploy.image import download
from tests.docs.pages import ROOT
from tests.server.kubectl_tool import find_kubectl
from tests.shared import made_once
from tests.waiting import PATIENCE

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
RELEASES = "https://releases.example/reprieve"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return made_once(tmp_path_factory, "dist", lambda made: dist.build(made / "files", RELEASES)) / "files"


@pytest.fixture(scope="module")
def offered(tmp_path_factory):
    """What an installer may use besides our wheel: the locked packages, and no index."""
    wheels = str(made_once(tmp_path_factory, "offered", download))
    return {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": wheels, "UV_NO_INDEX": "1", "UV_FIND_LINKS": wheels}


@pytest.fixture(scope="module")
def installed(built, offered, tmp_path_factory):
    """A fresh environment with the wheel and whatever it asks for, without the source tree."""

    def install(home):
        make = [sys.executable, "-m", "venv", "--without-pip", str(home)]
        subprocess.run(make, check=True, timeout=PATIENCE)
        pip = [sys.executable, "-m", "pip", "--python", str(home), "install", "--quiet", "--no-compile"]
        environment = outside() | offered
        subprocess.run([*pip, str(wheel_of(built))], check=True, timeout=10 * PATIENCE, env=environment)

    return made_once(tmp_path_factory, "installed", install)


@pytest.fixture(scope="module")
def installers(tmp_path_factory):
    """pipx and uv, in an environment of their own."""

    def install(home):
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True, timeout=PATIENCE)
        get = [home / "bin/python", "-m", "pip", "install", "--quiet", "pipx", "uv"]
        subprocess.run(get, check=True, timeout=10 * PATIENCE)

    return made_once(tmp_path_factory, "installers", install) / "bin"


def outside() -> dict[str, str]:
    """The environment of somebody who knows nothing of the source tree."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def wheel_of(built: Path) -> Path:
    return next(built.glob("*.whl"))


def run(installed: Path, cwd: Path, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = outside()
    environment["PATH"] = f"{installed / 'bin'}:{environment['PATH']}"
    environment["HOME"] = str(cwd)
    environment["COLUMNS"] = "200"
    return subprocess.run(
        [program, *arguments],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )


def test_the_program_runs_from_the_wheel_alone(installed, tmp_path):
    where = run(
        installed, tmp_path, str(installed / "bin/python"), "-c", "import reprieve; print(reprieve.__file__)"
    )
    assert where.stdout.startswith(str(installed)), where.stderr
    shutil.copytree(ROOT / "examples/01-first-plan", tmp_path / "first")
    python = str(installed / "bin/python")
    for program in (("reprieve",), (python, "-m", "reprieve"), ("kubectl-reprieve",)):
        answer = run(installed, tmp_path, *program, "plan", "-f", "first", "--for", "PodGroup/ml/train")
        assert answer.returncode == 0, answer.stderr
        assert "fits if others make way" in answer.stdout


@pytest.mark.parametrize(
    "line", ["pipx run --spec WHEEL reprieve", "uvx --from WHEEL reprieve"], ids=["pipx", "uvx"]
)
def test_pipx_and_uvx_run_it_from_the_wheel(line, installers, built, offered, tmp_path):
    shutil.copytree(ROOT / "examples/01-first-plan", tmp_path / "first")
    program, *words = line.replace("WHEEL", str(wheel_of(built))).split()
    folders = {name: str(tmp_path / name) for name in ("HOME", "PIPX_HOME", "UV_CACHE_DIR", "UV_TOOL_DIR")}
    answer = subprocess.run(
        [installers / program, *words, "plan", "-f", "first", "--for", "PodGroup/ml/train"],
        cwd=tmp_path,
        env=outside() | offered | folders | {"UV_PYTHON": sys.executable, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
        timeout=10 * PATIENCE,
    )
    assert answer.returncode == 0, answer.stderr
    assert "fits if others make way" in answer.stdout


def test_kubectl_finds_the_plugin(installed, tmp_path):
    shutil.copytree(ROOT / "examples/01-first-plan", tmp_path / "first")
    question = ("reprieve", "plan", "-f", "first", "--for", "PodGroup/ml/train")
    answer = run(installed, tmp_path, find_kubectl(), *question)
    assert answer.returncode == 0, answer.stderr
    assert "fits if others make way" in answer.stdout


def test_everything_that_is_read_at_run_time_is_in_the_wheel(installed, tmp_path):
    """Definitions, alerts, the page and the embedded server's schemas are files beside the code."""
    source = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src/reprieve").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc"
    }
    packages = next(installed.glob("lib/python*/site-packages"))
    assert {path for path in source if not (packages / path).exists()} == set()
    for command in ("crds", "deploy", "monitoring"):
        answer = run(installed, tmp_path, "reprieve", "manifests", command)
        assert answer.returncode == 0, answer.stderr


def test_kubectl_completes_what_follows_the_plugins_name(installed, tmp_path):
    answer = run(installed, tmp_path, "kubectl_complete-reprieve", "pl")
    plan, last = answer.stdout.splitlines()
    assert plan.startswith("plan\tWould it fit")
    assert last == ":4"
    options = run(installed, tmp_path, "kubectl_complete-reprieve", "plan", "--comp").stdout
    assert options.splitlines()[0].startswith("--compare\t")
    files = run(installed, tmp_path, "kubectl_complete-reprieve", "plan", "-f", "").stdout
    assert files.splitlines()[-1] == ":0"


def test_krew_gets_an_archive_with_the_sum_that_its_manifest_names(built):
    manifest = yaml.safe_load((built / "krew.yaml").read_text(encoding="utf-8"))
    [platform] = manifest["spec"]["platforms"]
    assert platform["uri"].startswith(RELEASES)
    content = (built / platform["uri"].rpartition("/")[2]).read_bytes()
    assert hashlib.sha256(content).hexdigest() == platform["sha256"]
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        launcher = archive.getmember(platform["bin"])
        assert launcher.mode & 0o111
        assert [name for name in archive.getnames() if name.endswith(".whl")]


def test_the_plugin_says_what_is_missing_when_it_cannot_be_set_up(built, tmp_path):
    with tarfile.open(next(built.glob("kubectl-reprieve-*.tar.gz"))) as archive:
        archive.extractall(tmp_path, filter="data")
    broken = tmp_path / "bin"
    broken.mkdir()
    (broken / "python3").write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    (broken / "python3").chmod(0o755)
    environment = {"PATH": f"{broken}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    answer = subprocess.run(
        [str(tmp_path / "kubectl-reprieve")],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert answer.returncode == 2
    assert "Python 3.11" in answer.stderr


@pytest.mark.parametrize(("file", "locked"), dist.SBOMS.items(), ids=dist.SBOMS)
def test_the_list_of_contents_names_every_locked_package(built, file, locked):
    sbom = json.loads((built / file).read_text(encoding="utf-8"))
    found = [(each["name"], each["version"]) for each in sbom["components"]]
    assert ("aiohttp", version("aiohttp")) in found
    lock = (ROOT / locked).read_text(encoding="utf-8").splitlines()
    assert len(found) == sum("==" in line and not line.startswith((" ", "#")) for line in lock)


def test_the_chart_is_packed(built):
    with tarfile.open(built / f"reprieve-{version('reprieve')}.tgz") as chart:
        names = chart.getnames()
    assert "reprieve/files/rights/scheduler.yaml" in names
    assert "reprieve/values.schema.json" in names


def test_the_source_archive_has_what_the_help_and_the_docs_name(built):
    """It had nothing but the package: whoever installed the wheel found no example to try."""
    name = f"reprieve-{version('reprieve')}"
    with tarfile.open(built / f"{name}.tar.gz") as archive:
        names = set(archive.getnames())
    for path in (
        "Makefile",
        "docs/install.md",
        "deploy/Dockerfile",
        "requirements/run.lock",
        "tests/builders.py",
    ):
        assert f"{name}/{path}" in names, path
    examples = [each.relative_to(ROOT) for each in (ROOT / "examples").rglob("*.yaml")]
    assert [each for each in examples if f"{name}/{each}" not in names] == []
    assert not [each for each in names if "__pycache__" in each]
