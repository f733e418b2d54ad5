"""When what waits will start, where that can be said at once; else which command says it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from reprieve.config import Configuration
from reprieve.explain.answer import Ahead
from reprieve.explain.evidence import Evidence
from reprieve.explain.sentences import answers
from reprieve.forecast import Forecast, TooMuchWork, when_all
from reprieve.objects import Reference, ReprieveError
from reprieve.whatif import parse_target

MOST_OBJECTS = 500
MOST_WORK = 2_000
"""Of all futures: less than a second."""


def look_ahead(
    target: Reference, evidence: Evidence, now: datetime, config: Mapping[str, Any] | None
) -> Ahead | None:
    """None where nothing sure can be said: it does not start as things are, or the reader sees too little."""
    settings = Configuration.load(config)
    try:
        named = parse_target(str(target), settings)
    except ReprieveError:
        return None  # nobody looks ahead for such a kind
    if evidence.partial:
        return None
    if len(evidence.objects) > MOST_OBJECTS:
        return _elsewhere(target)
    try:
        (found,) = when_all(evidence.objects, [named], settings, now, runs=evidence.runs, most_work=MOST_WORK)
    except TooMuchWork:
        return _elsewhere(target)
    except ReprieveError as error:
        return Ahead(outcome="unsaid", sentence=answers.start_cannot_be_said(str(error)))
    return _told(found, evidence)


def _told(found: Forecast, evidence: Evidence) -> Ahead | None:
    if found.outcome == "unknown" and not _all_read(found.unknown, evidence):
        return _elsewhere(found.for_)
    if found.outcome not in ("now", "later", "unknown"):
        return None
    return Ahead(
        outcome=found.outcome,
        sentence=found.sentence,
        start=found.start if found.outcome == "later" else None,
        unknown=found.unknown if found.outcome == "unknown" else (),
        assumptions=found.assumptions,
    )


def _all_read(names: tuple[str, ...], evidence: Evidence) -> bool:
    """Whether a run time could not be announced by somebody who is not among the objects."""
    held = {str(Reference.read(each)) for each in evidence.objects}
    return held.issuperset(names)


def _elsewhere(target: Reference | str) -> Ahead:
    return Ahead(outcome="unsaid", sentence=answers.ask_when_it_starts(str(target)))
