"""Starting and stopping: what is the user's to fix is said, what is logged can be read by machines."""

import asyncio
import json
import logging
import socket
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web
from click.testing import CliRunner

from reprieve.cli.run import _address, command
from reprieve.config import Configuration
from reprieve.controllers import CONTROLLERS, load
from reprieve.kube import PODS, Informer
from reprieve.objects.errors import ReprieveError
from reprieve.runtime.logs import JsonFormatter
from reprieve.runtime.process import Process, Services
from tests.kube.apiserver import Script, status
from tests.waiting import eventually


@pytest.mark.parametrize("name", CONTROLLERS)
def test_every_controller_can_be_found(name):
    assert callable(load(name))


def test_an_unknown_controller_is_refused_with_the_known_ones():
    with pytest.raises(ReprieveError, match="no controller 'x'; known are scheduler, quota, fleet"):
        load("x")


async def test_a_port_that_is_taken_is_said():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        client = Script(status(404, "NotFound")).client()
        lives: list[str] = []

        def page(app: web.Application, *_: Any) -> None:
            async def life(_: web.Application) -> AsyncIterator[None]:
                lives.append("begun")
                yield

            app.cleanup_ctx.append(life)

        with pytest.raises(ReprieveError, match=f"cannot listen on 127.0.0.1:{port}"):
            await Process(client, Configuration.load(None), {}, port=port, page=page).run()
        assert lives == []  # else the page's readers are torn off, with a traceback


async def test_readyz_names_the_rights_that_are_missing():
    def answer(request):
        if request.path.count("/") > 3 or request.path.endswith(("pods", "nodes", "namespaces")):
            return status(403, "Forbidden", f"cannot read {request.path}")
        return status(404, "NotFound")

    services: list[Services] = []

    async def reading(client, config, given):
        services.append(given)
        async with Informer(client, PODS):
            raise AssertionError("pods cannot be read")

    process = Process(Script(answer).client(), Configuration.load(None), {"x": reading}, port=None)
    task = asyncio.create_task(process.run())
    await eventually(
        lambda: services and services[0].problem().count("does not let us") >= 2, "both are named"
    )
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert "list and watch pods" in services[0].problem()
    assert "the Lease 'reprieve' in the namespace 'reprieve-system'" in services[0].problem()


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:80", ("127.0.0.1", 80)),
        (":80", ("0.0.0.0", 80)),
        ("[::1]:80", ("::1", 80)),
        ("", ("", None)),
    ],
)
def test_an_address_to_listen_on(text, address):
    assert _address(text) == address


def test_a_wrong_address_is_a_usage_error(tmp_path):
    result = CliRunner().invoke(command, ["--listen", "here"])
    assert result.exit_code == 2
    assert "'here' is not HOST:PORT" in result.output


def test_a_log_line_is_one_json_object_with_everything_that_was_given():
    record = logging.makeLogRecord(
        {
            "name": "reprieve",
            "levelname": "INFO",
            "msg": "%s fits",
            "args": ("a",),
            "unit": "Pod/ns/a",
            "created": 0.0,
        }
    )
    entry = json.loads(JsonFormatter().format(record))
    assert entry == {
        "time": "1970-01-01T00:00:00.000+00:00",
        "level": "info",
        "logger": "reprieve",
        "message": "a fits",
        "unit": "Pod/ns/a",
    }
