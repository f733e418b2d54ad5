"""From a MultiKueueCluster to a client: its kubeconfig, from a Secret or a path.

The kubeconfig of another cluster is data from outside: one that would make us run a program, read local
files, skip the check of the server's certificate or send a token in the clear is refused. No error quotes it.
"""

import asyncio
import base64
import binascii
from pathlib import Path
from typing import Any, Final, NamedTuple

from reprieve.kube import (
    MULTIKUEUE_CLUSTERS,
    NAMESPACES,
    PRIORITY_CLASSES,
    QUOTA_KINDS,
    SECRETS,
    Client,
    ConfigError,
    merge,
    parse_kubeconfig,
    resolve,
)
from reprieve.objects import Document, strays, well_known

SECRET_KEY: Final = "kubeconfig"
MOST_BYTES: Final = 1 << 20


class InsecureKubeConfig(ConfigError):
    """A kubeconfig that wants more than a connection."""


class Limits(NamedTuple):
    """What a worker's kubeconfig may ask for."""

    anywhere: bool = False
    """A path may lead out of the folder for kubeconfigs."""
    plain_http: bool = False


async def connect(home: Client, namespace: str, cluster: Document, limits: Limits) -> Client:
    """A client to the worker; `namespace` is where the kubeconfig Secrets live."""
    source = _mapping(_mapping(cluster.get("spec")).get("clusterSource")).get("kubeConfig")
    location = _mapping(source).get("location")
    if not isinstance(location, str) or not location:
        raise ConfigError("spec.clusterSource.kubeConfig.location is empty")
    if _mapping(source).get("locationType", "Secret") == "Path":
        text = _read_file(location, limits)
    else:
        text = await _read_secret(home, namespace, location)
    access = resolve(merge([parse(text, location)]))
    if not access.server.startswith("https://") and not limits.plain_http:
        raise InsecureKubeConfig(
            f"kubeconfig {location}: the server is not https://, so anybody on the way could read the token; "
            "fleet.allowPlainHTTP: true in the configuration permits it"
        )
    return Client.from_access(access)


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def parse(text: bytes, where: str) -> dict[str, Any]:
    """The kubeconfig, if it has nothing but a server and inline credentials."""
    if len(text) > MOST_BYTES:
        raise ConfigError(f"kubeconfig {where}: larger than {MOST_BYTES} bytes")
    document = parse_kubeconfig(text, where, aliases=False)
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


def _read_file(location: str, limits: Limits) -> bytes:
    """Also links in the folder must not lead out of it."""
    path = Path(location)
    try:
        if not limits.anywhere and (strays(location) or strays(str(path.resolve()))):
            raise InsecureKubeConfig(
                f"kubeconfig {location}: a path must lie under {well_known.KUBECONFIG_FOLDER}"
            )
        with path.open("rb") as handle:
            return handle.read(MOST_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"kubeconfig {location}: {error.strerror}") from error
    except ValueError as error:
        raise ConfigError(f"kubeconfig {location!r}: {error}") from error


async def _read_secret(home: Client, namespace: str, name: str) -> bytes:
    secret: Document = await home.get(SECRETS, name, namespace)
    try:
        return base64.b64decode(secret["data"][SECRET_KEY], validate=True)
    except (KeyError, TypeError, binascii.Error) as error:
        raise ConfigError(f"Secret {namespace}/{name}: no usable key {SECRET_KEY!r}") from error


async def survey(manager: Client, namespace: str, limits: Limits) -> dict[str, list[Document]]:
    """Each worker's objects that decide about quota; `namespace` is where the kubeconfig Secrets live."""
    clusters = (await manager.listing(MULTIKUEUE_CLUSTERS.raw())).items
    listed = await asyncio.gather(*(_read(manager, namespace, cluster, limits) for cluster in clusters))
    return {
        cluster["metadata"]["name"]: documents for cluster, documents in zip(clusters, listed, strict=True)
    }


async def _read(manager: Client, namespace: str, cluster: Document, limits: Limits) -> list[Document]:
    async with await connect(manager, namespace, cluster, limits) as client:
        return await client.list_all((NAMESPACES, PRIORITY_CLASSES, *QUOTA_KINDS))
