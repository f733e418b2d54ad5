"""When a unit that was preempted may be tried again: after a pause that doubles each time.

    pause = preemption.returnPause x 2^(n - 1), at most preemption.maxReturnPause

where n is how often it was preempted. Without a pause it starts again in whatever is free at that moment, and
is the first to be preempted when that is needed again. Meanwhile others may have the place, also less
important ones.

A unit is a group, the pods of one controller, or a pod by itself. It is counted once, however many of its
pods leave, until one of them has a place again; and `MEMORY` after its last preemption all is forgotten. A
new scheduler begins with no count.
"""

from dataclasses import dataclass

from reprieve.objects import Pod

MEMORY = 24 * 3600.0
"""Seconds after which a preemption counts no more."""
MOST = 10_000
"""With so many units remembered, those that are to be forgotten are looked for."""


@dataclass(slots=True)
class _Past:
    times: int
    last: float
    away: bool


class Returns:
    def __init__(self, first: float, longest: float) -> None:
        self._first = first
        self.on = first > 0
        self._longest = longest
        self._past: dict[str, _Past] = {}

    def preempted(self, who: str, now: float) -> None:
        """One of its pods has left because of a preemption."""
        past = self._known(who, now)
        if past is None:
            if len(self._past) >= MOST:
                self._past = {key: each for key, each in self._past.items() if now - each.last < MEMORY}
            self._past[who] = _Past(1, now, away=True)
        elif not past.away:
            past.times, past.last, past.away = past.times + 1, now, True

    def placed(self, who: str) -> None:
        """One of its pods has a place again."""
        past = self._past.get(who)
        if past is not None:
            past.away = False

    def due(self, who: str, now: float) -> float:
        """When it may be tried again; `now` if nothing keeps it."""
        past = self._known(who, now)
        if past is None or not past.away:
            return now
        pause = min(self._longest, self._first * 2.0 ** min(past.times - 1, 60))
        return max(now, min(now, past.last) + pause)  # a clock that went back makes no pause longer

    def _known(self, who: str, now: float) -> _Past | None:
        past = self._past.get(who)
        return None if past is None or now - past.last >= MEMORY else past


def who(pod: Pod) -> str:
    """The unit whose pauses count for the pod."""
    if pod.group_key:
        return f"PodGroup/{pod.group_key}"
    owner = next((each.uid for each in pod.metadata.owner_references if each.controller), "")
    return owner or pod.key
