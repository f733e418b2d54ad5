"""The webhook of `manifests deploy --webhook`, installed as printed and called by a real kube-apiserver: what
a queue holds is held at the moment of its creation, and nothing depends on it.

There is no kube-proxy here. Services have loopback addresses, and a few lines of this file listen at the one
of the webhook's and pass on what comes.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from tools.real_cluster import audit
from tools.real_cluster.control_plane import ControlPlane, free_ports

from reprieve.kube import JOBS, PODS, Resource
from reprieve.manifests import deployment
from reprieve.manifests.rights import WEBHOOK_ACCESS, WEBHOOK_SECRET
from tests.builders import Document
from tests.real.cluster import ACCOUNT, Place, Run, install, installation, kubectl, needs_native_groups, place
from tests.real.queues import (
    DEPLOYMENTS,
    JOB_SETS,
    QUEUE,
    STATEFUL_SETS,
    define_job_sets,
    job_set,
    queued_job,
    queues,
    replicated,
)

pytestmark = [pytest.mark.real, pytest.mark.timeout(900)]

CONTROLLERS = ("scheduler", "quota")
SERVICES = Resource("", "v1", "Service", "services")
GATE = {"name": "kueue.x-k8s.io/admission"}


class ServiceProxy:
    """What kube-proxy does for one Service: its address leads to the pod behind it."""

    def __init__(self, to: int) -> None:
        self._to = to
        self.silent = False
        """Whether it takes connections and never answers."""

    @asynccontextmanager
    async def running(self, address: str, port: int) -> AsyncIterator[None]:
        try:
            server = await asyncio.start_server(self._connected, address, port)
        except PermissionError:
            pytest.skip(f"may not listen on port {port} of {address}: be root, or allow it with "
                        "`sysctl net.ipv4.ip_unprivileged_port_start=443`")  # fmt: skip
        async with server:
            yield

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            if self.silent:
                await reader.read(-1)
            else:
                far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._to)
                await asyncio.gather(_pass_on(reader, far_writer), _pass_on(far_reader, writer))
        writer.close()


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while chunk := await reader.read(65536):
            writer.write(chunk)
            await writer.drain()
    writer.close()


def _printed(plane: ControlPlane) -> dict[str, Document]:
    wanted = installation(plane, controllers=CONTROLLERS, webhook=True)
    return {each["kind"]: each for each in deployment(wanted)}


def _configuration(plane: ControlPlane, home: Path, port: int) -> Path:
    """As printed; but on loopback, and at a port that is free on this machine."""
    config = yaml.safe_load(_printed(plane)["ConfigMap"]["data"]["config.yaml"])
    assert config["quota"]["webhook"]["port"] == 9443
    config["quota"]["webhook"] |= {"port": port, "host": "127.0.0.1"}
    config["quota"]["quotaCheckStrategy"] = "IgnoreUndeclared"
    path = home / "config.yaml"
    path.write_text(yaml.safe_dump(config), encoding="utf-8")
    return path


async def _tried(here: Place, document: Document) -> Document:
    """What would be stored: webhooks are asked on a dry run, too."""
    body = {"apiVersion": JOBS.api_version, "kind": JOBS.kind, **document}
    found: Document = json.loads(
        await here.client.request(
            "POST",
            JOBS.path(here.name),
            query={"dryRun": "All"},
            body=json.dumps(body).encode(),
            content_type="application/json",
        )
    )
    return found


async def _suspended(here: Place, name: str) -> bool:
    return bool((await here.client.get(JOBS.raw(), name, here.name))["spec"].get("suspend"))


def _held(document: Document) -> bool:
    spec = document["spec"]
    pods = spec if "containers" in spec else (spec.get("template") or {}).get("spec") or {}
    return spec.get("suspend") is True or GATE in (pods.get("schedulingGates") or ())


async def test_what_a_queue_holds_is_held_at_its_creation_while_the_webhook_answers(
    plane: ControlPlane, tmp_path: Path
) -> None:
    needs_native_groups(plane)
    account = install(plane, CONTROLLERS, webhook=True)
    since = plane.audit_log.stat().st_size
    [port] = free_ports(1)
    arguments = [
        "--controllers",
        ",".join(CONTROLLERS),
        "--config",
        str(_configuration(plane, tmp_path, port)),
    ]
    async with place(plane, "hook") as here, queues(here, "main", pods=2):
        service = await here.client.get(SERVICES, "reprieve", "reprieve-system")
        proxy = ServiceProxy(port)
        async with proxy.running(service["spec"]["clusterIP"], 443):
            early = await here.client.create(JOBS, queued_job(here, "early", "main", 3))
            assert not _held(early), "nobody answers yet, and its policy is Ignore"
            run = Run(account, tmp_path / "log", *arguments)
            try:
                await here.until(lambda: _suspended(here, "early"))
                await here.until(lambda: _asked(here))
                await _are_held(here)
                await _only_what_asks(here)
                _applied_again(plane)
                run.kill()
                await _goes_on_without(here, "without")
                proxy.silent = True
                await _goes_on_without(here, "silent")
                proxy.silent = False
                run = Run(account, tmp_path / "log", *arguments)
                for name in ("without", "silent"):
                    await here.until(partial(_suspended, here, name))
                assert await here.bound("without") == await here.bound("silent") == []
                await asyncio.sleep(1)  # real: whatever it would still send is to be in the audit log
            finally:
                kubectl(plane, "delete", "mutatingwebhookconfiguration", "reprieve")
                assert run.stop() == 0
    entries = list(audit.entries(plane.audit_log, ACCOUNT, since))
    assert 403 not in audit.codes(entries), audit.codes(entries)
    unneeded = audit.unneeded([*WEBHOOK_ACCESS, *WEBHOOK_SECRET], entries, plane.version)
    assert unneeded == {("", "secrets", "patch")}, "a certificate that is about to end is renewed"


async def _asked(here: Place) -> bool:
    """Whether the API server asks the webhook, and trusts it."""
    return _held(await _tried(here, queued_job(here, "tried", "main", 1)))


async def _are_held(here: Place) -> None:
    """The answers to their creation show them held: nobody has seen them otherwise. They run with quota."""
    await define_job_sets(here)
    pod = here.own_pod("single")
    pod["metadata"]["labels"] = {QUEUE: "main"}
    made: dict[str, tuple[Resource, Document]] = {
        "job": (JOBS, queued_job(here, "job", "main", 1)),
        "set": (JOB_SETS, job_set(here, "set", "main", 1)),
        "web": (DEPLOYMENTS, replicated(here, "Deployment", "web", "main", 1)),
        "db": (STATEFUL_SETS, replicated(here, "StatefulSet", "db", "main", 1)),
        "single": (PODS, pod),
    }
    for name, (resource, document) in made.items():
        answer = await here.client.create(resource, document)
        assert _held(answer), (name, answer)
        assert answer["metadata"].get("generation", 1) == 1
        if resource != JOB_SETS:  # nobody makes its pods here
            await here.until_bound(name, 1)
        await here.client.request(
            "DELETE", resource.path(here.name, name), query={"propagationPolicy": "Foreground"}
        )


async def _only_what_asks(here: Place) -> None:
    free = queued_job(here, "free", "main", 1)
    del free["metadata"]["labels"][QUEUE]
    assert not _held(await _tried(here, free))


def _applied_again(plane: ControlPlane) -> None:
    """The certificate that the controller has written stays."""
    printed = _printed(plane)["MutatingWebhookConfiguration"]

    def bundle() -> Any:
        shown = kubectl(plane, "get", "mutatingwebhookconfiguration", "reprieve", "-o", "json")
        return json.loads(shown)["webhooks"][0]["clientConfig"].get("caBundle")

    before = bundle()
    assert before
    kubectl(plane, "apply", "--server-side", "--force-conflicts", "-f", "-", given=[printed])
    assert bundle() == before
    kubectl(plane, "apply", "-f", "-", given=[printed])
    assert kubectl(plane, "apply", "-f", "-", given=[printed]).strip().endswith("unchanged")
    assert bundle() == before


async def _goes_on_without(here: Place, name: str) -> None:
    """Nobody answers: what is created is created, and held when the controller is back."""
    assert not _held(await here.client.create(JOBS, queued_job(here, name, "main", 3)))
