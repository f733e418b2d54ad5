"""Messages that have to be kube-scheduler's own in a condition, in plain words for people."""

import re

from reprieve.objects import counted

_GANG = re.compile(
    r"minCount \((?P<least>\d+)\) (?:cannot be|is not yet) satisfied: "
    r"(?P<placed>\d+) scheduled, (?P<left>\d+) remaining"
)


def in_plain_words(message: str) -> str:
    return _GANG.sub(_gang, message).replace(", pod group preemption: ", "; even with preemption, ")


def _gang(match: re.Match[str]) -> str:
    """kube-scheduler stops at the pod with which the rest becomes too few; `remaining` were not tried."""
    least, placed, left = (int(match[name]) for name in ("least", "placed", "left"))
    untried = (
        f", and {counted(left, 'pod')} {'was' if left == 1 else 'were'} not tried any more" if left else ""
    )
    found = f"{counted(placed, 'pod') if placed else 'no pod'} found a node before one found none"
    return f"{counted(least, 'pod')} must run at once (minCount), but {found}{untried}"
