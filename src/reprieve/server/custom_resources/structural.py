"""Structural schemas of custom resources: defaulting, validation with field paths.

The subset of OpenAPI that `apiextensions.k8s.io/v1` allows: types, properties, items, additionalProperties,
required, enum, bounds, lengths, patterns, formats, nullable, int-or-string, preserve-unknown-fields,
embedded resources, list types, and allOf/anyOf/oneOf/not for value validation. Expressions
(`x-kubernetes-validations`) are accepted and not evaluated.

A long list of alternatives, checked for every item of a long list, or defaults within defaults, would keep
everybody waiting: completing and checking an object takes at most as many steps as `Budget` has.
"""

import re
from typing import Any

from reprieve.objects import SchemaNode, TimeError, definitions, parse_duration, parse_time
from reprieve.server.errors import (
    Cause,
    duplicate,
    invalid_value,
    not_supported,
    required,
    too_large,
    too_long,
)

Schema = dict[str, Any]

EMBEDDED = "x-kubernetes-embedded-resource"


_STEPS_OF_A_PATTERN = 20
"""One that has to be compiled anew."""


class Budget:
    """Steps that are left for one object."""

    MOST = 200_000

    def __init__(self) -> None:
        self.left = self.MOST

    def spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise too_large(f"the object takes more than {self.MOST} steps to check against its definition")


# -- defaults ------------------------------------------------------------------------------------------------


def apply_defaults(value: Any, schema: Schema, budget: Budget | None = None) -> None:
    """In place: a missing member that has a default gets it, and so does a null that is not nullable."""
    budget = budget or Budget()
    budget.spend(1)
    if isinstance(value, dict):
        properties = schema.get("properties") or {}
        budget.spend(len(properties))
        for name, child in properties.items():
            missing = name not in value or (value[name] is None and not child.get("nullable"))
            if missing and "default" in child:
                value[name] = _copy(child["default"], budget)
            if value.get(name) is not None:
                apply_defaults(value[name], child, budget)
        extra = schema.get("additionalProperties")
        if isinstance(extra, dict):
            for name, item in value.items():
                if name not in properties:
                    apply_defaults(item, extra, budget)
    elif isinstance(value, list) and isinstance(schema.get("items"), dict):
        for item in value:
            apply_defaults(item, schema["items"], budget)


def has_defaults(schema: Schema) -> bool:
    children = [
        *(schema.get("properties") or {}).values(),
        schema.get("items"),
        schema.get("additionalProperties"),
    ]
    return "default" in schema or any(has_defaults(child) for child in children if isinstance(child, dict))


def _copy(value: Any, budget: Budget) -> Any:
    budget.spend(1)
    if isinstance(value, dict):
        return {k: _copy(v, budget) for k, v in value.items()}
    return [_copy(v, budget) for v in value] if isinstance(value, list) else value


# -- which fields there are ----------------------------------------------------------------------------------


def fields_of(schema: Schema) -> SchemaNode:
    """Which fields a custom resource may have. Its metadata is looked at with that of every other object."""
    return SchemaNode.from_openapi({**schema, EMBEDDED: True})


# -- validation ----------------------------------------------------------------------------------------------

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
}


def validate(value: Any, schema: Schema, path: str = "", budget: Budget | None = None) -> list[Cause]:
    """Everything that is wrong, each with its path."""
    budget = budget or Budget()
    budget.spend(1 + len(schema.get("enum") or ()) + len(schema.get("required") or ()))
    if "pattern" in schema:
        budget.spend(_STEPS_OF_A_PATTERN)
    if value is None and (schema.get("nullable") or not path):
        return []
    mistyped = _check_type(value, schema, path)
    if mistyped:
        return mistyped
    causes = _check_enum(value, schema, path) + _check_combinations(value, schema, path, budget)
    if isinstance(value, dict):
        causes += _check_object(value, schema, path, budget)
    elif isinstance(value, list):
        causes += _check_list(value, schema, path, budget)
    elif isinstance(value, str):
        causes += _check_string(value, schema, path)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        causes += _check_number(value, schema, path)
    return causes


def _check_type(value: Any, schema: Schema, path: str) -> list[Cause]:
    if schema.get(definitions.INT_OR_STRING):
        good = isinstance(value, int | str) and not isinstance(value, bool)
        return [] if good else [_mistyped(value, "integer or string", path)]
    wanted = schema.get("type")
    if wanted not in _TYPES:
        return []
    good = isinstance(value, _TYPES[wanted]) and (wanted == "boolean" or not isinstance(value, bool))
    if wanted == "integer" and isinstance(value, float) and value.is_integer():
        good = True
    return [] if good else [_mistyped(value, wanted, path)]


def _mistyped(value: Any, wanted: str, path: str) -> Cause:
    kinds = {dict: "object", list: "array", str: "string", bool: "boolean", int: "integer", float: "number"}
    found = kinds.get(type(value), "null")
    text = f'Invalid value: "{found}": {path} in body must be of type {wanted}: "{found}"'
    return Cause("FieldValueTypeInvalid", text, path)


