"""A document against the schema of its kind: unknown fields, wrong types, missing fields, unknown values.

The same answers as strict decoding and the OpenAPI of an API server give, all of them and not only the
first. Nothing here raises, whatever the document holds.
"""

from typing import Any

from reprieve.objects.meta import Document
from reprieve.objects.quantity import QuantityError, nano
from reprieve.objects.schemas import SchemaNode
from reprieve.objects.schemas.checks import Walk
from reprieve.objects.structure import REQUIRED, UNSUPPORTED, Problem, misfit, nearest
from reprieve.objects.text import is_base64, shown
from reprieve.objects.times import TimeError, parse_time

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
    walk, status = _Fields(), schema.fields.get("status")
    if status is None:
        walk.look(document, schema, "")
        return walk.found
    walk.look({name: value for name, value in document.items() if name != "status"}, schema, "")
    walk.lenient = True
    walk.look(document.get("status"), status, "status")
    return walk.found


class _Fields(Walk):
    names_keys = True

    def __init__(self) -> None:
        self.found: list[Problem] = []
        self.lenient = False

    def unknown(self, holder: Document, name: str, node: SchemaNode, path: str) -> None:  # noqa: ARG002
        self.found.append(Problem(path, None, f"{UNKNOWN_FIELD}{nearest(str(name), node.fields)}"))

    def misfit(self, value: Any, wanted: str, path: str) -> None:
        self.found.append(misfit(path, value, "a list" if wanted == "list" else "an object"))

    def members(self, value: Document, node: SchemaNode, path: str) -> None:
        if self.lenient:
            return
        short = node.type_name.rpartition(".")[2]
        for name, child in node.fields.items():
            if child.required and value.get(name) is None and f"{short}.{name}" not in _MAY_BE_LEFT_OUT:
                where = f"{path}.{name}" if path else name
                self.found.append(Problem(where, None, "is required", REQUIRED))

    def scalar(self, value: Any, node: SchemaNode, path: str) -> None:
        name, accepted = _EXPECTED.get(node.scalar, ("a value", (object,)))
        if isinstance(value, float) and node.scalar == "integer" and value.is_integer():
            value = int(value)
        if node.scalar == "bytes" and not (isinstance(value, str) and is_base64(value)):
            self.found.append(Problem(path, None, f"expected {name}"))  # it may be a secret: not repeated
            return
        # A bool is an int to Python but not to Kubernetes.
        fits = isinstance(value, accepted) and (not isinstance(value, bool) or bool in accepted)
        if not fits:
            self.found.append(misfit(path, value, name))
        elif node.bits and not -(1 << node.bits - 1) <= value < 1 << node.bits - 1:
            text = f"must be a whole number of {node.bits} bits, got {shown(value)}"
            self.found.append(Problem(path, value, text))
        elif node.allowed and value and value not in node.allowed and not self.lenient:
            allowed, hint = ", ".join(node.allowed), nearest(value, node.allowed)
            text = f"expected one of {allowed}; got {shown(value)}{hint}"
            self.found.append(Problem(path, value, text, UNSUPPORTED))
        elif not _readable(value, node.scalar):
            self.found.append(misfit(path, value, name))


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
