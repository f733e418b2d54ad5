"""The embedded server answers as kube-apiserver did when its answers were recorded (`tools.fidelity`)."""

from pathlib import Path

import pytest
from tools.fidelity import book, talk
from tools.fidelity.compare import known
from tools.fidelity.recorder import Recorder
from tools.fidelity.run import answers, differences_of, embedded

from reprieve.kube import Client, Resource
from reprieve.server import EmbeddedServer
from tests.builders import document

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
