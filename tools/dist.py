"""A release, in `dist/`: wheel and source, chart, kubectl's plugin, and a list of what is inside.

    python tools/dist.py [--releases URL]

`--releases` is the address under which the files will lie; krew downloads the plugin's archive from there.
"""

import argparse
import gzip
import hashlib
import io
import json
import re
import shutil
import subprocess
import sys
import tarfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parent.parent
VERSION = version("reprieve")
SBOMS = {"sbom.cdx.json": "requirements/run.lock", "sbom-image.cdx.json": "requirements/image.lock"}
"""Of the program, and of its container image without the base."""
PIN = re.compile(r"^(?P<name>[\w.-]+)(?:\[[^]]*\])?==(?P<version>[^\s;\\]+)", re.M)


def build(target: Path, releases: str) -> list[Path]:
    """Build everything into an empty folder."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    subprocess.run(
        [sys.executable, "-m", "build", "--outdir", str(target), str(ROOT)],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    wheel = next(target.glob("*.whl"))
    helm = Path(sys.executable).parent / "helm"
    subprocess.run(
        [helm, "package", ROOT / "deploy/chart", "--destination", target],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    archive = target / f"kubectl-reprieve-{VERSION}.tar.gz"
    archive.write_bytes(plugin(wheel))
    (target / "krew.yaml").write_text(
        yaml.safe_dump(krew(archive, releases), sort_keys=False, width=100), encoding="utf-8"
    )
    for name, lock in SBOMS.items():
        (target / name).write_text(json.dumps(sbom(lock), indent=2) + "\n", encoding="utf-8")
    return sorted(target.iterdir())


def plugin(wheel: Path) -> bytes:
    """The archive that krew unpacks: launcher, wheel and licence; the same input gives the same bytes."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as tar:
        for path, mode in (
            (ROOT / "deploy/krew/kubectl-reprieve", 0o755),
            (wheel, 0o644),
            (ROOT / "LICENSE", 0o644),
        ):
            entry = tarfile.TarInfo(path.name)
            entry.size, entry.mode = path.stat().st_size, mode
            with path.open("rb") as content:
                tar.addfile(entry, content)
    return gzip.compress(plain.getvalue(), mtime=0)


def krew(archive: Path, releases: str) -> dict[str, Any]:
    """The manifest for krew's index, or for `kubectl krew install --manifest`."""
    files = [{"from": name, "to": "."} for name in ("kubectl-reprieve", "reprieve-*.whl", "LICENSE")]
    platform = {
        "selector": {"matchExpressions": [{"key": "os", "operator": "In", "values": ["linux", "darwin"]}]},
        "uri": f"{releases.rstrip('/')}/{archive.name}",
        "sha256": hashlib.sha256(archive.read_bytes()).hexdigest(),
        "bin": "kubectl-reprieve",
        "files": files,
    }
    return {
        "apiVersion": "krew.googlecontainertools.github.com/v1alpha2",
        "kind": "Plugin",
        "metadata": {"name": "reprieve"},
        "spec": {
            "version": f"v{VERSION}",
            "shortDescription": "Who makes way for whom, and why",
            "description": "Plans preemptions and explains decisions: why a pod, a group or a job waits,\n"
            "what would help, and whom it would cost its place.\n",
            "caveats": "Needs Python 3.11 or newer with venv; the first use sets up its environment.\n",
            "platforms": [platform],
        },
    }


def sbom(locked: str) -> dict[str, Any]:
    """A CycloneDX list of what an installation pulls in, from its lock file."""
    lock = (ROOT / locked).read_text(encoding="utf-8")
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": _component("reprieve", VERSION, "application")},
        "components": [_component(pin["name"], pin["version"]) for pin in PIN.finditer(lock)],
    }


def _component(name: str, number: str, kind: str = "library") -> dict[str, str]:
    identity = f"pkg:pypi/{name.lower()}@{number}"
    return {"type": kind, "bom-ref": identity, "name": name, "version": number, "purl": identity}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--releases", default=f"https://example.invalid/reprieve/v{VERSION}")
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    options = parser.parse_args()
    for path in build(options.out, options.releases):
        print(f"{path.stat().st_size:>12,}  {path}")


if __name__ == "__main__":
    main()
