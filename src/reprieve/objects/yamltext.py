"""YAML text to plain values, with limits.

Built on the event stream of PyYAML's C parser instead of its constructor, because manifests come from
anywhere: nothing here recurses, aliases are counted by what they expand to, duplicate keys are errors, and
scalars mean what they mean to kubectl (timestamps stay strings, `on` is a boolean, `1e3` is a number).
"""

import re
from collections.abc import Iterator
from typing import Any

import yaml

from reprieve.objects.errors import ReprieveError
from reprieve.objects.text import shown

MAX_DEPTH = 100
MAX_EXPANSION = 500_000
"""How many values aliases may add to a document."""

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_CONSTANTS: dict[str, Any] = {"": None, "~": None}
for _words, _meaning in (("null", None), ("true yes on", True), ("false no off", False)):
    for _word in _words.split():
        _CONSTANTS |= dict.fromkeys((_word, _word.capitalize(), _word.upper()), _meaning)
_CONSTANTS |= dict.fromkeys((".inf", ".Inf", ".INF", "+.inf"), float("inf"))
_CONSTANTS |= {"-.inf": float("-inf"), ".nan": float("nan"), ".NaN": float("nan"), ".NAN": float("nan")}
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9_]*)", re.ASCII)
_BASED = re.compile(r"([-+]?)(0x[0-9a-fA-F_]+|0o?[0-7_]+|0b[01_]+)", re.ASCII)
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9][0-9_]*(\.[0-9]*)?)([eE][-+]?[0-9]+)?", re.ASCII)
_LONGEST_NUMBER = 400
_TAG = "tag:yaml.org,2002:"


class YamlError(ReprieveError):
    """Text that is no acceptable YAML; the message names the line."""


def documents(text: str, lines_before: int = 0) -> Iterator[Any]:
    """Every document of the text; an empty one is None. `lines_before`: where the text starts in its file."""
    builder: _Builder | None = None
    try:
        for event in yaml.parse(text, Loader=_Loader):
            if isinstance(event, yaml.DocumentStartEvent):
                builder = _Builder(lines_before)
            elif isinstance(event, yaml.DocumentEndEvent) and builder is not None:
                yield builder.result
                builder = None
            elif builder is not None:
                builder.take(event)
    except yaml.YAMLError as error:
        raise YamlError(_describe(error, lines_before)) from error


def scalar(text: str) -> Any:
    """What an unquoted scalar means."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if text[0] not in "+-.0123456789" or len(text) > _LONGEST_NUMBER:
        return text
    if _INTEGER.fullmatch(text):
        return int(text.replace("_", ""))
    if (match := _BASED.fullmatch(text)) is not None:
        digits = match[2].replace("_", "")
        octal = digits[1].isdigit()
        return int(match[1] + (f"0o{digits[1:]}" if octal else digits), 0)
    if _FLOAT.fullmatch(text):
        return float(text.replace("_", ""))
    return text


class _Open:
    """A list or object under construction."""

    __slots__ = ("anchor", "key", "line", "merged", "size", "value", "waits_for_key")

    def __init__(self, value: Any, anchor: str | None, line: int) -> None:
        self.value = value
        self.anchor = anchor
        self.line = line
        self.size = 1
        self.key: Any = None
        self.merged: dict[str, Any] | None = None
        self.waits_for_key = isinstance(value, dict)


class _Builder:
    """One document: a stack of open collections instead of recursion."""

    def __init__(self, lines_before: int) -> None:
        self.result: Any = None
        self._first_line = lines_before + 1
        self._stack: list[_Open] = []
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._expanded = 0

    def take(self, event: Any) -> None:
        line = event.start_mark.line + self._first_line
        if isinstance(event, yaml.ScalarEvent):
            value = self._scalar(event, line)
            if event.anchor:
                self._anchors[event.anchor] = (value, 1)
            self._place(value, 1, line)
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            if len(self._stack) >= MAX_DEPTH:
                raise YamlError(f"line {line}: nested deeper than {MAX_DEPTH} levels")
            self._stack.append(
                _Open({} if isinstance(event, yaml.MappingStartEvent) else [], event.anchor, line)
            )
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            done = self._stack.pop()
            for name, each in (done.merged or {}).items():
                done.value.setdefault(name, each)
            if done.anchor:
                self._anchors[done.anchor] = (done.value, done.size)
            self._place(done.value, done.size, done.line)
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event.anchor or "", line)

    def _alias(self, anchor: str, line: int) -> None:
        if anchor not in self._anchors:
            raise YamlError(f"line {line}: alias *{anchor[:60]} refers to nothing that is complete before it")
        value, size = self._anchors[anchor]
        self._expanded += size
        if self._expanded > MAX_EXPANSION:
            raise YamlError(f"line {line}: aliases expand the document by more than {MAX_EXPANSION} values")
        self._place(value, size, line)

    def _place(self, value: Any, size: int, line: int) -> None:
        if not self._stack:
            self.result = value
            return
        parent = self._stack[-1]
        parent.size += size
        if isinstance(parent.value, list):
            parent.value.append(value)
        elif parent.waits_for_key:
            self._take_key(parent, value, line)
        else:
            self._take_value(parent, value, line)

    @staticmethod
    def _take_key(parent: _Open, key: Any, line: int) -> None:
        if isinstance(key, dict | list):
            raise YamlError(f"line {line}: a key must be a string, not a list or an object")
        # kubectl turns keys into JSON strings: `8080: x` is the key "8080", `true: x` the key "true".
        text = {None: "null", True: "true", False: "false"}.get(key) if not isinstance(key, str) else key
        parent.key = str(key) if text is None else text
        if parent.key in parent.value:
            raise YamlError(f"line {line}: the key {shown(parent.key)} is there twice")
        parent.waits_for_key = False

    @staticmethod
    def _take_value(parent: _Open, value: Any, line: int) -> None:
        parent.waits_for_key = True
        if parent.key != "<<":
            parent.value[parent.key] = value
            return
        # Merged only when the object is complete: its own keys win, wherever they stand.
        parent.merged = parent.merged or {}
        for source in value if isinstance(value, list) else [value]:
            if not isinstance(source, dict):
                raise YamlError(f"line {line}: '<<' merges objects only")
            for name, each in source.items():
                parent.merged.setdefault(name, each)

    @staticmethod
    def _scalar(event: Any, line: int) -> Any:
        tag = event.tag
        if tag is None or tag == "!":
            return scalar(event.value) if event.implicit[0] else event.value
        if tag == f"{_TAG}str":
            return event.value
        if tag in (f"{_TAG}int", f"{_TAG}float", f"{_TAG}bool", f"{_TAG}null"):
            return scalar(event.value)
        raise YamlError(f"line {line}: the tag {shown(tag)} is not allowed")


def _describe(error: yaml.YAMLError, lines_before: int) -> str:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
    return f"line {mark.line + lines_before + 1}: {problem}" if mark is not None else str(problem)
