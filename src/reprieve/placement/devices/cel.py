"""Selectors: CEL expressions about a device, evaluated once for each kind of device.

The CEL project's own library does the work; it is imported when the first claim needs it. Types are checked
in one environment, in which quantities and versions are types of their own, and run in another, in which
they are bytes (`cel_values.py`). Three things are put right around it:

- A domain that no attribute uses is an empty map. The library knows no maps with defaults: when an evaluation
  fails for want of a key, it is repeated with an empty map under that key. An error that `&&` or `||` absorbs
  cannot change the answer, so that only those that surface matter.
- Errors are returned as values by the library, and worded as kube-scheduler words them here.
- The library bounds the iterations of one evaluation, upstream its cost; both end in the same error.
"""

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

from reprieve.objects import Device, ReprieveError, nano
from reprieve.placement.devices import cel_network
from reprieve.placement.devices import cel_values as values
from reprieve.placement.sentences import devices as sentences

LONGEST_EXPRESSION = 10 * 1024
MOST_RESULTS = 200_000
"""Remembered answers; beyond that they are forgotten."""

_MISSING_KEY = re.compile(r'Key not found in map : "(.*)"$')


class SelectorError(Exception):
    """An expression that does not compile, or fails for a device. `stage`: compile or runtime."""

    def __init__(self, stage: str, text: str) -> None:
        self.stage = stage
        super().__init__(text)


class Kind(NamedTuple):
    """All that an expression can see of a device; equal devices share their answers."""

    driver: str
    shareable: bool
    attributes: tuple[tuple[str, str, str | int | bool], ...]
    """(name, type, value), by name."""
    capacity: tuple[tuple[str, int], ...]
    """(name, billionths), by name."""


def kind_of(driver: str, device: Device) -> Kind:
    attributes = [
        (name, *found)
        for name, attribute in device.attributes.items()
        if (found := attribute.kind_and_value) is not None
    ]
    capacity = [(name, nano(each.value)) for name, each in device.capacity.items()]
    return Kind(driver, device.allow_multiple_allocations, tuple(sorted(attributes)), tuple(sorted(capacity)))


_results: dict[tuple[str, Kind], bool | SelectorError] = {}


def matches(expression: str, kind: Kind) -> bool:
    """Whether a selector accepts devices of this kind. Raises `SelectorError`."""
    found = _results.get((expression, kind))
    if found is None:
        if len(_results) >= MOST_RESULTS:
            _results.clear()
        try:
            found = _evaluate(_compiled(expression), kind)
        except SelectorError as error:
            found = error
        _results[expression, kind] = found
    if isinstance(found, SelectorError):
        raise found
    return found


def _evaluate(program: Any, kind: Kind) -> bool:
    attributes, capacity = _maps(kind)
    added: set[str] = set()
    while True:
        device = {
            "driver": kind.driver,
            "allowMultipleAllocations": kind.shareable,
            "attributes": attributes,
            "capacity": capacity,
        }
        data = {"device": device, **{f"device.{name}": value for name, value in device.items()}}
        try:
            result = program.eval(data=data)
        except RuntimeError as error:
            text = str(error)
            if "budget" in text:
                raise SelectorError("runtime", sentences.COST_EXCEEDED) from None
            raise SelectorError("runtime", _worded(text)) from None
        value = result.value()
        if isinstance(value, bool):
            return value
        if str(result.type()) != "ERROR":
            raise SelectorError("runtime", sentences.no_bool(str(result.type()).lower()))
        missing = _MISSING_KEY.search(str(value))
        if missing is None or missing[1] in added:
            raise SelectorError("runtime", _worded(str(value)))
        added.add(missing[1])
        attributes = {missing[1]: {}, **attributes}
        capacity = {missing[1]: {}, **capacity}


def _maps(kind: Kind) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]:
    attributes: dict[str, dict[str, Any]] = {}
    capacity: dict[str, dict[str, Any]] = {}
    for name, type_, value in kind.attributes:
        domain, id = _qualified(name, kind.driver)
        if type_ == "version":
            try:
                value = values.version_value(str(value))  # type: ignore[assignment]
            except ValueError as wrong:
                raise SelectorError("runtime", sentences.bad_attribute(name, str(wrong))) from None
        attributes.setdefault(domain, {})[id] = value
    for name, billionths in kind.capacity:
        domain, id = _qualified(name, kind.driver)
        capacity.setdefault(domain, {})[id] = values.quantity_value(billionths)
    return attributes, capacity


def _qualified(name: str, driver: str) -> tuple[str, str]:
    domain, slash, id = name.partition("/")
    return (domain, id) if slash else (driver, name)


def _worded(text: str) -> str:
    """The library's words as cel-go has them."""
    missing = _MISSING_KEY.search(text)
    if missing:
        return sentences.no_such_key(missing[1])
    if "No matching overloads" in text or sentences.NO_SUCH_OVERLOAD in text:
        return sentences.NO_SUCH_OVERLOAD
    return re.sub(r"^[A-Z_]+: | \[[A-Z_]+\]$", "", text)


def _library() -> Any:
    """Raises `ReprieveError` where an installation is older than its program and lacks it."""
    try:
        from cel_expr_python import cel
    except ModuleNotFoundError as error:
        raise ReprieveError(sentences.CEL_IS_MISSING) from error
    return cel


