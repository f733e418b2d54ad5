"""Which schema a document answers to, and what to say of one that no schema describes.

A kind of Kubernetes or Kueue that does not exist is a mistake; a kind of somebody else's is named and not
checked, unless its CustomResourceDefinition comes along.
"""

import difflib
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from reprieve.objects import schemas, well_known
from reprieve.objects.kinds import KINDS, TABLE, group_version, kind_key
from reprieve.objects.meta import Document
from reprieve.objects.schemas import SchemaNode
from reprieve.objects.structure import Problem, nearest
from reprieve.objects.validation.checks import At

_CERTAINLY = 0.8
"""How alike two names must be to take one for a misspelling of the other."""
Custom = Mapping[tuple[str, str], SchemaNode]
"""(`apiVersion`, kind) to the schema of a CustomResourceDefinition."""


class Unrecognised(NamedTuple):
    problem: Problem
    mistake: bool
    """Otherwise it may well exist, only not here."""


def schema_of(document: Document, custom: Custom) -> SchemaNode | None:
    """By `apiVersion` and `kind`; older versions that are read in current spelling share its schema."""
    key, version = kind_key(document), group_version(document)[1]
    found = schemas.builtin_schema(key[0], version, key[1])
    if found is None and key in KINDS and version in TABLE[key].versions:
        found = schemas.builtin_schema(key[0], TABLE[key].versions[0], key[1])
    return found or custom.get((str(document.get("apiVersion")), key[1]))


def custom_schemas(documents: Iterable[Document]) -> Custom:
    """What the CustomResourceDefinitions among the documents describe."""
    found: dict[tuple[str, str], SchemaNode] = {}
    for document in documents:
        if kind_key(document) != ("apiextensions.k8s.io", "CustomResourceDefinition"):
            continue
        spec = At(document).field("spec")
        for version in spec.field("versions").items():
            schema = version.field("schema", "openAPIV3Schema").value
            if isinstance(schema, dict):
                api_version = f"{spec.field('group').text}/{version.field('name').text}"
                found[api_version, spec.field("names", "kind").text] = schemas.custom_schema(schema)
    return found


def unrecognised(document: Document, *, in_part: bool = False) -> Unrecognised:
    """Why no schema describes it, with what was perhaps meant. `in_part`: its pod templates were checked."""
    known = schemas.known_kinds()
    (group, kind), api_version = kind_key(document), str(document.get("apiVersion"))
    if (group, kind) in known:
        text = f"there is no {kind} in {api_version}; it is in {_served(group, kind)}"
        return Unrecognised(Problem("apiVersion", api_version, text), True)
    here = [name for each, name in known if each == group]
    elsewhere = "; it is in ".join(["", *(_served(each, name) for each, name in known if name == kind)][:2])
    if here and (group != well_known.KUEUE_API or difflib.get_close_matches(kind, here, 1, _CERTAINLY)):
        text = f"there is no kind {kind!r} in {api_version}{elsewhere or nearest(kind, here)}"
        return Unrecognised(Problem("kind", kind, text), True)
    if "." not in group:
        groups = sorted({each for each, _ in known if each})
        text = f"there is no API group {group!r}{elsewhere or nearest(group, groups)}"
        return Unrecognised(Problem("apiVersion", api_version, text), True)
    text = "was not checked: there is no schema of it here"
    if in_part:
        text = "was checked in its pod templates only: there is no schema of the rest here"
    text = f"{api_version} {kind} {text}"
    own = next((_served(each, name) for each, name in known if name == kind), "")
    return Unrecognised(Problem("kind", kind, f"{text}; another {kind} is in {own}" if own else text), False)


def _served(group: str, kind: str) -> str:
    versions = schemas.known_kinds()[group, kind]
    return " and ".join(f"{group}/{version}" if group else version for version in versions)


def nearest_kind(document: Document, known: Iterable[tuple[str, str]]) -> str:
    """The kind that was perhaps meant, of this API group or of one that is almost this one."""
    group, kind = kind_key(document)
    alike = {group, *difflib.get_close_matches(group, {each for each, _ in known}, 3, _CERTAINLY)}
    names = {name: each for each, name in known if each in alike}
    found = difflib.get_close_matches(kind, names, 1)
    if not found:
        return ""
    return (
        nearest(kind, found)
        if names[found[0]] == group
        else (f"; did you mean {f'{found[0]} of {names[found[0]]}'!r}?")
    )


def is_namespaced(document: Document) -> bool | None:
    """Whether its kind lives in namespaces; None where nobody here knows."""
    key = kind_key(document)
    return TABLE[key].namespaced if key in TABLE else schemas.is_namespaced(*key)
