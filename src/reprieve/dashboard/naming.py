"""The order of names."""

import re


def counting_order(name: str) -> list[tuple[int, int, str]]:
    """`node-2` before `node-10`, as people count."""
    parts = re.split(r"(\d+)", name)
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts]
