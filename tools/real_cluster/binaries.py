"""The programs of a control plane: in `$REPRIEVE_KUBERNETES` or `~/.cache/reprieve/kubernetes`, built there
on request. Any version will do that these flags start (tried with 1.20 and 1.38): put its programs there.

The build needs nothing but Debian's own archive, at whatever address this machine's apt already uses: the
source package `kubernetes` with everything it needs vendored, and the distribution's Go. It takes about ten
minutes on two cores.
"""

import os
import re
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

KUBERNETES = ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
PACKAGES = {
    "etcd": "etcd-server",
    "go": "golang-go",
    "dpkg-source": "dpkg-dev",
    "rsync": "rsync",
    "make": "make",
}
"""Program to the Debian package that brings it."""

GO_LIBRARIES = Path("/usr/share/gocode/src")
REFLECT = "github.com/modern-go/reflect2"
REFLECT_PACKAGE = "golang-github-modern-go-reflect2-dev"

HOW_TO_GET_THEM = "build them with `make real` (Debian bookworm, about ten minutes)"


class Missing(Exception):
    """A program that is not there; the message says how to get it."""


def directory() -> Path:
    return Path(os.environ.get("REPRIEVE_KUBERNETES") or "~/.cache/reprieve/kubernetes").expanduser()


def find(name: str) -> Path:
    """Our own build of it, else the one on the PATH."""
    own = directory() / name
    found = str(own) if own.exists() else shutil.which(name)
    if found is None:
        raise Missing(f"{name} is neither in {directory()} nor on the PATH; {HOW_TO_GET_THEM}")
    return Path(found)


@cache
def explains(program: Path) -> str:
    """What its `--help` says: which flags, controllers and gates it knows."""
    return subprocess.run([program, "--help"], capture_output=True, text=True, check=False).stdout


@cache
def version(program: Path) -> tuple[int, int]:
    """Major and minor."""
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"v(\d+)\.(\d+)", said)
    if found is None:
        raise Missing(f"{program} does not tell its version, but {said!r}")
    return int(found[1]), int(found[2])


def absent() -> list[str]:
    """The programs without which there is no control plane."""
    return [name for name in ("etcd", *KUBERNETES) if not _there(name)]


def absent_tools() -> list[str]:
    """What is needed beside them to try things out."""
    return [name for name in ("kubectl",) if not _there(name)]


def _there(name: str) -> bool:
    return (directory() / name).exists() or shutil.which(name) is not None


def build() -> None:
    """Build what is absent. Nothing outside `directory()` changes, except Debian packages that are
    installed.
    """
    if not (missing := absent()):
        return
    needed = [package for program, package in PACKAGES.items() if not _there(program)]
    _install(needed if (GO_LIBRARIES / REFLECT).exists() else [*needed, REFLECT_PACKAGE])
    wanted = [name for name in missing if name in KUBERNETES]
    if not wanted:
        return
    directory().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="reprieve-build-") as scratch:
        source = _fetch(Path(scratch))
        _fit_to_newer_go(source)
        _compile(source, wanted)


def _install(packages: list[str]) -> None:
    if not packages:
        return
    command = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages]
    if os.geteuid() != 0:
        raise Missing(f"as root, first: {' '.join(command)}")
    subprocess.run(["apt-get", "update", "-qq"], check=True)
    subprocess.run(command, check=True, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})


def _fetch(scratch: Path) -> Path:
    """The unpacked source package, where Go expects it. apt's own state is left alone."""
    sources, lists = scratch / "sources.list.d", scratch / "lists"
    for folder in (sources, lists / "partial"):
        folder.mkdir(parents=True)
    for file in (Path("/etc/apt/sources.list"), *sorted(Path("/etc/apt/sources.list.d").glob("*"))):
        if file.is_file():
            (sources / file.name).write_text(with_sources(file.read_text(encoding="utf-8")), encoding="utf-8")
    apt = ["apt-get", "-o", "Dir::Etc::sourcelist=/dev/null", "-o", f"Dir::Etc::sourceparts={sources}",
           "-o", f"Dir::State::lists={lists}", "-o", "APT::Sandbox::User=root"]  # fmt: skip
    subprocess.run([*apt, "update", "-qq"], check=True)
    home = scratch / "src/k8s.io"
    home.mkdir(parents=True)
    subprocess.run([*apt, "source", "-qq", "--only-source", "kubernetes"], check=True, cwd=home)
    [unpacked] = [path for path in home.iterdir() if path.is_dir()]
    return unpacked.rename(home / "kubernetes")


def with_sources(text: str) -> str:
    """The same apt entries, for source packages; works for both ways of writing them."""
    text = re.sub(r"^Types:.*$", "Types: deb-src", text, flags=re.M)
    return re.sub(r"^deb\s", "deb-src ", text, flags=re.M)


def _fit_to_newer_go(source: Path) -> None:
    """The source is older than the distribution's Go, in two places where it looks behind the language's
    back.
    """
    bundled = source / "vendor" / REFLECT
    shutil.rmtree(bundled)
    shutil.copytree(GO_LIBRARIES / REFLECT, bundled, ignore=shutil.ignore_patterns("*_test.go"))
    checks = source / "vendor/k8s.io/kube-openapi/pkg/validation/validate/type.go"
    # Empty strings and zeros of a custom resource were taken for nulls.
    guess = " || reflect.DeepEqual(reflect.Zero(reflect.TypeOf(data)), reflect.ValueOf(data))"
    checks.write_text(checks.read_text(encoding="utf-8").replace(guess, ""), encoding="utf-8")


def _compile(source: Path, programs: list[str]) -> None:
    release = _source_version(source)
    major, minor, _ = release.split(".")
    packages = ("component-base/version", "client-go/pkg/version")
    stamps = {"gitVersion": f"v{release}", "gitMajor": major, "gitMinor": minor}
    said = [
        f"-X k8s.io/kubernetes/vendor/k8s.io/{package}.{key}={value}"
        for package in packages
        for key, value in stamps.items()
    ]
    flags = " ".join(["-s -w", *said])
    environment = {
        **os.environ,
        "GOPATH": str(source.parents[2]), "GOCACHE": str(source.parents[2] / "cache"), "GO111MODULE": "off",
        "GOFLAGS": "",
    }  # fmt: skip
    subprocess.run(
        ["make", "generated_files", f"KUBE_GIT_VERSION=v{release}"], cwd=source, env=environment, check=True
    )
    for name in programs:
        target = directory() / name
        build = ["go", "build", "-o", str(target), "-ldflags", flags, f"k8s.io/kubernetes/cmd/{name}"]
        subprocess.run(build, cwd=source, env=environment, check=True)


def _source_version(source: Path) -> str:
    """From the changelog, `1.20.5+really1.20.2-1`: what it really is."""
    first = (source / "debian/changelog").read_text(encoding="utf-8").splitlines()[0]
    found = re.search(r"really(\d+\.\d+\.\d+)", first) or re.search(r"\((\d+\.\d+\.\d+)", first)
    if found is None:
        raise Missing(f"no version of Kubernetes in {first!r}")
    return found[1]
