"""Where objects live: committed state in memory, optionally behind a durable journal; one global revision."""

from reprieve.server.storage.journal import DataDirectoryInUse, DataDirectoryUnusable
from reprieve.server.storage.records import ADDED, DELETED, MODIFIED, Change, Record
from reprieve.server.storage.store import Store

__all__ = [
    "ADDED",
    "DELETED",
    "MODIFIED",
    "Change",
    "DataDirectoryInUse",
    "DataDirectoryUnusable",
    "Record",
    "Store",
]
