"""Decisions as JSON: the list of them, and who made way for whom.

They are narrowed down before they are cut: what is shown is the newest of what was asked for, and not what
happens to be among the newest.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from reprieve.dashboard.departures import Departures
from reprieve.dashboard.inventory import Inventory
from reprieve.dashboard.questions import BadQuestion
from reprieve.dashboard.units import priority_of_unit, team_of_unit
from reprieve.explain import in_plain_words
from reprieve.objects import shown, whole_number
from reprieve.records import Decision

View = dict[str, Any]

MOST = 1000
STEP = 100
MOST_OWNERS = 20
"""Of one decision that are asked whose they are: the controller shares this process."""


class Wanted(NamedTuple):
    """Which decisions; what is empty or zero does not matter. A namespace or a team is meant on either side:
    theirs is what others made way for, and what made way."""

    outcome: str = ""
    unit: str = ""
    text: str = ""
    namespace: str = ""
    team: str = ""
    since: int = 0
    until: int = 0
    limit: int = STEP

    @classmethod
    def of(cls, query: Mapping[str, str]) -> "Wanted":
        def text(name: str) -> str:
            return query.get(name, "")

        def number(name: str, usual: int = 0) -> int:
            given = query.get(name, str(usual))
            if (found := whole_number(given)) is None:
                raise BadQuestion(f"{name} must be a whole number, not {shown(given)}")
            return found

        names = text("outcome"), text("for"), text("find"), text("ns"), text("team")
        return cls(*names, number("since"), number("until"), number("limit", STEP))


def listed(
    decisions: Iterable[Decision], wanted: Wanted, inventory: Inventory, departures: Departures
) -> View:
    """The newest that match, and whether there are more."""
    limit = min(wanted.limit, MOST)
    items: list[View] = []
    for decision in _matching(decisions, wanted, inventory, departures):
        if len(items) == limit:
            return {"items": items, "more": True}
        items.append({**decision.summary(), "sentence": in_plain_words(decision.sentence)})
    return {"items": items, "more": False}


def flows(wanted: Wanted, inventory: Inventory, departures: Departures) -> View:
    """Preemptors of a namespace or a team, or those whom it made way for, each with its priority."""
    found = departures.flows(lambda decision: _about(decision, wanted, inventory, departures))
    for flow in found["items"]:
        flow["priority"] = priority_of_unit(flow["by"], inventory)
    return found


def _matching(
    decisions: Iterable[Decision], wanted: Wanted, inventory: Inventory, departures: Departures
) -> Iterator[Decision]:
    for decision in decisions:
        moment = decision.time.timestamp()
        if moment < wanted.since:
            return
        if (
            (not wanted.until or moment < wanted.until + 1)
            and wanted.outcome in ("", decision.outcome)
            and wanted.unit in ("", decision.for_)
            and wanted.text in decision.sentence
            and _about(decision, wanted, inventory, departures)
        ):
            yield decision


def _about(decision: Decision, wanted: Wanted, inventory: Inventory, departures: Departures) -> bool:
    if not wanted.namespace and not wanted.team:
        return True
    owners = departures.owners(decision)[:MOST_OWNERS]
    return any(
        wanted.namespace in ("", _namespace(name)) and wanted.team in ("", team_of_unit(name, inventory))
        for name in (decision.for_, *owners)
    )


def _namespace(unit: str) -> str:
    """Of KIND/NAMESPACE/NAME."""
    parts = unit.split("/")
    return parts[1] if len(parts) > 2 else ""
