"""A job held, started and put back as it was: documents in, documents out.

What starting changes is noted in the job itself (`well_known.BEFORE_START_ANNOTATION`), by pod set and field
with the value before, so that whoever stops it can put everything back exactly, whatever its kind.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from reprieve.jobs.pod_sets import Places, PodSet
from reprieve.jobs.rows import JobKind
from reprieve.objects import Document, well_known

_BEFORE = well_known.BEFORE_START_ANNOTATION
_MISSING: Any = object()
_STEP = re.compile(r"([^.\[\]]+)|\[(\d+)\]")
Pointer = tuple[str | int, ...]


class Additions(msgspec.Struct, frozen=True, kw_only=True):
    """What the pods of one pod set get on top of their template."""

    node_selector: Mapping[str, str] = {}
    tolerations: Sequence[Document] = ()
    gates: Sequence[str] = ()
    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}

    def __bool__(self) -> bool:
        return bool(self.node_selector or self.tolerations or self.gates or self.labels or self.annotations)


class _Notes:
    """Changes to one document, and what was there before."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.before: dict[str, list[list[Any]]] = {}

    def set(self, owner: str, base: Pointer, below: Pointer, value: Any) -> None:
        """Note the value before at the first step that is missing: nothing empty is left behind."""
        place: Any = self.document
        steps = (*base, *below)
        for position, step in enumerate(steps):
            known = _step(place, step)
            last = position == len(steps) - 1
            if known is _MISSING or known is None or last:
                if known == value:
                    return
                inside = owner and position >= len(base)
                noted = list(steps[len(base) if inside else 0 : position + 1])
                old = None if known is _MISSING else known
                self.before.setdefault(owner if inside else "", []).append([noted, old])
                for name in steps[position:-1]:
                    place[name] = {}
                    place = place[name]
                place[steps[-1]] = value
                return
            place = known


def suspended(document: Document, kind: JobKind, hold: bool = True) -> Document:
    """The job with its field for suspension set."""
    made: Document = _copied(document)
    *steps, last = kind.suspend.split(".")
    place = made
    for step in steps:
        if not isinstance(place.get(step), dict):
            place[step] = {}
        place = place[step]
    place[last] = hold
    return made


def started(
    document: Document,
    kind: JobKind,
    sets: Iterable[PodSet],
    additions: Mapping[str, Additions],
    count: int | None = None,
) -> Document:
    """The job as it is to run: not suspended, with what its pods get, with `count` pods if it can shrink."""
    notes = _Notes(suspended(document, kind, hold=False))
    for each in sets:
        if added := additions.get(each.name):
            _add(notes, each, added)
    if count is not None and kind.shrinks:
        notes.set("", (), pointer(kind.shrinks), count)
        annotations = (document.get("metadata") or {}).get("annotations") or {}
        if kind.shrinks_too and annotations.get(well_known.SYNC_COMPLETIONS_ANNOTATION) == "true":
            notes.set("", (), pointer(kind.shrinks_too), count)
    return _noted(notes)


def gated(document: Document, sets: Iterable[PodSet], additions: Mapping[str, Additions]) -> Document:
    """The job whose pods are held by gates and ask for themselves; as it is if they do already."""
    notes = _Notes(_copied(restored(document, sets)))
    for each in sets:
        if added := additions.get(each.name):
            _add(notes, each, added)
    return _noted(notes)


def restored(document: Document, sets: Iterable[PodSet]) -> Document:
    """The job as its user wrote it, but for its suspension; the same if nothing was changed."""
    before = _before(document)
    if before is None:
        return document
    made: Document = _copied(document)
    bases = {
        name: pointer(each.written.path if each.written else each.path)
        for each in sets
        for name in each.known_as
    }
    for owner, changes in reversed(before.items()):
        if owner and owner not in bases:
            continue  # these pods are not in the job any more
        for below, value in reversed(changes):
            _put_back(made, (*bases.get(owner, ()), *below), value)
    annotations = made["metadata"]["annotations"]
    del annotations[_BEFORE]
    if not annotations:
        del made["metadata"]["annotations"]
    return made


def was_changed(document: Document) -> bool:
    return _before(document) is not None


def dropped(sent: Document, kept: Document, sets: Iterable[PodSet]) -> list[str]:
    """Fields beside the templates that were sent to an API server and of which it kept nothing."""
    paths = sorted({each.written.path for each in sets if each.written is not None})
    steps = {path: pointer(path) for path in paths}
    return [path for path in paths if _at(sent, steps[path]) and not _at(kept, steps[path])]


