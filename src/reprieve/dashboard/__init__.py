"""The web page: what runs where, what waits, what was preempted and why.

    attach(app, client, decisions, config)  # an aiohttp application that has not started also serves the page
    at / guarded(Access("0.0.0.0", token))       # the same for other machines too; with page=False only the
    guard

`inventory` keeps compact records of the objects a page shows, `views`, `queue_views`, `quota_views` and
`fleet_views` turn them into JSON, `snapshots` sends pages what is new of it, `history` keeps the last hours,
`feed` fills the inventory from an API server and knows when that fails. `departures` counts who made way for
whom, `units` and `stories` tell the life of one, `search` finds it, `documents` reads it as it is written,
`decision_views` lists what was decided. `planner` answers the what-if form and says why and when
(`questions`), `guard` decides who may look, `files` has the page's own scripts, `app` serves it all. Nothing
here decides anything else: reasons come from decision records and plans and are only rendered.
"""

from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta

from aiohttp import web

from reprieve.config import Configuration
from reprieve.dashboard.app import Asked, Dashboard, Decisions
from reprieve.dashboard.documents import Documents
from reprieve.dashboard.feed import Contact, feeding
from reprieve.dashboard.fleet_views import PAGE_ANNOTATION, fleet_view
from reprieve.dashboard.guard import Access, protect
from reprieve.dashboard.inventory import Inventory
from reprieve.dashboard.planner import WhatIf
from reprieve.dashboard.quota_views import quota_view
from reprieve.kube import Client
from reprieve.quota import Rules

__all__ = ["PAGE_ANNOTATION", "Access", "attach", "guarded"]


def attach(app: web.Application, client: Client, decisions: Decisions, config: Configuration) -> None:
    """Serve the page of the cluster behind `client` from this application, to this machine only."""
    guarded(Access())(app, client, decisions, config)


def guarded(
    access: Access, page: bool = True
) -> Callable[[web.Application, Client, Decisions, Configuration], None]:
    """What adds the guard to a process and, if wanted, the page."""

    def add(app: web.Application, client: Client, decisions: Decisions, config: Configuration) -> None:
        protect(app, access)
        if page:
            _serve(app, client, decisions, config, login=bool(access.token))

    return add


def _serve(
    app: web.Application, client: Client, decisions: Decisions, config: Configuration, *, login: bool
) -> None:
    inventory = Inventory()
    contact = Contact(lambda: datetime.now(UTC))
    rules = Rules.of(config)
    turn = timedelta(seconds=config.fleet.single_cluster_preemption_timeout)

    async def follow(_: web.Application) -> AsyncIterator[None]:
        async with feeding(client, inventory, contact):
            yield

    ask = WhatIf(client, config.to_dict(), runs=decisions.runs)
    Dashboard(
        inventory,
        decisions,
        Asked(ask, ask.explain, ask.compare, Documents(client, config.job_kinds()), ask.when),
        quota=lambda shown, now: quota_view(shown, rules, now),
        fleet=lambda shown, _: fleet_view(shown, turn),
        contact=contact,
        login=login,
    ).add_routes(app)
    app.cleanup_ctx.append(follow)
