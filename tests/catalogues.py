"""Catalogues of sentences (`reprieve.<room>.sentences`), and the table of texts that a room's tests have."""

import inspect
from collections.abc import Iterable, Iterator
from functools import partial
from types import ModuleType

Said = tuple[partial[str], str]
"""A sentence with values, and its text."""
Constant = tuple[ModuleType, str, str]
"""A catalogue, the name of a sentence without values, and its text."""


def without_text(
    catalogues: Iterable[ModuleType], said: Iterable[Said], constants: Iterable[Constant]
) -> list[str]:
    """The sentences of the catalogues that have no row in the table."""
    rows = {(call.func.__module__, call.func.__name__) for call, _ in said}
    rows |= {(module.__name__, name) for module, name, _ in constants}
    return [
        f"{module.__name__}.{name}"
        for module in catalogues
        for name in _sentences(module)
        if (module.__name__, name) not in rows
    ]


def _sentences(module: ModuleType) -> Iterator[str]:
    for name, value in vars(module).items():
        own = inspect.isfunction(value) and value.__module__ == module.__name__
        if not name.startswith("_") and (own or isinstance(value, str)):
            yield name
