"""The webhook that holds jobs and pods at their creation: its answers, its certificate, its manifests."""

import asyncio
import base64
import json
import ssl
from datetime import UTC, datetime, timedelta
from typing import Any

import aiohttp
import pytest

from reprieve.config import Configuration
from reprieve.controllers.quota.webhook import Webhook, review, self_signed
from reprieve.jobs import JobKinds, suspended_by
from reprieve.kube import NAMESPACES, SECRETS, WEBHOOKS
from reprieve.manifests import Installation, deployment
from tests import builders
from tests.controllers.clusters import cluster
from tests.jobs.test_kinds import ASKING, written
from tests.waiting import eventually

QUEUE = "kueue.x-k8s.io/queue-name"
KINDS = JobKinds()
NOW = datetime(2026, 8, 23, 12, tzinfo=UTC)
Document = dict[str, Any]


def asked(document: Document, operation: str = "CREATE") -> Document:
    namespace = document["metadata"].get("namespace", "")
    return {"request": {"uid": "7", "operation": operation, "namespace": namespace, "object": document}}


def patched(document: Document, answer: Document) -> Document:
    """The document as the API server stores it after this answer."""
    response = answer["response"]
    assert (response["uid"], response["allowed"]) == ("7", True)
    changed = dict(document)
    for each in json.loads(base64.b64decode(response.get("patch", "W10="))):
        assert each["op"] == "add"
        changed[each["path"].removeprefix("/")] = each["value"]
    return changed


@pytest.mark.parametrize("name", sorted(ASKING))
def test_a_new_job_of_a_queue_is_held_whatever_its_kind(name: str) -> None:
    job = written(name)
    free = review(asked(job), KINDS)
    assert patched(job, free) == job, "it names no queue"
    job["metadata"]["labels"] = {QUEUE: "main"}
    held = patched(job, review(asked(job), KINDS))
    kind = KINDS.find(job)
    assert kind is not None
    if kind.asks == "job":
        assert suspended_by(held, KINDS)
    else:
        assert "kueue.x-k8s.io/admission" in json.dumps(held["spec"])
    assert patched(held, review(asked(held), KINDS)) == held, "it is held once"
    assert patched(job, review(asked(job, "UPDATE"), KINDS)) == job


def test_a_new_pod_of_a_queue_gets_its_gate_unless_a_job_asks_for_it() -> None:
    pod = builders.pod("p", 1)
    assert patched(pod, review(asked(pod), KINDS)) == pod
    pod["metadata"]["labels"] = {QUEUE: "main"}
    held = patched(pod, review(asked(pod), KINDS))
    assert held["spec"]["schedulingGates"] == [{"name": "kueue.x-k8s.io/admission"}]
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "u", "controller": True}
    pod["metadata"]["ownerReferences"] = [owner]
    assert patched(pod, review(asked(pod), KINDS)) == pod


def test_nonsense_is_allowed() -> None:
    for nonsense in ({}, {"request": {"uid": "7", "operation": "CREATE", "object": 3}}):
        assert review(nonsense, KINDS)["response"]["allowed"]
    job = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"labels": {QUEUE: "q"}}, "spec": {}}
    assert "patch" not in review(asked(job), KINDS)["response"]


async def test_it_is_served_with_a_certificate_that_the_api_server_is_told_and_replicas_share() -> None:
    """The second replica takes the first one's certificate; one that is about to end is renewed."""
    with_webhook = Installation(controllers=["quota"], webhook=True)
    [hook] = [each for each in deployment(with_webhook) if "Webhook" in each["kind"]]
    port = _free_port()
    config = Configuration.load({"quota": {"webhook": {"port": port, "host": "127.0.0.1"}}})
    async with cluster("one") as place:
        await place.client.create(NAMESPACES, {"metadata": {"name": "reprieve-system"}})
        await place.client.create(WEBHOOKS, hook)
        now = datetime.now(UTC)
        running = place.start(Webhook(place.client, config, {}).run(now))

        async def bundle() -> str:
            found = await place.client.get(WEBHOOKS, "reprieve")
            return str(found["webhooks"][0]["clientConfig"].get("caBundle") or "")

        known = await eventually(bundle, "the certificate is in the configuration")
        trust = ssl.create_default_context(cadata=base64.b64decode(known).decode())
        pod = builders.pod("p", 1)
        pod["metadata"]["labels"] = {QUEUE: "main"}

        async def answer() -> Document:
            url = f"https://127.0.0.1:{port}/hold"
            host = "reprieve.reprieve-system.svc"
            async with aiohttp.ClientSession() as session:
                sent = session.post(url, json=asked(pod), ssl=trust, server_hostname=host)
                try:
                    async with sent as response:
                        return await response.json()  # type: ignore[no-any-return]
                except aiohttp.ClientConnectorError:
                    return {}

        held = patched(pod, await eventually(answer, "it answers"))
        assert held["spec"]["schedulingGates"]
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        place.start(Webhook(place.client, config, {}).run(now))
        await eventually(answer, "another replica answers with the same certificate")
        assert await bundle() == known
        config = Configuration.load({"quota": {"webhook": {"port": _free_port(), "host": "127.0.0.1"}}})
        late = Webhook(place.client, config, {})
        place.start(late.run(now + timedelta(days=3640)))

        async def renewed() -> bool:
            return await bundle() != known

        await eventually(renewed, "a certificate that is about to end is made anew")
        secret = await place.client.get(SECRETS, "reprieve-webhook", "reprieve-system")
        assert secret["data"]["tls.crt"] == await bundle()


def _free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_the_certificate_is_for_the_service_and_its_own_authority() -> None:
    key, certificate = self_signed("reprieve.reprieve-system.svc", NOW)
    assert b"PRIVATE KEY" in key
    ssl.create_default_context(cadata=certificate.decode())
