"""The front of the embedded server: everything it exports, and what importing it costs."""

import subprocess
import sys

import pytest

import reprieve.server

HEAVY = ("aiohttp", "cryptography", "sqlite3", "jsonpatch")


@pytest.mark.parametrize("name", reprieve.server.__all__)
def test_every_exported_name_exists(name: str) -> None:
    assert getattr(reprieve.server, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'EmbededServer'"):
        _ = reprieve.server.EmbededServer  # type: ignore[attr-defined,unused-ignore]


def test_schemas_are_had_without_the_server() -> None:
    """`reprieve manifests crds` needs the schemas, not HTTP, TLS and storage."""
    code = f"import sys, reprieve.manifests; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
