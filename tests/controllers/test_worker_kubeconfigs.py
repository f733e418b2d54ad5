"""Kubeconfigs of workers come from outside: whatever is in one, a sentence that quotes nothing of it."""

import asyncio
import contextlib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from reprieve.controllers.fleet import access
from reprieve.controllers.fleet.access import InsecureKubeConfig, Limits, connect, parse
from reprieve.controllers.fleet.connection import Connection
from reprieve.kube import Backoff, Client, ConfigError, merge, resolve
from reprieve.objects import well_known
from tests.waiting import PATIENCE

SECRET = "s3cr3t-line-of-another-file"


def kubeconfig(**changes: Any) -> dict[str, Any]:
    sound: dict[str, Any] = {
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
        "users": [{"name": "u", "user": {"token": "t"}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    return {**sound, **changes}


def server(address: Any) -> dict[str, Any]:
    return kubeconfig(clusters=[{"name": "c", "cluster": {"server": address}}])


def user(**fields: Any) -> dict[str, Any]:
    return kubeconfig(users=[{"name": "u", "user": fields}])


MALFORMED: dict[str, Any] = {
    "users: null in a list": kubeconfig(users=[None]),
    "clusters: null in a list": kubeconfig(clusters=[None]),
    "contexts: null in a list": kubeconfig(contexts=[None]),
    "users: a mapping": kubeconfig(users={"u": {}}),
    "users: text": kubeconfig(users="u"),
    "users: a list of text": kubeconfig(users=["u"]),
    "user: a list": kubeconfig(users=[{"name": "u", "user": []}]),
    "user: text": kubeconfig(users=[{"name": "u", "user": "t"}]),
    "token: a number": user(token=5),
    "token: a list": user(token=["t"]),
    "token: a line break": user(token="a\r\nX-Evil: 1"),
    "token: not ASCII": user(token="grüße"),
    "certificate: not base64": user(**{"client-certificate-data": "%%%"}),
    "certificate: a number": user(**{"client-certificate-data": 5}),
    "context: a list": kubeconfig(contexts=[{"name": "x", "context": []}]),
    "context: another name": kubeconfig(**{"current-context": "y"}),
    "context: a mapping": kubeconfig(**{"current-context": {}}),
    "context: user is a list": kubeconfig(contexts=[{"name": "x", "context": {"cluster": "c", "user": []}}]),
    "server: missing": server(None),
    "server: a number": server(5),
    "server: no scheme": server("127.0.0.1:6443"),
    "server: another scheme": server("file:///etc/passwd"),
    "server: no host": server("https://"),
    "server: a bad port": server("https://h:99999"),
    "server: a word as port": server("https://h:port"),
    "server: half an IPv6 address": server("https://[::1"),
    "server: a blank": server("https://h /x"),
    "server: a line break": server("https://h\n"),
    "nothing": None,
    "a list": [],
    "text": SECRET,
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_kubeconfig_is_refused_with_a_sentence(name: str) -> None:
    text = yaml.safe_dump(MALFORMED[name]).encode()
    with pytest.raises(ConfigError) as refused:
        resolve(merge([parse(text, "Secret/w")]))
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize(
    "text", [f"a: [{SECRET}", f"{SECRET}: {SECRET}: x", f"\t{SECRET}", f"&a {SECRET}: *a"]
)
def test_no_line_of_a_file_is_quoted(text: str) -> None:
    with pytest.raises(ConfigError) as refused:
        resolve(merge([parse(text.encode(), "Secret/w")]))
    assert SECRET not in str(refused.value)


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(
    place=st.sampled_from(["clusters", "users", "contexts", "current-context"]),
    value=anything,
    deep=st.booleans(),
)
def test_whatever_stands_in_a_kubeconfig_is_used_or_refused(place: str, value: Any, deep: bool) -> None:
    inner = place.removesuffix("s")
    changed = [{"name": {"clusters": "c", "users": "u"}.get(place, "x"), inner: value}] if deep else value
    text = yaml.safe_dump(kubeconfig(**{place: changed}), allow_unicode=True).encode()
    with contextlib.suppress(ConfigError):
        resolve(merge([parse(text, "Secret/w")]))


def cluster(location: str) -> dict[str, Any]:
    source = {"kubeConfig": {"location": location, "locationType": "Path"}}
    return {"metadata": {"name": "w"}, "spec": {"clusterSource": source}}


async def reached(location: str, limits: Limits) -> Client:
    unused: Any = None  # a Path is read without the manager's client
    return await connect(unused, "kueue-system", cluster(location), limits)


async def test_a_path_stays_in_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "kubeconfigs"
    folder.mkdir()
    monkeypatch.setattr(well_known, "KUBECONFIG_FOLDER", f"{folder}/")
    (tmp_path / "outside").write_text(yaml.safe_dump(kubeconfig()))
    (folder / "inside").write_text(yaml.safe_dump(kubeconfig()))
    (folder / "link").symlink_to(tmp_path / "outside")
    for location in (f"{tmp_path}/outside", f"{folder}/../outside", f"{folder}/link", "/etc/passwd"):
        with pytest.raises(InsecureKubeConfig, match="a path must lie under"):
            await reached(location, Limits())
    await (await reached(f"{folder}/inside", Limits())).close()
    await (await reached(f"{tmp_path}/outside", Limits(anywhere=True))).close()
    with pytest.raises(ConfigError):
        await reached(f"{folder}/a\x00b", Limits())


async def test_a_token_is_not_sent_in_the_clear(tmp_path: Path) -> None:
    path = tmp_path / "w"
    path.write_text(yaml.safe_dump(server("http://127.0.0.1:1")))
    with pytest.raises(InsecureKubeConfig, match=r"fleet\.allowPlainHTTP"):
        await reached(str(path), Limits(anywhere=True))
    await (await reached(str(path), Limits(anywhere=True, plain_http=True))).close()


def test_a_huge_kubeconfig_is_not_read() -> None:
    with pytest.raises(ConfigError, match="larger than"):
        parse(b"#" * (access.MOST_BYTES + 1), "Secret/w")


@pytest.mark.parametrize("spec", [None, [], {"clusterSource": []}, {"clusterSource": {"kubeConfig": 5}}])
async def test_a_cluster_without_a_source_says_so(spec: Any) -> None:
    unused: Any = None
    with pytest.raises(ConfigError, match="location is empty"):
        await connect(unused, "kueue-system", {"metadata": {"name": "w"}, "spec": spec}, Limits())


async def test_a_connection_that_breaks_in_an_unforeseen_way_is_told_and_tried_again() -> None:
    tries = 0
    told: list[str] = []
    enough = asyncio.Event()

    async def broken() -> Client:
        nonlocal tries
        tries += 1
        if tries == 3:
            enough.set()
        raise ZeroDivisionError

    connection = Connection(
        "w",
        broken,
        origin="o",
        touched=lambda _: None,
        changed=lambda worker: told.append(worker.problem),
        now=lambda: datetime(2026, 11, 1, tzinfo=UTC),
        call_timeout=1.0,
        backoff=Backoff(base=0.0, cap=0.0),
    )
    running = asyncio.create_task(connection.run())
    await asyncio.wait_for(enough.wait(), PATIENCE)
    assert not running.done()
    running.cancel()
    assert told == ["an unexpected ZeroDivisionError; the manager's log has the details"]
