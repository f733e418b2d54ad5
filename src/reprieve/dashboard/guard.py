"""Who may look: anybody on this machine; from elsewhere, only holders of the token.

Health and metrics stay open, for probes and scrapers; they name no pod. Everything else answers

- on a loopback address without a token: only requests whose Host is a loopback name, so that no foreign page
  can use the viewer's browser (DNS rebinding);
- with a token: to `Authorization: Bearer TOKEN`, or to the cookie that the login form sets. The cookie names
  a session that is random, ends by itself and when its viewer logs out (`sessions`), and is of no use to
  scripts or to other sites;
- on any other address without a token: to nobody.
"""

import asyncio
import hmac
import ipaddress
import time
from collections.abc import Awaitable, Callable
from functools import partial
from html import escape
from typing import NamedTuple
from urllib.parse import parse_qs

import msgspec
from aiohttp import web

from reprieve.dashboard.files import STATIC
from reprieve.dashboard.sessions import LIFETIME_SECONDS, Sessions

OPEN = frozenset({"/healthz", "/livez", "/readyz", "/metrics", "/login", "/logout"})
COOKIE = "reprieve"
LONGEST_FORM, MOST_FIELDS = 8192, 16
WRONG_TOKEN_SECONDS = 1.0
"""The delay of a wrong guess."""
NO_TOKEN = (
    "this controller can be reached from other machines and has no token, so it tells nobody what it "
    "decided; "
    "start it with --token-file FILE (or REPRIEVE_TOKEN), or with --listen 127.0.0.1:8080"
)
WRONG_HOST = (
    "{host!r} is not a name of this machine for itself; "
    "open http://127.0.0.1:PORT/, or start with --token-file"
)
NEEDS_TOKEN = (
    "this controller asks for its token: send Authorization: Bearer TOKEN, or open / in a browser and log in"
)

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Access(NamedTuple):
    """Where the process listens, and the token it requires."""

    host: str = "127.0.0.1"
    token: str = ""

    @property
    def is_local(self) -> bool:
        return _is_loopback(self.host)


def protect(app: web.Application, access: Access, clock: Callable[[], float] = time.monotonic) -> None:
    """Nothing but health and metrics is open to everybody."""

    sessions = Sessions(clock)

    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        refused = _refused(request, access, sessions)
        return await handler(request) if refused is None else refused

    app.middlewares.append(_headers)
    app.middlewares.append(guard)
    if access.token:
        app.router.add_post("/login", partial(_log_in, access.token, sessions))
        app.router.add_post("/logout", partial(_log_out, sessions))


def _refused(request: web.Request, access: Access, sessions: Sessions) -> web.Response | None:
    if request.path in OPEN or request.path.startswith("/static/"):
        return None
    if access.token:
        return None if _knows(request, access.token, sessions) else _ask_for_token(request)
    if not access.is_local:
        return refusal(403, NO_TOKEN)
    if not _is_loopback(_host_of(request)):
        return refusal(403, WRONG_HOST.format(host=request.host))
    return None


@web.middleware
async def _headers(request: web.Request, handler: Handler) -> web.StreamResponse:
    response = await handler(request)
    if not response.prepared:
        response.headers.update(HEADERS)
    return response


def refusal(status: int, message: str) -> web.Response:
    body = msgspec.json.encode({"message": message})
    return web.Response(status=status, body=body, content_type="application/json")


def _knows(request: web.Request, token: str, sessions: Sessions) -> bool:
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return _same(given.strip(), token)
    return sessions.knows(request.cookies.get(COOKIE, ""))


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode())


def _ask_for_token(request: web.Request) -> web.Response:
    if request.path == "/":
        return _login_page("")
    response = refusal(401, NEEDS_TOKEN)
    response.headers["WWW-Authenticate"] = 'Bearer realm="reprieve"'
    return response


def _login_page(problem: str) -> web.Response:
    alert = f'<p class="problem" role="alert">{escape(problem)}</p>' if problem else ""
    page = (STATIC / "login.html").read_text().replace("<!-- problem -->", alert)
    return web.Response(status=401, text=page, content_type="text/html")


async def _log_in(token: str, sessions: Sessions, request: web.Request) -> web.Response:
    if not _same(_given(await request.read()), token):
        await asyncio.sleep(WRONG_TOKEN_SECONDS)
        return _login_page("That is not the token of this controller.")
    response = web.Response(status=303, headers={"Location": "./"})
    secure = request.secure or request.headers.get("X-Forwarded-Proto") == "https"
    response.set_cookie(
        COOKIE, sessions.begin(), max_age=LIFETIME_SECONDS, httponly=True, samesite="Strict", secure=secure
    )
    return response


def _given(form: bytes) -> str:
    """The token in a form, empty for one that is none: anybody may send anything here."""
    try:
        fields = parse_qs(form[:LONGEST_FORM].decode("utf-8", "replace"), max_num_fields=MOST_FIELDS)
    except ValueError:
        return ""
    return fields.get("token", [""])[0].strip()


async def _log_out(sessions: Sessions, request: web.Request) -> web.Response:
    sessions.end(request.cookies.get(COOKIE, ""))
    response = web.Response(status=303, headers={"Location": "./"})
    response.del_cookie(COOKIE, httponly=True, samesite="Strict")
    return response


def _host_of(request: web.Request) -> str:
    """The Host header without its port."""
    host = request.host
    return host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
