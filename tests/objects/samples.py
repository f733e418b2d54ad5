"""Sound objects of every kind to start from, and a way to spoil them."""

import copy
from pathlib import Path
from random import Random
from typing import Any

from reprieve.objects.documents import read_documents

PATH = Path(__file__).with_name("samples.yaml")
SAMPLES: list[dict[str, Any]] = [source.document for source in read_documents(PATH)]

JUNK: list[Any] = [
    None, True, False, 0, -1, 1, 2**31, 2**63, -(2**70), 1.5, 1e300, float("nan"), float("inf"), "", "x",
    "Never", "1x", "-5", "1e999", "500m", "A_b", "a" * 300, "ü", "\ud800", "2026-99-99T00:00:00Z", "all",
    "PodGroup", "system-x", [], {}, [None], [[]], [{}], {"": ""}, {"all": {}, "single": {}}, {"name": 5},
    [1, "a", None, {"name": []}], {"a": {"b": {"c": []}}}, ["a", "a"], [{"name": "a"}, {"name": "a"}],
]  # fmt: skip


def sample(kind: str, group: str = "") -> dict[str, Any]:
    """A fresh copy of the sample of this kind."""
    found = [each for each in SAMPLES if each["kind"] == kind and each["apiVersion"].startswith(group)]
    return copy.deepcopy(found[0])


def edited(document: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """A copy with one place changed: `edited(pod, "spec.containers.0.name", 5)`; `...` takes the place
    away.
    """
    result = copy.deepcopy(document)
    *parents, last = (int(part) if part.isdigit() else part for part in path.split("."))
    at: Any = result
    for part in parents:
        at = at[part] if isinstance(part, int) else at.setdefault(part, {})
    if value is ...:
        del at[last]
    else:
        at[last] = value
    return result


def spoiled(document: dict[str, Any], random: Random) -> dict[str, Any]:
    """A copy with one to three places replaced, removed, duplicated or renamed."""
    result = copy.deepcopy(document)
    for _ in range(random.randint(1, 3)):
        _spoil_once(result, random)
    return result


def _spoil_once(document: dict[str, Any], random: Random) -> None:
    places = list(_places(document))
    parent, key = random.choice(places)
    change = random.random()
    if change < 0.4:
        alike = [each for each in JUNK if type(each) is type(parent[key])]
        parent[key] = copy.deepcopy(random.choice(alike or JUNK))
    elif change < 0.6:
        parent[key] = copy.deepcopy(random.choice(JUNK))
    elif change < 0.75:
        del parent[key]
    elif change < 0.9:
        other_parent, other_key = random.choice(places)
        if other_key in other_parent if isinstance(other_parent, dict) else other_key < len(other_parent):
            parent[key] = copy.deepcopy(other_parent[other_key])
    elif isinstance(parent, dict):
        parent[random.choice(["name", "all", "basic", "x", ""])] = parent.pop(key)
    else:
        parent.append(copy.deepcopy(parent[key]))


def _places(value: Any) -> Any:
    keys = list(value) if isinstance(value, dict) else range(len(value))
    for key in keys:
        yield value, key
        if isinstance(value[key], dict | list):
            yield from _places(value[key])
