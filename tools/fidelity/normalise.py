"""Takes out of answers what differs from run to run, and keeps what it says: the same uid stays the same, a
version that did not change stays unchanged.

Wording is not compared either: of a refusal count its code, its reason and the fields that it names, and of a
warning that there is one. We say things in words of our own.
"""

import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

from tools.fidelity.player import Answer

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
_AGE = re.compile(r"(\d+[dhms]){1,2}|<unknown>|<invalid>")
_AGES = ("Age", "Duration", "Last Schedule", "Last Seen", "First Seen")
_ADDRESS = re.compile(r"\d+\.\d+\.\d+\.\d+")
_NODE_PORT = re.compile(r":3[0-2]\d\d\d/")
_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_RECENT = timedelta(hours=12)
_ALLOCATED = {"clusterIP", "clusterIPs", "nodePort", "healthCheckNodePort"}
"""Chosen by the server where nobody asked for one."""
_SECRETS = {"continue", "token", "storageVersionHash"}


class Normaliser:
    """For the answers of one scene, in their order."""

    def __init__(self, sent: str, *, owners: bool) -> None:
        """`sent`: everything that the scene says. What stands there is nobody's choice but the scene's."""
        self._sent = sent
        self._owners_matter = owners
        self._uids: dict[str, str] = {}
        self._owners: Counter[str] = Counter()
        self._versions: dict[str, list[str]] = {}
        self._names: dict[str, str] = {}

    def __call__(self, answer: Answer) -> Answer:
        body = self._value("", answer.body)
        for document in body if isinstance(body, list) else [body]:
            _plain_table(document)
            _wordless(document)
        return Answer(answer.code, body, [_kind_of_warning(each) for each in answer.warnings])

    def _value(self, key: str, value: Any) -> Any:
        if isinstance(value, dict):
            self._note_name(value)
            self._note_uid(value)
            owner = value.get("uid", "")
            return {k: self._version(owner, v) if k == "resourceVersion" else self._value(k, v)
                    for k, v in value.items() if self._owners_matter or k != "managedFields"}  # fmt: skip
        if isinstance(value, list):
            # Owners are sorted by the second in which they wrote, which differs from run to run.
            ordered = sorted(value, key=_owner) if key == "managedFields" else value
            return [self._value(key, each) for each in ordered]
        if key in _ALLOCATED and value not in ("None", "") and str(value) not in self._sent:
            return "<allocated>"
        if not isinstance(value, str):
            return value
        return "<secret>" if key in _SECRETS and value else self._text(value)

    def _note_name(self, metadata: dict[str, Any]) -> None:
        """A name that the server made up."""
        prefix, name = metadata.get("generateName"), metadata.get("name")
        if prefix and name and name not in self._sent:
            self._names.setdefault(name, f"{prefix}<{len(self._names) + 1}>")

    def _note_uid(self, metadata: dict[str, Any]) -> None:
        """By the name of its object, so that it stays the same whatever else happens."""
        uid, name = metadata.get("uid"), metadata.get("name")
        if uid and name and uid not in self._sent and uid not in self._uids:
            name = self._names.get(name, name)
            self._owners[name] += 1
            self._uids[uid] = f"<uid {self._owners[name]} of {name}>"

    def _version(self, uid: str, value: Any) -> Any:
        """Of an object: how many versions of it were seen. Of a list nothing can be said."""
        if not isinstance(value, str) or not value or value in ("0",):
            return value
        if not uid:
            return "<version>"
        seen = self._versions.setdefault(uid, [])
        if value not in seen:
            seen.append(value)
        return f"<version {seen.index(value) + 1}>"

    def _text(self, text: str) -> str:
        text = _UID.sub(self._uid, _TIME.sub(self._time, text))
        for name, shown in self._names.items():
            text = text.replace(name, shown)
        return re.sub(r"resource version: \d+ \(\d+\)", "resource version: <version>", text)

    def _time(self, match: re.Match[str]) -> str:
        when = datetime.fromisoformat(match[0]).astimezone(UTC)
        if match[0] in self._sent or abs(datetime.now(UTC) - when) > _RECENT:
            return match[0]
        return "<time>" if match[1] is None else f"<time with {len(match[1]) - 1} digits>"

    def _uid(self, match: re.Match[str]) -> str:
        if match[0] in self._sent:
            return match[0]
        return self._uids.setdefault(match[0], "<uid>")


def _owner(entry: dict[str, Any]) -> tuple[str, ...]:
    return tuple(str(entry.get(field, "")) for field in ("operation", "manager", "subresource"))


def _wordless(document: Any) -> None:
    """Without the sentences of a refusal."""
    status = document.get("object", document) if isinstance(document, dict) else {}
    if not isinstance(status, dict) or status.get("status") != "Failure":
        return
    status.pop("message", None)
    for cause in (status.get("details") or {}).get("causes") or ():
        cause.pop("message", None)


def _kind_of_warning(text: str) -> str:
    """Warnings about fields name them, and that is compared."""
    return text if text.startswith(("unknown field", "duplicate field")) else "<a warning>"


def _plain_table(document: Any) -> None:
    """Ages say nothing, and descriptions of columns are only words."""
    table = document.get("object", document) if isinstance(document, dict) else {}
    if not isinstance(table, dict) or table.get("kind") != "Table":
        return
    columns = table.get("columnDefinitions") or []
    table["rows"] = [_plain(columns, row) for row in table.get("rows") or ()]
    for column in columns:
        column.pop("description", None)


def _plain(columns: list[dict[str, Any]], row: dict[str, Any]) -> dict[str, Any]:
    names = [column["name"] for column in columns]
    return {**row, "cells": [_cell(*pair) for pair in zip(names, row["cells"], strict=False)]}


def _cell(name: str, cell: Any) -> Any:
    if name in _AGES and _AGE.fullmatch(str(cell)):
        return "<age>"
    if name == "Cluster-IP" and _ADDRESS.fullmatch(str(cell)):
        return "<allocated>"
    return _NODE_PORT.sub(":<allocated>/", cell) if name == "Port(s)" and isinstance(cell, str) else cell
