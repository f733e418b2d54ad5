"""The YAML that programs write, line by line: several times faster than by events.

`kubectl get -o yaml` and its like write one entry a line: a key, perhaps behind a dash, and a plain, quoted
or empty value; sometimes a text block. Most lines of a large dump are there many times, so what a line means
is remembered. Whatever is not such a line raises `NotBlocks`, and the caller reads the whole document by
events instead (`yamlevents`): nothing is guessed here, and every error message comes from there.
"""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from reprieve.objects.yamlevents import read_events
from reprieve.objects.yamlscalars import MAX_DEPTH, YamlError, key_text, scalar

_MOST_REMEMBERED = 100_000
_LINES_BETWEEN_REPORTS = 20_000
_LONGEST_KEY = 1000
"""YAML allows 1,024 characters, quotes included."""

_PRINTABLE = bytes([0x09, 0x0A, *range(0x20, 0x7F)])
_ODD = re.compile("[^\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
"""Other line breaks, byte order marks, and what YAML forbids."""
_INDICATORS = frozenset("-?:,[]{}#&*!|>'\"%@` ")
_QUOTED = {"'": re.compile(r"(?:[^']|'')*"), '"': re.compile(r'(?:[^"\\]|\\.)*\\?')}
"""The text of a quoted scalar up to its closing quote, or to the end of the line."""


class NotBlocks(Exception):
    """The text is not of this simple kind, or it is not valid."""


class _Special:
    """A value that is made anew each time, or goes on over the following lines."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


class _Line(NamedTuple):
    dash: int
    """The column of the dash of a list item; -1 without one."""
    column: int
    """The column of the key, or of the value where there is none."""
    key: str | None
    value: Any


class _Remembered(dict[str, _Line]):
    def __missing__(self, line: str) -> _Line:
        if len(self) >= _MOST_REMEMBERED:
            self.clear()
        found = self[line] = _understood(line)
        return found


_NESTED = _Special("")
"""The value of a key alone on its line: what follows, if that stands deeper, else null."""
_SKIPPED = _Line(-1, -1, None, None)


def read_blocks(text: str, report: Callable[[int], None] | None = None) -> Any:
    """The value of a document of which each line is an entry; None if it is empty. Raises `NotBlocks`."""
    if text.isascii():
        if text.encode().translate(None, _PRINTABLE):
            raise NotBlocks
    elif _ODD.search(text):
        raise NotBlocks
    lines = text.split("\n")
    try:
        return _Reader(lines, report, len(text) / len(lines)).read()
    except YamlError:
        raise NotBlocks from None


class _Reader:
    """A stack of open collections, each with the column of its entries."""

    def __init__(self, lines: list[str], report: Callable[[int], None] | None, line_length: float) -> None:
        self._lines = lines
        self._report = report
        self._line_length = line_length
        self._next_report = _LINES_BETWEEN_REPORTS

    def read(self) -> Any:
        """One loop for all lines: a call for each would double the time."""
        lines, total, remembered = self._lines, len(self._lines), _Remembered()
        root: dict[str, Any] = {"": None}
        top: Any = root
        new: Any
        indent = -1
        outer: list[tuple[Any, int]] = []
        nested: str | None = ""  # the key of `top` that waits for its value
        at = 1 if lines[0] == "---" else 0
        alone = at  # the line of this number continues no scalar
        while at < total:
            dash, column, key, value = remembered[lines[at]]
            at += 1
            if column < 0:
                alone = at
                continue
            plain = column == indent and dash < 0 and nested is None and type(value) is not _Special
            if plain and type(top) is dict and key is not None and key not in top:
                top[key] = value  # as it is with most lines; all others take the long way
                continue
            begins = column if dash < 0 else dash
            if nested is not None:
                if begins > indent or (dash == indent and type(top) is dict):
                    outer.append((top, indent))
                    top[nested] = new = {} if dash < 0 else []
                    top, indent = new, begins
                nested = None
            elif begins > indent:
                at = alone = self._continued(top, at - 1, alone)
                continue
            while indent > begins:
                top, indent = outer.pop()
            if dash < 0 and type(top) is list:
                top, indent = outer.pop()
            if indent != begins or (type(top) is list) != (dash >= 0):
                raise NotBlocks
            if dash >= 0 and key is not None:
                outer.append((top, indent))
                top.append(new := {})
                top, indent = new, column
            if type(value) is _Special:
                if value is _NESTED:
                    value, nested = None, key
                    self._reached(at, len(outer))
                else:
                    value, at = self._special(value.text, column if key is not None else dash, at, len(outer))
                    alone = at
            if key is None:
                if dash < 0:
                    raise NotBlocks
                top.append(value)
            elif key in top:
                raise NotBlocks
            else:
                top[key] = value
        return root[""]

    def _reached(self, at: int, depth: int) -> None:
        if depth + 2 > MAX_DEPTH:  # a list and an object in it may follow
            raise NotBlocks
        if at >= self._next_report and self._report is not None:
            self._next_report = at + _LINES_BETWEEN_REPORTS
            self._report(int(at * self._line_length))

    def _special(self, text: str, parent: int, at: int, depth: int) -> tuple[Any, int]:
        """(value, number of the next line). `parent`: the column of the entry that has this value."""
        if text[0] in "{[":
            if depth + text.count("{") + text.count("[") > MAX_DEPTH:
                raise NotBlocks
            return ({} if text == "{}" else [] if text == "[]" else _only(text)), at
        if text[0] == "|":
            return self._literal(text[1:], parent, at)
        if text[0] == ">":
            end = self._end(parent, at)
            if end == len(self._lines) and self._lines[-1]:
                raise NotBlocks
            entry = [f"{' ' * parent}k: {text}", *self._lines[at:end], ""]
            return _only("\n".join(entry))["k"], end
        return self._quoted(text, at)

    def _end(self, parent: int, at: int) -> int:
        """The number of the next line that stands no deeper than `parent`."""
        lines, total = self._lines, len(self._lines)
        deeper = " " * (parent + 1)
        while at < total and (lines[at].startswith(deeper) or not lines[at].strip(" ")):
            at += 1
        return at

    def _literal(self, chomping: str, parent: int, at: int) -> tuple[str, int]:
        lines, total = self._lines, len(self._lines)
        first = at
        while first < total and not lines[first].strip(" "):
            first += 1
        if first == total:
            raise NotBlocks
        width = _width(lines[first])
        if width <= parent or any(len(line) > width for line in lines[at:first]):
            raise NotBlocks
        end = first
        while end < total and not lines[end][:width].strip(" "):
            end += 1
        content = [line[width:] for line in lines[at:end]]
        if end == total and content.pop():  # the last line has no end: what that means is for others to say
            raise NotBlocks
        if chomping != "+":
            while content and not content[-1]:
                content.pop()
        text = "\n".join(content)
        return (text if chomping == "-" else f"{text}\n"), end

    def _quoted(self, text: str, at: int) -> tuple[str, int]:
        """A quoted scalar that its first line does not end."""
        rest = _QUOTED[text[0]]
        parts = [text]
        for number in range(at, len(self._lines)):
            line = self._lines[number]
            parts.append(line)
            found = rest.match(line)
            if found is not None and found.end() < len(line):
                if line[found.end() + 1 :].strip(" "):
                    raise NotBlocks
                return _only("\n".join(parts)), number + 1
        raise NotBlocks

    def _continued(self, top: Any, at: int, alone: int) -> int:
        """The plain scalar of the entry before this line goes on here; the line after it."""
        if at == alone:
            raise NotBlocks
        entry = self._lines[at - 1]
        before = _understood(entry)
        start = before.column if before.key is not None else before.dash
        end = self._end(start, at)
        found = _only("\n".join([" " * start + entry[start:], *self._lines[at:end], ""]))
        if type(found) is not type(top) or len(found) != 1:
            raise NotBlocks
        if type(top) is dict:
            top |= found
        else:
            top[-1] = found[0]
        return end


def _width(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _only(text: str) -> Any:
    """The value of a piece of YAML by itself."""
    values = list(read_events(text, aliases=False))
    if len(values) != 1:
        raise NotBlocks
    return values[0]


def _understood(line: str) -> _Line:
    """What a line means, wherever it stands."""
    text = line.strip(" ")
    column = _width(line)
    if not text or text[0] == "#":
        return _SKIPPED
    if "\t" in text or line.startswith(("---", "...")):
        raise NotBlocks
    dash = -1
    if text.startswith("- "):
        dash, column, text = column, column + 2, text[2:]
        if text[0] in " #":
            raise NotBlocks
    if text[0] in "{[" and dash >= 0:
        return _Line(dash, column, None, _Special(text))
    if text[0] in _QUOTED:
        return _begins_quoted(dash, column, text)
    if (end := text.find(": ")) < 0:
        if text[-1] != ":":
            return _Line(dash, column, None, _value(text))
        end = len(text) - 1
    key = text[:end].rstrip(" ")
    if not _is_plain(key) or len(key) > _LONGEST_KEY or key == "<<":
        raise NotBlocks
    return _Line(dash, column, key_text(scalar(key)), _value(text[end + 1 :].lstrip(" ")))


def _begins_quoted(dash: int, column: int, text: str) -> _Line:
    """A quoted key, or a quoted list item."""
    found = _QUOTED[text[0]].match(text, 1)
    end = found.end() + 1 if found is not None else 0
    if end >= len(text):
        return _Line(dash, column, None, _value(text))
    if text[end : end + 2] not in (":", ": ") or end > _LONGEST_KEY:
        raise NotBlocks
    return _Line(dash, column, str(_value(text[:end])), _value(text[end + 1 :].lstrip(" ")))


def _value(text: str) -> Any:
    """What stands behind a key or a dash."""
    if not text:
        return _NESTED
    if text[0] in _QUOTED:
        found = _QUOTED[text[0]].match(text, 1)
        end = found.end() if found is not None else 0
        if end >= len(text):
            return _Special(text)
        if end + 1 != len(text):
            raise NotBlocks
        inner = text[1:end]
        if text[0] == "'":
            return inner.replace("''", "'")
        return _only(text) if "\\" in inner else inner
    if text[0] in "{[" or text in ("|", "|-", "|+", ">", ">-", ">+"):
        return _Special(text)
    if not _is_plain(text) or text[-1] == ":" or ": " in text:
        raise NotBlocks
    return scalar(text)


def _is_plain(text: str) -> bool:
    """Whether this is a plain scalar, to its end."""
    if not text or " #" in text:
        return False
    return text[0] not in _INDICATORS or (text[0] in "-?:" and text[1:2].strip(" ") != "")
