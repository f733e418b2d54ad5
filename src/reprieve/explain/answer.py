"""The answer, one sentence first and details after; and the evictions in it as lines for people."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, Literal, NamedTuple

import msgspec

from reprieve.explain.advice.remedy import Remedy
from reprieve.explain.sentences import answers
from reprieve.forecast import Span
from reprieve.objects import well_known

Side = Literal["by", "victim", "both"]
"""Which side of an eviction the reader does not know yet."""


class Eviction(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """One preemption, seen from either side."""

    by: str = ""
    """The preemptor."""
    victim: str = ""
    time: str = ""
    node: str = ""
    reason: str = ""
    cost: dict[str, float] = {}
    alternatives: list[str] = []
    source: str = ""
    """record, condition or event."""


class Advice(NamedTuple):
    """What would help."""

    lines: list[str]
    remedies: Sequence[Remedy] = ()
    """Those of the lines that ask for a change, as data."""
    facts: Sequence[str] = ()
    """What stands in the way, in numbers."""


class Ahead(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """When it starts: in short what `reprieve when` says."""

    outcome: Literal["now", "later", "unknown", "unsaid"]
    """`unknown`: a run time is missing. `unsaid`: ask `reprieve when`."""
    sentence: str
    start: Span | None = None
    unknown: tuple[str, ...] = ()
    """Whose run time is missing."""
    assumptions: tuple[str, ...] = ()


class Explanation(msgspec.Struct, kw_only=True, rename="camel"):
    """`docs/explain.md` describes the JSON form."""

    for_: str = msgspec.field(name="for")
    state: str
    """waiting, running, leaving, preempted, finished, gone, unknown, ready, not-ready, active or stopped."""
    sentence: str
    details: list[str] = []
    preempted_by: list[Eviction] = []
    preempted: list[Eviction] = []
    waits_for: list[str] = []
    would_help: list[str] = []
    remedies: list[Remedy] = []
    """The changes behind `would_help`, as data."""
    not_shown: list[str] = []
    """What the reader may not see, and why."""
    when: Ahead | None = None
    """Of something that waits."""

    def advise(self, advice: Advice) -> None:
        self.would_help, self.remedies = advice.lines, list(advice.remedies)
        self.details += [fact for fact in advice.facts if fact not in self.details]

    def to_dict(self) -> dict[str, Any]:
        document = msgspec.to_builtins(self)
        if self.when is None:
            del document["when"]
        return {"apiVersion": well_known.API_VERSION, "kind": "Explanation", **document}


def render(evictions: Iterable[Eviction], side: Side) -> list[str]:
    """A line for each reason, and under the last line of a decision its cost and its alternatives.

    Victims of one decision that share a reason share a line.
    """
    lines: list[str] = []
    for _, same in groupby(evictions, key=lambda each: (each.by, _seconds(each.time))):
        decision = list(same)
        by_reason: dict[str, list[Eviction]] = {}
        for each in decision:
            by_reason.setdefault(each.reason, []).append(each)
        lines += [_line(those, side) for those in by_reason.values()]
        lines[-1] += _footnotes(decision[0])
    return lines


def _line(evictions: Sequence[Eviction], side: Side) -> str:
    first = evictions[0]
    victims = sorted({each.victim for each in evictions})
    nodes = sorted({each.node for each in evictions if each.node})
    time = _seconds(first.time)
    if side == "by":
        return answers.evicted_by(first.by, time, nodes, first.reason)
    if side == "victim":
        return answers.evicted(victims, time, nodes, first.reason)
    return answers.evicted_for(victims, first.by, time, nodes, first.reason)


def _footnotes(eviction: Eviction) -> str:
    cost = answers.eviction_cost(eviction.cost)
    lines = [cost] if cost else []
    lines += [answers.instead(alternative) for alternative in eviction.alternatives]
    return "".join(f"\n      {line}" for line in lines)


def _seconds(time: str) -> str:
    """Without fractions: nobody reads them."""
    head, dot, _ = time.partition(".")
    return f"{head}Z" if dot else time
