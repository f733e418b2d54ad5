"""The page's HTTP side: static files, JSON, server-sent events, the what-if form.

Everything is read-only. The stream only says that something changed (at most once a second, to all viewers at
the same moment), and which version is there now; a page that has another one fetches what is new, which is
made and compressed once for all viewers (`snapshots`). No request leaves the origin: the policy below forbids
it.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from itertools import count
from typing import Any, NamedTuple, Protocol

import msgspec
from aiohttp import web

from reprieve.dashboard.decision_views import Wanted, flows, listed
from reprieve.dashboard.departures import Departures
from reprieve.dashboard.feed import Contact
from reprieve.dashboard.files import Files
from reprieve.dashboard.guard import HEADERS, refusal
from reprieve.dashboard.history import EVERY_SECONDS, QUEUES_EVERY_SECONDS, History, QueueTrends
from reprieve.dashboard.inventory import Inventory, QuotaTables
from reprieve.dashboard.questions import BadQuestion, Forecaster
from reprieve.dashboard.queue_views import waiting_pods
from reprieve.dashboard.search import search
from reprieve.dashboard.snapshots import Snapshots, Version
from reprieve.dashboard.stories import story
from reprieve.dashboard.views import ClusterViews, View, node_detail
from reprieve.objects import ReprieveError, format_time
from reprieve.records import Decision, Run
from reprieve.runtime import keep_running

TICK_SECONDS = 1.0
SAMPLE_SECONDS = 1.0
KEEP_ALIVE_TICKS = 15
MANIFEST_BYTES = 1 << 20
LONGEST_SEARCH = 200


class Decisions(Protocol):
    """What the page counts. The records themselves are served by the process (`/api/decisions`)."""

    @property
    def preemptions(self) -> int: ...

    def find(self) -> Iterator[Decision]:
        """All that are kept, newest first."""
        ...

    @property
    def runs(self) -> Iterable[Run]:
        """What has ended, and for how long it ran."""
        ...


Planner = Callable[[str, str], Awaitable[dict[str, Any]]]
"""Manifests as text and the unit to plan for (empty: the only one) -> the plan as JSON."""


Explainer = Callable[[str, Iterable[Decision]], Awaitable[dict[str, Any]]]
"""KIND/NAMESPACE/NAME and the decisions that are kept -> why it is as it is, as JSON."""

Reader = Callable[[str], Awaitable[dict[str, Any]]]
"""KIND/NAMESPACE/NAME -> the object as YAML, and its events."""

Section = Callable[[QuotaTables, datetime], View]
"""A part of the state that another module renders, beside the loop: quota, fleet."""


class Asked(NamedTuple):
    """Who answers what the inventory cannot."""

    plan: Planner
    explain: Explainer
    compare: Planner
    document: Reader
    when: Forecaster


class Dashboard:
    """One cluster's page. `quota` and `fleet` give their parts of the state; `asked` answers the what-if
    form, and why something is as it is.

    `login`: viewers had to log in, so they can log out.
    """

    def __init__(
        self,
        inventory: Inventory,
        decisions: Decisions,
        asked: Asked,
        quota: Section,
        fleet: Section,
        contact: Contact | None = None,
        login: bool = False,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._inventory = inventory
        self._decisions = decisions
        self._asked = asked
        self._quota = quota
        self._fleet = fleet
        self._contact = contact or Contact(now)
        self._login = login
        self._now = now
        self._files = Files()
        self._views = ClusterViews(inventory)
        self._history = History()
        self._kept_since = min((each.time for each in decisions.find()), default=now())
        self._trends = QueueTrends()
        self._departures = Departures(inventory)
        self._snapshots = Snapshots(self._version, self._parts)
        self._quota_view: tuple[int, View] | None = None

    def add_routes(self, app: web.Application) -> None:
        """Serve the page at `/` of this application."""
        app.router.add_get("/", self._index)
        app.router.add_get("/static/{name:.+}", self._file)
        app.router.add_get("/api/state", self._state)
        app.router.add_get("/api/stream", self._stream)
        app.router.add_get("/api/nodes/{name}", self._node)
        app.router.add_get("/api/history", self._recent)
        app.router.add_get("/api/trends", self._queue_trends)
        app.router.add_get("/api/waiting", self._waiting)
        app.router.add_get("/api/flows", self._flows)
        app.router.add_get("/api/preemptions", self._preemptions)
        app.router.add_get("/api/search", self._search)
        app.router.add_get("/api/story", self._story)
        app.router.add_get("/api/explain", self._explain)
        app.router.add_get("/api/when", self._when)
        app.router.add_get("/api/document", self._document)
        app.router.add_post("/api/plan", self._plan)
        app.router.add_post("/api/compare", self._compare)
        app.cleanup_ctx.append(self._sampling)

    async def _sampling(self, _: web.Application) -> Any:
        self._departures.read(self._decisions.find())
        self._history.recall(self._departures.went(), self._departures.pods, self._now())
        task = asyncio.create_task(keep_running("the page: samples", self._sample_for_ever))
        yield
        task.cancel()

    async def _sample_for_ever(self) -> None:
        for tick in count():
            self._departures.read(self._decisions.find())
            if tick % EVERY_SECONDS == 0:
                pending = self._inventory.waiting_classes.total()
                self._history.sample(self._now(), pending, self._departures.pods)
            if tick % QUEUES_EVERY_SECONDS == 0:
                self._trends.sample(self._now(), (await self._whole_quota())["queues"])
            await asyncio.sleep(SAMPLE_SECONDS)

    def _version(self) -> Version:
        """At midnight there is another one, though nothing has happened: what is counted for today begins
        anew."""
        today = self._now().astimezone(UTC).toordinal()
        return self._inventory.revision, self._decisions.preemptions, self._contact.revision, today

    async def _index(self, request: web.Request) -> web.Response:
        return self._files.answer(request, "index.html")

    async def _file(self, request: web.Request) -> web.Response:
        return self._files.answer(request, request.match_info["name"])

    async def _state(self, request: web.Request) -> web.Response:
        body = await self._snapshots.body(request.query.get("since", ""))
        if "deflate" not in request.headers.get("Accept-Encoding", ""):
            return web.Response(body=body.plain, content_type="application/json")
        return web.Response(
            body=body.squeezed, content_type="application/json", headers={"Content-Encoding": "deflate"}
        )

    async def _whole_quota(self) -> View:
        """Beside the loop: thousands of workloads take a while."""
        if self._quota_view is None or self._quota_view[0] != self._inventory.quota_revision:
            revision, tables = self._inventory.quota_revision, self._inventory.quota_tables()
            self._quota_view = revision, await asyncio.to_thread(self._quota, tables, self._now())
        return self._quota_view[1]

    async def _parts(self) -> AsyncIterator[View]:
        """The state, one part after the other."""
        now = self._now()
        for part in self._views.parts(self._decisions.preemptions, now):
            yield part
        self._departures.read(self._decisions.find())
        midnight = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        yield {
            "today": {**self._departures.today(now), "whole": self._kept_since <= midnight},
            "keptSince": format_time(self._kept_since),
        }
        yield {"quota": await self._whole_quota()}
        yield {"fleet": await asyncio.to_thread(self._fleet, self._inventory.quota_tables(), now)}
        yield {"contact": self._contact.to_dict(), "login": self._login}

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", **HEADERS})
        await response.prepare(request)
        with suppress(ConnectionResetError):  # the viewer left
            await self._stream_changes(response)
        return response

    async def _stream_changes(self, response: web.StreamResponse) -> None:
        seen: Version | None = None
        quiet = 0
        while True:
            version = self._version()
            if version != seen:
                await response.write(b"event: changed\ndata: %s\n\n" % self._snapshots.tell().encode())
                seen, quiet = version, 0
            elif quiet >= KEEP_ALIVE_TICKS:
                await response.write(b": still here\n\n")
                quiet = 0
            quiet += 1
            # All at the same moment: then what one of them asks for next is made for the others too.
            await asyncio.sleep(TICK_SECONDS - asyncio.get_running_loop().time() % TICK_SECONDS)

    async def _node(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        detail = node_detail(self._inventory, name)
        return _json(detail) if detail else refusal(404, f"there is no node {name!r}")

    async def _waiting(self, request: web.Request) -> web.Response:
        return _json({"items": waiting_pods(self._inventory, request.query.get("of", ""))})

    async def _recent(self, request: web.Request) -> web.Response:
        response = _narrowed(request, lambda wanted: self._history.to_dict(wanted.since))
        response.enable_compression()
        return response

    async def _queue_trends(self, _: web.Request) -> web.Response:
        return _json(self._trends.to_dict())

    async def _flows(self, request: web.Request) -> web.Response:
        self._departures.read(self._decisions.find())
        return _narrowed(request, lambda wanted: flows(wanted, self._inventory, self._departures))

    async def _preemptions(self, request: web.Request) -> web.Response:
        self._departures.read(self._decisions.find())
        return _narrowed(
            request,
            lambda wanted: listed(self._decisions.find(), wanted, self._inventory, self._departures),
        )

    async def _search(self, request: web.Request) -> web.Response:
        return _json(await search(request.query.get("q", "")[:LONGEST_SEARCH], self._inventory))

    async def _story(self, request: web.Request) -> web.Response:
        self._departures.read(self._decisions.find())
        name = request.query.get("of", "")
        return _json(story(name, self._inventory, self._decisions.find(), self._departures))

    async def _explain(self, request: web.Request) -> web.Response:
        return await _told(self._asked.explain(request.query.get("of", ""), self._decisions.find()))

    async def _when(self, request: web.Request) -> web.Response:
        return await _told(self._asked.when(request.query.get("for", "")))

    async def _document(self, request: web.Request) -> web.Response:
        return await _told(self._asked.document(request.query.get("of", "")))

    async def _plan(self, request: web.Request) -> web.Response:
        return await _planned(request, self._asked.plan)

    async def _compare(self, request: web.Request) -> web.Response:
        return await _planned(request, self._asked.compare)


async def _planned(request: web.Request, planner: Planner) -> web.Response:
    if request.content_type != "application/json":  # which a form on somebody else's page cannot send
        return refusal(415, f"send application/json, not {request.content_type}")
    if request.content_length is not None and request.content_length > MANIFEST_BYTES:
        return refusal(413, f"the manifests are larger than {MANIFEST_BYTES} bytes")
    try:
        body = msgspec.json.decode(await request.read(), type=dict[str, str])
    except (msgspec.DecodeError, RecursionError) as error:
        return refusal(400, f'expected {{"manifest": "...", "for": "KIND/NAMESPACE/NAME"}}: {error}')
    return await _told(planner(body.get("manifest", ""), body.get("for", "")))


def _narrowed(request: web.Request, answer: Callable[[Wanted], View]) -> web.Response:
    try:
        return _json(answer(Wanted.of(request.query)))
    except BadQuestion as error:
        return refusal(400, str(error))


async def _told(answer: Awaitable[Any]) -> web.Response:
    try:
        return _json(await answer)
    except ReprieveError as error:
        return refusal(400 if isinstance(error, BadQuestion) else 422, str(error))


def _json(value: Any) -> web.Response:
    return web.Response(body=msgspec.json.encode(value), content_type="application/json")
