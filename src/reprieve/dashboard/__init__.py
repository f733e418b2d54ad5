"""The web page: what runs where, who waits, who made way and why.

    attach(app, client, decisions, config)      # an aiohttp application now also serves the page at /; before it starts

`inventory` keeps compact records of the objects a page shows, `views` and `quota_view` turn them into JSON, `history` keeps the
last hours, `feed` fills the inventory from an API server, `planner` answers the what-if form, `app` serves it all. Nothing here
decides anything: reasons come from decision records and plans and are only rendered.
"""

from collections.abc import AsyncIterator

from aiohttp import web

from reprieve.config import Configuration
from reprieve.dashboard.app import Dashboard, Decisions
from reprieve.dashboard.feed import feeding
from reprieve.dashboard.inventory import Inventory
from reprieve.dashboard.planner import WhatIf
from reprieve.dashboard.quota_view import quota_view
from reprieve.kube import Client
from reprieve.quota.rules import Rules

__all__ = ["attach"]


def attach(app: web.Application, client: Client, decisions: Decisions, config: Configuration) -> None:
    """Serve the page of the cluster behind `client` from this application, as long as it runs."""
    inventory = Inventory()
    rules = Rules.of(config)

    async def follow(_: web.Application) -> AsyncIterator[None]:
        async with feeding(client, inventory):
            yield

    planner = WhatIf(client, config.to_dict())
    Dashboard(inventory, decisions, planner, lambda shown, now: quota_view(shown, rules, now)).add_routes(app)
    app.cleanup_ctx.append(follow)
