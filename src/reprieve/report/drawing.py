"""Pictures that need no script: flows and bars as SVG inside the page. Colours come from its style sheet."""

from collections.abc import Sequence
from html import escape

from reprieve.report.flows import Flow
from reprieve.report.markup import tag
from reprieve.report.wording import amount

WIDTH, LEFT, RIGHT = 480, 112, 280
PAD, GAP, TALL = 8, 10, 150
LEAST = 2.0
"""A flow that is there can be seen, however small."""


class _Side:
    """Blocks above each other, as high as what flows through them."""

    def __init__(self, heights: dict[str, float]) -> None:
        self.top: dict[str, float] = {}
        self.heights = heights
        self.bottom = float(PAD)
        for name, height in heights.items():
            self.top[name] = self.bottom
            self.bottom += max(height, 15) + GAP
        self._used = dict.fromkeys(heights, 0.0)

    def order(self, name: str) -> int:
        return list(self.top).index(name)

    def next(self, name: str, height: float) -> float:
        """The middle of the next flow at this block."""
        y = self.top[name] + self._used[name] + height / 2
        self._used[name] += height
        return y


def flow_chart(flows: Sequence[Flow], classes: Sequence[str], unit: str, title: str) -> str:
    """From who needed a place, on the left, to who made way, on the right; as thick as the work lost."""
    by_lost = any(each.lost for each in flows)
    weights = [each.lost if by_lost else float(each.evictions) for each in flows]
    scale = TALL / max(sum(weights), 1e-9)
    thick = [max(LEAST, weight * scale) for weight in weights]
    left = _Side(_heights([each.by for each in flows], thick, classes))
    right = _Side(_heights([each.victim for each in flows], thick, classes))
    height = max(left.bottom, right.bottom)
    streams = []
    for flow, width in sorted(zip(flows, thick, strict=True), key=lambda each: left.order(each[0].by)):
        said = tag("title", escape(f"{flow.by} → {flow.victim}: {said_of(flow, unit)}"))
        curve = _curve(left.next(flow.by, width), right.next(flow.victim, width))
        look = f"stream {_band(flow.by, classes)}"
        streams.append(tag("path", said, class_=look, stroke_width=f"{width:.1f}", d=curve))
    sums = {name: said_of(_total(flows, name), unit) for name in right.top}
    blocks = [*_blocks(left, LEFT, classes, "end", {}), *_blocks(right, RIGHT - 8, classes, "start", sums)]
    box = f"0 0 {WIDTH} {height:.0f}"
    return tag("svg", *streams, *blocks, class_="flow", viewBox=box, role="img", aria_label=title)


def _curve(y0: float, y1: float) -> str:
    middle = (LEFT + RIGHT) / 2
    return f"M{LEFT + 8} {y0:.1f} C{middle} {y0:.1f} {middle} {y1:.1f} {RIGHT - 8} {y1:.1f}"


def _total(flows: Sequence[Flow], victim: str) -> Flow:
    mine = [each for each in flows if each.victim == victim]
    return Flow("", victim, sum(each.evictions for each in mine), sum(each.lost for each in mine))


def said_of(flow: Flow, unit: str) -> str:
    evictions = f"{flow.evictions:,} eviction{'' if flow.evictions == 1 else 's'}"
    return f"{evictions}, {amount(flow.lost)} {unit}-h lost"


def _heights(names: list[str], thick: list[float], classes: Sequence[str]) -> dict[str, float]:
    sums: dict[str, float] = {}
    for name, width in zip(names, thick, strict=True):
        sums[name] = sums.get(name, 0.0) + width
    known = [name for name in classes if name in sums]
    return {name: sums[name] for name in [*known, *(name for name in sums if name not in classes)]}


def _blocks(side: _Side, x: float, classes: Sequence[str], anchor: str, sums: dict[str, str]) -> list[str]:
    parts = []
    for name, top in side.top.items():
        height, at = side.heights[name], x - 7 if anchor == "end" else x + 15
        middle = top + max(height, 15) / 2
        look = f"block {_band(name, classes)}"
        parts.append(tag("rect", class_=look, x=x, y=f"{top:.1f}", width=8, height=f"{height:.1f}"))
        y = middle - 2 if name in sums else middle + 4
        parts.append(tag("text", escape(_short(name)), x=at, y=f"{y:.1f}", text_anchor=anchor))
        if name in sums:
            parts.append(tag("text", escape(sums[name]), class_="small", x=at, y=f"{middle + 11:.1f}"))
    return parts


def _band(name: str, classes: Sequence[str]) -> str:
    return f"c{list(classes).index(name) % 8}" if name in classes else "c-other"


def _short(name: str, most: int = 18) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"


def bar(share: float, place: int, said: str) -> str:
    """A bar of this share of its width."""
    track = tag("rect", class_="track", width=100, height=8)
    filled = tag("rect", class_=f"p{place % 8}", width=f"{100 * share:.2f}", height=8)
    box = {"viewBox": "0 0 100 8", "preserveAspectRatio": "none"}
    return tag("svg", track, filled, class_="bar", role="img", aria_label=said, **box)


def swatch(place: int) -> str:
    """The line of a configuration, as the charts draw it."""
    line = tag("path", class_=f"line p{place % 8}", d="M0 5H22")
    return tag("svg", line, class_="swatch", viewBox="0 0 22 10", aria_hidden="true")
