"""A run that was cut, to be taken up again later: the whole state as bytes.

A resumed run ends exactly as one that was never cut. The bytes are Python's own serialisation of this version
of the program: read only those that you wrote, with the version that wrote them.
"""

import io
import pickle
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reprieve import __version__
from reprieve.objects import ReprieveError
from reprieve.simulate.timeline import Timeline

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
