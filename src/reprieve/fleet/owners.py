"""What a workload stands for: a job of any kind, a gang, or only itself; and whether a worker can have it.

A job travels as one object, a gang as its PodGroup and its pods, a pod by itself. On the worker they keep
their names. A copy notes in an annotation what it stands for, so that whoever withdraws it finds the rest.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

from reprieve.jobs import JobKinds
from reprieve.objects import Document, kind_key, well_known

Key = tuple[str, str]
"""(group, kind), whatever the version."""

POD: Final = ("", "Pod")
POD_GROUP: Final = (well_known.SCHEDULING_API, "PodGroup")
GANGS: Final = frozenset({POD, POD_GROUP})
"""Owners that are carried with their pods."""


class Owner(NamedTuple):
    key: Key
    name: str

    def __str__(self) -> str:
        group, kind = self.key
        return f"{kind}.{group}/{self.name}" if group else f"{kind}/{self.name}"

    @property
    def kinds(self) -> tuple[Key, ...]:
        """Kinds of the objects that travel."""
        return (self.key, POD) if self.key == POD_GROUP else (self.key,)


def carried_kinds(kinds: Iterable[Key]) -> frozenset[Key]:
    """Of these kinds of jobs, and of gangs, the fleet can carry the owners."""
    return GANGS | frozenset(kinds)


DEFAULT_KINDS: Final = carried_kinds((each.group, each.kind) for each in JobKinds())


def owner_of(workload: Document) -> Owner | None:
    """What the manager's workload stands for. A group of pods without a PodGroup owns it pod by pod."""
    references = _references(workload)
    for reference in references:
        if reference.get("controller") or kind_key(reference) == POD:
            return Owner(kind_key(reference), str(reference.get("name", "")))
    return None


def pods_of(workload: Document) -> frozenset[str]:
    """The names of the pods that own a workload."""
    return frozenset(
        str(reference.get("name", "")) for reference in _references(workload) if kind_key(reference) == POD
    )


def owner_of_copy(copy: Document) -> Owner | None:
    """What the manager noted on the copy; copies of a manager that noted nothing are owned by their job."""
    noted = _annotations(copy).get(well_known.FLEET_OWNER_ANNOTATION)
    if not noted:
        return owner_of(copy)
    kind, _, name = str(noted).partition("/")
    return Owner((kind.partition(".")[2], kind.partition(".")[0]), name)


def why_not(workload: Document, owner: Document | None, kinds: frozenset[Key]) -> str:
    """Why the fleet cannot carry the workload's owner (its document, where it is known); empty if it can."""
    found = owner_of(workload)
    if found is None:
        return ""
    if found.key not in kinds:
        return f"No multikueue adapter found for owner kind {found.key[1]}"
    parent = ((owner or {}).get("spec") or {}).get("parentCompositePodGroupName")
    if found.key == POD_GROUP and parent:
        return (
            f"PodGroup {found.name} is part of the tree {parent}, and trees of groups cannot be sent to a "
            "worker: submit the tree to the worker itself, or its groups without a parent"
        )
    return ""


def _references(document: Document) -> list[Document]:
    return list((document.get("metadata") or {}).get("ownerReferences") or ())


def _annotations(document: Document) -> Document:
    return dict((document.get("metadata") or {}).get("annotations") or {})
