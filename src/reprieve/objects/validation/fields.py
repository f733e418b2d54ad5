"""A document against the schema of its kind: unknown fields, wrong types, missing fields, unknown values.

The same answers as strict decoding and the OpenAPI of an API server give, all of them and not only the
first. Nothing here raises, whatever the document holds.
"""

from typing import Any

from reprieve.objects.meta import Document
from reprieve.objects.quantity import QuantityError, nano
from reprieve.objects.schemas import SchemaNode
from reprieve.objects.structure import REQUIRED, UNSUPPORTED, Problem, misfit, nearest
from reprieve.objects.text import is_base64, shown
from reprieve.objects.times import TimeError, parse_time
from reprieve.objects.validation.checks import Problems

UNKNOWN_FIELD = "unknown field"
_EXPECTED: dict[str, tuple[str, tuple[type, ...]]] = {
    "string": ("a string", (str,)),
    "time": ("a timestamp such as 2026-08-23T10:00:00Z", (str,)),
    "microtime": ("a timestamp such as 2026-08-23T10:00:00.000000Z", (str,)),
    "bytes": ("a string of base64", (str,)),
    "integer": ("an integer", (int,)),
    "number": ("a number", (int, float)),
    "boolean": ("true or false", (bool,)),
    "quantity": ("a quantity such as 500m, 2 or 1.5Gi", (str, int, float)),
    "intOrString": ("an integer or a string", (int, str)),
}
_MAY_BE_LEFT_OUT = frozenset(
    {
        "HTTPHeader.value",
        "Sysctl.value",
        "LimitRangeSpec.limits",
        "CSINodeSpec.drivers",
        "CustomResourceDefinitionVersion.served",
        "CustomResourceDefinitionVersion.storage",
        "ISCSIVolumeSource.lun",
        "ISCSIPersistentVolumeSource.lun",
        "SleepAction.seconds",
        "ResourcePool.generation",
    }
)
"""Required in OpenAPI, and yet stored without: what is left out is zero, and zero is allowed."""


def field_problems(document: Document, schema: SchemaNode) -> list[Problem]:
    """Everything that does not fit. Nulls count as absent; what a status lacks, its controller adds."""
    found = list(_members(document, schema, "", lenient=False, skip="status"))
    status = schema.fields.get("status")
    if status is not None and document.get("status") is not None:
        found += _check(document["status"], status, "status", lenient=True)
    return found


def _check(value: Any, node: SchemaNode, path: str, *, lenient: bool) -> Problems:
    if value is None or node.shape == "any":
        return
    if node.shape == "scalar":
        yield from _scalar(value, node, path, lenient=lenient)
    elif node.shape == "list":
        if not isinstance(value, list):
            yield misfit(path, value, "a list")
            return
        for index, item in enumerate(value):
            yield from _check(item, node.item_schema, f"{path}[{index}]", lenient=lenient)
    elif not isinstance(value, dict):
        yield misfit(path, value, "an object")
    elif node.shape == "map":
        for key, item in value.items():
            yield from _check(item, node.item_schema, f"{path}[{key}]", lenient=lenient)
    else:
        yield from _members(value, node, path, lenient=lenient)


def _members(value: Document, node: SchemaNode, path: str, *, lenient: bool, skip: str = "") -> Problems:
    fields = node.fields
    for name, item in value.items():
        where = f"{path}.{name}" if path else str(name)
        child = fields.get(name)
        if child is not None:
            if name != skip:
                yield from _check(item, child, where, lenient=lenient)
        elif not node.open:
            yield Problem(where, None, f"{UNKNOWN_FIELD}{nearest(str(name), fields)}")
    if lenient:
        return
    short = node.type_name.rpartition(".")[2]
    for name, child in fields.items():
        if child.required and value.get(name) is None and f"{short}.{name}" not in _MAY_BE_LEFT_OUT:
            yield Problem(f"{path}.{name}" if path else name, None, "is required", REQUIRED)


def _scalar(value: Any, node: SchemaNode, path: str, *, lenient: bool) -> Problems:
    name, accepted = _EXPECTED.get(node.scalar, ("a value", (object,)))
    if isinstance(value, float) and node.scalar == "integer" and value.is_integer():
        value = int(value)
    # A bool is an int to Python but not to Kubernetes.
    if node.scalar == "bytes" and not (isinstance(value, str) and is_base64(value)):
        yield Problem(path, None, f"expected {name}")  # it may be a secret: not repeated
        return
    fits = isinstance(value, accepted) and (not isinstance(value, bool) or bool in accepted)
    if not fits:
        yield misfit(path, value, name)
    elif node.bits and not -(1 << node.bits - 1) <= value < 1 << node.bits - 1:
        yield Problem(path, value, f"must be a whole number of {node.bits} bits, got {shown(value)}")
    elif node.allowed and value and value not in node.allowed and not lenient:
        allowed, hint = ", ".join(node.allowed), nearest(value, node.allowed)
        yield Problem(path, value, f"expected one of {allowed}; got {shown(value)}{hint}", UNSUPPORTED)
    elif not _readable(value, node.scalar):
        yield misfit(path, value, name)


def _readable(value: Any, scalar: str) -> bool:
    """Whether the text means what its type says. An empty one means nothing at all."""
    try:
        if scalar == "quantity" and value:
            nano(value)
        elif scalar in ("time", "microtime") and value:
            parse_time(value)
    except (QuantityError, TimeError):
        return False
    return True
