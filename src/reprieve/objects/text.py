"""Pieces of text that messages are made of: values shown short, some of many names, numbers with nouns,
nothing that steers a terminal.
"""

import base64
import binascii
import reprlib
from collections.abc import Sequence
from typing import Any


class _Short(reprlib.Repr):
    """Looks only at the beginning of a value: YAML aliases can make it huge."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel, self.maxdict, self.maxlist, self.maxtuple = 4, 4, 6, 6
        self.maxstring = self.maxother = 80

    def repr_int(self, value: int, level: int) -> str:
        return super().repr_int(value, level) if value.bit_length() < 1000 else "(a very long number)"


_short = _Short()


def shown(value: Any) -> str:
    """A value as an error message shows it: short, on one line."""
    text = _short.repr(value)
    return text if len(text) <= 120 else f"{text[:100]}..."


def some(names: Sequence[str], most: int, noun: str = "") -> str:
    """`a, b, c and 97 more`, or `... and 97 more nodes` with a noun (a plural)."""
    listed = ", ".join(names[:most])
    if len(names) <= most:
        return listed
    return f"{listed} and {len(names) - most} more {noun}".rstrip()


def is_or_are(number: int) -> str:
    return "is" if number == 1 else "are"


def counted(number: int, noun: str) -> str:
    """`1 pod`, `2 pods`, `2 policies`, `2 classes`."""
    if number == 1:
        return f"1 {noun}"
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{number} {noun[:-1]}ies"
    return f"{number} {noun}{'es' if noun.endswith(('s', 'x', 'ch')) else 's'}"


def domain_word(key: str) -> str:
    """`rack` for `topology.kubernetes.io/rack`: what people call a domain of this label."""
    last = key.rpartition("/")[2].rpartition("-")[2]
    return "node" if last == "hostname" else last


def harmless(text: str) -> str:
    """Text for a terminal or a log: characters that would steer it are shown as their codes.

    Names and messages come from whoever may write to the cluster; an escape sequence in one could hide or
    rewrite what an operator reads.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text)


def is_base64(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    return True
