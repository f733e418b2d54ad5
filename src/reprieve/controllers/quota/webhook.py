"""The webhook that holds jobs and pods at their creation, for those who want no moment in between.

Without it the controller holds what it sees a moment later; so its failure policy is Ignore, and nothing
depends on it. Every replica serves it. Its certificate is its own authority: made by the replica that comes
first, kept in a Secret for the others, and written into the MutatingWebhookConfiguration.
"""

import asyncio
import base64
import logging
import ssl
import tempfile
import time
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path

import msgspec
from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from reprieve.config import Configuration
from reprieve.jobs import JobKinds, held, held_pod, needs_hold
from reprieve.kube import SECRETS, WEBHOOKS, ApiError, Client
from reprieve.objects import Document, LabelSelector, well_known
from reprieve.runtime import serve

log = logging.getLogger(__name__)

_VALID, _RENEWED = timedelta(days=3650), timedelta(days=30)
_LARGEST = 8 * 1024**2
_EVERY_SECONDS = 10.0


class Webhook:
    def __init__(
        self, client: Client, config: Configuration, namespaces: Mapping[str, Mapping[str, str]]
    ) -> None:
        """`namespaces`: their labels by name, as the controller sees them."""
        self._client = client
        self._settings = config.quota.webhook
        self._namespace = config.scheduler.leader_election.namespace
        self._kinds = config.job_kinds()
        self._all_jobs = config.quota.manage_jobs_without_queue_name
        self._selector: LabelSelector | None = config.quota.managed_namespaces()
        self._namespaces = namespaces
        self._next_line = 0.0

    async def run(self, now: datetime) -> None:
        """Serve until cancelled."""
        key, certificate = await self._certificate(now)
        await self._publish(certificate)
        application = web.Application(client_max_size=_LARGEST)
        application.router.add_post(well_known.WEBHOOK_PATH, self._answer)
        context = _context(key, certificate)
        runner = await serve(application, self._settings.host, self._settings.port, context)
        try:
            log.info("jobs are held at their creation: webhook on port %d", self._settings.port)
            await asyncio.Event().wait()
        finally:
            await runner.cleanup()

    async def _answer(self, request: web.Request) -> web.Response:
        body = await request.read()
        try:
            asked = msgspec.json.decode(body, type=dict)
            namespace = str((asked.get("request") or {}).get("namespace") or "")
            labels = self._namespaces.get(namespace, {})
            answer = review(asked, self._kinds, self._all_jobs, self._selector, labels)
        except Exception as error:  # noqa: BLE001 - whoever reaches the port may send anything
            self._say_unreadable(error)
            raise web.HTTPBadRequest(text="this is no AdmissionReview that can be answered\n") from None
        return web.Response(body=msgspec.json.encode(answer), content_type="application/json")

    def _say_unreadable(self, error: Exception) -> None:
        """Now and then, and without a word of what was sent."""
        if time.monotonic() >= self._next_line:
            self._next_line = time.monotonic() + _EVERY_SECONDS
            log.warning("an AdmissionReview could not be answered: %s", type(error).__name__)

    async def _certificate(self, now: datetime) -> tuple[bytes, bytes]:
        """The one in the Secret; a new one where there is none, or it is about to end."""
        name = f"{self._settings.name}-webhook"
        known = await self._secret(name)
        if known is not None and _ends(known[1]) > now + _RENEWED:
            return known
        made = self_signed(f"{self._settings.name}.{self._namespace}.svc", now)
        data = {
            field: base64.b64encode(value).decode()
            for field, value in zip(("tls.key", "tls.crt"), made, strict=True)
        }
        body: Document = {"metadata": {"name": name}, "type": "kubernetes.io/tls", "data": data}
        try:
            if known is None:
                await self._client.create(SECRETS, body, self._namespace)
            else:
                await self._client.patch(SECRETS, name, {"data": data}, self._namespace)
        except ApiError as error:
            if not error.already_exists:
                raise
            found = await self._secret(name)  # another replica came first
            return found if found is not None else made
        return made

    async def _secret(self, name: str) -> tuple[bytes, bytes] | None:
        try:
            data = (await self._client.get(SECRETS, name, self._namespace)).get("data") or {}
        except ApiError as error:
            if error.not_found:
                return None
            raise
        return base64.b64decode(data.get("tls.key", "")), base64.b64decode(data.get("tls.crt", ""))

    async def _publish(self, certificate: bytes) -> None:
        """The API server trusts the webhook by this certificate."""
        found = await self._client.get(WEBHOOKS, self._settings.name)
        bundle = base64.b64encode(certificate).decode()
        hooks = [
            {**each, "clientConfig": {**(each.get("clientConfig") or {}), "caBundle": bundle}}
            for each in found.get("webhooks") or ()
        ]
        if hooks != found.get("webhooks"):
            patch = {"metadata": {"resourceVersion": found["metadata"]["resourceVersion"]}, "webhooks": hooks}
            await self._client.patch(WEBHOOKS, self._settings.name, patch)


def review(
    asked: Document,
    kinds: JobKinds,
    all_jobs: bool = False,
    selector: LabelSelector | None = None,
    namespace_labels: Mapping[str, str] | None = None,
) -> Document:
    """The answer to an AdmissionReview: allowed in any case, held if it has to wait for quota."""
    request = asked.get("request") or {}
    answer: Document = {"uid": str(request.get("uid") or ""), "allowed": True}
    document = request.get("object")
    if request.get("operation") == "CREATE" and isinstance(document, dict):
        named = {
            **document,
            "metadata": {"namespace": request.get("namespace"), **document.get("metadata", {})},
        }
        if needs_hold(named, kinds, all_jobs, selector, namespace_labels):
            made = held(document, kinds) if kinds.find(document) is not None else held_pod(document)
            if patch := _patch(document, made):
                encoded = base64.b64encode(msgspec.json.encode(patch)).decode()
                answer |= {"patchType": "JSONPatch", "patch": encoded}
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": answer}


def _patch(old: Document, new: Document) -> list[Document]:
    return [
        {"op": "add", "path": f"/{field}", "value": new[field]}
        for field in ("metadata", "spec")
        if old.get(field) != new.get(field)
    ]


def self_signed(host: str, now: datetime) -> tuple[bytes, bytes]:
    """A key and a certificate for this host that is its own authority, as PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, host[:64])])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + _VALID)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return key.private_bytes(*form), certificate.public_bytes(serialization.Encoding.PEM)


def _ends(certificate: bytes) -> datetime:
    return x509.load_pem_x509_certificate(certificate).not_valid_after_utc


def _context(key: bytes, certificate: bytes) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    with tempfile.TemporaryDirectory() as folder:  # the library reads files only
        path = Path(folder) / "tls.pem"
        path.touch(mode=0o600)
        path.write_bytes(key + certificate)
        context.load_cert_chain(path)
    return context
