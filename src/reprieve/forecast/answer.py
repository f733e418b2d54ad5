"""The answer: when it starts, how sure that is, who comes before it, and whose run time is missing."""

from typing import Any, Literal

import msgspec

from reprieve.objects import Ignored, well_known

Outcome = Literal["runs", "now", "partly", "later", "unsure", "unknown", "never"]
"""`partly`: some of its pods start now, the others later or not at all. `unsure`: it starts in less than half
of the futures. `unknown`: a run time is missing. `never`: not as things are."""


class Span(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Seconds from now. None: not within the horizon."""

    median: float | None
    low: float | None
    """In one future of ten it is sooner."""
    high: float | None
    """In one future of ten it is later."""
    at: str = ""
    """The moment of the median."""


class Share(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Somebody who matters to the answer, and in which share of the futures."""

    name: str
    share: float
    run_time: str
    """How its run time is known: announced, history, limit, endless or unknown."""


class Forecast(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """When something starts, if nothing new comes."""

    for_: str = msgspec.field(name="for")
    outcome: Outcome
    sentence: str
    now: str
    start: Span | None = None
    """Of its first pod; of a gang, of all that start together."""
    whole: Span | None = None
    """Of its last pod, where that is another moment."""
    quota: Span | None = None
    """When it gets quota, where it waits for that."""
    share: float = 0.0
    """Of the futures in which it starts within the horizon."""
    certain: bool = False
    """All futures agree: no run time had to be guessed."""
    victims: tuple[str, ...] = ()
    """Pods or workloads that make way for it."""
    waits_for: tuple[Share, ...] = ()
    """Whose end lets it in."""
    before: tuple[Share, ...] = ()
    """Who starts before it."""
    unknown: tuple[str, ...] = ()
    """Whose run time is not known, where that matters."""
    reasons: tuple[str, ...] = ()
    """Why it does not start at once."""
    assumptions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """What was not used, or not as it was written."""
    futures: int = 0
    seed: int = 0
    horizon_seconds: float = 0.0
    ignored: tuple[Ignored, ...] = ()

    @property
    def starts(self) -> bool:
        """All of it runs, or will."""
        later = self.whole is not None and self.whole.median is not None
        return self.outcome in ("runs", "now", "later") or (self.outcome == "partly" and later)

    def to_dict(self) -> dict[str, Any]:
        document: dict[str, Any] = msgspec.to_builtins(self)
        for name in ("start", "whole", "quota"):
            if document[name] is None:
                del document[name]
        if not self.ignored:
            del document["ignored"]
        return {"apiVersion": well_known.API_VERSION, "kind": "Forecast", **document}
