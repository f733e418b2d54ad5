"""Who has made what, by owner references."""

from collections.abc import Iterable

from reprieve.objects import Document, Reference


def made_by(documents: Iterable[Document], makers: set[Reference]) -> set[Reference]:
    """They, what they made, and what that has made in turn: a Deployment, its ReplicaSets, their pods."""
    owned = [
        (Reference.read(each), _references(owners, Reference.read(each).namespace))
        for each in documents
        if (owners := (each.get("metadata") or {}).get("ownerReferences"))
    ]
    found, before = set(makers), 0
    while len(found) > before:
        before = len(found)
        found |= {reference for reference, owners in owned if not owners.isdisjoint(found)}
    return found


def _references(owners: Iterable[Document], namespace: str) -> set[Reference]:
    return {Reference(str(each.get("kind")), namespace, str(each.get("name"))) for each in owners}
