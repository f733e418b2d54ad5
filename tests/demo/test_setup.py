"""What `make demo` installs is the part of the locked packages that running needs, in the same versions."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PIN = re.compile(r"^([\w.-]+)==(\S+)(?: ; (.*?))? \\$", re.M)


def pins(name: str) -> dict[str, str]:
    text = (ROOT / "requirements" / name).read_text(encoding="utf-8")
    return {package: version for package, version, _ in PIN.findall(text)}


def test_the_tour_installs_the_versions_that_the_tests_use():
    runs = pins("run.lock")
    assert runs.items() <= pins("dev.lock").items()
    assert len(runs) < len(pins("dev.lock")) / 2


def test_the_tour_installs_every_dependency():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = {re.split(r"[^\w-]", text)[0].lower() for text in project["dependencies"]}
    assert needed <= set(pins("run.lock"))
