"""`--assert EXPR`: a comparison of a metric with a number, or with another metric.

lost_hours < 1000                                          for every compared configuration
high.delay.p99 <= 60                                       of one class, queue or size
minimal-cost:lost_hours <= 0.67 * kubernetes:lost_hours    between configurations
"""

import math
import operator
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from reprieve.objects import ReprieveError, nearest
from reprieve.simulate.jobs import Job
from reprieve.simulate.lives import NEVER
from reprieve.simulate.metrics import Metrics, measure
from reprieve.simulate.result import Fate, Result

_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}
_COMPARISON = re.compile(r"^(?P<left>[^<>=!]+?)\s*(?P<operator><=|>=|==|!=|<|>)\s*(?P<right>[^<>=!]+)$")
_GROUPS = ("classes", "queues", "sizes")


class _Unknown(ReprieveError):
    """The metric exists, and this run has no number for it."""


class Checked(NamedTuple):
    expression: str
    policy: str
    """The configuration it was checked for."""
    holds: bool
    left: float
    right: float

    def sentence(self) -> str:
        found = f"{self.left:g} against {self.right:g}"
        return f"{self.policy}: {self.expression}: {'holds' if self.holds else 'does not hold'} ({found})"


def understood(expression: str, policies: Collection[str], jobs: Iterable[Job]) -> None:
    """Raises for what could not be checked whatever comes of the run, before anybody waits for it."""
    kinds = {(job.klass, job.queue, job.gpus, job.pods * job.cpu): job for job in jobs}
    alone = Result(
        policy="",
        jobs=tuple(kinds.values()),
        fates=tuple(Fate(NEVER, NEVER, 0, 0, 0, 0, 0, 0) for _ in kinds),
        stretches=(),
        end=0,
        gpus=0,
        cores=0,
    )
    with suppress(_Unknown):
        check(expression, dict.fromkeys(policies, measure(alone)))


def check(expression: str, measured: Mapping[str, Metrics]) -> list[Checked]:
    """For every configuration; once if both sides name theirs."""
    match = _COMPARISON.match(expression.strip())
    if match is None:
        raise ReprieveError(
            f"--assert {expression!r}: write METRIC < NUMBER, for instance 'lost_hours < 1000'"
        )
    sides = match["left"], match["right"].strip()
    for word in (word.strip() for side in sides for word in side.split("*")):
        if _is_number(word) and not math.isfinite(float(word)):
            raise ReprieveError(f"--assert {expression!r}: {word} is no number to compare with")
    compare = _OPERATORS[match["operator"]]
    general = [side for side in sides if not _is_number(side) and ":" not in side]
    checked = []
    for policy in measured if general else list(measured)[:1]:
        left, right = (_value(expression, side, policy, measured) for side in sides)
        who = policy if general else "all"
        checked.append(Checked(expression, who, bool(compare(left, right)), left, right))
    return checked


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _value(expression: str, text: str, policy: str, measured: Mapping[str, Metrics]) -> float:
    product = 1.0
    for factor in text.split("*"):
        word = factor.strip()
        if _is_number(word):
            product *= float(word)
            continue
        named, colon, path = word.rpartition(":")
        chosen = named if colon else policy
        if chosen not in measured:
            hint = nearest(chosen, measured) or f"; compared are {', '.join(measured)}"
            raise ReprieveError(f"--assert {expression!r}: {chosen!r} is not compared{hint}")
        product *= _metric(expression, path, measured[chosen])
    return product


def _metric(expression: str, path: str, metrics: Metrics) -> float:
    """By its name in the document, or the same with underscores; `lost_gpu_hours` where GPUs are counted."""
    found: Any = metrics.to_dict()
    words = _unit_aside(path, metrics.unit).split(".")
    if _camel(words[0]) not in found or words[0] in _GROUPS:
        found, words = _of_group(found, words)
    for word in map(_camel, words):
        if found is None:
            break
        if not isinstance(found, dict) or word not in found:
            known = list(found) if isinstance(found, dict) else []
            hint = nearest(word, known) or (f"; known are {', '.join(known)}" if known else "")
            raise ReprieveError(f"--assert {expression!r}: there is no metric {path!r}{hint}")
        found = found[word]
    if isinstance(found, int | float) and not isinstance(found, bool):
        return float(found)
    if found is None:
        raise _Unknown(f"--assert {expression!r}: {path} is not known here")
    more = f"; add .{next(iter(found))}" if isinstance(found, dict) and found else ""
    raise ReprieveError(f"--assert {expression!r}: {path} is no number{more}")


def _of_group(found: dict[str, Any], words: list[str]) -> tuple[dict[str, Any], list[str]]:
    """The metrics of a class, queue or size, and what is asked of them: names may have dots in them, and
    `queues.high` tells a queue from a class of its name."""
    groups, rest = ((words[0],), words[1:]) if words[0] in _GROUPS else (_GROUPS, words)
    for length in range(len(rest), 0, -1):
        name = ".".join(rest[:length])
        for group in groups:
            if name in found[group]:
                return found[group][name], rest[length:]
    return found, words


def _camel(word: str) -> str:
    first, *rest = word.split("_")
    return first + "".join(part.capitalize() for part in rest)


def _unit_aside(path: str, unit: str) -> str:
    words = {"gpu": ("_gpu_hours", "GpuHours"), "cpu": ("_core_hours", "CoreHours")}[unit]
    return path.replace(words[0], "_hours").replace(words[1], "Hours")
