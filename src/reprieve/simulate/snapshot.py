"""A run that was cut, to be taken up again later: the whole state as bytes.

A resumed run ends exactly as one that was never cut. The bytes are Python's own serialisation of this version
of the program: read only those that you wrote, with the version that wrote them.
"""

import io
import pickle
from collections.abc import Iterable
from types import MappingProxyType
from typing import Any, Generic, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from reprieve import __version__
from reprieve.objects import ReprieveError
from reprieve.simulate.timeline import Timeline

Thing = TypeVar("Thing")
_HEAD = f"reprieve simulation {__version__}\n".encode()


def snapshot(simulation: Timeline) -> bytes:
    file = io.BytesIO()
    _Pickler(file, protocol=pickle.HIGHEST_PROTOCOL).dump(simulation)
    return _HEAD + file.getvalue()


class _Pickler(pickle.Pickler):
    """Knows the views of arrays that the cluster adds up usage with, and its read-only dictionaries."""

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, memoryview):
            return _view, (obj.obj,)
        if isinstance(obj, MappingProxyType):
            return _read_only, (dict(obj),)
        return NotImplemented


def _view(array: NDArray[np.int64]) -> memoryview:
    return array.data


def _read_only(found: dict[str, str]) -> MappingProxyType[str, str]:
    return MappingProxyType(found)


def resume(snapshot: bytes) -> Timeline:
    if not snapshot.startswith(_HEAD):
        raise ReprieveError(f"this is no snapshot of a simulation by reprieve {__version__}")
    simulation = pickle.loads(snapshot[len(_HEAD) :])
    assert isinstance(simulation, Timeline)
    return simulation


class Copies(Generic[Thing]):
    """Copies of one thing as it is now, each to be changed on its own.

    Frozen structs, which nothing changes, are shared by all of them, and so is what `shared` names: what is
    left to copy is little.
    """

    def __init__(self, thing: Thing, shared: Iterable[object] = ()) -> None:
        file = io.BytesIO()
        pickler = _SharingPickler(file, [*shared])
        pickler.dump(thing)
        self._bytes, self._shared = file.getvalue(), pickler.shared

    def make(self) -> Thing:
        unpickler = pickle.Unpickler(io.BytesIO(self._bytes))
        unpickler.persistent_load = self._shared.__getitem__  # type: ignore[method-assign]
        found: Thing = unpickler.load()
        return found


class _SharingPickler(_Pickler):
    def __init__(self, file: io.BytesIO, shared: list[object]) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self.shared = shared
        self._numbers = {id(each): number for number, each in enumerate(shared)}

    def persistent_id(self, obj: Any) -> int | None:
        number = self._numbers.get(id(obj))
        if number is None and isinstance(obj, msgspec.Struct) and obj.__struct_config__.frozen:
            number = self._numbers[id(obj)] = len(self.shared)
            self.shared.append(obj)  # kept, so that no other object ever has its id
        return number
