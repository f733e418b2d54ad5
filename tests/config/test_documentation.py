"""docs/configuration.md names every field with its default, and every gate with its default. Nothing more,
nothing less.
"""

import re
from pathlib import Path
from typing import Any

from reprieve.config import Configuration
from reprieve.config.gates import GATES
from reprieve.objects.documents import read_documents

DOCS = Path(__file__).parents[2] / "docs" / "configuration.md"


def fields(section: Any, prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in section.items():
        path = f"{prefix}{name}"
        if isinstance(value, dict) and value:
            found |= fields(value, f"{path}.")
        else:
            found[path] = value
    return found


def rows(heading: str) -> dict[str, list[str]]:
    """First column (without its backquotes) to the other columns, of all tables below a heading."""
    text = DOCS.read_text().split(f"\n## {heading}\n")[1].split("\n## ")[0]
    table = [
        [cell.strip() for cell in line.strip("|").split(" | ")]
        for line in text.splitlines()
        if line.startswith("| `")
    ]
    return {row[0].strip("| `"): row[1:] for row in table}


def test_every_field_is_documented_with_its_default() -> None:
    optional: dict[str, Any] = {
        "fairSharing": {},
        "admissionFairSharing": {},
        "quota": {"waitForPodsReady": {}},
    }
    config = Configuration.load(optional).to_dict()
    expected = fields(
        {key: value for key, value in config.items() if key not in ("apiVersion", "kind", "featureGates")}
    )
    documented = rows("Fields")
    assert set(documented) == set(expected) | {
        "apiVersion",
        "kind",
        "featureGates",
        "fairSharing",
        "admissionFairSharing",
        "quota.waitForPodsReady",
    }
    for path, value in expected.items():
        text = documented[path][0].strip("`")
        if isinstance(value, str):
            assert text == (value or "empty"), path
        elif isinstance(value, bool):
            assert text == str(value).lower(), path
        elif isinstance(value, int | float):
            assert float(text.replace(",", "")) == value, path


def test_every_gate_is_documented_with_its_default_and_its_needs() -> None:
    documented = rows("Feature gates")
    assert set(documented) == set(GATES)
    for name, gate in GATES.items():
        default, needs, *_ = documented[name]
        assert default == ("on" if gate.default else "off"), name
        assert set(re.findall(r"`(\w+)`", needs)) == set(gate.needs), name


def test_the_example_in_the_documentation_loads(tmp_path: Path) -> None:
    example = DOCS.read_text().split("```yaml\n")[1].split("```")[0]
    (tmp_path / "c.yaml").write_text(example)
    assert list(read_documents(tmp_path / "c.yaml"))
    Configuration.read(tmp_path / "c.yaml")
