"""The file by which kubectl and client libraries find and trust the server, readable by its owner only."""

import base64
import os
from pathlib import Path

from reprieve.objects import format_yaml
from reprieve.server.storage import DataDirectoryUnusable


def kubeconfig(url: str, token: str, ca: bytes | None, name: str = "reprieve") -> str:
    cluster: dict[str, str] = {"server": url}
    if ca is not None:
        cluster["certificate-authority-data"] = base64.b64encode(ca).decode()
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": cluster}],
        "users": [{"name": f"{name}-admin", "user": {"token": token}}],
        "contexts": [
            {"name": name, "context": {"cluster": name, "user": f"{name}-admin", "namespace": "default"}}
        ],
        "current-context": name,
    }
    return format_yaml([document])


def write_private(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read, from its first byte on; it is whole or not there."""
    temporary = path.with_name(path.name + ".new")
    try:
        temporary.unlink(missing_ok=True)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as handle:
            handle.write(content)
            handle.flush()
            os.fsync(handle.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise DataDirectoryUnusable(f"{path} cannot be written: {error.strerror}") from error
