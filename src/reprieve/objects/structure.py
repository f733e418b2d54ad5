"""Does a raw document have the shape of its typed view? Finds every misfit, not only the first one.

msgspec stops at the first wrong field. That is right for decoding (fast) and wrong for a person with five
typos, so this walks the same type information and collects. Unknown fields are no misfit: views name only
what Reprieve reads.
"""

import difflib
import types
import typing
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

import msgspec

from reprieve.objects.text import shown as shown
from reprieve.objects.times import Duration, TimeError, parse_duration, parse_time

_UNKNOWN = "unknown field"
_NAMES: dict[Any, str] = {
    str: "a string",
    int: "an integer",
    float: "a number",
    bool: "true or false",
    datetime: "a timestamp such as 2026-08-23T10:00:00Z",
    Duration: "a duration such as 300ms, 5m or 1h30m",
}


INVALID = "FieldValueInvalid"
REQUIRED = "FieldValueRequired"
DUPLICATE = "FieldValueDuplicate"
NOT_FOUND = "FieldValueNotFound"
UNSUPPORTED = "FieldValueNotSupported"
FORBIDDEN = "FieldValueForbidden"
REFUSED = "Forbidden"


class Problem(NamedTuple):
    """One thing wrong with a document: where, what stands there, what is expected."""

    path: str
    value: Any
    message: str
    reason: str = INVALID
    """Kubernetes' word for it.

    `REFUSED` means that admission said no (HTTP 403); the others are validation (422).
    """

    def __str__(self) -> str:
        return f"{self.path}: {self.sentence}" if self.path else self.sentence

    @property
    def sentence(self) -> str:
        """The message, with the value where the message does not show it already."""
        value = shown(self.value)
        if self.value is None or value in self.message or value.strip("'") in self.message:
            return self.message
        return f"{self.message} (got {value})"


def misfits(document: Any, view: type, *, known_fields_only: bool = False) -> list[Problem]:
    """Every field of `document` that `view` cannot hold; with `known_fields_only` also unknown fields."""
    if not known_fields_only and _fits(document, view):
        return []
    return list(_Checker(known_fields_only).check(document, view, ""))


def _fits(document: Any, view: type) -> bool:
    """The quick answer for the many documents that are in order."""
    try:
        msgspec.convert(document, view)
    except (msgspec.ValidationError, OverflowError, UnicodeError):
        return False
    return True


