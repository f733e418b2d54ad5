"""The embedded server answers as kube-apiserver did when its answers were recorded (`tools.fidelity`)."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tools.fidelity import book, talk
from tools.fidelity.compare import known
from tools.fidelity.recorder import Recorder
from tools.fidelity.run import answers, differences_of, embedded
from tools.fidelity.sessions import SESSIONS

from reprieve.kube import Client, Resource
from reprieve.server import EmbeddedServer
from tests.builders import document

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
AGE = re.compile(r"(\d+[dhms]){1,2}")
AGES = ("Age", "Duration", "Last Schedule", "Last Seen", "First Seen")
CONFIG_MAPS = Resource("", "v1", "ConfigMap", "configmaps")


@pytest.mark.parametrize("scene", talk.scenes())
async def test_what_differs_from_a_real_server_is_known(scene: str) -> None:
    listed = known()
    async with embedded() as player:
        found = await differences_of(player, scene)
    new = [each for each in found if not any(reason.covers(each) for reason in listed)]
    assert not new, "\n".join(f"{each.about}: {each}" for each in new)


@pytest.mark.parametrize("scene", talk.scenes())
def test_every_exchange_has_a_recorded_answer(scene: str) -> None:
    assert [each.say for each in talk.load(scene).all()] == list(book.read(scene))


@pytest.mark.parametrize("scene", talk.scenes())
def test_no_recorded_answer_knows_when_it_was_recorded(scene: str) -> None:
    """Times are those that the scene itself says; ages are left out. Otherwise this fails on another day."""
    said = json.dumps(msgspec.to_builtins(list(talk.load(scene).all())))
    recorded = "".join(json.dumps(answer.body) for answer in book.read(scene).values())
    assert {time for time in TIME.findall(recorded) if time not in said} == set()
    for answer in book.read(scene).values():
        for column, cell in cells(answer.body):
            assert column not in AGES or not AGE.fullmatch(str(cell)), (column, cell)


def cells(body: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(body, dict) and body.get("kind") == "Table":
        names = [column["name"] for column in body.get("columnDefinitions") or ()]
        for row in body["rows"]:
            yield from zip(names, row["cells"], strict=False)


def test_a_session_of_kubectl_and_of_every_client_library_is_part_of_the_conversation() -> None:
    assert set(SESSIONS) <= set(talk.scenes())
    assert len(list(talk.load("kubectl").all())) > 100


def test_known_differences_say_why() -> None:
    for each in known():
        assert len(each.why.split()) > 3, each


async def test_a_recorded_session_can_be_played_on_another_server(tmp_path: Path) -> None:
    async with EmbeddedServer() as server:
        recorder = Recorder(server.kubeconfig)
        async with recorder.running(tmp_path) as kubeconfig, Client.from_kubeconfig(kubeconfig) as client:
            made = await client.create(CONFIG_MAPS, document("ConfigMap", "a", "default", data={"x": "y"}))
            made["data"]["x"] = "z"
            await client.replace(CONFIG_MAPS, "a", made, "default")
            await client.delete(CONFIG_MAPS, "a", "default", uid=made["metadata"]["uid"])
    scene = recorder.scene("A session.")
    async with embedded() as player:
        played = await answers(player, "session", scene)
    assert [answer.code for answer in played] == [201, 200, 200]
    assert played[1].body["data"] == {"x": "z"}
