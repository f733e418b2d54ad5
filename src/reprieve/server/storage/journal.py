"""The durable half of storage: an SQLite file in WAL mode that holds one row for each revision.

Rows are only appended; an object's current state is its newest row, so the table is the history too.
Compaction deletes rows that a later, equally compacted row has replaced. A commit returns when the data is
on disk (synchronous=FULL). Runs in one thread of its own; knows nothing of Kubernetes.
"""

import fcntl
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import msgspec

from reprieve.objects import ReprieveError

Row = tuple[int, str, str, str, bool, bytes]
"""revision, storage key (`place` in the file), namespace, name, deleted, value"""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS log (
    revision INTEGER PRIMARY KEY, place TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL,
    deleted INTEGER NOT NULL, value BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL);
"""
_FORMAT = 1


class DataDirectoryInUse(ReprieveError):
    """Another process works on this data."""


class DataDirectoryUnusable(ReprieveError):
    """The data cannot be opened: not a directory, not writable, not ours, damaged."""


class Journal:
    def __init__(self, directory: Path) -> None:
        self._path = directory / "state.db"
        self._lock = _lock(directory)
        with self.readable():
            _refuse_emptied(directory, self._path)
            self._db = self._open(self._path)
            self.compacted = self._read_meta("compacted", 0)

    @contextmanager
    def readable(self) -> Iterator[None]:
        """What cannot be read within is said in a sentence, and the directory is let go."""
        try:
            yield
        except (sqlite3.Error, msgspec.MsgspecError, ValueError, TypeError) as error:
            self._lock.close()
            raise DataDirectoryUnusable(
                f"cannot open {self._path}: {error}. Restore it from a copy, or start with another --data-dir"
            ) from error
        except DataDirectoryUnusable:
            self._lock.close()
            raise

    def _open(self, path: Path) -> sqlite3.Connection:
        db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        os.chmod(path, 0o600)
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=FULL")
        db.executescript(_SCHEMA)
        self._db = db
        found = self._read_meta("format", _FORMAT)
        if found != _FORMAT:
            raise DataDirectoryUnusable(
                f"{path} has format {found}, this version of Reprieve reads {_FORMAT}"
            )
        db.execute("INSERT OR IGNORE INTO meta VALUES ('format', ?)", (_FORMAT,))
        return db

    def _read_meta(self, key: str, default: int) -> int:
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return default if row is None else int(row[0])

    def rows(self) -> Iterator[Row]:
        """Everything that is kept, oldest revision first."""
        query = "SELECT revision, place, namespace, name, deleted, value FROM log ORDER BY revision"
        for revision, place, namespace, name, deleted, value in self._db.execute(query):
            yield revision, place, namespace, name, bool(deleted), value

    def commit(self, rows: list[Row], dead: Iterable[int] = (), compacted: int = 0) -> None:
        """One transaction: append rows, delete dead revisions, remember how far history reaches."""
        db = self._db
        if db.in_transaction:  # the disk refused even the rollback of the one before
            db.execute("ROLLBACK")
        db.execute("BEGIN IMMEDIATE")
        try:
            db.executemany("INSERT INTO log VALUES (?, ?, ?, ?, ?, ?)", rows)
            if compacted > self.compacted:
                db.executemany("DELETE FROM log WHERE revision = ?", [(r,) for r in dead])
                db.execute("INSERT OR REPLACE INTO meta VALUES ('compacted', ?)", (compacted,))
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise
        self.compacted = max(self.compacted, compacted)

    def close(self) -> None:
        self._db.close()
        self._lock.close()


def _refuse_emptied(directory: Path, path: Path) -> None:
    """SQLite takes an empty file for a new database: everything that was acknowledged would be gone without
    a word. A start that was killed right away leaves one, too, and nothing else but the lock.
    """
    newest = path.with_name(path.name + "-wal")  # before it is moved to the database, all of it may be here
    if any(each.exists() and each.stat().st_size for each in (path, newest)) or not path.exists():
        return
    if any(each.name != "lock" and not each.name.startswith(path.name) for each in directory.iterdir()):
        raise DataDirectoryUnusable(
            f"{path} is empty, and the files beside it say that it was not. Restore it from a copy, or "
            "delete it to begin with nothing"
        )


def _lock(directory: Path) -> IO[str]:
    """Hold the directory for this process; the kernel releases it when the process ends, however it ends."""
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = open(directory / "lock", "a+", encoding="utf-8")  # noqa: SIM115 - held until close()
    except OSError as error:
        raise DataDirectoryUnusable(f"cannot use data directory {directory}: {error.strerror}") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        handle.seek(0)
        owner = handle.read().strip() or "unknown"
        handle.close()
        raise DataDirectoryInUse(
            f"data directory {directory} is in use by another Reprieve process (pid {owner}); "
            "stop it first, or choose another --data-dir"
        ) from error
    handle.truncate(0)
    handle.write(f"{os.getpid()}\n")
    handle.flush()
    return handle
