"""Fields by their path in a document, `spec.replicatedJobs`, as errors name them."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from reprieve.jobs import sentences
from reprieve.objects import Document, InvalidObject

MOST = 2**31 - 1


class Place(NamedTuple):
    """A part of a document: where it stands, what it is, and the key it has in a list or map of parts."""

    path: str
    value: Any
    key: str = ""


def join(*parts: str) -> str:
    return ".".join(part for part in parts if part)


def at(root: Place, path: str) -> Place:
    """The field below `root`; None where it or anything above it is missing."""
    if not path:
        return root
    value, steps = root.value, path.split(".")
    for position, step in enumerate(steps):
        if value is None:
            steps = steps[:position]
            break
        if not isinstance(value, dict):
            where = join(root.path, *steps[:position])
            raise InvalidObject(where, value, sentences.expected_object(value))
        value = value.get(step)
    where = ".".join(steps)
    return Place(f"{root.path}.{where}" if root.path and where else root.path or where, value, root.key)


def entries(root: Place, path: str) -> Iterator[Place]:
    """The parts that a path names: the field itself, each item of `list[]`, each value of `map{}`."""
    if path.endswith("[]"):
        found = at(root, path[:-2])
        for index, item in enumerate(_expect(found, list, sentences.expected_list) or ()):
            yield Place(f"{found.path}[{index}]", item, str(index))
    elif path.endswith("{}"):
        found = at(root, path[:-2])
        for key, item in (_expect(found, dict, sentences.expected_object) or {}).items():
            yield Place(f"{found.path}.{key}", item, str(key))
    else:
        yield at(root, path)


def number(root: Place, path: str, default: int) -> int:
    """A count; nobody asks for a negative or fractional number of pods."""
    found = at(root, path)
    value = default if found.value is None else found.value
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidObject(found.path, value, sentences.expected_whole_number(value))
    if not 0 <= value <= MOST:
        raise InvalidObject(found.path, value, sentences.out_of_range(value, MOST))
    return value


def text(root: Place, path: str, default: str = "") -> str:
    found = at(root, path)
    if found.value is None:
        return default
    if not isinstance(found.value, str):
        raise InvalidObject(found.path, found.value, sentences.expected_string(found.value))
    return found.value


def mapping(root: Place, path: str) -> Document:
    return _expect(at(root, path), dict, sentences.expected_object) or {}


def _expect(found: Place, type_: type, message: Callable[[Any], str]) -> Any:
    if found.value is not None and not isinstance(found.value, type_):
        raise InvalidObject(found.path, found.value, message(found.value))
    return found.value
