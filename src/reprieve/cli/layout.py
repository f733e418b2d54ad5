"""Tables and paragraphs that fit the terminal: sentences are wrapped, a name never is.

In a pipe nothing is wrapped and nothing is coloured, so that lines can be searched.
"""

import os
import shutil
import sys
import textwrap
from collections.abc import Sequence
from typing import NamedTuple

import click

from reprieve.objects import harmless, some

MOST_NAMES = 4
_GAP = 2


class Row(NamedTuple):
    cells: Sequence[str]
    names: Sequence[str] = ()
    """Shown in the last column, as many as fit."""
    note: str = ""
    """A sentence below the row; rows that share one show it once."""
    style: str = ""


class Screen:
    """Where an answer is printed. `width` None: a pipe, as wide as it takes."""

    def __init__(self, width: int | None) -> None:
        self.width = width

    def line(self, *parts: str | tuple[str, str]) -> None:
        """One line as it is; a part may come with its style: `bold`, `dim` or a colour."""
        shown = [(part, "") if isinstance(part, str) else part for part in parts]
        click.echo("".join(_styled(harmless(text), style) for text, style in shown))

    def paragraph(self, text: str, indent: int = 2, style: str = "") -> None:
        """Sentences, wrapped between words."""
        for line in _wrapped(text, self.width, indent):
            self.line((line, style))

    def title(self, text: str) -> None:
        self.line()
        self.line((text, "bold"))

    def table(
        self, titles: Sequence[str], rows: Sequence[Row], *, names: str = "", most: int | None = None
    ) -> None:
        """Rows below their titles, numbers to the right; `names` is the title of the names at the end.

        `most`: how many rows are shown. Where it is too wide, each row becomes a name and a line about it.
        """
        shown = rows if most is None else rows[:most]
        widths = [max(len(row.cells[at]) for row in (*shown, Row(titles))) for at in range(len(titles))]
        used = 2 + sum(widths) + _GAP * len(widths)
        room = None if self.width is None else self.width - used
        listed = [_fitting(row.names, room) for row in shown]
        longest = max(len(each) for each in (*listed, names))
        if room is not None and (longest or -_GAP) > room:
            self._list(titles, names, shown)
        else:
            self._grid([*titles, names], widths, shown, listed)
        self.more(len(rows), len(shown))

    def more(self, number: int, shown: int) -> None:
        """Says how many are not shown, and how they would be."""
        if number > shown:
            self.line((f"  and {number - shown} more (--all shows them)", "dim"))

    def _grid(
        self, titles: Sequence[str], widths: Sequence[int], rows: Sequence[Row], listed: Sequence[str]
    ) -> None:
        right = [_is_numeric(at, rows) for at in range(len(widths))]

        def laid(cells: Sequence[str], last: str) -> str:
            aligned = [
                cell.rjust(width) if to_the_right else cell.ljust(width)
                for cell, width, to_the_right in zip(cells, widths, right, strict=True)
            ]
            return ("  " + (" " * _GAP).join([*aligned, last])).rstrip()

        self.line((laid(titles[:-1], titles[-1]), "dim"))
        for at, row in enumerate(rows):
            self.line((laid(row.cells, listed[at]), row.style))
            self._note(rows, at)

    def _list(self, titles: Sequence[str], names: str, rows: Sequence[Row]) -> None:
        for at, row in enumerate(rows):
            self.line((f"  {row.cells[0]}", row.style))
            facts = [f"{title} {cell}" for title, cell in zip(titles[1:], row.cells[1:], strict=True) if cell]
            if row.names:
                facts.append(f"{names} {some(list(row.names), MOST_NAMES)}".lstrip())
            self.paragraph(", ".join(facts), 6, row.style)
            self._note(rows, at)

    def _note(self, rows: Sequence[Row], at: int) -> None:
        note = rows[at].note
        if note and (at + 1 == len(rows) or rows[at + 1].note != note):
            self.paragraph(note, 6)


def screen() -> Screen:
    """Standard output."""
    return Screen(shutil.get_terminal_size().columns if sys.stdout.isatty() else None)


def _styled(text: str, style: str) -> str:
    if not style or os.environ.get("NO_COLOR") or not sys.stdout.isatty():
        return text
    words = style.split()
    colour = next((word for word in words if word not in ("bold", "dim")), None)
    return click.style(text, fg=colour, bold="bold" in words or None, dim="dim" in words or None)


def _wrapped(text: str, width: int | None, indent: int) -> list[str]:
    margin = " " * indent
    if width is None:
        return [margin + text]
    return textwrap.wrap(
        text,
        max(width, indent + 20),
        initial_indent=margin,
        subsequent_indent=margin,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _fitting(names: Sequence[str], room: int | None) -> str:
    """As many names as there is room for, at least one."""
    for most in range(MOST_NAMES, 0, -1):
        text = some(list(names), most)
        if room is None or len(text) <= room:
            return text
    return some(list(names), 1)


def _is_numeric(at: int, rows: Sequence[Row]) -> bool:
    return all(
        row.cells[at].lstrip("-").replace(".", "", 1).isdigit() or row.cells[at] in ("", "-") for row in rows
    )
