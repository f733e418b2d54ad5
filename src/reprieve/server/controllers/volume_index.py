"""Volumes by what claims look for: those that are kept for a claim, and those that are free, by class.

And claims without a volume, by class. Fed by the store's committed changes, so never behind what readers see;
a claim that looks for its volume does not look at everybody else's.
"""

from collections import defaultdict

from reprieve.objects import Document
from reprieve.server.api import Api
from reprieve.server.controllers.controller import Changes, Key
from reprieve.server.documents import at
from reprieve.server.storage import DELETED, Change, Record

CLAIMS = "persistentvolumeclaims"
VOLUMES = "persistentvolumes"


class VolumeIndex:
    def __init__(self, api: Api) -> None:
        self._api = api
        self._free: dict[str, dict[str, Document]] = defaultdict(dict)
        self._kept: dict[Key, dict[str, None]] = defaultdict(dict)
        self._place: dict[str, str | Key] = {}
        """Of each volume: its class, or the claim that it is kept for."""
        self._unbound: dict[str, dict[Key, None]] = defaultdict(dict)
        self._class_of: dict[Key, str] = {}
        store, changes = api.backend.store, Changes.shared(api.backend.store)
        for record in store.collection(VOLUMES).scan(None):
            self._put_volume(record)
        for record in store.collection(CLAIMS).scan(None):
            self._put_claim(record)
        changes.of(VOLUMES, self._volume_changed)
        changes.of(CLAIMS, self._claim_changed)

    def free(self, storage_class: str) -> list[Document]:
        """Volumes of the class that are kept for nobody."""
        return list(self._free.get(storage_class, {}).values())

    def kept_for(self, claim: Key) -> list[Document]:
        """Volumes whose `claimRef` names the claim, or an earlier one of its name."""
        found = (self._api.peek(VOLUMES, name) for name in self._kept.get(claim, ()))
        return [volume for volume in found if volume is not None]

    def unbound(self, storage_class: str) -> list[Key]:
        """Claims of the class that have no volume."""
        return list(self._unbound.get(storage_class, ()))

    def is_unbound(self, claim: Key) -> bool:
        return claim in self._class_of

    def _volume_changed(self, change: Change) -> None:
        self._drop_volume(change.record.name)
        if change.type != DELETED:
            self._put_volume(change.record)

    def _put_volume(self, record: Record) -> None:
        volume, place = record.object, place_of(record.object)
        self._place[record.name] = place
        if isinstance(place, str):
            self._free[place][record.name] = volume
        else:
            self._kept[place][record.name] = None

    def _drop_volume(self, name: str) -> None:
        place = self._place.pop(name, None)
        if isinstance(place, str):
            del self._free[place][name]
        elif place is not None:
            del self._kept[place][name]
            if not self._kept[place]:
                del self._kept[place]

    def _claim_changed(self, change: Change) -> None:
        record = change.record
        before = self._class_of.pop((record.namespace, record.name), None)
        if before is not None:
            del self._unbound[before][record.namespace, record.name]
        if change.type != DELETED:
            self._put_claim(record)

    def _put_claim(self, record: Record) -> None:
        claim, key = record.object, (record.namespace, record.name)
        if at(claim, "status", "phase") != "Bound":
            name = at(claim, "spec", "storageClassName", default="")
            self._class_of[key] = name
            self._unbound[name][key] = None


def place_of(volume: Document) -> str | Key:
    """The claim that it is kept for, or else its class."""
    kept = at(volume, "spec", "claimRef")
    if kept:
        return kept.get("namespace", ""), kept.get("name", "")
    return str(at(volume, "spec", "storageClassName", default=""))
