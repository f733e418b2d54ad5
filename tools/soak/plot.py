"""A line chart as SVG: a few lines over minutes, no more than a reader needs."""

from collections.abc import Mapping, Sequence
from html import escape

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 220, 56, 16, 34, 30
COLOURS = ("#2563eb", "#d97706", "#059669")


def chart(title: str, unit: str, minutes: Sequence[float], lines: Mapping[str, Sequence[float]]) -> str:
    highest = _round_up(max((value for line in lines.values() for value in line), default=1.0))
    last = max(minutes[-1], 0.1)

    def x(minute: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * minute / last

    def y(value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / highest

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        f'font-size="12"><rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        f'<text x="{LEFT}" y="18" font-weight="bold" fill="#111">{escape(title)}</text>',
    ]
    for step in range(5):
        value = highest * step / 4
        parts.append(
            f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(value):.1f}" y2="{y(value):.1f}" stroke="#ddd"/>'
        )
        parts.append(
            f'<text x="{LEFT - 6}" y="{y(value) + 4:.1f}" text-anchor="end" fill="#555">{value:g}</text>'
        )
    for step in range(7):
        minute = last * step / 6
        anchor = "end" if step == 6 else "middle"
        parts.append(
            f'<text x="{x(minute):.1f}" y="{HEIGHT - 10}" text-anchor="{anchor}" fill="#555">'
            f"{minute:.0f} min</text>"
        )
    place = WIDTH - RIGHT
    for (name, values), colour in reversed(list(zip(lines.items(), COLOURS, strict=False))):
        points = " ".join(f"{x(m):.1f},{y(v):.1f}" for m, v in zip(minutes, values, strict=True))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        label = f"{name} ({unit})" if unit else name
        parts.append(f'<text x="{place}" y="18" text-anchor="end" fill="{colour}">{escape(label)}</text>')
        place -= 7 * len(label) + 12
    return "\n".join([*parts, "</svg>\n"])


def _round_up(value: float) -> float:
    """The next of 1, 2, 4, 10, 20, 40, ..."""
    size = 1.0
    while size < value:
        size *= 10
    while size >= value and size > 1e-6:
        size /= 10
    return next(size * factor for factor in (1, 2, 4, 10) if size * factor >= value)
