"""Careful steps into raw documents: a member of the wrong type counts as absent here; validation names it."""

from typing import Any

from reprieve.objects import Document


def section(document: Document, *path: str) -> Document:
    """A nested object, created where it is missing; a stray value of another type is left alone."""
    for name in path:
        inner = document.get(name)
        if inner is None:
            inner = document[name] = {}
        if not isinstance(inner, dict):
            return {}
        document = inner
    return document


def peek(document: Document, *path: str) -> Any:
    """The value at a path, or None."""
    found: Any = document
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return found


def items(document: Document, *path: str) -> list[Document]:
    """The objects of a nested list."""
    found = peek(document, *path)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
