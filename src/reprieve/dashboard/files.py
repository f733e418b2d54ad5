"""The page's own files: scripts, styles, pictures. They are few and small, so they are read once and served
from memory, squeezed for those who take that; the scripts joined into one (`linking`).
"""

import mimetypes
import zlib
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from aiohttp import web

from reprieve.dashboard.linking import link

STATIC = Path(__file__).parent / "static"
SCRIPT = "app.js"
"""The page's script, which imports the others."""


class File(NamedTuple):
    body: bytes
    squeezed: bytes
    content_type: str
    tag: str
    """Names its content: a browser that has it is told so, and gets nothing."""


class Files:
    """What is below a folder, as it was when the process started."""

    def __init__(self, folder: Path = STATIC) -> None:
        paths = (path for path in folder.rglob("*") if path.is_file())
        found = {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
        scripts = {name: body.decode() for name, body in found.items() if name.endswith(".js")}
        found[SCRIPT] = link(scripts, SCRIPT).encode()
        self._found = {name: _file(name, body) for name, body in found.items()}

    def answer(self, request: web.Request, name: str) -> web.Response:
        file = self._found.get(name)
        if file is None:
            raise web.HTTPNotFound
        headers = {"ETag": f'"{file.tag}"'}
        if any(tag.value == file.tag for tag in request.if_none_match or ()):
            return web.Response(status=304, headers=headers)
        if "deflate" not in request.headers.get("Accept-Encoding", ""):
            return web.Response(body=file.body, content_type=file.content_type, headers=headers)
        headers["Content-Encoding"] = "deflate"
        return web.Response(body=file.squeezed, content_type=file.content_type, headers=headers)


def _file(name: str, body: bytes) -> File:
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return File(body, zlib.compress(body, 9), kind, sha256(body).hexdigest()[:16])
