"""Messages that have to be kube-scheduler's own in a condition, in plain words for people."""

import re

from reprieve.explain.sentences import answers

_GANG = re.compile(
    r"minCount \((?P<least>\d+)\) (?:cannot be|is not yet) satisfied: "
    r"(?P<placed>\d+) scheduled, (?P<left>\d+) remaining"
)
_PREEMPTION = ", pod group preemption: "


def in_plain_words(message: str) -> str:
    return _GANG.sub(_gang, message).replace(_PREEMPTION, answers.EVEN_WITH_PREEMPTION)


def _gang(match: re.Match[str]) -> str:
    return answers.too_few_at_once(*(int(match[name]) for name in ("least", "placed", "left")))
