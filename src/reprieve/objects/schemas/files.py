"""The files of this folder: which one describes a kind, and what is in it. Each is read on first use.

They are YAML of a shape so plain (`name: value`, three levels, no lists but `kinds`) that reading one takes
about a millisecond.
"""

from functools import cache
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent
_KUEUE = "kueue"
_KUEUE_VERSIONS = ("v1beta2", "v1beta1")
"""One file describes both."""


@cache
def load(file: str) -> dict[str, Any]:
    """Everything a file says: `package`, `group`, `version`, `kinds` (those that live in no namespace
    also in `cluster`), and the lines of its `types`."""
    document: dict[str, Any] = {}
    types: dict[str, dict[str, str]] = {}
    fields: dict[str, str] = {}
    for line in (_FOLDER / f"{file}.yaml").read_text().splitlines():
        name, _, value = line.strip().partition(":")
        value = value.strip()
        if value[:1] == '"':
            value = value[1:-1]
        if line[:4] == "    ":
            fields[name] = value
        elif line[:2] == "  ":
            fields = types[name] = {}
        else:
            document[name] = value
    lists = {name: _items(document.get(name, "")) for name in ("kinds", "cluster")}
    return document | {"types": types} | lists


def _items(text: str) -> tuple[str, ...]:
    return tuple(text[1:-1].split(", ")) if text else ()


def file_of(group: str, version: str) -> str:
    """The name of the file that describes a version of a group, empty where there is none."""
    name = group.partition(".")[0] or "core"
    file = name if version == "v1" or name == _KUEUE else f"{name}_{version}"
    if file not in files() or load(file).get("group") != group:
        return ""
    return file if version in _versions(file) else ""


def _versions(file: str) -> tuple[str, ...]:
    return _KUEUE_VERSIONS if file == _KUEUE else (load(file).get("version", ""),)


@cache
def files() -> frozenset[str]:
    return frozenset(path.stem for path in _FOLDER.glob("*.yaml"))


@cache
def known_kinds() -> dict[tuple[str, str], tuple[str, ...]]:
    """(group, kind) of everything described, and in which versions. Reads every file."""
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    for file in sorted(files()):
        for kind in load(file)["kinds"]:
            key = (load(file)["group"], kind)
            found[key] = (*found.get(key, ()), *_versions(file))
    return found


def is_namespaced(group: str, kind: str) -> bool | None:
    """Whether objects of a kind live in namespaces; None for a kind that no file describes."""
    for version in known_kinds().get((group, kind), ()):
        return kind not in load(file_of(group, version))["cluster"]
    return None
