"""The life of one unit: what decisions said of it, under any of its names, and what the objects say."""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any

from reprieve.dashboard.departures import Departures
from reprieve.dashboard.inventory import Inventory
from reprieve.dashboard.units import Unit
from reprieve.explain import in_plain_words
from reprieve.objects import format_time, parse_time, well_known
from reprieve.records import Decision

View = dict[str, Any]

MOST_MOMENTS = 200
MOST_OTHERS = 50
HAS_PLACE = ("scheduled", "admitted")
SECOND, NOTHING = timedelta(seconds=1), timedelta()


def story(name: str, inventory: Inventory, decisions: Iterable[Decision], departures: Departures) -> View:
    """Every moment in the life of one unit, the last first."""
    unit = Unit(name, inventory)
    names = unit.kin()
    moments = [
        *(_decided(each, departures.owners(each)) for each in decisions if each.for_ in names),
        *(
            {**_made_way(decision, line), "stays": unit.ran_through(decision.time)}
            for decision, line in departures.of(names)
            if decision.for_ not in names
        ),
    ]
    states = [moment for moment in unit.moments() if not _said(moment, moments)]
    moments += reversed(states)  # the last first, within one second too
    moments.sort(key=_order, reverse=True)
    shown = [*_comebacks(moments)]
    return {
        **unit.view(),
        "items": shown[:MOST_MOMENTS],
        "more": max(0, len(shown) - MOST_MOMENTS),
    }


def _said(state: View, decided: list[View]) -> bool:
    """A decision to give quota and the condition that says so are one moment."""
    if state["outcome"] != well_known.QUOTA_RESERVED.lower():
        return False
    when = parse_time(state["time"])
    return any(
        moment["outcome"] in HAS_PLACE and abs(parse_time(moment["time"]) - when) <= SECOND
        for moment in decided
    )


def _order(moment: View) -> datetime:
    """When it was. Objects tell whole seconds only: a beginning is put before the decisions of its second,
    what followed from them after."""
    follows = moment["role"] == "state" and moment["outcome"] != "created"
    return parse_time(moment["time"]) + (SECOND if follows else NOTHING)


def _decided(decision: Decision, victims: list[str]) -> View:
    return {
        "time": format_time(decision.time), "id": decision.id, "outcome": decision.outcome,
        "role": "decided", "by": decision.controller, "sentence": in_plain_words(decision.sentence),
        "others": victims[:MOST_OTHERS], "moreOthers": max(0, len(victims) - MOST_OTHERS),
    }  # fmt: skip


def _made_way(decision: Decision, line: View) -> View:
    return {
        "time": format_time(decision.time), "id": decision.id, "outcome": decision.outcome,
        "role": "made way", "by": decision.controller, "sentence": line["reason"], "others": [decision.for_],
        "pods": line["pods"], "gpuHours": round(line["gpuHours"], 4),
    }  # fmt: skip


def _comebacks(moments: list[View]) -> Iterator[View]:
    """Newest first. A place after it had made way is a return; the same waiting again and again is said
    once, with how often."""
    went = False
    told: list[View] = []
    for moment in reversed(moments):
        if moment["role"] == "made way":
            went = True
        elif moment["role"] == "decided" and moment["outcome"] in HAS_PLACE and went:
            moment, went = {**moment, "back": True}, False
        last = told[-1] if told else None
        if last and _same(last, moment):
            told[-1] = {**moment, "times": last.get("times", 1) + 1, "since": last.get("since", last["time"])}
        else:
            told.append(moment)
    return reversed(told)


def _same(one: View, other: View) -> bool:
    return one["role"] == other["role"] == "decided" and all(
        one[key] == other[key] for key in ("outcome", "sentence", "others")
    )
