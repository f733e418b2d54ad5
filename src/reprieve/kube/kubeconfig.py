"""kubeconfig files and the in-cluster environment, read into one frozen `ClusterAccess`.

As kubectl reads them:
1. an explicit path, else every file of `$KUBECONFIG` (missing ones skipped), else `~/.kube/config`;
2. files are merged: the first one to name a cluster, user, context or the current context wins;
3. relative paths are relative to the file that holds them;
4. data (`…-data`) wins over a file; a token file wins over a token.
Nothing here opens a connection or runs a plugin.
"""

import base64
import binascii
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from reprieve.kube.errors import ConfigError, NoKubeConfig
from reprieve.kube.kubeconfig_shape import parse

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


@dataclass(frozen=True, slots=True)
class ExecPlugin:
    """A command that prints an ExecCredential."""

    command: str
    api_version: str
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    install_hint: str = ""
    provide_cluster_info: bool = False
    interactive: str = "IfAvailable"


@dataclass(frozen=True, slots=True)
class ClusterAccess:
    """Everything needed to open a connection to one cluster as one user."""

    server: str
    ca_data: bytes | None = None
    insecure: bool = False
    tls_server_name: str = ""
    proxy_url: str = ""
    namespace: str = "default"
    token: str = ""
    token_file: Path | None = None
    username: str = ""
    password: str = ""
    certificate: bytes | None = None
    key: bytes | None = None
    exec_plugin: ExecPlugin | None = None
    impersonate: str = ""
    context: str = ""

    @property
    def host(self) -> str:
        return urlsplit(self.server).hostname or ""


def load(
    path: str | Path | None = None, context: str | None = None, env: Mapping[str, str] = os.environ
) -> ClusterAccess:
    """The access that kubectl would use; inside a pod without a kubeconfig, the service account's."""
    paths = _paths(path, env)
    if not paths and path is None and env.get("KUBERNETES_SERVICE_HOST"):
        return in_cluster(env)
    if not paths:
        raise NoKubeConfig("no kubeconfig: give --kubeconfig, set KUBECONFIG, or create ~/.kube/config")
    return resolve(merge(_read(p) for p in paths), context)


def in_cluster(env: Mapping[str, str] = os.environ, directory: Path = SERVICE_ACCOUNT) -> ClusterAccess:
    """The service account mounted into every pod. Its token rotates, so the file is read again and again."""
    host, port = env.get("KUBERNETES_SERVICE_HOST", ""), env.get("KUBERNETES_SERVICE_PORT", "443")
    if not host or not (directory / "token").exists():
        raise ConfigError(
            f"not inside a cluster: KUBERNETES_SERVICE_HOST is unset or {directory}/token is missing"
        )
    namespace = directory / "namespace"
    return ClusterAccess(
        server=f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}",
        ca_data=_file(directory / "ca.crt", "ca.crt of the service account"),
        token_file=directory / "token",
        namespace=namespace.read_text().strip() if namespace.exists() else "default",
        context="in-cluster",
    )


def _paths(path: str | Path | None, env: Mapping[str, str]) -> list[Path]:
    if path is not None:
        return [Path(path).expanduser()]
    if listed := env.get("KUBECONFIG"):
        return [p for part in listed.split(os.pathsep) if part and (p := Path(part).expanduser()).exists()]
    default = Path(env.get("HOME", "~")).expanduser() / ".kube" / "config"
    return [default] if default.exists() else []


def _read(path: Path) -> dict[str, Any]:
    try:
        document = parse(path.read_bytes(), path)
    except OSError as error:
        raise ConfigError(f"kubeconfig {path}: {error.strerror}") from error
    for section, inner, fields in (
        ("clusters", "cluster", ("certificate-authority",)),
        ("users", "user", ("client-certificate", "client-key", "tokenFile")),
    ):
        for entry in document.get(section) or ():
            body = entry.get(inner) or {}
            for field in fields:
                if body.get(field):
                    body[field] = str(path.parent / Path(body[field]).expanduser())
            plugin = body.get("exec")
            if plugin and "/" in (plugin.get("command") or ""):
                plugin["command"] = str(path.parent / plugin["command"])
    return document


