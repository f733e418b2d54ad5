"""Credentials, always fresh: headers and client certificate for the next request.

Static credentials never change. Token files are read again after a minute (service account tokens rotate).
Exec plugins run when their credential is missing, expired, or was refused with 401.
"""

import asyncio
import base64
import json
import os
import time
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from reprieve.kube.errors import ConfigError
from reprieve.kube.kubeconfig import ClusterAccess, ExecPlugin
from reprieve.kube.pacing import Clock

TOKEN_FILE_PERIOD = 60.0
EXEC_TIMEOUT = 60.0
EXPIRY_MARGIN = 10.0


@dataclass(frozen=True, slots=True)
class Credential:
    headers: tuple[tuple[str, str], ...] = ()
    certificate: bytes | None = None
    key: bytes | None = None


class Credentials(Protocol):
    async def current(self) -> Credential: ...

    def refused(self) -> bool:
        """The server answered 401. True if `current` may now give something better."""


class Static:
    def __init__(self, credential: Credential) -> None:
        self._credential = credential

    async def current(self) -> Credential:
        return self._credential

    def refused(self) -> bool:
        return False


class TokenFile:
    def __init__(self, access: ClusterAccess, clock: Clock = time.monotonic) -> None:
        self._access = access
        self._clock = clock
        self._credential = Credential()
        self._read_at = float("-inf")

    async def current(self) -> Credential:
        now = self._clock()
        if now - self._read_at >= TOKEN_FILE_PERIOD:
            self._credential = self._read()
            self._read_at = now
        return self._credential

    def refused(self) -> bool:
        stale = self._read_at != float("-inf")
        self._read_at = float("-inf")
        return stale

    def _read(self) -> Credential:
        path = self._access.token_file
        assert path is not None
        try:
            token = path.read_text().strip()
        except OSError as error:
            raise ConfigError(f"token file {path}: {error.strerror}") from error
        return _with_token(self._access, token)


class Exec:
    """Runs the plugin of client.authentication.k8s.io; concurrent requests share one run."""

    def __init__(self, access: ClusterAccess, plugin: ExecPlugin, wall_clock: Clock = time.time) -> None:
        self._access = access
        self._plugin = plugin
        self._wall_clock = wall_clock
        self._lock = asyncio.Lock()
        self._credential: Credential | None = None
        self._expires = float("inf")

    async def current(self) -> Credential:
        async with self._lock:
            if self._credential is None or self._wall_clock() >= self._expires - EXPIRY_MARGIN:
                self._credential = self._accept(await self._run())
            return self._credential

    def refused(self) -> bool:
        had_one = self._credential is not None
        self._credential = None
        return had_one

    async def _run(self) -> dict[str, Any]:
        plugin = self._plugin
        if plugin.interactive == "Always":
            raise ConfigError(
                f"exec plugin {plugin.command} wants to ask questions, and there is nobody to answer"
            )
        environment = {**os.environ, **dict(plugin.env), "KUBERNETES_EXEC_INFO": json.dumps(self._info())}
        try:
            process = await asyncio.create_subprocess_exec(
                plugin.command, *plugin.args, env=environment, stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
            )  # fmt: skip
        except OSError as error:
            hint = f"; {plugin.install_hint}" if plugin.install_hint else ""
            raise ConfigError(f"exec plugin {plugin.command}: {error.strerror}{hint}") from error
        try:
            async with asyncio.timeout(EXEC_TIMEOUT):
                output, complaint = await process.communicate()
        except TimeoutError as error:
            process.kill()
            raise ConfigError(f"exec plugin {plugin.command}: no answer in {EXEC_TIMEOUT:.0f} s") from error
        if process.returncode:
            text = complaint.decode("utf-8", "replace").strip()
            raise ConfigError(f"exec plugin {plugin.command} failed with code {process.returncode}: {text}")
        try:
            document = json.loads(output)
        except ValueError as error:
            raise ConfigError(f"exec plugin {plugin.command}: its output is not JSON") from error
        if not isinstance(document, dict) or document.get("kind") != "ExecCredential":
            raise ConfigError(f"exec plugin {plugin.command}: its output is not an ExecCredential")
        return document

    def _info(self) -> dict[str, Any]:
        spec: dict[str, Any] = {"interactive": False}
        if self._plugin.provide_cluster_info:
            access = self._access
            spec["cluster"] = {"server": access.server, "insecure-skip-tls-verify": access.insecure}
            if access.ca_data:
                spec["cluster"]["certificate-authority-data"] = base64.b64encode(access.ca_data).decode()
            if access.tls_server_name:
                spec["cluster"]["tls-server-name"] = access.tls_server_name
        return {"apiVersion": self._plugin.api_version, "kind": "ExecCredential", "spec": spec}

    def _accept(self, document: dict[str, Any]) -> Credential:
        if document.get("apiVersion") != self._plugin.api_version:
            raise ConfigError(
                f"exec plugin {self._plugin.command} answered as {document.get('apiVersion')!r}, "
                f"asked for {self._plugin.api_version!r}"
            )
        status = document.get("status") or {}
        token, certificate, key = (
            status.get(field) or "" for field in ("token", "clientCertificateData", "clientKeyData")
        )
        if not token and not (certificate and key):
            raise ConfigError(
                f"exec plugin {self._plugin.command}: neither a token nor a certificate with its key"
            )
        expiry = status.get("expirationTimestamp")
        self._expires = (
            datetime.fromisoformat(expiry.replace("Z", "+00:00")).timestamp() if expiry else float("inf")
        )
        base = _with_token(self._access, token)
        if certificate and key:
            return Credential(base.headers, certificate.encode(), key.encode())
        return base


def credentials_of(access: ClusterAccess) -> Credentials:
    """In this order: token file, token, user and password, exec plugin. Certificates go with any of them."""
    if access.token_file:
        return TokenFile(access)
    if access.exec_plugin and not access.token and not access.username:
        return Exec(access, access.exec_plugin)
    return Static(_with_token(access, access.token))


def _with_token(access: ClusterAccess, token: str) -> Credential:
    headers: list[tuple[str, str]] = []
    if token:
        headers.append(("Authorization", f"Bearer {token}"))
    elif access.username:
        pair = base64.b64encode(f"{access.username}:{access.password}".encode()).decode()
        headers.append(("Authorization", f"Basic {pair}"))
    if access.impersonate:
        headers.append(("Impersonate-User", access.impersonate))
    return Credential(tuple(headers), access.certificate, access.key)
