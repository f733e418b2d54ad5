"""Numbers as people read them: spans of time, amounts, shares, and one number beside another."""

MINUTE, HOUR, DAY = 60, 3600, 86400
_UNITS = ((DAY, "d", HOUR, "h"), (HOUR, "h", MINUTE, "min"), (MINUTE, "min", 1, "s"))
_GLUE = "\u00a0"
"""Keeps a sign on the line of its number."""
SAME = 0.005
"""Numbers that differ by less are called the same."""
TIMES = 1.5
"""From here on people say `2.1 times`, below it a percentage."""


def span(seconds: float) -> str:
    """`0 s`, `1.5 s`, `45 s`, `3 min 25 s`, `2 h 5 min`, `12 d 4 h`."""
    if seconds < 10:
        return f"{seconds:.1f} s".replace(".0 s", " s")
    whole = round(seconds)
    for size, name, smaller, smaller_name in _UNITS:
        steps = round(whole / smaller)
        if steps * smaller >= size:
            large, small = divmod(steps, size // smaller)
            return f"{large} {name} {small} {smaller_name}" if small else f"{large} {name}"
    return f"{whole} s"


def moment(seconds: float) -> str:
    """A point in time since the beginning: `1 d 02:03:04`."""
    whole = round(seconds)
    days, rest = divmod(whole, DAY)
    clock = f"{rest // HOUR:02d}:{rest % HOUR // MINUTE:02d}:{rest % MINUTE:02d}"
    return f"{days} d {clock}" if days else clock


def amount(number: float) -> str:
    """Three digits that matter, thousands apart: `0.0321`, `8.04`, `101`, `12,345`."""
    if number == 0:
        return "0"
    if abs(number) >= 100:
        return f"{number:,.0f}"
    text = f"{number:.3g}"
    return text if "e" not in text else f"{number:.2g}"


def percent(share: float) -> str:
    """All is shown only where it is all: `99.96 %`, not `100.0 %`."""
    shown = f"{100 * share:.1f}"
    if shown == "100.0" and share < 1:
        shown = f"{min(100 * share, 99.99):.2f}"
    return f"{shown}{_GLUE}%"


def points(difference: float) -> str:
    """Between two shares: `0.4 points higher`."""
    size = f"{abs(100 * difference):.1f}"
    if size == "0.0":
        return "the same"
    return f"{size} points {'higher' if difference > 0 else 'lower'}"


def beside(value: float, base: float, more: str, less: str, times: str) -> str:
    """How `value` stands to `base`: `46 % fewer`, `2.1 times as long`, `the same`."""
    if abs(value - base) <= SAME * max(abs(value), abs(base)):
        return "the same"
    if base == 0:
        return more
    ratio = value / base
    if ratio >= TIMES:
        return f"{ratio:.1f} times {times}"
    return f"{_percentage(abs(ratio - 1))} {more if ratio > 1 else less}"


def _percentage(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.01 else f"{100 * share:.1f} %"