@lru_cache(maxsize=4096)
def _compiled(expression: str) -> Any:
    """Raises `SelectorError`."""
    if len(expression.encode()) > LONGEST_EXPRESSION:
        raise SelectorError("compile", sentences.expression_too_long(LONGEST_EXPRESSION))
    cel = _library()
    checked = _checked(expression)
    if checked.return_type() not in (cel.Type.BOOL, cel.Type.DYN):
        name = str(checked.return_type())
        shown = name.lower() if name.isupper() else name
        raise SelectorError("compile", sentences.wrong_result_type(shown))
    return _environment("run").deserialize(checked.serialize())


def _checked(expression: str) -> Any:
    """With typed fields of `device`; where `device` itself is used as a value, as a map of anything."""
    try:
        return _environment("fields").compile(expression)
    except RuntimeError as error:
        if "undeclared reference to 'device'" in str(error):
            try:
                return _environment("map").compile(expression)
            except RuntimeError:
                pass
        text = re.sub(r"^[A-Z_]+: | \[[A-Z_]+\]$", "", str(error))
        raise SelectorError("compile", sentences.compilation_failed(text)) from None


@cache
def _environment(purpose: str) -> Any:
    cel = _library()
    from cel_expr_python.ext import ext_bindings, ext_optional, ext_strings

    types = cel.Type
    quantity = types.BYTES if purpose == "run" else types.AbstractType("kubernetes.Quantity")
    version = types.BYTES if purpose == "run" else types.AbstractType("kubernetes.Semver")
    by_id = types.Map(types.STRING, types.DYN)
    variables = {"device": types.Map(types.STRING, types.DYN)}
    if purpose != "map":
        variables = {
            "device.driver": types.STRING,
            "device.allowMultipleAllocations": types.BOOL,
            "device.attributes": types.Map(types.STRING, by_id),
            "device.capacity": types.Map(types.STRING, types.Map(types.STRING, quantity)),
        }
    if purpose == "run":
        variables["device"] = types.Map(types.STRING, types.DYN)
    return cel.NewEnv(
        variables=variables,
        functions=_functions(cel, quantity, version, checks=purpose != "run"),
        extensions=[ext_bindings.ExtBindings(), ext_optional.ExtOptional(), ext_strings.ExtStrings()],
    )


def _functions(cel: Any, quantity: Any, version: Any, checks: bool) -> list[Any]:
    """Each function with its overloads: (result, parameters, member, what it does)."""
    t = cel.Type
    members: dict[str, list[tuple[Any, Sequence[Any], bool, Any]]] = {
        "quantity": [(quantity, [t.STRING], False, values.quantity)],
        "isQuantity": [(t.BOOL, [t.STRING], False, values.is_quantity)],
        "sign": [(t.INT, [quantity], False, values.sign)],
        "isInteger": [(t.BOOL, [quantity], True, values.is_integer)],
        "asInteger": [(t.INT, [quantity], True, values.as_integer)],
        "asApproximateFloat": [(t.DOUBLE, [quantity], True, values.as_float)],
        "add": [(quantity, [quantity, each], True, values.add) for each in (quantity, t.INT)],
        "sub": [(quantity, [quantity, each], True, values.subtract) for each in (quantity, t.INT)],
        "semver": [
            (version, [t.STRING], False, values.semver),
            (version, [t.STRING, t.BOOL], False, values.semver),
        ],
        "isSemver": [
            (t.BOOL, [t.STRING], False, values.is_semver),
            (t.BOOL, [t.STRING, t.BOOL], False, values.is_semver),
        ],
        "major": [(t.INT, [version], True, values.major)],
        "minor": [(t.INT, [version], True, values.minor)],
        "patch": [(t.INT, [version], True, values.patch)],
        "find": [(t.STRING, [t.STRING, t.STRING], True, values.find)],
        "findAll": [
            (t.List(t.STRING), [t.STRING, t.STRING], True, values.find_all),
            (t.List(t.STRING), [t.STRING, t.STRING, t.INT], True, values.find_all),
        ],
        "isSorted": [(t.BOOL, [t.LIST], True, values.is_sorted)],
        "sum": [(t.DYN, [t.LIST], True, values.total)],
        "min": [(t.DYN, [t.LIST], True, values.least)],
        "max": [(t.DYN, [t.LIST], True, values.greatest)],
        "sets.contains": [(t.BOOL, [t.LIST, t.LIST], False, values.set_contains)],
        "sets.equivalent": [(t.BOOL, [t.LIST, t.LIST], False, values.set_equivalent)],
        "sets.intersects": [(t.BOOL, [t.LIST, t.LIST], False, values.set_intersects)],
    }
    if checks:
        members |= cel_network.functions(t, t.AbstractType("net.IP"), t.AbstractType("net.CIDR"))
    else:
        members |= cel_network.functions(t, t.BYTES, t.BYTES)
    both = (quantity, version) if checks else (quantity,)
    for name, result, does in (
        ("compareTo", t.INT, values.compare),
        ("isGreaterThan", t.BOOL, values.is_greater),
        ("isLessThan", t.BOOL, values.is_less),
    ):
        members[name] = [(result, [each, each], True, does) for each in both]
    return [
        cel.FunctionDecl(
            name,
            [
                cel.Overload(
                    f"{name}_{number}", return_type=result, parameters=parameters, is_member=member, impl=does
                )
                for number, (result, parameters, member, does) in enumerate(overloads)
            ],
        )
        for name, overloads in members.items()
    ]
