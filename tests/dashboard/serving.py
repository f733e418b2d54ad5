"""A page over an inventory that a test fills by hand: no cluster, no controller, but the same HTTP."""

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from aiohttp import web

from reprieve.config import Configuration
from reprieve.dashboard.app import Asked, Dashboard, Explainer, Planner, Reader
from reprieve.dashboard.feed import Contact
from reprieve.dashboard.fleet_views import fleet_view
from reprieve.dashboard.guard import Access, protect
from reprieve.dashboard.inventory import Inventory
from reprieve.dashboard.questions import Forecaster
from reprieve.dashboard.quota_views import quota_view
from reprieve.quota.rules import Rules
from reprieve.records import Decision, DecisionLog
from reprieve.runtime import endpoints


async def no_plan(_manifest: str, _for: str) -> dict[str, Any]:
    return {"for": "Pod/default/urgent", "outcome": "scheduled", "reasons": ["It fits."]}


async def no_reason(target: str, _decisions: Iterable[Decision]) -> dict[str, Any]:
    sentence = f"{target} waits for 4 cpu."
    return {"for": target, "state": "waiting", "sentence": sentence, "wouldHelp": ["add a node"]}


async def no_comparison(_manifest: str, _for: str) -> dict[str, Any]:
    plans: list[dict[str, Any]] = [
        {
            "algorithm": name,
            "outcome": "scheduled",
            "victims": [],
            "also": [],
            "cost": {"units": 0, "pods": 0},
        }
        for name in ("kubernetes", "kep-5710", "minimal-cost")
    ]
    return {"kind": "PlanComparison", "for": "Pod/default/urgent", "cheapest": "kubernetes", "plans": plans}


async def no_document(name: str) -> dict[str, Any]:
    told = {"reason": "Waiting", "note": f"{name} waits", "type": "Normal", "count": 2, "by": "reprieve"}
    return {"yaml": f"kind: {name}\n", "events": [{"time": "2026-11-15T20:00:00Z", **told}]}


async def no_forecast(target: str) -> dict[str, Any]:
    sentence = f"{target} starts in about 25 min; 80 %: 3 min to 78 min."
    return {"for": target, "outcome": "later", "sentence": sentence, "assumptions": ["Nothing new comes."]}


@asynccontextmanager
async def serving(
    inventory: Inventory,
    records: DecisionLog | None = None,
    *,
    access: Access | None = None,
    contact: Contact | None = None,
    planner: Planner = no_plan,
    explainer: Explainer = no_reason,
    comparer: Planner = no_comparison,
    reader: Reader = no_document,
    forecaster: Forecaster = no_forecast,
    port: int = 0,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> AsyncIterator[str]:
    """The page's address."""
    records = records or DecisionLog()
    rules = Rules.of(Configuration.load({}))
    app = web.Application()
    endpoints.add_health(app, lambda: "", lambda: "")
    endpoints.add_decisions(app, records)
    protect(app, access or Access())
    Dashboard(
        inventory,
        records,
        Asked(planner, explainer, comparer, reader, forecaster),
        quota=lambda shown, now: quota_view(shown, rules, now),
        fleet=lambda shown, _: fleet_view(shown, timedelta(minutes=5)),
        contact=contact or Contact(lambda: datetime.now(UTC)),
        login=bool(access and access.token),
        now=now,
    ).add_routes(app)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()
