"""Which records a request means: label and field selectors as they stand in a query string.

A `Selection` is compiled once for a request and then called for every record. Labels are part of the record;
fields other than name and namespace are decoded from the stored bytes, only as far as the selectors need.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import msgspec

from reprieve.objects import Document, label_key, label_value
from reprieve.server.errors import bad_request
from reprieve.server.registry import ResourceInfo
from reprieve.server.storage import Record

Labels = dict[str, str] | None
LabelTest = Callable[[Labels], bool]

_TOKEN = re.compile(
    r"\s*(?:(?P<absent>!)\s*(?P<missing>[^\s=!,()<>]+)"
    r"|(?P<key>[^\s=!,()<>]+)\s*(?:(?P<equals>==?|!=)\s*(?P<value>[^\s=!,()<>]*)"
    r"|\s(?P<operator>in|notin)\s*\((?P<set>[^()]*)\)|(?P<compare>[<>])\s*(?P<number>-?\d+))?)\s*(?:,|$)"
)

SELECTABLE: dict[str, tuple[str, ...]] = {
    "resourceslices.resource.k8s.io": ("spec.nodeName", "spec.driver"),
    "pods": (
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "spec.hostNetwork",
        "status.phase",
        "status.podIP",
        "status.nominatedNodeName",
    ),
    "nodes": ("spec.unschedulable",),
    "namespaces": ("status.phase",),
    "secrets": ("type",),
    "events": (
        "involvedObject.kind",
        "involvedObject.namespace",
        "involvedObject.name",
        "involvedObject.uid",
        "involvedObject.apiVersion",
        "involvedObject.resourceVersion",
        "involvedObject.fieldPath",
        "reason",
        "reportingComponent",
        "type",
    ),
    "replicasets.apps": ("status.replicas",),
    "replicationcontrollers": ("status.replicas",),
    "jobs.batch": ("status.successful",),
}
_FALSE_BY_DEFAULT = {"spec.hostNetwork", "spec.unschedulable"}
_NUMBERS = {"status.replicas", "status.successful"}


class Selection:
    """What `labelSelector` and `fieldSelector` select. Empty selectors select everything."""

    __slots__ = ("_fields", "_labels", "name", "namespace")

    def __init__(self, resource: ResourceInfo, labels: str = "", fields: str = "") -> None:
        self._labels = parse_labels(labels) if labels else ()
        self.name: str | None = None
        """The only name that can match, if the selector requires one."""
        self.namespace: str | None = None
        self._fields: list[tuple[Callable[[Record], str], bool, str]] = []
        for path, equal, value in parse_fields(fields) if fields else ():
            self._add_field(resource, path, equal, value)

    def _add_field(self, resource: ResourceInfo, path: str, equal: bool, value: str) -> None:
        first, dot, rest = path.partition(".")
        path = resource.renames.get(first, first) + dot + rest
        if path == "metadata.name":
            self.name = value if equal else self.name
            self._fields.append((lambda record: record.name, equal, value))
        elif path == "metadata.namespace":
            self.namespace = value if equal else self.namespace
            self._fields.append((lambda record: record.namespace, equal, value))
        elif path == "source" and resource.storage_key == "events":
            self._fields.append((_event_source, equal, value))
        elif path in SELECTABLE.get(resource.storage_key, ()) or path in resource.selectable:
            self._fields.append((_reader(path), equal, value))
        else:
            raise bad_request(f"field label not supported: {path}")

    @property
    def everything(self) -> bool:
        return not self._labels and not self._fields

    def __call__(self, record: Record) -> bool:
        labels = record.labels
        for test in self._labels:
            if not test(labels):
                return False
        fields = self._fields
        return not fields or all((read(record) == value) is equal for read, equal, value in fields)


# -- labels --------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def parse_labels(text: str) -> tuple[LabelTest, ...]:
    """`a=b,c!=d,e in (x,y),f notin (z),g,!h`; raises 400 for anything else."""
    tests: list[LabelTest] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None or match.end() == position:
            raise bad_request(f"unable to parse requirement: found {text[position : position + 64]!r}")
        tests.append(_requirement(match))
        position = match.end()
    return tuple(tests)


def _requirement(match: re.Match[str]) -> LabelTest:
    key = match["missing"] or match["key"]
    problem = label_key(key)
    if problem is not None:
        raise bad_request(f'unable to parse requirement: key "{key}": {problem}')
    if match["missing"]:
        return lambda labels: labels is None or key not in labels
    if match["operator"]:
        values = frozenset(_value(key, value.strip()) for value in match["set"].split(","))
        if match["operator"] == "in":
            return lambda labels: labels is not None and labels.get(key) in values
        return lambda labels: labels is None or labels.get(key) not in values
    if match["equals"]:
        wanted = _value(key, match["value"])
        if match["equals"] == "!=":
            return lambda labels: labels is None or labels.get(key) != wanted
        return lambda labels: labels is not None and labels.get(key) == wanted
    if match["compare"]:
        return _comparison(key, match["compare"], int(match["number"]))
    return lambda labels: labels is not None and key in labels


def _value(key: str, value: str) -> str:
    problem = label_value(value)
    if problem is not None:
        raise bad_request(f'unable to parse requirement: value of "{key}": "{value}" {problem}')
    return value


def format_selector(selector: Document) -> str:
    """A document's label selector in the form of a query string."""
    terms = [f"{key}={value}" for key, value in sorted((selector.get("matchLabels") or {}).items())]
    for requirement in selector.get("matchExpressions") or ():
        key, values = requirement.get("key", ""), ",".join(sorted(requirement.get("values") or ()))
        forms = {
            "In": f"{key} in ({values})",
            "NotIn": f"{key} notin ({values})",
            "Exists": key,
            "DoesNotExist": f"!{key}",
        }
        terms.append(forms.get(requirement.get("operator", ""), ""))
    return ",".join(term for term in terms if term)


