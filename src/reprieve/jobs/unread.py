"""What a job says that plans do not look at although it changes its pods: each with what it does."""

from collections.abc import Iterator
from typing import Any

from reprieve.jobs import sentences
from reprieve.jobs.kinds import JobKinds
from reprieve.jobs.paths import Place, at, entries
from reprieve.jobs.reading import has_pod_template
from reprieve.jobs.rows import JobKind
from reprieve.jobs.spark import unread_settings
from reprieve.jobs.workflow import dynamic_parts
from reprieve.objects import Document, kind_key, schemas


def unread(root: Place, kind: JobKind, kinds: JobKinds) -> tuple[str, ...]:
    """`path, what it does` of everything that is there."""
    found = [sentences.unread_field(path, what) for path, what in _paths(kind) if _has(root, path)]
    if kind.reader == "spark":
        found += unread_settings(root)
    if kind.reader == "workflow":
        found += dynamic_parts(root)
    if kind.reader == "app_wrapper":
        found += _strange_components(root, kinds)
    return tuple(found)


def _paths(kind: JobKind) -> Iterator[tuple[str, str]]:
    yield from kind.unread.items()
    if kind.autoscaling:
        yield kind.autoscaling, sentences.RESIZES


def _has(root: Place, path: str) -> bool:
    """Whether there is something at a path, or somewhere a label or an annotation of that name."""
    if "/" in path:
        return _is_noted(root.value, path)
    before, some, after = path.partition("[].")
    if some:
        return any(at(part, after).value for part in entries(root, f"{before}[]"))
    return bool(at(root, path).value)


def _is_noted(document: Document, name: str) -> bool:
    to_do: list[Any] = [document]
    while to_do:
        value = to_do.pop()
        if isinstance(value, dict):
            notes = [value.get("labels"), value.get("annotations")]
            if any(isinstance(each, dict) and each.get(name) for each in notes):
                return True
            to_do += value.values()
        elif isinstance(value, list):
            to_do += value
    return False


def _strange_components(root: Place, kinds: JobKinds) -> Iterator[str]:
    """Wrapped kinds of which nobody here knows whether they make pods."""
    for component in entries(root, "spec.components[]"):
        document = at(component, "template").value
        if not isinstance(document, dict) or at(component, "podSets").value is not None:
            continue
        key = kind_key(document)
        known = key == ("", "Pod") or kinds.find(document) is not None
        quiet = key in schemas.known_kinds() and not has_pod_template(document)
        if not known and not quiet:
            yield sentences.unread_component(component.path, key[1], document.get("apiVersion"))
