"""Quantities in one spelling, wherever the schema of a kind has one."""

from typing import Any

from reprieve.objects.quantity import QuantityError, canonical
from reprieve.objects.schemas.tree import SchemaNode


def spell_quantities(value: Any, schema: SchemaNode) -> list[tuple[str, Any]]:
    """Bring them to the canonical form, in place; path and value of what is no quantity. Values of the wrong
    type are left alone.
    """
    wrong: list[tuple[str, Any]] = []
    _spell(value, schema, "", wrong)
    return wrong


def _spell(value: Any, schema: SchemaNode, path: str, wrong: list[tuple[str, Any]]) -> None:
    if schema.shape == "list" and isinstance(value, list) and schema.item is not None:
        for index, item in enumerate(value):
            _spell(item, schema.item, f"{path}[{index}]", wrong)
    elif schema.shape == "map" and isinstance(value, dict) and schema.item is not None:
        if _is_quantity(schema.item):
            for name in value:
                _rewrite(value, name, f"{path}.{name}", wrong, milli=True)
        else:
            for name, item in value.items():
                _spell(item, schema.item, f"{path}.{name}", wrong)
    elif schema.shape == "object" and isinstance(value, dict):
        for name, child in schema.with_quantities.items():
            if name in value:
                where = f"{path}.{name}" if path else name
                if _is_quantity(child):
                    _rewrite(value, name, where, wrong, milli=False)
                else:
                    _spell(value[name], child, where, wrong)


def _is_quantity(schema: SchemaNode) -> bool:
    return schema.shape == "scalar" and schema.scalar == "quantity"


def _rewrite(
    section: dict[str, Any], name: str, path: str, wrong: list[tuple[str, Any]], *, milli: bool
) -> None:
    """The amounts of a list of resources are rounded up to thousandths, others are as fine as they are."""
    value = section[name]
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        try:
            section[name] = canonical(value.strip() if isinstance(value, str) else value, milli=milli)
        except QuantityError:
            wrong.append((path, value))