def nearest(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'minCount'?`, or nothing where no known word is near."""
    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"; did you mean {near[0]!r}?" if near else ""


class _Checker:
    """One walk over a document and the types it should have."""

    def __init__(self, known_fields_only: bool) -> None:
        self._known_fields_only = known_fields_only

    def check(self, value: Any, expected: Any, path: str) -> Iterator[Problem]:
        if isinstance(expected, type) and issubclass(expected, msgspec.Struct):
            yield from self._struct(value, expected, path)
            return
        origin, arguments = typing.get_origin(expected), typing.get_args(expected)
        if origin is tuple:
            yield from self._list(value, arguments[0], path)
        elif origin is dict:
            yield from self._map(value, arguments[1], path)
        elif origin in (typing.Union, types.UnionType):
            yield from self._union(value, arguments, path)
        elif origin is typing.Annotated:
            yield from self._bounded(value, arguments[0], arguments[1:], path)
        elif origin is typing.Literal:
            if not isinstance(value, str) or value not in arguments:
                yield Problem(path, value, f"expected one of {', '.join(arguments)}; got {shown(value)}")
        elif not _fits_scalar(value, expected):
            yield misfit(path, value, _name(expected))

    def _struct(self, value: Any, struct: type[msgspec.Struct], path: str) -> Iterator[Problem]:
        if not isinstance(value, dict):
            yield misfit(path, value, "an object")
            return
        fields = _fields(struct)
        yield from _unusable_keys(value, path)
        for name, expected, required in fields:
            if value.get(name) is not None:
                yield from self.check(value[name], expected, _join(path, name))
            elif required:
                yield Problem(_join(path, name), None, "is required", REQUIRED)
        if self._known_fields_only:
            known = [name for name, _, _ in fields]
            for name in value:
                if name not in known:
                    yield Problem(_join(path, name), value[name], f"{_UNKNOWN}{nearest(str(name), known)}")

    def _list(self, value: Any, item: Any, path: str) -> Iterator[Problem]:
        if not isinstance(value, list | tuple):
            yield misfit(path, value, "a list")
            return
        for index, each in enumerate(value):
            if each is None:
                yield misfit(f"{path}[{index}]", each, _name(item))
            else:
                yield from self.check(each, item, f"{path}[{index}]")

    def _map(self, value: Any, item: Any, path: str) -> Iterator[Problem]:
        if not isinstance(value, dict):
            yield misfit(path, value, "an object")
            return
        yield from _unusable_keys(value, path)
        for key, each in value.items():
            if each is not None:
                yield from self.check(each, item, f"{path}[{key}]")

    def _union(self, value: Any, options: tuple[Any, ...], path: str) -> Iterator[Problem]:
        wanted = [option for option in options if option is not type(None)]
        if len(wanted) == 1:
            yield from self.check(value, wanted[0], path)
        elif all(any(self.check(value, option, path)) for option in wanted):
            yield misfit(path, value, " or ".join(_name(option) for option in wanted))

    def _bounded(self, value: Any, expected: Any, notes: tuple[Any, ...], path: str) -> Iterator[Problem]:
        problems = list(self.check(value, expected, path))
        yield from problems
        for note in notes if not problems else ():
            if isinstance(note, msgspec.Meta):
                if note.ge is not None and value < note.ge:
                    yield Problem(path, value, f"must be at least {note.ge}, got {shown(value)}")
                if note.le is not None and value > note.le:
                    yield Problem(path, value, f"must be at most {note.le}, got {shown(value)}")


def _unusable_keys(value: dict[Any, Any], path: str) -> Iterator[Problem]:
    for key in value:
        if not isinstance(key, str) or not _is_unicode(key):
            yield Problem(path, key, f"the key {shown(key)} must be a string of valid Unicode")


def _is_unicode(text: str) -> bool:
    """Whether it can be written at all: half of a surrogate pair, which JSON can smuggle in, cannot."""
    return text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text)


def _join(path: str, name: Any) -> str:
    return f"{path}.{name}" if path else str(name)


def _fits_scalar(value: Any, expected: Any) -> bool:
    if expected is str:
        return isinstance(value, str) and _is_unicode(value)
    if expected is bool:
        return isinstance(value, bool)
    if isinstance(value, bool):
        return False
    if expected is int:
        if isinstance(value, float):
            value = int(value) if value.is_integer() else None
        return isinstance(value, int) and -(2**63) <= value < 2**63
    if expected is float:
        return isinstance(value, int | float)
    if expected is datetime:
        return isinstance(value, datetime) or (isinstance(value, str) and _parses(parse_time, value))
    if expected is Duration:
        return isinstance(value, str) and _parses(parse_duration, value)
    return True


def _parses(parse: Callable[[str], Any], text: str) -> bool:
    try:
        parse(text)
    except TimeError:
        return False
    return True


def misfit(path: str, value: Any, expected: str) -> Problem:
    """A value of the wrong type; `expected` names the right one, with its article."""
    return Problem(path, value, f"expected {expected}, got {_kind_of(value)} {shown(value)}")


def _kind_of(value: Any) -> str:
    names = {dict: "object", list: "list", tuple: "list", str: "string", bool: "boolean", int: "integer"}
    return "null" if value is None else names.get(type(value), "number")


def _name(expected: Any) -> str:
    if typing.get_origin(expected) is typing.Annotated:
        expected = typing.get_args(expected)[0]
    if typing.get_origin(expected) is tuple:
        return "a list"
    return _NAMES.get(expected, "an object")


@cache
def _fields(struct: type[msgspec.Struct]) -> tuple[tuple[str, Any, bool], ...]:
    """(name on the wire, type, required) of every field."""
    hints = typing.get_type_hints(struct, include_extras=True)
    return tuple((f.encode_name, hints[f.name], f.required) for f in msgspec.structs.fields(struct))
