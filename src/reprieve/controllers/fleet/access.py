"""From a MultiKueueCluster to a client: its kubeconfig, from a Secret or a path.

The kubeconfig of another cluster is data from outside: one that would make us run a program, read local
files or skip the check of the server's certificate is refused.
"""

import asyncio
import base64
import binascii
from pathlib import Path
from typing import Any, Final

from reprieve.kube import (
    MULTIKUEUE_CLUSTERS,
    NAMESPACES,
    PRIORITY_CLASSES,
    QUOTA_KINDS,
    Client,
    ConfigError,
    Resource,
    merge,
    resolve,
)
from reprieve.objects import Document, UnreadableInput, parse_yaml

SECRETS: Final = Resource("", "v1", "Secret", "secrets")
SECRET_KEY: Final = "kubeconfig"


class InsecureKubeConfig(ConfigError):
    """A kubeconfig that wants more than a connection."""


async def connect(home: Client, namespace: str, cluster: Document) -> Client:
    """A client to the worker; `namespace` is where the kubeconfig Secrets live."""
    source = ((cluster.get("spec") or {}).get("clusterSource") or {}).get("kubeConfig") or {}
    location = source.get("location") or ""
    if not location:
        raise ConfigError("spec.clusterSource.kubeConfig.location is empty")
    if source.get("locationType", "Secret") == "Path":
        text = _read_file(Path(location))
    else:
        text = await _read_secret(home, namespace, location)
    return Client.from_access(resolve(merge([parse(text, location)])))


def parse(text: bytes, where: str) -> dict[str, Any]:
    """The kubeconfig, if it has nothing but a server and inline credentials."""
    try:
        documents = parse_yaml(text)
    except UnreadableInput as error:
        raise ConfigError(f"kubeconfig {where}: not YAML: {error}") from error
    document = documents[0] if len(documents) == 1 else None
    if not isinstance(document, dict):
        raise ConfigError(f"kubeconfig {where}: a mapping is expected")
    for section, inner, refused in (
        (
            "users",
            "user",
            ("exec", "auth-provider", "tokenFile", "client-certificate", "client-key", "username"),
        ),
        ("clusters", "cluster", ("certificate-authority", "insecure-skip-tls-verify")),
    ):
        for entry in document.get(section) or ():
            for field in refused:
                if (entry.get(inner) or {}).get(field):
                    raise InsecureKubeConfig(
                        f"kubeconfig {where}: {section}[].{inner}.{field} is not allowed"
                    )
    return document


def _read_file(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigError(f"kubeconfig {path}: {error.strerror}") from error


async def _read_secret(home: Client, namespace: str, name: str) -> bytes:
    secret: Document = await home.get(SECRETS, name, namespace)
    try:
        return base64.b64decode(secret["data"][SECRET_KEY], validate=True)
    except (KeyError, TypeError, binascii.Error) as error:
        raise ConfigError(f"Secret {namespace}/{name}: no usable key {SECRET_KEY!r}") from error


async def survey(manager: Client, namespace: str) -> dict[str, list[Document]]:
    """Each worker's objects that decide about quota; `namespace` is where the kubeconfig Secrets live."""
    clusters = (await manager.listing(MULTIKUEUE_CLUSTERS.raw())).items
    listed = await asyncio.gather(*(_read(manager, namespace, cluster) for cluster in clusters))
    return {
        cluster["metadata"]["name"]: documents for cluster, documents in zip(clusters, listed, strict=True)
    }


async def _read(manager: Client, namespace: str, cluster: Document) -> list[Document]:
    async with await connect(manager, namespace, cluster) as client:
        return await client.list_all((NAMESPACES, PRIORITY_CLASSES, *QUOTA_KINDS))
