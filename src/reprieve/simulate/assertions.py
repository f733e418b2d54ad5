"""`--assert EXPR`: a comparison of a metric with a number, or with another metric.

lost_hours < 1000                                          for every compared configuration
high.delay.p99 <= 60                                       of one class, queue or size
minimal-cost:lost_hours <= 0.67 * kubernetes:lost_hours    between configurations
"""

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from reprieve.objects import ReprieveError, nearest
from reprieve.simulate.metrics import Metrics

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


def check(expression: str, measured: Mapping[str, Metrics]) -> list[Checked]:
    """For every configuration; once if both sides name theirs."""
    match = _COMPARISON.match(expression.strip())
    if match is None:
        raise ReprieveError(
            f"--assert {expression!r}: write METRIC < NUMBER, for instance 'lost_hours < 1000'"
        )
    sides = match["left"], match["right"].strip()
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
    words = [_camel(word) for word in _unit_aside(path, metrics.unit).split(".")]
    if words[0] not in found:
        raw = path.split(".")[0]
        found = next((found[group] for group in _GROUPS if raw in found[group]), found)
        words[0] = raw
    for word in words:
        if found is None:
            break
        if not isinstance(found, dict) or word not in found:
            known = list(found) if isinstance(found, dict) else []
            hint = nearest(word, known) or (f"; known are {', '.join(known)}" if known else "")
            raise ReprieveError(f"--assert {expression!r}: there is no metric {path!r}{hint}")
        found = found[word]
    if isinstance(found, int | float) and not isinstance(found, bool):
        return float(found)
    said = "is not known here" if found is None else "is no number"
    more = f"; add .{next(iter(found))}" if isinstance(found, dict) and found else ""
    raise ReprieveError(f"--assert {expression!r}: {path} {said}{more}")


def _camel(word: str) -> str:
    first, *rest = word.split("_")
    return first + "".join(part.capitalize() for part in rest)


def _unit_aside(path: str, unit: str) -> str:
    words = {"gpu": ("_gpu_hours", "GpuHours"), "cpu": ("_core_hours", "CoreHours")}[unit]
    return path.replace(words[0], "_hours").replace(words[1], "Hours")
