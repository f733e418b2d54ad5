"""Decision records without the names that a reader may not see. Pure.

A record names pods in many places: the preemptor, victims, reprieved units, alternatives, and sentences about
all of them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from reprieve.explain.sentences import answers
from reprieve.objects import Reference, split_key


def namespaces_of(decision: Mapping[str, Any]) -> set[str]:
    """Every namespace that a decision names something of."""
    return {_namespace(name) for name in _names(decision)}


def without(decision: Mapping[str, Any], hidden: set[str]) -> Mapping[str, Any]:
    """The decision with every name from a hidden namespace taken out, and every sentence that holds one."""
    if not hidden & namespaces_of(decision):
        return decision

    def seen(name: str) -> bool:
        return _namespace(name) not in hidden

    victims = [each for each in decision.get("victims", ()) if seen(_victim(each))]
    return {
        **decision,
        "for": decision["for"] if seen(_key(decision["for"])) else answers.HIDDEN,
        "victims": [{**each, "reason": _unless_hidden(each.get("reason", ""), hidden)} for each in victims],
        "reprieved": [
            {**each, "reason": _unless_hidden(each.get("reason", ""), hidden)}
            for each in decision.get("reprieved") or ()
            if seen(_key(each["unit"]))
        ],
        "budgets": [each for each in decision.get("budgets") or () if seen(each["budget"])],
        "alternatives": [
            each
            for each in decision.get("alternatives") or ()
            if all(seen(_key(unit)) for unit in each["victims"])
        ],
        "placements": {pod: node for pod, node in (decision.get("placements") or {}).items() if seen(pod)},
        "reasons": [text for text in decision.get("reasons") or () if _unless_hidden(text, hidden)],
        "sentence": _unless_hidden(decision.get("sentence", ""), hidden),
    }


def _names(decision: Mapping[str, Any]) -> Iterator[str]:
    yield _key(decision["for"])
    yield from decision.get("placements") or ()
    yield from (_victim(each) for each in decision.get("victims") or ())
    yield from (_key(each["unit"]) for each in decision.get("reprieved") or ())
    yield from (each["budget"] for each in decision.get("budgets") or ())
    for each in decision.get("alternatives") or ():
        yield from (_key(unit) for unit in each.get("victims") or ())


def _victim(victim: Mapping[str, Any]) -> str:
    return str(victim.get("pod") or victim.get("workload") or "")


def _key(unit: str) -> str:
    return Reference.parse(unit).key


def _namespace(key: str) -> str:
    return split_key(key)[0] or "default"


def _unless_hidden(text: str, hidden: Iterable[str]) -> str:
    """The text, or nothing when it holds a name of a hidden namespace."""
    return "" if any(re.search(rf"(?<![\w.-]){re.escape(name)}/", text) for name in hidden) else text
