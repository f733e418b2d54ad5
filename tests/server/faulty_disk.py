"""A disk that fails when a test says so: a layer under SQLite, between it and the operating system.

SQLite reaches files through a table of functions (a VFS). Here the default table is copied and three of its
functions are replaced: writing, truncating and syncing count themselves, and fail when their number is on the
list. So a test can fail any write of the real journal, not only the last one of a full disk.
"""

import ctypes
import ctypes.util
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import POINTER, c_char_p, c_int, c_int64, c_void_p
from typing import Any

IO_ERROR_WRITE, IO_ERROR_SYNC, IO_ERROR_TRUNCATE, FULL = 778, 1034, 1546, 13

_Open = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_int, POINTER(c_int))
"""The name is a bare pointer: SQLite keeps it, so it must not become a copy."""
_Write = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_int, c_int64)
_Truncate = ctypes.CFUNCTYPE(c_int, c_void_p, c_int64)
_Sync = ctypes.CFUNCTYPE(c_int, c_void_p, c_int)


class _Vfs(ctypes.Structure):
    """`sqlite3_vfs`, version 3; functions that stay as they are appear as one block."""

    _fields_ = (
        ("version", c_int),
        ("file_size", c_int),
        ("longest_path", c_int),
        ("next", c_void_p),
        ("name", c_char_p),
        ("data", c_void_p),
        ("open", _Open),
        ("rest", c_void_p * 14),
    )


class _Methods(ctypes.Structure):
    """`sqlite3_io_methods`, version 3."""

    _fields_ = (
        ("version", c_int),
        ("close_and_read", c_void_p * 2),
        ("write", _Write),
        ("truncate", _Truncate),
        ("sync", _Sync),
        ("rest", c_void_p * 13),
    )


class FaultyDisk:
    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library
        library.sqlite3_vfs_find.restype = POINTER(_Vfs)
        self._real = library.sqlite3_vfs_find(None)
        self._vfs = _Vfs.from_buffer_copy(self._real.contents)
        self._vfs.name = b"faulty"
        self._vfs.open = _Open(self._open)
        self._methods: dict[int, _Methods] = {}
        self.operations = 0
        """Writes, truncations and syncs so far."""
        self.failing: frozenset[int] = frozenset()
        """Which of them fail, by number."""
        self.torn = False
        """A write that fails leaves half of itself behind."""
        self.failed = 0

    def _open(self, _vfs: Any, name: Any, file: Any, flags: int, out: Any) -> int:
        code: int = self._real.contents.open(ctypes.addressof(self._real.contents), name, file, flags, out)
        if code == 0:
            methods = ctypes.cast(file, POINTER(c_void_p))
            methods[0] = ctypes.addressof(self._wrapped(methods[0]))
        return code

    def _wrapped(self, address: int) -> _Methods:
        if address not in self._methods:
            real = _Methods.from_address(address)
            wrapped = _Methods.from_buffer_copy(real)

            def write(file: Any, data: Any, size: int, offset: int) -> int:
                if self._fails():
                    if self.torn:
                        real.write(file, data, size // 2, offset)
                    return FULL if size % 2 else IO_ERROR_WRITE
                return int(real.write(file, data, size, offset))

            def truncate(file: Any, size: int) -> int:
                return IO_ERROR_TRUNCATE if self._fails() else int(real.truncate(file, size))

            def sync(file: Any, flags: int) -> int:
                return IO_ERROR_SYNC if self._fails() else int(real.sync(file, flags))

            wrapped.write, wrapped.truncate, wrapped.sync = _Write(write), _Truncate(truncate), _Sync(sync)
            self._methods[address] = wrapped
        return self._methods[address]

    def _fails(self) -> bool:
        self.operations += 1
        fails = self.operations in self.failing
        self.failed += fails
        return fails

    @contextmanager
    def in_use(self) -> Iterator["FaultyDisk"]:
        """Databases opened meanwhile are on this disk."""
        assert self._library.sqlite3_vfs_register(ctypes.byref(self._vfs), 1) == 0
        try:
            yield self
        finally:
            self._library.sqlite3_vfs_unregister(ctypes.byref(self._vfs))
            self._library.sqlite3_vfs_register(self._real, 1)


def faulty_disk() -> FaultyDisk | None:
    """None where Python's SQLite is not the shared library that we can reach."""
    name = ctypes.util.find_library("sqlite3")
    return FaultyDisk(ctypes.CDLL(name)) if name else None
