"""What is asked: scenes, made of exchanges, written by hand, recorded, or made from the life of an object."""

from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import msgspec
import yaml

HERE = Path(__file__).parent / "conversation"
TYPES = {
    "json": "application/json",
    "yaml": "application/yaml",
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "json-patch": "application/json-patch+json",
    "apply": "application/apply-patch+yaml",
}
FORMS = {
    "table": "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
    "metadata": "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json",
    "metadata-list": "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json",
}


class Exchange(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One request. `$(name)` stands for a value that an earlier answer gave (`keep`), and `$(ns)` for the
    scene's namespace.
    """

    say: str
    """What is tried, in words; unique in its scene."""
    send: str
    """Method and path: `GET /api/v1/namespaces/$(ns)/pods?limit=1`."""
    type: str = ""
    """Of the body: one of `TYPES`, or a media type; JSON unless given."""
    accept: str = ""
    """One of `FORMS`, or a media type."""
    body: Any = None
    keep: dict[str, str] = {}
    """Name to the path of a value in the answer: `metadata.uid`."""
    events: int = 0
    """Of a watch: how many events to wait for before the connection is closed."""
    until: dict[str, str] = {}
    """Path to the value that the answer must have there: asked again until it has."""

    @property
    def method(self) -> str:
        return self.send.partition(" ")[0]


class Wrong(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something that an object may not say."""

    say: str
    merge: dict[str, Any]


class Life(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An object, and what happens to it from its creation to its end."""

    at: str
    """The path of its collection."""
    object: dict[str, Any]
    change: dict[str, Any]
    """A merge patch that is allowed."""
    status: dict[str, Any] = {}
    """A merge patch of its status."""
    wrong: list[Wrong] = []
    immutable: dict[str, Any] = {}
    """A merge patch that is refused because the object exists."""


class Scene(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    about: str
    owners: bool = False
    """Whether it is about who owns which field; elsewhere `managedFields` are left out of the answers."""
    exchanges: list[Exchange] = []
    lives: list[Life] = []

    def all(self) -> Iterator[Exchange]:
        yield from self.exchanges
        for life in self.lives:
            yield from _lived(life)


def scenes() -> list[str]:
    return sorted(path.stem for path in HERE.glob("*.yaml"))


def load(name: str) -> Scene:
    text = (HERE / f"{name}.yaml").read_text(encoding="utf-8")
    scene = msgspec.convert(yaml.safe_load(text), Scene)
    said = [exchange.say for exchange in scene.all()]
    if twice := {each for each in said if said.count(each) > 1}:
        raise ValueError(f"{name}: said twice: {', '.join(sorted(twice))}")
    return scene


def save(path: Path, scene: Scene) -> None:
    text = yaml.safe_dump(msgspec.to_builtins(scene), sort_keys=False, width=110)
    path.write_text(text, encoding="utf-8")


def merged(document: Any, patch: Any) -> Any:
    """RFC 7386."""
    if not isinstance(patch, dict):
        return deepcopy(patch)
    result = dict(document) if isinstance(document, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


def _lived(life: Life) -> Iterator[Exchange]:
    """Created, read in every form, changed in every way, refused what is wrong, deleted."""
    kind, name, at = life.object["kind"], life.object["metadata"]["name"], life.at
    one = f"{at}/{name}"
    label = {"metadata": {"labels": {"tier": "gold"}}}

    def say(what: str, send: str, body: Any = None, **more: Any) -> Exchange:
        return Exchange(f"{kind} {name}: {what}", send, body=body, **more)

    yield say("create, dry run", f"POST {at}?dryRun=All&fieldManager=tester", life.object)
    yield say(
        "create", f"POST {at}?fieldManager=tester", life.object, keep={"old": "metadata.resourceVersion"}
    )
    yield say("create again", f"POST {at}", life.object)
    yield say("read", f"GET {one}")
    yield say("read as a table", f"GET {one}", accept="table")
    yield say("list as a table", f"GET {at}?fieldSelector=metadata.name%3D{name}", accept="table")
    yield say("read the metadata", f"GET {one}", accept="metadata")
    yield say("merge patch", f"PATCH {one}?fieldManager=patcher", life.change, type="merge")
    yield say("the same patch again", f"PATCH {one}?fieldManager=patcher", life.change, type="merge")
    yield say("strategic patch", f"PATCH {one}?fieldManager=patcher", label, type="strategic")
    stale = merged(life.object, {"metadata": {"resourceVersion": "$(old)"}})
    yield say("replace what was read too long ago", f"PUT {one}", stale)
    test = [{"op": "test", "path": "/metadata/name", "value": "somebody-else"}]
    yield say("JSON patch whose test fails", f"PATCH {one}", test, type="json-patch")
    if life.immutable:
        yield say("change what cannot be changed", f"PATCH {one}", life.immutable, type="merge")
    if life.status:
        path = f"PATCH {one}/status?fieldManager=controller"
        yield say("patch of the status", path, {"status": life.status}, type="merge")
    yield say("apply by somebody else", f"PATCH {one}?fieldManager=applier", life.object, type="apply")
    forced = f"PATCH {one}?fieldManager=applier&force=true"
    yield say("apply with force", forced, life.object, type="apply")
    for wrong in life.wrong:
        body = merged(life.object, {"metadata": {"name": f"{name}-wrong"}})
        yield say(f"refuse {wrong.say}", f"POST {at}?dryRun=All", merged(body, wrong.merge))
    unknown = merged(life.object, {"metadata": {"name": f"{name}-strict"}, "bogus": 1})
    yield say("an unknown field, strictly", f"POST {at}?dryRun=All&fieldValidation=Strict", unknown)
    yield say("an unknown field, with a warning", f"POST {at}?dryRun=All&fieldValidation=Warn", unknown)
    yield say("delete", f"DELETE {one}?gracePeriodSeconds=0")
    yield say("read what is gone", f"GET {one}")
