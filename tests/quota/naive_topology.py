"""Placement written down as the rules say it, with dictionaries and loops, to compare the columns with."""

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Place:
    """A domain with what fits in it; later with what it gets."""

    path: tuple[str, ...]
    children: list["Place"] = field(default_factory=list)
    free: dict[str, int] = field(default_factory=dict)
    pods: int = 0
    slices: int = 0
    pods_led: int = 0
    slices_led: int = 0
    leaders: int = 0


@dataclass
class Ask:
    level: int
    required: bool
    unconstrained: bool
    size: int
    slice_level: int
    count: int
    worker: dict[str, int]
    leader: dict[str, int] | None = None


def fits(request: dict[str, int], free: dict[str, int]) -> int:
    return max(
        0, min((free.get(name, 0) // number for name, number in request.items() if number), default=2**31 - 1)
    )


def tree(depth: int, leaves: dict[tuple[str, ...], dict[str, int]]) -> list[Place]:
    known: dict[tuple[str, ...], Place] = {}
    for path, free in leaves.items():
        for end in range(1, depth + 1):
            if path[:end] not in known:
                known[path[:end]] = Place(path[:end])
                if end > 1:
                    known[path[: end - 1]].children.append(known[path[:end]])
        known[path].free = dict(free)
    return [place for path, place in sorted(known.items()) if len(path) == 1]


def fill(place: Place, ask: Ask, depth: int) -> None:
    level = len(place.path) - 1
    if level == depth - 1:
        place.pods = fits(ask.worker, place.free)
        rest = place.free
        if ask.leader is not None and fits(ask.leader, place.free):
            place.leaders = 1
            rest = {name: number - ask.leader.get(name, 0) for name, number in place.free.items()}
        place.pods_led = fits(ask.worker, rest)
    else:
        for child in place.children:
            fill(child, ask, depth)
        place.pods = sum(child.pods for child in place.children)
        place.slices = sum(child.slices for child in place.children)
        place.leaders = max(child.leaders for child in place.children)
        able = [child for child in place.children if ask.leader is None or child.leaders]
        if able:
            place.pods_led = place.pods - min(child.pods - child.pods_led for child in able)
            place.slices_led = place.slices - min(child.slices - child.slices_led for child in able)
    if level == ask.slice_level:
        place.slices, place.slices_led = place.pods // ask.size, place.pods_led // ask.size


def everything(roots: list[Place], level: int) -> list[Place]:
    found = roots
    for _ in range(level):
        found = [child for place in found for child in place.children]
    return found


class Naive:
    def __init__(self, roots: list[Place], ask: Ask, depth: int) -> None:
        self.ask, self.depth, self.roots = ask, depth, roots
        self.lead = 0 if ask.leader is None else 1
        self.least = ask.unconstrained
        for root in roots:
            fill(root, ask, depth)

    def workers(self, places: list[Place]) -> list[Place]:
        sign = 1 if self.least else -1
        return sorted(places, key=lambda p: (sign * p.slices, p.pods, p.path))

    def led(self, places: list[Place]) -> list[Place]:
        sign = 1 if self.least else -1
        return sorted(places, key=lambda p: (-p.leaders, sign * p.slices_led, p.pods_led, p.path))

    def best(self, places: list[Place], need: int, lead: int, room: Any) -> Place:
        able = [place for place in places if place.leaders >= lead and room(place) >= need]
        return min(able, key=room) if able else places[0]

    def leader_first(self, places: list[Place], need: int, lead: int, room: Any, led: Any) -> list[Place]:
        total = sum(map(room, places))
        for place in places if lead and len(places) > 1 else ():
            if place.leaders >= lead and total - (room(place) - led(place)) >= need:
                return [place, *(other for other in places if other is not place)]
        return places

    def find(self) -> list[Place] | None:
        ask, need = self.ask, self.ask.count // self.ask.size
        level = ask.level
        while True:
            order = self.led(everything(self.roots, level))
            able = [p for p in order if p.slices_led >= need and p.leaders >= self.lead]
            if able:
                return [
                    able[0]
                    if self.least
                    else self.best(order, need, self.lead, _slices_led if self.lead else _slices)
                ]
            if ask.required:
                return None
            if level == 0 or ask.unconstrained:
                return self.several(order, need)
            level -= 1

    def several(self, order: list[Place], need: int) -> list[Place] | None:
        order = self.leader_first(order, need, self.lead, _slices, _slices_led)
        chosen, missing, used = [], self.lead, 0
        while missing > 0 and used < len(order) and order[used].leaders:
            place = order[used]
            if not self.least and place.slices_led >= need:
                place = self.best(order[used:], need, missing, _slices_led)
            chosen.append(place)
            missing, need, used = missing - place.leaders, need - place.slices_led, used + 1
        if missing > 0:
            return None
        rest = self.workers(order[used:])
        for index, place in enumerate(rest):
            if need <= 0:
                break
            if not self.least and place.slices >= need:
                place = self.best(rest[index:], need, 0, _slices)
            chosen.append(place)
            need -= place.slices
        return None if need > 0 else chosen

    def take(self, places: list[Place], count: int, lead: int, size: int, by_slice: bool) -> list[Place]:
        room, led = (_slices, _slices_led) if by_slice else (_pods, _pods_led)
        left, missing = count // size if by_slice else count, lead
        order = self.leader_first(places, left, lead, room, led)
        result = []
        for index, place in enumerate(order):
            has = led if missing else room
            if not self.least and has(place) >= left and place.leaders >= missing:
                place = self.best(order[index:], left, missing, has)
            gets, leaders = min(has(place), left), min(place.leaders, missing)
            done = has(place) >= left and leaders >= missing
            place.leaders, place.pods = leaders, gets * (size if by_slice else 1)
            if by_slice:
                place.slices = gets
            result.append(place)
            if done:
                return result
            left, missing = left - gets, missing - leaders
        return []

    def run(self) -> tuple[dict[tuple[str, ...], int], dict[tuple[str, ...], int]] | None:
        """(workers, leaders) by leaf, or None."""
        ask, chosen = self.ask, self.find()
        if chosen is None:
            return None
        level = len(chosen[0].path) - 1
        chosen = self.take(chosen, ask.count, self.lead, ask.size, True)
        while level < min(self.depth - 1, ask.slice_level):
            pool = self.workers([child for place in chosen for child in place.children])
            chosen, level = self.take(pool, ask.count, self.lead, ask.size, True), level + 1
        while level < self.depth - 1:
            below = []
            for place in chosen:
                below += self.take(self.workers(place.children), place.pods, place.leaders, 1, False)
            chosen, level = below, level + 1
        workers = {place.path: place.pods for place in chosen if place.pods}
        return workers, {place.path: place.leaders for place in chosen if place.leaders}


def _slices(place: Place) -> int:
    return place.slices


def _slices_led(place: Place) -> int:
    return place.slices_led


def _pods(place: Place) -> int:
    return place.pods


def _pods_led(place: Place) -> int:
    return place.pods_led
