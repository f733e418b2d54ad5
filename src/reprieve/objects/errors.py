"""Errors that are the user's to fix.

They carry the place and the value; the edge (command line, server) renders them.
"""

from typing import Any


class ReprieveError(Exception):
    """Base of every error that is the user's to fix: bad input, bad configuration, an impossible question."""


class InvalidObject(ReprieveError):
    """One object that cannot be read: which field, what it held, what was expected."""

    def __init__(self, path: str, value: Any, message: str, where: str = "") -> None:
        self.path = path
        self.value = value
        self.message = message
        self.where = where
        place = ": ".join(part for part in (where, path) if part)
        super().__init__(f"{place}: {message}" if place else message)


class UnreadableInput(ReprieveError):
    """A file or document that is not what it claims to be: not UTF-8, broken YAML, too large, too deep."""

    def __init__(self, where: str, message: str) -> None:
        self.where = where
        self.message = message
        super().__init__(f"{where}: {message}" if where else message)
