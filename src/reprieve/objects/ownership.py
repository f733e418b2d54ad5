"""Who made what, by owner references."""

from collections.abc import Iterable, Iterator, Mapping

from reprieve.objects import raw
from reprieve.objects.meta import Document
from reprieve.objects.reference import Reference

_DEEPEST = 8
"""Owners above owners: more is a circle."""


def controller_of(document: Document) -> Document | None:
    """The owner reference to what made this object and looks after it."""
    owners = raw.items(document, "metadata", "ownerReferences")
    return next((each for each in owners if each.get("controller")), None)


def owners_of(document: Document) -> list[Reference]:
    """Everything that an object is deleted with."""
    owners = raw.items(document, "metadata", "ownerReferences")
    return [_referred(each, Reference.read(document).namespace) for each in owners] if owners else []


def chain(document: Document, known: Mapping[Reference, Document]) -> Iterator[tuple[Reference, Document]]:
    """The controller of an object, what controls that in turn, and so on as far as the objects are known;
    each with the owner reference to it."""
    for _ in range(_DEEPEST):
        owner = controller_of(document)
        if owner is None:
            return
        reference = _referred(owner, Reference.read(document).namespace)
        yield reference, owner
        if reference not in known:
            return
        document = known[reference]


def descendants(documents: Iterable[Document], makers: set[Reference]) -> set[Reference]:
    """They, what they made, and what that has made in turn: a Deployment, its ReplicaSets, their pods."""
    owned = [(Reference.read(each), owners) for each in documents if (owners := owners_of(each))]
    found, before = set(makers), 0
    while len(found) > before:
        before = len(found)
        found |= {reference for reference, owners in owned if not found.isdisjoint(owners)}
    return found


def _referred(owner: Document, namespace: str) -> Reference:
    return Reference(str(owner.get("kind")), namespace, str(owner.get("name")))
