"""Plays scenes on a server of either kind and hands back normalised answers, or what differs."""

import json
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
from tools.fidelity import book, talk
from tools.fidelity.compare import Difference, differences
from tools.fidelity.normalise import Normaliser
from tools.fidelity.player import Answer, Player, connected
from tools.fidelity.talk import Scene
from tools.real_cluster.control_plane import ControlPlane

from reprieve.server import EmbeddedServer
from reprieve.server.controllers.definitions import Definitions


@asynccontextmanager
async def embedded() -> AsyncIterator[Player]:
    """Ours, without controllers: what is compared is the API server, and that looks after definitions."""
    background = (lambda api: Definitions(api).run(),)
    async with (
        EmbeddedServer(tls=False, controllers=False, background=background) as server,
        connected(server.url, server.token) as player,
    ):
        yield player


@asynccontextmanager
async def real() -> AsyncIterator[tuple[Player, Path]]:
    """etcd and kube-apiserver, and nothing else: somebody to ask it, and a kubeconfig for others."""
    with tempfile.TemporaryDirectory(prefix="reprieve-fidelity-") as home:
        plane = ControlPlane(Path(home))
        try:
            plane.start_etcd()
            plane.start_api_server()
            async with connected(plane.url, plane.token("admin"), plane.trust) as player:
                yield player, plane.kubeconfig("admin")
        finally:
            plane.stop()


async def answers(player: Player, name: str, scene: Scene) -> list[Answer]:
    sent = json.dumps(msgspec.to_builtins(list(scene.all())))
    normalise = Normaliser(sent, owners=scene.owners)
    return [normalise(answer) for answer in await player.play(name, scene)]


async def record(player: Player, name: str) -> None:
    scene = talk.load(name)
    book.write(name, list(scene.all()), await answers(player, name, scene))


async def differences_of(player: Player, name: str) -> list[Difference]:
    """What this server answers differently from what was recorded."""
    scene = talk.load(name)
    recorded = book.read(name)
    played = await answers(player, name, scene)
    return [
        difference
        for exchange, ours in zip(scene.all(), played, strict=True)
        for difference in differences(name, exchange, recorded[exchange.say], ours)
    ]