def merge_patch(old: Document, new: Document) -> Document:
    """What makes `new` of `old` (RFC 7396): lists are replaced as a whole."""
    patch: Document = {key: None for key in old if key not in new}
    for key, value in new.items():
        known = old.get(key, _MISSING)
        if isinstance(known, dict) and isinstance(value, dict):
            if inner := merge_patch(known, value):
                patch[key] = inner
        elif known is _MISSING or known != value:
            patch[key] = value
    return patch


def pointer(path: str) -> Pointer:
    """`spec.workers[0].template` step by step."""
    return tuple(int(index) if index else name for name, index in _STEP.findall(path))


def _add(notes: _Notes, pod_set: PodSet, added: Additions) -> None:
    written = pod_set.written
    if written is not None and (written.whole or written.item is not None):
        _add_whole(notes, pod_set, added)
        return
    places = written.places if written is not None else Places()
    base = pointer(written.path if written is not None else pod_set.path)
    for path, values in (
        (places.node_selector, added.node_selector),
        (places.labels, added.labels),
        (places.annotations, added.annotations),
    ):
        for name, value in values.items():
            notes.set(pod_set.name, base, (*pointer(path), name), value)
    for path, extra in (
        (places.tolerations, added.tolerations),
        (places.gates, [{"name": gate} for gate in added.gates]),
    ):
        known = _at(notes.document, (*base, *pointer(path))) or []
        new = [each for each in extra if each not in known]
        if new:
            notes.set(pod_set.name, base, pointer(path), [*known, *new])


def _add_whole(notes: _Notes, pod_set: PodSet, added: Additions) -> None:
    """Where there is no template to add to: one is written, or an item in a list of patches."""
    assert pod_set.written is not None
    written = pod_set.written
    inner = _Notes(_copied(pod_set.template if written.whole else written.item))
    _add(inner, msgspec.structs.replace(pod_set, written=None, path=written.inside), added)
    where = pointer(written.path)
    known = _at(notes.document, where) or []
    notes.set("", (), where, inner.document if written.whole else _with_item(known, inner.document))


def _with_item(known: list[Document], item: Document) -> list[Document]:
    """The list with one item more, or with that of the same texts completed."""
    texts = {name: value for name, value in item.items() if isinstance(value, str)}
    for position, each in enumerate(known):
        if texts and all(each.get(name) == value for name, value in texts.items()):
            return [*known[:position], _joined(each, item), *known[position + 1 :]]
    return [*known, item]


def _joined(one: Any, other: Any) -> Any:
    if isinstance(one, dict) and isinstance(other, dict):
        return {**one, **{name: _joined(one.get(name), value) for name, value in other.items()}}
    return [*one, *other] if isinstance(one, list) and isinstance(other, list) else other


def _copied(document: Any) -> Any:
    """A document has objects, lists and values: no need for what `deepcopy` looks after."""
    if isinstance(document, dict):
        return {key: _copied(value) for key, value in document.items()}
    return [_copied(each) for each in document] if isinstance(document, list) else document


def _noted(notes: _Notes) -> Document:
    made = notes.document
    if notes.before:
        metadata = made.setdefault("metadata", {})
        annotations = metadata.get("annotations") or {}
        metadata["annotations"] = {**annotations, _BEFORE: json.dumps(notes.before, separators=(",", ":"))}
    return made


def _before(document: Document) -> dict[str, list[tuple[list[Any], Any]]] | None:
    text = ((document.get("metadata") or {}).get("annotations") or {}).get(_BEFORE)
    if text is None:
        return None
    try:
        return msgspec.json.decode(text, type=dict[str, list[tuple[list[str | int], Any]]], strict=True)
    except (
        msgspec.MsgspecError,
        RecursionError,
    ):  # somebody else wrote it: there is nothing that could be put back
        return {}


def _put_back(document: Document, steps: Pointer, value: Any) -> None:
    place = _at(document, steps[:-1])
    last = steps[-1]
    if isinstance(place, dict) and isinstance(last, str):
        if value is None:
            place.pop(last, None)
        else:
            place[last] = value


def _at(document: Document, steps: Pointer) -> Any:
    place: Any = document
    for step in steps:
        place = _step(place, step)
        if place is _MISSING:
            return None
    return place


def _step(place: Any, step: str | int) -> Any:
    if isinstance(place, dict):
        return place.get(step, _MISSING)
    if isinstance(place, list) and isinstance(step, int) and step < len(place):
        return place[step]
    return _MISSING
