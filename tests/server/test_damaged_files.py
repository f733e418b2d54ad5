"""A data directory with damaged files: a sentence and exit code 2; never a traceback, never open."""

import asyncio
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from reprieve.server import EmbeddedServer
from reprieve.server.backend import Backend
from reprieve.server.errors import ApiError
from reprieve.server.security import Authenticator
from reprieve.server.storage import DataDirectoryUnusable
from tests.waiting import PATIENCE

Damage = Callable[[bytes], bytes | None]

FILES = ("admin.token", "reader.token", "service-accounts.key", "ca.key", "ca.crt", "state.db")
DAMAGES: dict[str, Damage] = {
    "empty": lambda _: b"",
    "blank": lambda _: b" \n",
    "cut": lambda raw: raw[: min(len(raw) // 3, 10)],
    "binary": lambda raw: b"\xff\x00" * len(raw),
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    async def once() -> None:
        async with EmbeddedServer(data_dir=tmp_path, controllers=False):
            pass

    asyncio.run(once())
    return tmp_path


def start(directory: Path) -> None:
    async def once() -> None:
        async with EmbeddedServer(data_dir=directory, controllers=False):
            pass

    asyncio.run(once())


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_keeps_the_server_closed_with_a_sentence(data: Path, name: str, damage: str) -> None:
    path = data / name
    raw = DAMAGES[damage](path.read_bytes())
    assert raw is not None
    path.write_bytes(raw)
    with pytest.raises(DataDirectoryUnusable) as refused:
        start(data)
    assert str(data) in str(refused.value)
    assert path.read_bytes() == raw


@pytest.mark.parametrize("name", [*FILES, "kubeconfig", "serving.pem"])
def test_a_file_that_is_none_keeps_the_server_closed_with_a_sentence(data: Path, name: str) -> None:
    """A directory stands for whatever the system refuses to read or to write."""
    (data / name).unlink()
    (data / name).mkdir()
    with pytest.raises(DataDirectoryUnusable) as refused:
        start(data)
    assert str(data) in str(refused.value)


def test_a_first_start_that_was_killed_at_once_is_no_damage(tmp_path: Path) -> None:
    (tmp_path / "lock").touch()
    (tmp_path / "state.db").touch()
    start(tmp_path)


def test_a_database_that_was_deleted_is_begun_anew(data: Path) -> None:
    (data / "state.db").unlink()
    start(data)


def test_a_key_that_is_gone_is_not_replaced_behind_the_clients_back(data: Path) -> None:
    (data / "ca.key").unlink()
    with pytest.raises(DataDirectoryUnusable, match=r"ca\.crt and ca\.key are damaged .*No such file"):
        start(data)


def test_a_key_of_another_certificate_is_refused(
    data: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("other")
    start(other)
    (data / "ca.key").write_bytes((other / "ca.key").read_bytes())
    with pytest.raises(DataDirectoryUnusable, match="the key is not that of the certificate"):
        start(data)


def test_an_empty_token_opens_nothing(tmp_path: Path) -> None:
    (tmp_path / "admin.token").write_text("\n")
    with pytest.raises(DataDirectoryUnusable, match="holds no token"):
        Authenticator(tmp_path, Backend())


def test_spellings_of_an_accepted_token_are_not_remembered_without_end(tmp_path: Path) -> None:
    door = Authenticator(tmp_path, Backend())
    for spaces in range(1, 500):
        door.identify("Bearer" + " " * spaces + door.admin_token, None)
        with pytest.raises(ApiError):
            door.identify(f"Bearer wrong-{spaces}", None)
    assert len(door._seen) <= 64


def test_the_command_ends_with_2_and_without_a_traceback(data: Path) -> None:
    (data / "admin.token").write_bytes(b"")
    command = [sys.executable, "-m", "reprieve", "up", "--data-dir", str(data)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert ended.returncode == 2
    assert "admin.token holds no token" in " ".join(ended.stderr.split())
    assert "Traceback" not in ended.stderr
