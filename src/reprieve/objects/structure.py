"""Does a raw document have the shape of its typed view? Finds every misfit, not only the first one.

msgspec stops at the first wrong field. That is right for decoding (fast) and wrong for a person with five typos, so this walks
the same type information and collects. Unknown fields are no misfit: views name only what Reprieve reads.
"""

import types
import typing
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

import msgspec

from reprieve.objects.times import TimeError, parse_time

INT32 = range(-(2**31), 2**31)


class Problem(NamedTuple):
    """One thing wrong with a document: where, what stands there, what is expected."""

    path: str
    value: Any
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


def misfits(document: Any, view: type) -> list[Problem]:
    """Every field of `document` that `view` cannot hold."""
    return list(_check(document, view, ""))


def shown(value: Any) -> str:
    """A value as an error message shows it: short, on one line."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:60]}... ({len(text)} characters)"


def _check(value: Any, expected: Any, path: str) -> Iterator[Problem]:
    if isinstance(expected, type) and issubclass(expected, msgspec.Struct):
        yield from _check_struct(value, expected, path)
        return
    origin = typing.get_origin(expected)
    if origin is tuple:
        yield from _check_list(value, typing.get_args(expected)[0], path)
    elif origin is dict:
        yield from _check_map(value, typing.get_args(expected)[1], path)
    elif origin in (typing.Union, types.UnionType):
        yield from _check_union(value, typing.get_args(expected), path)
    elif origin is typing.Annotated:
        yield from _check(value, typing.get_args(expected)[0], path)
    else:
        yield from _check_scalar(value, expected, path)


def _check_struct(value: Any, struct: type[msgspec.Struct], path: str) -> Iterator[Problem]:
    if not isinstance(value, dict):
        yield _misfit(path, value, "an object")
        return
    for name, expected, required in _fields(struct):
        if value.get(name) is not None:
            yield from _check(value[name], expected, f"{path}.{name}" if path else name)
        elif required:
            yield Problem(f"{path}.{name}" if path else name, None, "is required")


def _check_list(value: Any, item: Any, path: str) -> Iterator[Problem]:
    if not isinstance(value, list | tuple):
        yield _misfit(path, value, "a list")
        return
    for index, each in enumerate(value):
        if each is None:
            yield _misfit(f"{path}[{index}]", each, _name(item))
        else:
            yield from _check(each, item, f"{path}[{index}]")


def _check_map(value: Any, item: Any, path: str) -> Iterator[Problem]:
    if not isinstance(value, dict):
        yield _misfit(path, value, "an object")
        return
    for key, each in value.items():
        place = f"{path}[{key}]"
        if not isinstance(key, str):
            yield Problem(place, key, f"the key {shown(key)} must be a string")
        elif each is not None:
            yield from _check(each, item, place)


def _check_union(value: Any, options: tuple[Any, ...], path: str) -> Iterator[Problem]:
    wanted = [option for option in options if option is not type(None)]
    if len(wanted) == 1:
        yield from _check(value, wanted[0], path)
    elif not any(_fits_scalar(value, option) for option in wanted):
        yield _misfit(path, value, " or ".join(_name(option) for option in wanted))


def _check_scalar(value: Any, expected: Any, path: str) -> Iterator[Problem]:
    if not _fits_scalar(value, expected):
        yield _misfit(path, value, _name(expected))


def _fits_scalar(value: Any, expected: Any) -> bool:
    if expected is bool or expected is str:
        return isinstance(value, expected)
    if isinstance(value, bool):
        return False
    if expected is int:
        if isinstance(value, float):
            value = int(value) if value.is_integer() else None
        return isinstance(value, int) and -(2**63) <= value < 2**63
    if expected is float:
        return isinstance(value, int | float)
    if expected is datetime:
        return isinstance(value, datetime) or (isinstance(value, str) and _is_time(value))
    return True


def _is_time(text: str) -> bool:
    try:
        parse_time(text)
    except TimeError:
        return False
    return True


def _misfit(path: str, value: Any, expected: str) -> Problem:
    return Problem(path, value, f"expected {expected}, got {_kind_of(value)} {shown(value)}")


def _kind_of(value: Any) -> str:
    names = {dict: "object", list: "list", tuple: "list", str: "string", bool: "boolean", int: "integer"}
    return "null" if value is None else names.get(type(value), "number")


def _name(expected: Any) -> str:
    names = {
        str: "a string",
        int: "an integer",
        float: "a number",
        bool: "true or false",
        datetime: "a timestamp",
    }
    if expected in names:
        return names[expected]
    return "a list" if typing.get_origin(expected) is tuple else "an object"


@cache
def _fields(struct: type[msgspec.Struct]) -> tuple[tuple[str, Any, bool], ...]:
    """(name on the wire, type, required) of every field."""
    hints = typing.get_type_hints(struct, include_extras=True)
    return tuple((f.encode_name, hints[f.name], f.required) for f in msgspec.structs.fields(struct))
