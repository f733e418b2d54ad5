"""Manifests as text: files, folders, streams, YAML or JSON, one or many documents, lists inside lists.

The only module of this package that touches files. It reads, within limits, and does not interpret documents.
"""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

from reprieve.objects.errors import ReprieveError, UnreadableInput
from reprieve.objects.meta import Document
from reprieve.objects.text import shown

MAX_BYTES = 32 * 1024 * 1024
"""The largest file read as a manifest."""
SUFFIXES = (".yaml", ".yml", ".json")
_MAX_LIST_DEPTH = 8
_HALF_PAIR = re.compile(r"\\u[dD][89a-fA-F]")
_SEPARATOR = re.compile(r"^---(?=\s|$)", re.MULTILINE)


class Source(NamedTuple):
    """A document and where it stands."""

    file: str
    number: str
    """Counted from 1 in its file; `2.5` is the fifth item of the list that is the second document."""
    document: Document

    @property
    def where(self) -> str:
        return f"{self.file}:{self.number}"


Found = Source | UnreadableInput


def document_of(found: Document | Source) -> Document:
    """The document itself, with or without the place where it stands."""
    return found.document if isinstance(found, Source) else found


def read_documents(
    source: str | Path | IO[bytes] | IO[str], *, max_bytes: int = MAX_BYTES
) -> Iterator[Source]:
    """Every object in a file, a folder (by file name, recursively), `-` (standard input) or an open stream.

    Raises `UnreadableInput` at the first place that cannot be read; lists are taken apart; empty documents
    are left out.
    """
    for found in scan_documents(source, max_bytes=max_bytes):
        if isinstance(found, UnreadableInput):
            raise found
        yield found


def scan_documents(
    source: str | Path | IO[bytes] | IO[str], *, max_bytes: int = MAX_BYTES
) -> Iterator[Found]:
    """As `read_documents`, but an unreadable document is yielded as its error, and reading goes on."""
    if source == "-":
        yield from _parse("<stdin>", sys.stdin.buffer, max_bytes)
    elif isinstance(source, str | Path):
        for path in _files(Path(source)):
            if isinstance(path, UnreadableInput):
                yield path
                continue
            try:
                with path.open("rb") as stream:
                    yield from _parse(str(path), stream, max_bytes)
            except OSError as error:
                yield UnreadableInput(str(path), f"cannot be read: {error.strerror or error}")
    else:
        yield from _parse(getattr(source, "name", "<stream>"), source, max_bytes)


def _files(path: Path) -> Iterator[Path | UnreadableInput]:
    if not path.is_dir():
        yield path
        return
    inside = sorted(each for each in path.rglob("*") if each.suffix in SUFFIXES and each.is_file())
    if not inside:
        yield UnreadableInput(str(path), "the folder holds no .yaml, .yml or .json file")
    yield from inside


def _parse(file: str, stream: IO[bytes] | IO[str], max_bytes: int) -> Iterator[Found]:
    data = stream.read(max_bytes + 1)
    if len(data) > max_bytes:
        yield UnreadableInput(
            file, f"larger than {max_bytes // 1024 // 1024} MiB, the most that is read at once"
        )
        return
    if isinstance(data, bytes):
        try:
            data = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            yield UnreadableInput(file, f"not UTF-8: byte {data[error.start]:#04x} at offset {error.start}")
            return
    number = 0
    for value in _values(data):
        if value is None:
            continue
        number += 1
        if isinstance(value, ReprieveError):
            yield UnreadableInput(f"{file}:{number}", str(value))
        else:
            yield from taken_apart(file, str(number), value)
    if number == 0:
        yield UnreadableInput(file, "holds no document")


def _values(text: str) -> Iterator[Any]:
    """The value of every document, or the error in its place."""
    if text.lstrip()[:1] == "{":
        try:
            yield _whole(json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant), text)
            return
        except json.JSONDecodeError:
            pass  # YAML may begin with a brace too
        except (_Refused, RecursionError, ValueError) as error:
            yield ReprieveError("nested too deeply" if isinstance(error, RecursionError) else str(error))
            return
    from reprieve.objects import (
        yamltext,  # only where there is YAML: the front of this room must stay quick to import
    )

    for lines_before, part in _split(text):
        try:
            yield from yamltext.documents(part, lines_before)
        except yamltext.YamlError as error:
            yield error


def _split(text: str) -> Iterator[tuple[int, str]]:
    """(lines before it, text) of each document.

    Each is parsed by itself, so a broken one does not hide the ones after it.
    """
    starts = [match.start() for match in _SEPARATOR.finditer(text)]
    preface = [line[:1] for line in text[: starts[0]].splitlines() if line.strip()] if starts else []
    if not starts or not set(preface) <= {"%", "#"}:
        starts.insert(0, 0)
    elif "%" in preface:
        starts[0] = 0  # directives belong to the document they stand before
    lines = text.count("\n", 0, starts[0])
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        yield lines, text[start:end]
        lines += text.count("\n", start, end)


class _Refused(ValueError):
    """JSON that parses but must not."""


def _unique(pairs: list[tuple[str, Any]]) -> Document:
    result = dict(pairs)
    if len(result) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _Refused(f"the key {shown(twice)} is there twice")
    return result


def _whole(value: Any, text: str) -> Any:
    """JSON escapes can hold one half of a surrogate pair, which no program can write again."""
    if _HALF_PAIR.search(text):
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            raise _Refused("a string holds half of a surrogate pair, which is not valid Unicode") from error
    return value


def _no_constant(name: str) -> Any:
    raise _Refused(f"{name} is not a JSON number")


def taken_apart(file: str, number: str, value: Any, depth: int = 0) -> Iterator[Found]:
    """The objects in a document: itself, or the items of `kind: List`, `kind: PodList`, a bare list."""
    if isinstance(value, list):
        items: Any = value
    elif isinstance(value, dict):
        kind = value.get("kind")
        items = value.get("items") if isinstance(kind, str) and kind.endswith("List") else None
        if not isinstance(items, list):
            yield Source(file, number, value)
            return
    else:
        yield UnreadableInput(f"{file}:{number}", f"expected an object, got {shown(value)}")
        return
    if depth >= _MAX_LIST_DEPTH:
        yield UnreadableInput(f"{file}:{number}", f"lists inside lists, more than {_MAX_LIST_DEPTH} deep")
        return
    for index, item in enumerate(items, 1):
        yield from taken_apart(file, f"{number}.{index}", _as_item(item, value), depth + 1)


def _as_item(item: Any, parent: Any) -> Any:
    """Items of a typed list (`PodList`) carry no kind of their own."""
    if not isinstance(item, dict) or not isinstance(parent, dict) or "kind" in item:
        return item
    kind = str(parent.get("kind", "")).removesuffix("List")
    return {"apiVersion": parent.get("apiVersion", "v1"), "kind": kind, **item} if kind else item
