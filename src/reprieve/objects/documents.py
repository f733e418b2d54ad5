"""Manifests as text: files, folders, streams, YAML or JSON, one or many documents, lists inside lists.

The only module of this package that touches files. It reads, within limits, and does not interpret documents.
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

from reprieve.objects.collector import collector_off
from reprieve.objects.errors import ReprieveError, UnreadableInput
from reprieve.objects.meta import Document
from reprieve.objects.text import shown
from reprieve.objects.yamlscalars import MAX_DEPTH

MAX_BYTES = 1024 * 1024 * 1024
"""The largest file read as a manifest: `kubectl get -A -o yaml` writes 80 kB a node and its pods."""
_CHUNK = 1024 * 1024
SUFFIXES = (".yaml", ".yml", ".json")
_MAX_LIST_DEPTH = 8
_HALF_PAIR = re.compile(r"\\u[dD][89a-fA-F]")
_SPACE = re.compile(r"\s*")
_BRACE = re.compile(r"\s*\{")
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
Progress = Callable[[str, int, int], None]
"""Hears (file, characters read, characters in all) now and then while a file is read."""


def document_of(found: Document | Source) -> Document:
    """The document itself, with or without the place where it stands."""
    return found.document if isinstance(found, Source) else found


def objects_in(given: Iterable[Document | Source]) -> list[Document | Source]:
    """The same objects with lists (`kind: List`, `kind: PodList`) taken apart: whoever looks for an object by
    its kind must find it there, too. What an API server would name (`generateName`) has a name."""
    found: list[Document | Source] = []
    named: Counter[str] = Counter()
    for number, each in enumerate(given, 1):
        if not str(document_of(each).get("kind", "")).endswith("List"):
            found.append(_named(each, named))
            continue
        source = each if isinstance(each, Source) else Source("objects", str(number), each)
        for part in taken_apart(*source):
            if isinstance(part, UnreadableInput):
                raise part
            found.append(part if isinstance(each, Source) else part.document)
    return found


def _named(given: Document | Source, named: Counter[str]) -> Document | Source:
    """`train-` is `train-1`, the next one `train-2`."""
    document = document_of(given)
    meta = document.get("metadata")
    prefix = meta.get("generateName") if isinstance(meta, dict) and not meta.get("name") else None
    if not isinstance(prefix, str) or not isinstance(meta, dict):
        return given
    named[prefix] += 1
    made = {**document, "metadata": {**meta, "name": f"{prefix}{named[prefix]}"}}
    return given._replace(document=made) if isinstance(given, Source) else made


def read_documents(
    source: str | Path | IO[bytes] | IO[str],
    *,
    max_bytes: int = MAX_BYTES,
    progress: Progress | None = None,
) -> Iterator[Source]:
    """Every object in a file, a folder (by file name, recursively), `-` (standard input) or an open stream.

    Raises `UnreadableInput` at the first place that cannot be read; lists are taken apart; empty documents
    are left out.
    """
    for found in scan_documents(source, max_bytes=max_bytes, progress=progress):
        if isinstance(found, UnreadableInput):
            raise found
        yield found


def scan_documents(
    source: str | Path | IO[bytes] | IO[str],
    *,
    max_bytes: int = MAX_BYTES,
    progress: Progress | None = None,
) -> Iterator[Found]:
    """As `read_documents`, but an unreadable document is yielded as its error, and reading goes on."""
    if source == "-":
        yield from _parse("<stdin>", sys.stdin.buffer, max_bytes, progress)
    elif isinstance(source, str | Path):
        for path in _files(Path(source)):
            if isinstance(path, UnreadableInput):
                yield path
                continue
            try:
                if path.stat().st_size > max_bytes:
                    yield _too_large(str(path), max_bytes)
                    continue
                with path.open("rb") as stream:
                    yield from _parse(str(path), stream, max_bytes, progress)
            except OSError as error:
                yield UnreadableInput(str(path), f"cannot be read: {error.strerror or error}")
    else:
        yield from _parse(getattr(source, "name", "<stream>"), source, max_bytes, progress)


def parse_yaml(data: bytes | str, *, aliases: bool = True) -> list[Any]:
    """The value of every YAML document, None for an empty one. Raises `UnreadableInput` with the line."""
    from reprieve.objects import yamltext

    try:
        text = data.decode("utf-8-sig") if isinstance(data, bytes) else data
        with collector_off():
            return list(yamltext.documents(text, aliases=aliases))
    except UnicodeDecodeError as error:
        raise UnreadableInput("", f"not UTF-8: {error.reason} at offset {error.start}") from error
    except yamltext.YamlError as error:
        raise UnreadableInput("", str(error)) from error


def _files(path: Path) -> Iterator[Path | UnreadableInput]:
    if not path.is_dir():
        yield path
        return
    inside = sorted(each for each in path.rglob("*") if each.suffix in SUFFIXES and each.is_file())
    if not inside:
        yield UnreadableInput(str(path), "the folder holds no .yaml, .yml or .json file")
    yield from inside


def _parse(
    file: str, stream: IO[bytes] | IO[str], max_bytes: int, progress: Progress | None
) -> Iterator[Found]:
    data = _read(stream, max_bytes)
    if data is None:
        yield _too_large(file, max_bytes)
        return
    if isinstance(data, bytes):
        try:
            data = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            yield UnreadableInput(file, f"not UTF-8: byte {data[error.start]:#04x} at offset {error.start}")
            return
    total, number = len(data), 0
    for value in _values(data, lambda read: progress(file, read, total) if progress else None):
        if value is None:
            continue
        number += 1
        if isinstance(value, ReprieveError):
            hint = "; {{ }} is of a template: render it first, as with helm template" if "{{" in data else ""
            yield UnreadableInput(f"{file}:{number}", f"{value}{hint}")
        else:
            yield from taken_apart(file, str(number), value)
    if number == 0:
        yield UnreadableInput(file, "holds no document")


def _read(stream: IO[bytes] | IO[str], max_bytes: int) -> bytes | str | None:
    """All of it; None if that is more than `max_bytes`."""
    parts: list[Any] = []
    size = 0
    while part := stream.read(_CHUNK):
        size += len(part)
        if size > max_bytes:
            return None
        parts.append(part)
    whole: bytes | str = b"".join(parts) if parts and isinstance(parts[0], bytes) else "".join(parts)
    return whole


def _too_large(file: str, max_bytes: int) -> UnreadableInput:
    return UnreadableInput(
        file,
        f"larger than {max_bytes // 1024 // 1024} MiB, the most that is read at once; "
        "leave out kinds that decide nothing, such as events, secrets and config maps",
    )


def _values(text: str, report: Callable[[int], None]) -> Iterator[Any]:
    """The value of every document, or the error in its place; `report` hears how many characters are read."""
    if _BRACE.match(text):
        report(0)
        value = _json(text)
        values = [value] if value is not _NOT_JSON else _one_after_the_other(text)
        if values:
            report(len(text))
            yield from values
            return
    from reprieve.objects import (
        yamltext,  # only where there is YAML: the front of this room must stay quick to import
    )

    done = 0
    for lines_before, part in _split(text):
        before = done
        try:
            with collector_off():
                values = list(yamltext.documents(part, lines_before, report=lambda at: report(before + at)))  # noqa: B023
            yield from values
        except yamltext.YamlError as error:
            yield error
        done += len(part)
        report(done)


_NOT_JSON: Any = object()
_TOO_DEEP = f"nested deeper than {MAX_DEPTH} levels"


def _json(text: str) -> Any:
    """The value, the error, or `_NOT_JSON`: YAML may begin with a brace too."""
    try:
        with collector_off():
            value = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
            return ReprieveError(_TOO_DEEP) if _is_deeper(value, MAX_DEPTH) else _whole(value, text)
    except json.JSONDecodeError:
        return _NOT_JSON
    except RecursionError:
        return ReprieveError(_TOO_DEEP)
    except ValueError as error:
        return ReprieveError(str(error))


def _one_after_the_other(text: str) -> list[Any]:
    """The values of a stream of JSON, as `jq '.items[]'` writes one; empty if it is none."""
    decoder = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant)
    found: list[Any] = []
    at = _after_space(text, 0)
    while at < len(text):
        try:
            value, end = decoder.raw_decode(text, at)
            found.append(
                ReprieveError(_TOO_DEEP) if _is_deeper(value, MAX_DEPTH) else _whole(value, text[at:end])
            )
        except json.JSONDecodeError:
            return []
        except (RecursionError, ValueError) as error:
            return [*found, ReprieveError(_TOO_DEEP if isinstance(error, RecursionError) else str(error))]
        at = _after_space(text, end)
    return found


def _after_space(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


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


def _is_deeper(value: Any, limit: int) -> bool:
    """Whether lists and objects are nested deeper than this; level by level, without recursion."""
    level = [value]
    for _ in range(limit):
        level = [
            child
            for each in level
            for child in (each.values() if type(each) is dict else each)
            if type(child) is dict or type(child) is list
        ]
        if not level:
            return False
    return True


class _Refused(ValueError):
    """JSON that parses but must not."""


def _unique(pairs: list[tuple[str, Any]]) -> Document:
    result = dict(pairs)
    if len(result) != len(pairs):
        twice = next(name for name, times in Counter(name for name, _ in pairs).items() if times > 1)
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