def _server(text: str, cluster: str) -> str:
    """The address, if a connection to it can be tried."""
    try:
        parts = urlsplit(text)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or not text.isascii() or not text.isprintable() or " " in text:
        raise ConfigError(
            f"kubeconfig: cluster {cluster!r} has no usable server {text[:200]!r}: "
            "https://HOST:PORT is expected"
        )
    return text.rstrip("/")


def _token(text: str) -> str:
    if text and not (text.isascii() and text.isprintable()):
        raise ConfigError("kubeconfig: the token has characters that no header can carry")
    return text


def merge(documents: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """One document out of many; the first one with a value wins."""
    merged: dict[str, Any] = {"clusters": {}, "users": {}, "contexts": {}, "current-context": ""}
    for document in documents:
        merged["current-context"] = merged["current-context"] or document.get("current-context") or ""
        for section, inner in (("clusters", "cluster"), ("users", "user"), ("contexts", "context")):
            for entry in document.get(section) or ():
                merged[section].setdefault(entry.get("name"), entry.get(inner) or {})
    return merged


def resolve(merged: Mapping[str, Any], context: str | None = None) -> ClusterAccess:
    """The access of one context; the current one unless named."""
    name = context or merged["current-context"]
    if not name:
        raise ConfigError("kubeconfig has no current-context; name one with --context")
    chosen = _entry(merged, "contexts", name, "context")
    cluster = _entry(merged, "clusters", chosen.get("cluster", ""), f"cluster of context {name!r}")
    user = _entry(merged, "users", chosen["user"], f"user of context {name!r}") if chosen.get("user") else {}
    if not cluster.get("server"):
        raise ConfigError(f"kubeconfig: cluster {chosen.get('cluster')!r} has no server")
    return ClusterAccess(
        server=_server(cluster["server"], chosen["cluster"]),
        ca_data=_data(cluster, "certificate-authority"),
        insecure=bool(cluster.get("insecure-skip-tls-verify")),
        tls_server_name=cluster.get("tls-server-name") or "",
        proxy_url=cluster.get("proxy-url") or "",
        namespace=chosen.get("namespace") or "default",
        token=_token(user.get("token") or ""),
        token_file=Path(user["tokenFile"]) if user.get("tokenFile") else None,
        username=user.get("username") or "",
        password=str(user.get("password") or ""),
        certificate=_data(user, "client-certificate"),
        key=_data(user, "client-key"),
        exec_plugin=_exec(user["exec"]) if user.get("exec") else None,
        impersonate=user.get("as") or "",
        context=name,
    )


def _entry(merged: Mapping[str, Any], section: str, name: str, what: str) -> dict[str, Any]:
    entries: dict[str, dict[str, Any]] = merged[section]
    if name not in entries:
        known = ", ".join(sorted(map(str, entries))) or "none"
        raise ConfigError(f"kubeconfig: {what} {name!r} does not exist (known: {known})")
    return entries[name]


def _exec(body: Mapping[str, Any]) -> ExecPlugin:
    version = body.get("apiVersion", "")
    if version not in ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"):
        raise ConfigError(f"kubeconfig: users.exec.apiVersion {version!r} is not supported (v1, v1beta1)")
    if not body.get("command"):
        raise ConfigError("kubeconfig: users.exec.command is empty")
    return ExecPlugin(
        command=body["command"],
        api_version=version,
        args=tuple(map(str, body.get("args") or ())),
        env=tuple((item["name"], str(item["value"])) for item in body.get("env") or ()),
        install_hint=body.get("installHint") or "",
        provide_cluster_info=bool(body.get("provideClusterInfo")),
        interactive=body.get("interactiveMode") or "IfAvailable",
    )


def _data(body: Mapping[str, Any], field: str) -> bytes | None:
    if encoded := body.get(f"{field}-data"):
        try:
            return base64.b64decode(encoded, validate=True)
        except (binascii.Error, ValueError) as error:
            raise ConfigError(f"kubeconfig: {field}-data is not base64: {error}") from error
    return _file(Path(body[field]), field) if body.get(field) else None


def _file(path: Path, field: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigError(f"kubeconfig: {field} {path}: {error.strerror}") from error
