"""Any YAML to plain values, from the event stream of PyYAML's C parser.

Built on events instead of PyYAML's constructor, because manifests come from anywhere: nothing here recurses,
aliases are counted by what they expand to, and duplicate keys are errors. Errors name their line.
"""

from collections.abc import Callable, Iterator
from typing import Any

import yaml

from reprieve.objects.text import shown
from reprieve.objects.yamlscalars import MAX_DEPTH, YamlError, key_text, scalar

MAX_EXPANSION = 500_000
"""How many values aliases may add to a document."""
_EVENTS_BETWEEN_REPORTS = 10_000

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TAG = "tag:yaml.org,2002:"
_MERGE: Any = object()
"""The key `<<` without quotes."""
_NO_TOKEN = "found character that cannot start any token"
_TAB = "a tab, where YAML wants spaces: indent with spaces"
_NO_BEGINNING = "no value begins with this character: put the value in quotes"
_RESOLVED = (f"{_TAG}int", f"{_TAG}float", f"{_TAG}bool", f"{_TAG}null")


def read_events(
    text: str,
    lines_before: int = 0,
    *,
    aliases: bool = True,
    report: Callable[[int], None] | None = None,
) -> Iterator[Any]:
    """Every document of the text; an empty one is None.

    `lines_before`: where the text starts in its file. `report` hears now and then how far in the text it is.
    """
    builder: _Builder | None = None
    loader = _Loader(text)
    number = 0
    try:
        while (event := loader.get_event()) is not None:
            kind = type(event)
            if builder is not None and kind is not yaml.DocumentEndEvent:
                builder.take(kind, event)
            elif kind is yaml.DocumentStartEvent:
                builder = _Builder(lines_before, aliases)
            elif kind is yaml.DocumentEndEvent and builder is not None:
                yield builder.result
                builder = None
            number += 1
            if report is not None and number % _EVENTS_BETWEEN_REPORTS == 0:
                report(event.end_mark.index)
    except yaml.YAMLError as error:
        raise YamlError(_describe(error, text, lines_before)) from error
    finally:
        loader.dispose()


class _Open:
    """A list or object under construction."""

    __slots__ = ("anchor", "depth", "key", "line", "merged", "size", "value", "waits_for_key")

    def __init__(self, value: Any, anchor: str | None, line: int) -> None:
        self.value = value
        self.anchor = anchor
        self.line = line
        self.size = 1
        self.depth = 1
        self.key: Any = None
        self.merged: dict[str, Any] | None = None
        self.waits_for_key = isinstance(value, dict)


class _Builder:
    """One document: a stack of open collections instead of recursion."""

    def __init__(self, lines_before: int, aliases: bool) -> None:
        self.result: Any = None
        self._first_line = lines_before + 1
        self._aliases = aliases
        self._stack: list[_Open] = []
        self._anchors: dict[str, tuple[Any, int, int]] = {}
        """The value of each anchor, how many values it holds, and how deeply they are nested."""
        self._expanded = 0

    def take(self, kind: type, event: Any) -> None:
        if kind is yaml.ScalarEvent:
            plain = event.tag is None and event.implicit[0]
            value = scalar(event.value) if plain else self._scalar(event)
            if event.anchor:
                self._anchors[event.anchor] = (value, 1, 0)
            self._place(value, 1, 0, event)
        elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
            line = self._line(event)
            if len(self._stack) >= MAX_DEPTH:
                raise YamlError(f"line {line}: nested deeper than {MAX_DEPTH} levels")
            self._stack.append(_Open({} if kind is yaml.MappingStartEvent else [], event.anchor, line))
        elif kind is yaml.AliasEvent:
            self._alias(event)
        else:
            done = self._stack.pop()
            for name, each in (done.merged or {}).items():
                done.value.setdefault(name, each)
            if done.anchor:
                self._anchors[done.anchor] = (done.value, done.size, done.depth)
            self._place(done.value, done.size, done.depth, event)

    def _line(self, event: Any) -> int:
        line: int = event.start_mark.line + self._first_line
        return line

    def _alias(self, event: Any) -> None:
        anchor, line = event.anchor or "", self._line(event)
        if not self._aliases:
            raise YamlError(f"line {line}: aliases are not accepted here")
        if anchor not in self._anchors:
            raise YamlError(f"line {line}: alias *{anchor[:60]} refers to nothing that is complete before it")
        value, size, depth = self._anchors[anchor]
        if len(self._stack) + depth > MAX_DEPTH:
            raise YamlError(f"line {line}: nested deeper than {MAX_DEPTH} levels")
        self._expanded += size
        if self._expanded > MAX_EXPANSION:
            raise YamlError(f"line {line}: aliases expand the document by more than {MAX_EXPANSION} values")
        self._place(value, size, depth, event)

    def _place(self, value: Any, size: int, depth: int, event: Any) -> None:
        if not self._stack:
            self.result = value
            return
        parent = self._stack[-1]
        parent.size += size
        if depth >= parent.depth:
            parent.depth = depth + 1
        if type(parent.value) is list:
            parent.value.append(value)
        elif parent.waits_for_key:
            self._take_key(parent, value, event)
        else:
            self._take_value(parent, value, event)

    def _take_key(self, parent: _Open, key: Any, event: Any) -> None:
        if type(key) is not str:
            if isinstance(key, dict | list):
                raise YamlError(f"line {self._line(event)}: a key must be a string, not a list or an object")
            key = key_text(key)
        if key in parent.value:
            raise YamlError(f"line {self._line(event)}: the key {shown(key)} is there twice")
        merges = key == "<<" and type(event) is yaml.ScalarEvent and event.implicit[0]
        parent.key = _MERGE if merges else key
        parent.waits_for_key = False

    def _take_value(self, parent: _Open, value: Any, event: Any) -> None:
        parent.waits_for_key = True
        if parent.key is not _MERGE:
            parent.value[parent.key] = value
            return
        # Merged only when the object is complete: its own keys win, wherever they stand.
        parent.merged = parent.merged or {}
        for source in value if isinstance(value, list) else [value]:
            if not isinstance(source, dict):
                raise YamlError(f"line {self._line(event)}: '<<' merges objects only")
            for name, each in source.items():
                parent.merged.setdefault(name, each)

    def _scalar(self, event: Any) -> Any:
        tag = event.tag
        if tag is None or tag == "!" or tag == f"{_TAG}str":
            return event.value
        if tag in _RESOLVED:
            return scalar(event.value)
        raise YamlError(f"line {self._line(event)}: the tag {shown(tag)} is not allowed")


def _describe(error: yaml.YAMLError, text: str, lines_before: int) -> str:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
    if mark is not None and problem == _NO_TOKEN:
        problem = _TAB if text[mark.index : mark.index + 1] == "\t" else _NO_BEGINNING
    return f"line {mark.line + lines_before + 1}: {problem}" if mark is not None else str(problem)
