"""The part of JSONPath that definitions may use."""

from typing import Any

import pytest

from reprieve.objects.jsonpath import InvalidPath, JsonPath

DOC = {
    "spec": {"replicas": 3, "hosts": ["a", "b"], "map": {"x.y/z": 1}},
    "status": {"conditions": [{"type": "A", "on": False}, {"type": "Ready", "on": True, "n": 5}]},
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (".spec.replicas", [3]),
        ("{.spec.replicas}", [3]),
        ("$.spec.replicas", [3]),
        (".spec.hosts[0]", ["a"]),
        (".spec.hosts[-1]", ["b"]),
        (".spec.hosts[9]", []),
        (".spec.hosts[*]", ["a", "b"]),
        (".status.conditions[-1:].type", ["Ready"]),
        (".spec.hosts[:]", ["a", "b"]),
        (".spec.hosts[:1]", ["a"]),
        (".spec.hosts[0:2:2]", ["a"]),
        (".spec.hosts[1:1]", []),
        (".spec.hosts[1:9]", []),
        (".spec.hosts[-3:]", []),
        (".spec.map[-1:]", []),
        (".spec.map['x.y/z']", [1]),
        (r".spec.map.x\.y/z", [1]),
        ('.status.conditions[?(@.type=="Ready")].on', [True]),
        (".status.conditions[?(@.type!='Ready')].type", ["A"]),
        (".status.conditions[?(@.n==5)].type", ["Ready"]),
        (".status.conditions[?(@.on==true)].type", ["Ready"]),
        (".status.conditions[*].type", ["A", "Ready"]),
        (".nowhere.at.all", []),
        (".spec.replicas.deeper", []),
    ],
)
def test_paths_find_what_kubectl_finds(path: str, found: list[Any]) -> None:
    assert JsonPath(path).find(DOC) == found


LONG = "9" * 5000
"""More digits than Python reads."""


@pytest.mark.parametrize(
    "path", ["..x", "spec", ".a[", ".a[?(@.b)]", ".a[0:2:0]", ".a[0,1]", f".a[{LONG}]", f".a[{LONG}:]"]
)
def test_unsupported_paths_are_refused(path: str) -> None:
    with pytest.raises(InvalidPath):
        JsonPath(path)
