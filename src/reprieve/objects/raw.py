"""Raw documents, which may lack anything or hold values of the wrong type: reading and filling them.

A value of the wrong type counts as absent here; validation reports it.
"""

from typing import Any

from reprieve.objects.meta import Document


def at(document: Any, *path: str, default: Any = None) -> Any:
    """The value at a path of keys, or the default as soon as one is missing or null."""
    for key in path:
        document = document.get(key) if isinstance(document, dict) else None
        if document is None:
            return default
    return document


def mapping(document: Any, *path: str) -> Document:
    """A nested object; an empty one where it is missing."""
    found = at(document, *path)
    return found if isinstance(found, dict) else {}


def items(document: Any, *path: str) -> list[Document]:
    """The objects of a nested list."""
    found = at(document, *path)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def section(document: Document, *path: str) -> Document:
    """A nested object, created where it is missing; a value of another type is left alone."""
    for name in path:
        inner = document.get(name)
        if inner is None:
            inner = document[name] = {}
        if not isinstance(inner, dict):
            return {}
        document = inner
    return document


def fill(section: Any, **defaults: Any) -> None:
    """What is absent, in place; what is stated stays, whatever it is."""
    if isinstance(section, dict):
        for name, value in defaults.items():
            section.setdefault(name, value)
