"""Colours that people can read, in both themes."""

import re
from pathlib import Path

import pytest


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_has_enough_contrast_in_both_themes(theme: str):
    css = (Path(__file__).parents[2] / "src/reprieve/dashboard/static/style.css").read_text()
    section = (
        css.split('[data-theme="dark"] {')[1].split("}")[0]
        if theme == "dark"
        else css.split(":root {")[1].split("}")[0]
    )
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", section))
    for ink in ("ink", "ink-2", "accent", "good", "bad", "nominated"):
        for ground in ("paper", "sheet"):
            assert contrast(colours[ink], colours[ground]) >= 4.5, f"--{ink} on --{ground}"
    assert contrast(colours["accent-ink"], colours["accent"]) >= 4.5