def _comparison(key: str, operator: str, bound: int) -> LabelTest:
    def test(labels: Labels) -> bool:
        text = (labels or {}).get(key, "")
        if not text.lstrip("-").isascii() or not text.lstrip("-").isdigit() or len(text) > 20:
            return False
        return int(text) > bound if operator == ">" else int(text) < bound

    return test


# -- fields --------------------------------------------------------------------------------------------------


def parse_fields(text: str) -> list[tuple[str, bool, str]]:
    """`status.phase!=Failed,spec.nodeName=n1` as (path, equal, value); `\\` escapes `,`, `=` and itself."""
    terms = []
    for term in re.split(r"(?<!\\),", text):
        if not term.strip():
            continue
        match = re.fullmatch(r"\s*([A-Za-z0-9_.\-/\[\]]+)\s*(!=|==?)(.*)", term, re.DOTALL)
        if match is None:
            raise bad_request(f"invalid field selector: {term[:64]!r}: can't understand it")
        value = re.sub(r"\\([\\,=])", r"\1", match[3].strip())
        terms.append((match[1], match[2] != "!=", value))
    return terms


@lru_cache(maxsize=256)
def _reader(path: str) -> Callable[[Record], str]:
    """A function that reads one field of the stored bytes as a string."""
    parts = path.split(".")
    leaf: Any = Any
    for part in reversed(parts):
        leaf = msgspec.defstruct("Partial", [("value", leaf | None, None)], rename={"value": part}, gc=False)
    decode = msgspec.json.Decoder(leaf).decode
    absent = "false" if path in _FALSE_BY_DEFAULT else "0" if path in _NUMBERS else ""

    def read(record: Record) -> str:
        found: Any = None
        try:
            found = decode(record.raw)
            for _ in parts:
                found = found.value if found is not None else None
        except msgspec.ValidationError:
            return absent
        if found is None:
            return absent
        return str(found).lower() if isinstance(found, bool) else str(found)

    return read


def _event_source(record: Record) -> str:
    """Who wrote an event, under its old name or its new one."""
    return _reader("source.component")(record) or _reader("reportingComponent")(record)