def _check_enum(value: Any, schema: Schema, path: str) -> list[Cause]:
    allowed = schema.get("enum")
    if allowed is None or value in allowed:
        return []
    return [not_supported(path, value, tuple(str(v) for v in allowed))]


def _check_object(value: dict[str, Any], schema: Schema, path: str, budget: Budget) -> list[Cause]:
    causes = [required(_join(path, name)) for name in schema.get("required") or () if name not in value]
    known, extra = schema.get("properties") or {}, schema.get("additionalProperties")
    for name, item in value.items():
        child = known.get(name, extra if isinstance(extra, dict) else None)
        if child is not None and not (name == "metadata" and not path):
            causes += validate(item, child, _join(path, name), budget)
    causes += _check_bounds(len(value), schema, path, "Properties", "properties")
    return causes


def _check_list(value: list[Any], schema: Schema, path: str, budget: Budget) -> list[Cause]:
    causes = _check_bounds(len(value), schema, path, "Items", "items")
    if isinstance(schema.get("items"), dict):
        for index, item in enumerate(value):
            causes += validate(item, schema["items"], f"{path}[{index}]", budget)
    return causes + _check_unique(value, schema, path)


def _check_unique(value: list[Any], schema: Schema, path: str) -> list[Cause]:
    kind = schema.get("x-kubernetes-list-type")
    if kind == "set":
        identities = [repr(item) for item in value]
    elif kind == "map":
        keys = schema.get("x-kubernetes-list-map-keys") or ()
        identities = [repr([item.get(k) for k in keys]) if isinstance(item, dict) else "" for item in value]
    else:
        return []
    seen: set[str] = set()
    repeated = []
    for index, identity in enumerate(identities):
        if identity in seen:
            repeated.append(duplicate(f"{path}[{index}]", value[index]))
        seen.add(identity)
    return repeated


def _check_string(value: str, schema: Schema, path: str) -> list[Cause]:
    causes = _check_bounds(len(value), schema, path, "Length", "chars long")
    pattern = schema.get("pattern")
    if pattern and not definitions.compiled(pattern).search(value):
        causes.append(invalid_value(path, value, f"{path} in body should match '{pattern}'"))
    known = _FORMATS.get(schema.get("format", ""))
    if known is not None and not known(value):
        message = f'{path} in body must be of type {schema["format"]}: "{value}"'
        causes.append(invalid_value(path, value, message))
    return causes


def _check_number(value: float, schema: Schema, path: str) -> list[Cause]:
    causes = []
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is not None and (value < least or (schema.get("exclusiveMinimum") and value == least)):
        word = "greater than" if schema.get("exclusiveMinimum") else "greater than or equal to"
        causes.append(invalid_value(path, value, f"{path} in body should be {word} {least}"))
    if most is not None and (value > most or (schema.get("exclusiveMaximum") and value == most)):
        word = "less than" if schema.get("exclusiveMaximum") else "less than or equal to"
        causes.append(invalid_value(path, value, f"{path} in body should be {word} {most}"))
    step = schema.get("multipleOf")
    if step and value % step:
        causes.append(invalid_value(path, value, f"{path} in body should be a multiple of {step}"))
    return causes


def _check_bounds(size: int, schema: Schema, path: str, suffix: str, unit: str) -> list[Cause]:
    least, most = schema.get(f"min{suffix}"), schema.get(f"max{suffix}")
    if least is not None and size < least:
        return [invalid_value(path, size, f"{path} in body should have at least {least} {unit}")]
    if most is not None and size > most:
        return [too_long(path, most, unit)]
    return []


def _check_combinations(value: Any, schema: Schema, path: str, budget: Budget) -> list[Cause]:
    causes: list[Cause] = []
    for part in schema.get("allOf") or ():
        causes += validate(value, part, path or ".", budget)
    matching = {
        word: sum(1 for part in schema.get(word) or () if not validate(value, part, path or ".", budget))
        for word in ("anyOf", "oneOf")
    }
    if schema.get("anyOf") and not matching["anyOf"]:
        causes.append(invalid_value(path, "", f"{path} in body must validate at least one schema (anyOf)"))
    if schema.get("oneOf") and matching["oneOf"] != 1:
        causes.append(
            invalid_value(path, "", f"{path} in body must validate one and only one schema (oneOf)")
        )
    if isinstance(schema.get("not"), dict) and not validate(value, schema["not"], path or ".", budget):
        causes.append(invalid_value(path, "", f"{path} in body must not validate the schema (not)"))
    return causes


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path and path != "." else name


def _parses(parse: Any) -> Any:
    def check(text: str) -> bool:
        try:
            parse(text)
        except (TimeError, ValueError):
            return False
        return True

    return check


_FORMATS: dict[str, Any] = {
    "date-time": _parses(parse_time),
    "duration": _parses(parse_duration),
    "uuid": re.compile(r"(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$").search,
    "byte": re.compile(r"^[A-Za-z0-9+/]*={0,2}$").search,
    "date": re.compile(r"^\d{4}-\d{2}-\d{2}$").search,
}
